//! Cells, walls, and shortest paths over cells.

use crate::geometry::{Point, Rectangle, distance};
use serde::Deserialize;
use std::{collections::VecDeque, iter};

/// The side of a cell, in meters.
pub const CELL: f64 = 4.0;

/// A cell: its row and its column. Positions are in meters: the center of the cell in row 1 and
/// column 1 is the origin; the column number increases along x, the row number along y.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
pub struct MazeCell(pub usize, pub usize);

/// The order of neighbors. Of two neighbors equally near to a goal, the oracle prefers the first.
const NEIGHBORS: [(isize, isize); 4] = [(-1, 0), (0, -1), (1, 0), (0, 1)];

/// A body within this distance of the center of an entrance is teleported.
const TELEPORT_RADIUS: f64 = 1.5;

/// The map of a maze: walls, and the entrances and exits of teleporters.
#[derive(Debug, Clone, PartialEq)]
pub struct Layout {
    columns: usize,
    /// Row by row.
    is_wall: Vec<bool>,
    entrances: Vec<MazeCell>,
    exits: Vec<MazeCell>,
}

impl MazeCell {
    /// Returns the center of the cell.
    pub fn center(self) -> Point {
        [CELL * self.1 as f64 - CELL, CELL * self.0 as f64 - CELL]
    }

    /// Returns the square that the cell covers.
    pub fn square(self) -> Rectangle {
        let [x, y] = self.center();
        [[x - CELL / 2.0, y - CELL / 2.0], [x + CELL / 2.0, y + CELL / 2.0]]
    }

    /// Returns the cell that contains a position. Positions before the first row or column are
    /// assigned to it.
    pub fn of(place: Point) -> Self {
        let index = |meters: f64| ((meters + 1.5 * CELL) / CELL).max(0.0) as usize;
        Self(index(place[1]), index(place[0]))
    }

    fn neighbors(self) -> impl Iterator<Item = Self> {
        NEIGHBORS.into_iter().filter_map(move |(down, right)| {
            Some(Self(self.0.checked_add_signed(down)?, self.1.checked_add_signed(right)?))
        })
    }
}

impl Layout {
    /// Reads rows of `1` for walls and `0` for free cells.
    pub(super) fn new(map: &str, entrances: Vec<MazeCell>, exits: Vec<MazeCell>) -> Self {
        let columns = map.lines().next().map_or(0, str::len);
        let is_wall = map.lines().flat_map(str::bytes).map(|byte| byte == b'1').collect();
        Self { columns, is_wall, entrances, exits }
    }

    /// Returns the number of rows, along y.
    pub fn rows(&self) -> usize {
        self.is_wall.len() / self.columns
    }

    /// Returns the number of columns, along x.
    pub fn columns(&self) -> usize {
        self.columns
    }

    fn index(&self, cell: MazeCell) -> usize {
        cell.0 * self.columns + cell.1
    }

    /// Returns whether a cell is free; everything outside the map is a wall.
    pub fn is_free(&self, cell: MazeCell) -> bool {
        cell.0 < self.rows() && cell.1 < self.columns && !self.is_wall[self.index(cell)]
    }

    fn cells(&self) -> impl Iterator<Item = MazeCell> {
        (0..self.is_wall.len()).map(|index| MazeCell(index / self.columns, index % self.columns))
    }

    /// Returns the cells that are walls, row by row.
    pub fn walls(&self) -> impl Iterator<Item = MazeCell> {
        self.cells().filter(|&cell| !self.is_free(cell))
    }

    /// Returns the cells that are free, row by row.
    pub fn free(&self) -> impl Iterator<Item = MazeCell> {
        self.cells().filter(|&cell| self.is_free(cell))
    }

    /// Returns the free cells except those in the middle of a straight corridor.
    pub fn vertices(&self) -> impl Iterator<Item = MazeCell> {
        self.free().filter(|&MazeCell(row, column)| {
            let vertical = [row - 1, row + 1].map(|row| self.is_free(MazeCell(row, column)));
            let horizontal = [column - 1, column + 1].map(|column| self.is_free(MazeCell(row, column)));
            !matches!((vertical, horizontal), ([true, true], [false, false]) | ([false, false], [true, true]))
        })
    }

    /// Returns the exits of the teleporters, which are equally likely.
    pub fn exits(&self) -> &[MazeCell] {
        &self.exits
    }

    /// Returns whether a body at this position is teleported.
    pub fn is_entrance(&self, place: Point) -> bool {
        self.entrances.iter().any(|entrance| distance(place, entrance.center()) <= TELEPORT_RADIUS)
    }

    /// Returns the path length from every cell to a goal cell, in cells, row by row; `None` if
    /// there is no path. This is a breadth-first search over the four neighbors; teleporters are
    /// not used.
    pub fn cells_to(&self, goal: MazeCell) -> Vec<Option<u32>> {
        let mut cells = vec![None; self.is_wall.len()];
        if !self.is_free(goal) {
            return cells;
        }
        cells[self.index(goal)] = Some(0);
        let mut open = VecDeque::from([(goal, 0)]);
        while let Some((cell, cost)) = open.pop_front() {
            for next in cell.neighbors().filter(|&next| self.is_free(next)) {
                let known = &mut cells[self.index(next)];
                if known.is_none() {
                    *known = Some(cost + 1);
                    open.push_back((next, cost + 1));
                }
            }
        }
        cells
    }

    /// Returns the free cells that are exactly this many cells away.
    pub fn at_distance(&self, from: MazeCell, cells: u32) -> Vec<MazeCell> {
        let away = self.cells_to(from);
        self.free().filter(|&cell| away[self.index(cell)] == Some(cells)).collect()
    }

    /// Returns the next cell on the path, given [`cells_to`](Self::cells_to) a goal; the current
    /// cell at the goal, and if there is no path.
    pub fn next_cell(&self, from: MazeCell, cells_to_goal: &[Option<u32>]) -> MazeCell {
        if !self.is_free(from) {
            return from;
        }
        let around = from.neighbors().filter(|&next| self.is_free(next));
        // The first of the nearest cells. If there is no path, all have the same key, and `from` is
        // first.
        iter::once(from).chain(around).min_by_key(|&cell| cells_to_goal[self.index(cell)]).unwrap_or(from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::maze::maps::Maze;

    #[test]
    fn cells_and_positions_agree() {
        assert_eq!(MazeCell(1, 1).center(), [0.0, 0.0]);
        assert_eq!(MazeCell(2, 5).center(), [16.0, 4.0]);
        for cell in Maze::Giant.layout().free() {
            let [x, y] = cell.center();
            for (dx, dy) in [(0.0, 0.0), (-1.99, 1.99), (1.99, -1.99)] {
                assert_eq!(MazeCell::of([x + dx, y + dy]), cell);
            }
        }
    }

    #[test]
    fn cells_in_straight_corridors_are_not_vertices() {
        let layout = Maze::Medium.layout();
        let vertices: Vec<MazeCell> = layout.vertices().collect();
        // A dead end, a bend and a junction are vertices; a cell between two others is not.
        for cell in [MazeCell(1, 6), MazeCell(3, 2), MazeCell(6, 6)] {
            assert!(vertices.contains(&cell), "{cell:?}");
        }
        assert!(!vertices.contains(&MazeCell(5, 6)) && layout.is_free(MazeCell(5, 6)));
    }

    #[test]
    fn following_next_cells_takes_as_many_cells_as_the_search_reports() {
        for maze in Maze::ALL {
            let layout = maze.layout();
            for goal in layout.free() {
                let cells_to = layout.cells_to(goal);
                for start in layout.free() {
                    let mut moved = 0;
                    let mut here = start;
                    while layout.next_cell(here, &cells_to) != here {
                        here = layout.next_cell(here, &cells_to);
                        moved += 1;
                    }
                    match cells_to[layout.index(start)] {
                        Some(cells) => assert_eq!((here, moved), (goal, cells)),
                        None => assert_eq!((here, moved), (start, 0), "without a path, the agent stays"),
                    }
                }
            }
        }
    }

    #[test]
    fn one_teleporter_exit_is_a_trap() {
        let layout = Maze::Teleport.layout();
        let from_trap = layout.cells_to(MazeCell(1, 7));
        assert_eq!(from_trap.iter().flatten().count(), 1);
        assert!(layout.exits().contains(&MazeCell(1, 7)));
        // No path leads to a wall or out of the map.
        for goal in [MazeCell(0, 0), MazeCell(3, 99)] {
            assert!(layout.cells_to(goal).iter().all(Option::is_none), "{goal:?}");
        }
        assert_eq!(layout.next_cell(MazeCell(99, 99), &from_trap), MazeCell(99, 99));
        assert!(layout.is_entrance([20.0, 10.5]) && !layout.is_entrance([20.0, 10.4]));
    }
}
