//! The maps and tasks of the mazes, read from `assets/mazes.toml`.

use super::layout::{Layout, MazeCell};
use serde::Deserialize;
use std::{collections::BTreeMap, sync::OnceLock};

/// A maze.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Maze {
    /// A U-shaped corridor, from D4RL.
    Umaze,
    /// 8 by 8 cells.
    Medium,
    /// 9 by 12 cells.
    Large,
    /// 12 by 16 cells.
    Giant,
    /// 9 by 12 cells, with teleporters that lead to one of three exits; one exit is a dead end that
    /// cannot be left.
    Teleport,
}

/// A task of a benchmark: a start cell and a goal cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct Task {
    /// The start cell.
    pub start: MazeCell,
    /// The goal cell.
    pub goal: MazeCell,
}

/// The entry of a maze in `mazes.toml`.
#[derive(Deserialize)]
struct Entry {
    map: String,
    tasks: Vec<Task>,
    d4rl_goal: Option<MazeCell>,
    #[serde(default)]
    entrances: Vec<MazeCell>,
    #[serde(default)]
    exits: Vec<MazeCell>,
}

/// The map, the tasks, and D4RL's goal.
type Facts = (Layout, Vec<Task>, Option<MazeCell>);

impl Maze {
    /// All mazes.
    pub const ALL: [Self; 5] = [Self::Umaze, Self::Medium, Self::Large, Self::Giant, Self::Teleport];

    /// Returns the name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Umaze => "umaze",
            Self::Medium => "medium",
            Self::Large => "large",
            Self::Giant => "giant",
            Self::Teleport => "teleport",
        }
    }

    /// Returns the map.
    pub fn layout(self) -> &'static Layout {
        &self.facts().0
    }

    /// Returns the tasks of the benchmark; the first is the benchmark's task 1.
    pub fn tasks(self) -> &'static [Task] {
        &self.facts().1
    }

    /// Returns the D4RL task; `None` if D4RL does not have this maze.
    pub fn d4rl_task(self) -> Option<Task> {
        self.facts().2.map(|goal| Task { start: MazeCell(1, 1), goal })
    }

    fn facts(self) -> &'static Facts {
        static FACTS: OnceLock<BTreeMap<String, Facts>> = OnceLock::new();
        let all = FACTS.get_or_init(|| {
            let entries: BTreeMap<String, Entry> =
                toml::from_str(include_str!("../../assets/mazes.toml")).expect("the mazes are well formed");
            let facts = entries.into_iter().map(|(name, entry)| {
                (name, (Layout::new(&entry.map, entry.entrances, entry.exits), entry.tasks, entry.d4rl_goal))
            });
            facts.collect()
        });
        &all[self.name()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_between_free_cells_and_maps_are_enclosed_by_walls() {
        for maze in Maze::ALL {
            let layout = maze.layout();
            let (rows, columns) = (layout.rows(), layout.columns());
            for task in maze.tasks() {
                assert!(layout.is_free(task.start) && layout.is_free(task.goal), "{maze:?} {task:?}");
            }
            let border = (0..rows).flat_map(|row| (0..columns).map(move |column| MazeCell(row, column)));
            for cell in border.filter(|c| c.0 == 0 || c.1 == 0 || c.0 + 1 == rows || c.1 + 1 == columns) {
                assert!(!layout.is_free(cell), "{maze:?} {cell:?}");
            }
            assert_eq!(maze.tasks().len(), if maze == Maze::Umaze { 1 } else { 5 });
        }
    }
}
