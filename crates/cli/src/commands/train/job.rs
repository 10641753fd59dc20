//! The processes of one training: those that `mpirun` or `srun` started, or just this one.
//!
//! The process of rank 0 reads the arguments, owns the run directory and prints. It sends the
//! configuration to the others, which need only the dataset. Before the first update, all processes
//! agree on whether any of them failed, so that none waits for another.

use anyhow::bail;
use isochrone::{
    learn::{agree, run::RunConfig},
    nn::group::ProcessGroup,
};

/// The processes of one training.
pub struct Job {
    #[cfg(feature = "mpi")]
    mpi_job: Option<isochrone_mpi::Job>,
}

impl Job {
    /// Joins the job that this process was started for. Cores are divided among the processes of a
    /// machine, unless the number of threads was set.
    pub fn join() -> anyhow::Result<Self> {
        if !is_launched() {
            return Ok(Self {
                #[cfg(feature = "mpi")]
                mpi_job: None,
            });
        }
        #[cfg(not(feature = "mpi"))]
        bail!(
            "started by an MPI launcher, and this program was built without MPI; hint: install it with --features mpi, or start it without the launcher"
        );
        #[cfg(feature = "mpi")]
        {
            let mpi_job = isochrone_mpi::Job::join()?;
            let cores = std::thread::available_parallelism().map_or(1, usize::from);
            let threads = (cores / mpi_job.local_size()).max(1);
            // An error means that `--threads` has set the number.
            let _ = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
            Ok(Self { mpi_job: Some(mpi_job) })
        }
    }

    /// All processes; `None` if there is one.
    pub fn group(&self) -> Option<&ProcessGroup> {
        #[cfg(feature = "mpi")]
        return self.mpi_job.as_ref().map(isochrone_mpi::Job::group).filter(|group| group.size() > 1);
        #[cfg(not(feature = "mpi"))]
        None
    }

    /// Whether this process leads the job.
    pub fn is_first(&self) -> bool {
        self.group().is_none_or(|group| group.rank() == 0)
    }

    /// Sends the configuration of rank 0 to the others, or that there is none.
    pub fn send(&self, config: Option<&RunConfig>) -> anyhow::Result<()> {
        if let Some(group) = self.group() {
            let text = config.map(toml::to_string).transpose()?.unwrap_or_default();
            group.broadcast("configuration", text.into_bytes());
        }
        Ok(())
    }

    /// Receives the configuration of rank 0; `None` if it failed.
    pub fn receive(&self) -> anyhow::Result<Option<RunConfig>> {
        let Some(group) = self.group() else { bail!("there is one process") };
        let text = String::from_utf8(group.broadcast("configuration", Vec::new()))?;
        if text.is_empty() {
            return Ok(None);
        }
        Ok(Some(RunConfig::from_table(toml::from_str(&text)?, &[])?))
    }

    /// Returns the result of this process, or an error if any process has one.
    pub fn agree<T>(&self, result: anyhow::Result<T>) -> anyhow::Result<T> {
        agree(self.group(), result)
    }

    /// Leaves the job after a result that all processes know of.
    pub fn leave(self) {
        #[cfg(feature = "mpi")]
        if let Some(mpi_job) = self.mpi_job {
            mpi_job.leave();
        }
    }

    /// Ends all processes of the job after an error that only this process knows of.
    pub fn abort(&self, code: u8) {
        #[cfg(feature = "mpi")]
        if self.group().is_some() {
            isochrone_mpi::Job::abort(code);
        }
        #[cfg(not(feature = "mpi"))]
        let _ = code;
    }
}

/// Whether a launcher of MPI processes started this one: Open MPI, `PMIx` (as `srun --mpi=pmix`),
/// or a launcher of the MPICH family. Without one, MPI is not started at all.
fn is_launched() -> bool {
    ["OMPI_UNIVERSE_SIZE", "PMIX_RANK", "PMI_RANK"].iter().any(|name| std::env::var_os(name).is_some())
}
