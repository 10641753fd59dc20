//! The methods that compute exact distances.

/// How distances are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Breadth-first search against the arrows; deterministic dynamics only.
    BreadthFirst,
    /// Sparse LU factorization, shared by all goals; Markov chains only.
    SparseLu,
    /// Policy iteration by Gauss-Seidel sweeps outward from the goal; always applicable.
    PolicyIteration,
}
