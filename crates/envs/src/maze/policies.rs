//! The policies that collect datasets in mazes.

use super::{Benchmark, Body, Maze, MazeConfig};
use crate::CollectionPolicy;

/// The behavior of the agent whose episodes are collected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MazePolicy {
    /// Moves from goal to goal.
    Navigate,
    /// Moves four cells and stays there: no episode contains states that are far apart.
    Stitch,
    /// Changes to a random direction every second, with strong noise.
    Explore,
    /// Moves from hand-picked starts to hand-picked goals, as in D4RL.
    Play,
    /// Moves from any cell to any cell, as in D4RL.
    Diverse,
}

impl MazePolicy {
    /// Returns the policies of a benchmark.
    pub(super) fn of(benchmark: Benchmark) -> &'static [Self] {
        match benchmark {
            Benchmark::Ogbench => &[Self::Navigate, Self::Stitch, Self::Explore],
            Benchmark::D4rl => &[Self::Play, Self::Diverse],
        }
    }

    /// Returns the policy with the dataset size and action noise of the benchmark.
    pub(super) fn in_maze(self, MazeConfig { benchmark, body, maze }: MazeConfig) -> CollectionPolicy {
        let name = match self {
            Self::Navigate => "navigate",
            Self::Stitch => "stitch",
            Self::Explore => "explore",
            Self::Play => "play",
            Self::Diverse => "diverse",
        };
        let (default_episodes, steps) = match (self, benchmark, maze) {
            (_, Benchmark::D4rl, Maze::Umaze) => (1427, 700),
            (Self::Navigate, _, Maze::Giant) => (500, 2000),
            (Self::Stitch, ..) => (5000, 200),
            (Self::Explore, ..) => (10_000, 500),
            _ => (1000, 1000),
        };
        let action_noise = match (self, body) {
            (Self::Explore, _) => 1.0,
            (_, Body::Point) => 0.5,
            (_, Body::Ant) => 0.2,
        };
        CollectionPolicy { name, default_episodes, episode_steps: Some(steps), action_noise }
    }
}
