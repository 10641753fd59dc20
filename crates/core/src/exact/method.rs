//! The methods that compute exact distances.

/// A method that computes exact distances.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Reverse breadth-first search; deterministic dynamics only.
    BreadthFirst,
    /// Sparse LU factorization, shared by all goals; Markov chains only.
    SparseLu,
    /// Policy iteration by Gauss-Seidel sweeps outward from the goal; applies to every process.
    PolicyIteration,
}
