//! The worlds there are, by name.

use crate::nav2d::Nav2d;
use isochrone_core::Environment;
use isochrone_data::{DataError, EpisodeSink, Spec};

/// A world that can be acted in and recorded in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum World {
    /// One-way streets in the plane.
    Nav2d,
}

impl World {
    /// All of them.
    pub const ALL: [Self; 1] = [Self::Nav2d];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Nav2d => "nav2d",
        }
    }

    /// What it is, in a line.
    pub fn idea(self) -> &'static str {
        match self {
            Self::Nav2d => {
                "one-way streets in the plane that cross; no recording turns from one into another"
            }
        }
    }

    /// The world of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|world| world.name() == name)
    }

    /// Recordings that a data set usually has.
    pub fn usual_episodes(self) -> usize {
        match self {
            Self::Nav2d => 2000,
        }
    }

    /// What recordings consist of.
    pub fn spec(self) -> Spec {
        match self {
            Self::Nav2d => Nav2d::spec(),
        }
    }

    /// Somebody who acts in it.
    pub fn environment(self) -> Box<dyn Environment> {
        match self {
            Self::Nav2d => Box::new(Nav2d::standard().environment()),
        }
    }

    /// Records behaviour, episode by episode; each follows from the seed and its number.
    ///
    /// # Errors
    /// What `sink` refuses.
    pub fn record(self, episodes: usize, seed: u64, sink: &mut dyn EpisodeSink) -> Result<(), DataError> {
        match self {
            Self::Nav2d => Nav2d::standard().record(episodes, seed, sink),
        }
    }
}
