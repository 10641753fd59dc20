//! Cells, walls, and shortest paths from cell to cell.

use crate::geometry::{Point, Rectangle, distance};
use serde::Deserialize;
use std::{collections::VecDeque, iter};

/// The side of a cell, in meters.
pub const CELL: f64 = 4.0;

/// A cell: its row and its column. Places are in meters: the center of the cell in row 1 and column
/// 1 is the origin; columns go along x, rows along y.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
pub struct MazeCell(pub usize, pub usize);

/// The order of neighbors: of two that are equally near to a goal, the oracle prefers the first.
const NEIGHBORS: [(isize, isize); 4] = [(-1, 0), (0, -1), (1, 0), (0, 1)];

/// A body within this distance of the center of an entrance is teleported.
const TELEPORT_RADIUS: f64 = 1.5;

/// A map of walls.
#[derive(Debug, Clone, PartialEq)]
pub struct Layout {
    columns: usize,
    /// Row by row.
    is_wall: Vec<bool>,
    entrances: Vec<MazeCell>,
    exits: Vec<MazeCell>,
}

impl MazeCell {
    /// Its center.
    pub fn center(self) -> Point {
        [CELL * self.1 as f64 - CELL, CELL * self.0 as f64 - CELL]
    }

    /// The square that it covers.
    pub fn square(self) -> Rectangle {
        let [x, y] = self.center();
        [[x - CELL / 2.0, y - CELL / 2.0], [x + CELL / 2.0, y + CELL / 2.0]]
    }

    /// The cell that a place lies in; places beyond the first row or column count to it.
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

    /// Rows of cells, along y.
    pub fn rows(&self) -> usize {
        self.is_wall.len() / self.columns
    }

    /// Columns of cells, along x.
    pub fn columns(&self) -> usize {
        self.columns
    }

    fn index(&self, cell: MazeCell) -> usize {
        cell.0 * self.columns + cell.1
    }

    /// Whether a cell is free; everything outside the map is a wall.
    pub fn is_free(&self, cell: MazeCell) -> bool {
        cell.0 < self.rows() && cell.1 < self.columns && !self.is_wall[self.index(cell)]
    }

    fn cells(&self) -> impl Iterator<Item = MazeCell> {
        (0..self.is_wall.len()).map(|index| MazeCell(index / self.columns, index % self.columns))
    }

    /// Cells that are walls, row by row.
    pub fn walls(&self) -> impl Iterator<Item = MazeCell> {
        self.cells().filter(|&cell| !self.is_free(cell))
    }

    /// Cells that are free, row by row.
    pub fn free(&self) -> impl Iterator<Item = MazeCell> {
        self.cells().filter(|&cell| self.is_free(cell))
    }

    /// Free cells where a path can turn: all but those in the middle of a straight corridor.
    pub fn vertices(&self) -> impl Iterator<Item = MazeCell> {
        self.free().filter(|&MazeCell(row, column)| {
            let vertical = [row - 1, row + 1].map(|row| self.is_free(MazeCell(row, column)));
            let horizontal = [column - 1, column + 1].map(|column| self.is_free(MazeCell(row, column)));
            !matches!((vertical, horizontal), ([true, true], [false, false]) | ([false, false], [true, true]))
        })
    }

    /// The exits of the teleporters, which are equally likely.
    pub fn exits(&self) -> &[MazeCell] {
        &self.exits
    }

    /// Whether a body at this place is teleported.
    pub fn is_entrance(&self, place: Point) -> bool {
        self.entrances.iter().any(|entrance| distance(place, entrance.center()) <= TELEPORT_RADIUS)
    }

    /// Cells between every cell and a goal cell, row by row, by breadth-first search over four
    /// neighbors; `None` where there is no path. Teleporters are not used.
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

    /// Free cells that are exactly this many cells away.
    pub fn at_distance(&self, from: MazeCell, cells: u32) -> Vec<MazeCell> {
        let away = self.cells_to(from);
        self.free().filter(|&cell| away[self.index(cell)] == Some(cells)).collect()
    }

    /// The cell to go to next, given [`cells_to`](Self::cells_to) a goal; the same cell at the
    /// goal, and where there is no path.
    pub fn next_cell(&self, from: MazeCell, cells_to_goal: &[Option<u32>]) -> MazeCell {
        if !self.is_free(from) {
            return from;
        }
        let around = from.neighbors().filter(|&next| self.is_free(next));
        // The first of the nearest: where there is no path, no cell is nearer than another.
        iter::once(from).chain(around).min_by_key(|&cell| cells_to_goal[self.index(cell)]).unwrap_or(from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::maze::maps::Maze;

    #[test]
    fn cells_and_places_agree() {
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
    fn straight_corridors_are_no_vertices() {
        let layout = Maze::Medium.layout();
        let vertices: Vec<MazeCell> = layout.vertices().collect();
        // A dead end, a bend, a junction; and a cell between two others.
        for cell in [MazeCell(1, 6), MazeCell(3, 2), MazeCell(6, 6)] {
            assert!(vertices.contains(&cell), "{cell:?}");
        }
        assert!(!vertices.contains(&MazeCell(5, 6)) && layout.is_free(MazeCell(5, 6)));
    }

    #[test]
    fn following_next_cells_takes_as_many_cells_as_the_search_says() {
        for maze in Maze::ALL {
            let layout = maze.layout();
            for goal in layout.free() {
                let cells_to = layout.cells_to(goal);
                for start in layout.free() {
                    let mut walked = 0;
                    let mut here = start;
                    while layout.next_cell(here, &cells_to) != here {
                        here = layout.next_cell(here, &cells_to);
                        walked += 1;
                    }
                    match cells_to[layout.index(start)] {
                        Some(cells) => assert_eq!((here, walked), (goal, cells)),
                        None => assert_eq!((here, walked), (start, 0), "no path, no move"),
                    }
                }
            }
        }
    }

    #[test]
    fn one_exit_of_the_teleporters_is_a_closed_pocket() {
        let layout = Maze::Teleport.layout();
        let from_pocket = layout.cells_to(MazeCell(1, 7));
        assert_eq!(from_pocket.iter().flatten().count(), 1);
        assert!(layout.exits().contains(&MazeCell(1, 7)));
        // No path leads to a wall, or out of the map.
        for goal in [MazeCell(0, 0), MazeCell(3, 99)] {
            assert!(layout.cells_to(goal).iter().all(Option::is_none), "{goal:?}");
        }
        assert_eq!(layout.next_cell(MazeCell(99, 99), &from_pocket), MazeCell(99, 99));
        assert!(layout.is_entrance([20.0, 10.5]) && !layout.is_entrance([20.0, 10.4]));
    }
}
