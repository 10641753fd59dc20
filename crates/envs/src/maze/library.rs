//! Whether MuJoCo can be called.
//!
//! A program that links to MuJoCo can always call it. A program that opens the library at run time,
//! such as the Python package, sets a loader: nothing may be called before the loader succeeded.

use crate::EnvError;
use std::sync::RwLock;
use thiserror::Error;

/// Opens MuJoCo, or returns why it cannot be opened, with a hint; it is called before every use.
pub type MujocoLoader = fn() -> Result<(), MujocoError>;

/// The reason why MuJoCo cannot be opened, with a hint.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct MujocoError(pub String);

static LOADER: RwLock<Option<MujocoLoader>> = RwLock::new(None);

/// Sets the function that opens MuJoCo, for programs that do not link to it.
pub fn set_mujoco_loader(loader: MujocoLoader) {
    *LOADER.write().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(loader);
}

/// Checks that MuJoCo can be called.
pub(super) fn check(env: &str) -> Result<(), EnvError> {
    if !cfg!(feature = "mujoco") {
        return Err(EnvError::NoPhysics { env: env.to_owned() });
    }
    let loader = *LOADER.read().unwrap_or_else(std::sync::PoisonError::into_inner);
    match loader.map_or(Ok(()), |load| load()) {
        Ok(()) => Ok(()),
        Err(MujocoError(problem)) => Err(EnvError::PhysicsLibrary { env: env.to_owned(), problem }),
    }
}
