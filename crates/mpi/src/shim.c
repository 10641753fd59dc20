/* The MPI functions that training needs, with types that do not depend on the MPI library: handles
 * and constants are pointers in Open MPI and integers in MPICH, so that only its own header knows
 * them. Errors end all processes, which is the default of MPI. */

#include <mpi.h>
#include <stdlib.h>

static void *boxed(MPI_Comm comm) {
    MPI_Comm *box = malloc(sizeof(MPI_Comm));
    if (box == NULL) MPI_Abort(comm, 1);
    *box = comm;
    return box;
}

static MPI_Comm comm_of(void *box) { return *(MPI_Comm *)box; }

/* Returns all processes, or a null pointer if the library cannot be called from another thread than
 * the first. */
void *isochrone_mpi_start(void) {
    int provided;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided);
    return provided < MPI_THREAD_SERIALIZED ? NULL : boxed(MPI_COMM_WORLD);
}

int isochrone_mpi_rank(void *box) {
    int rank;
    MPI_Comm_rank(comm_of(box), &rank);
    return rank;
}

int isochrone_mpi_size(void *box) {
    int size;
    MPI_Comm_size(comm_of(box), &size);
    return size;
}

/* Returns the number of processes on this machine. */
int isochrone_mpi_local_size(void *box) {
    MPI_Comm local;
    int size;
    MPI_Comm_split_type(comm_of(box), MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &local);
    MPI_Comm_size(local, &size);
    MPI_Comm_free(&local);
    return size;
}

void *isochrone_mpi_split(void *box, int group, int rank) {
    MPI_Comm part;
    MPI_Comm_split(comm_of(box), group, rank, &part);
    return boxed(part);
}

void isochrone_mpi_all_gather(void *box, const float *mine, int count, float *all) {
    MPI_Allgather(mine, count, MPI_FLOAT, all, count, MPI_FLOAT, comm_of(box));
}

void isochrone_mpi_all_to_all(void *box, const float *from, int count, float *to) {
    MPI_Alltoall(from, count, MPI_FLOAT, to, count, MPI_FLOAT, comm_of(box));
}

void isochrone_mpi_broadcast(void *box, unsigned char *bytes, int count) {
    MPI_Bcast(bytes, count, MPI_BYTE, 0, comm_of(box));
}

void isochrone_mpi_finish(void) { MPI_Finalize(); }

void isochrone_mpi_abort(int code) { MPI_Abort(MPI_COMM_WORLD, code); }
