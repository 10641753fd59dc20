//! Cells, walls, and the way from one cell to the next.

use serde::Deserialize;
use std::collections::VecDeque;

/// The side of a cell, in metres.
pub const CELL: f64 = 4.0;

/// Where somebody is, in metres. The centre of the cell in row 1 and column 1 is the origin; columns go along x, rows along y.
pub type Place = [f64; 2];

/// A cell: its row and its column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
pub struct Cell(pub usize, pub usize);

/// The order in which neighbours are looked at: of two that are equally near to a goal, the oracle prefers the first.
const NEIGHBOURS: [(isize, isize); 4] = [(-1, 0), (0, -1), (1, 0), (0, 1)];

/// Who comes within this of the centre of an entrance is carried off.
const TELEPORT_RADIUS: f64 = 1.5;

/// A map of walls.
#[derive(Debug, Clone, PartialEq)]
pub struct Layout {
    columns: usize,
    /// Row by row.
    is_wall: Vec<bool>,
    entrances: Vec<Cell>,
    exits: Vec<Cell>,
}

impl Cell {
    /// Its centre.
    pub fn centre(self) -> Place {
        [CELL * self.1 as f64 - CELL, CELL * self.0 as f64 - CELL]
    }

    /// The cell that a place lies in; places beyond the first row or column count to it.
    pub fn of(place: Place) -> Self {
        let index = |metres: f64| ((metres + 1.5 * CELL) / CELL).max(0.0) as usize;
        Self(index(place[1]), index(place[0]))
    }

    fn neighbours(self) -> impl Iterator<Item = Self> {
        NEIGHBOURS.into_iter().filter_map(move |(down, right)| {
            Some(Self(self.0.checked_add_signed(down)?, self.1.checked_add_signed(right)?))
        })
    }
}

impl Layout {
    /// Reads rows of `1` for walls and `0` for free cells.
    pub(super) fn new(map: &str, entrances: Vec<Cell>, exits: Vec<Cell>) -> Self {
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

    fn index(&self, cell: Cell) -> usize {
        cell.0 * self.columns + cell.1
    }

    /// Whether one can be in a cell; what lies beyond the map is a wall.
    pub fn is_free(&self, cell: Cell) -> bool {
        cell.0 < self.rows() && cell.1 < self.columns && !self.is_wall[self.index(cell)]
    }

    fn cells(&self) -> impl Iterator<Item = Cell> {
        (0..self.is_wall.len()).map(|index| Cell(index / self.columns, index % self.columns))
    }

    /// Cells that are walls, row by row.
    pub fn walls(&self) -> impl Iterator<Item = Cell> {
        self.cells().filter(|&cell| !self.is_free(cell))
    }

    /// Cells that are not, row by row.
    pub fn free(&self) -> impl Iterator<Item = Cell> {
        self.cells().filter(|&cell| self.is_free(cell))
    }

    /// Free cells where one can turn: all but those in the middle of a straight corridor.
    pub fn vertices(&self) -> impl Iterator<Item = Cell> {
        self.free().filter(|&Cell(row, column)| {
            let vertical = [Cell(row - 1, column), Cell(row + 1, column)].map(|cell| self.is_free(cell));
            let horizontal = [Cell(row, column - 1), Cell(row, column + 1)].map(|cell| self.is_free(cell));
            !matches!((vertical, horizontal), ([true, true], [false, false]) | ([false, false], [true, true]))
        })
    }

    /// Where one is carried to, with equal chances.
    pub fn exits(&self) -> &[Cell] {
        &self.exits
    }

    /// Whether somebody at a place is carried off.
    pub fn is_entrance(&self, place: Place) -> bool {
        self.entrances.iter().any(|entrance| apart(place, entrance.centre()) <= TELEPORT_RADIUS)
    }

    /// Cells between every cell and a goal cell, row by row, by breadth-first search over four neighbours; none where there is no way. Teleporters are not used.
    pub fn cells_to(&self, goal: Cell) -> Vec<Option<u32>> {
        let mut cells = vec![None; self.is_wall.len()];
        if !self.is_free(goal) {
            return cells;
        }
        cells[self.index(goal)] = Some(0);
        let mut open = VecDeque::from([(goal, 0)]);
        while let Some((cell, cost)) = open.pop_front() {
            for next in cell.neighbours().filter(|&next| self.is_free(next)) {
                let known = &mut cells[next.0 * self.columns + next.1];
                if known.is_none() {
                    *known = Some(cost + 1);
                    open.push_back((next, cost + 1));
                }
            }
        }
        cells
    }

    /// Free cells that are exactly this many cells away.
    pub fn at_distance(&self, from: Cell, cells: u32) -> Vec<Cell> {
        let away = self.cells_to(from);
        self.free().filter(|&cell| away[self.index(cell)] == Some(cells)).collect()
    }

    /// The cell to go to next, given [`cells_to`](Self::cells_to) a goal; the same cell at the goal, and where there is no way.
    pub fn next_cell(&self, from: Cell, cells_to_goal: &[Option<u32>]) -> Cell {
        let mut best = from;
        if !self.is_free(from) {
            return from;
        }
        for next in from.neighbours().filter(|&next| self.is_free(next)) {
            // Where there is no way to the goal, nothing is nearer than anything else.
            if let (Some(there), Some(here)) =
                (cells_to_goal[self.index(next)], cells_to_goal[self.index(best)])
                && there < here
            {
                best = next;
            }
        }
        best
    }
}

/// How far apart two places are, in metres.
pub(crate) fn apart(a: Place, b: Place) -> f64 {
    (a[0] - b[0]).hypot(a[1] - b[1])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::maze::Maze;

    #[test]
    fn cells_and_places_agree() {
        assert_eq!(Cell(1, 1).centre(), [0.0, 0.0]);
        assert_eq!(Cell(2, 5).centre(), [16.0, 4.0]);
        for cell in Maze::Giant.layout().free() {
            let [x, y] = cell.centre();
            for (dx, dy) in [(0.0, 0.0), (-1.99, 1.99), (1.99, -1.99)] {
                assert_eq!(Cell::of([x + dx, y + dy]), cell);
            }
        }
    }

    #[test]
    fn straight_corridors_are_no_vertices() {
        let layout = Maze::Medium.layout();
        let vertices: Vec<Cell> = layout.vertices().collect();
        // A dead end, a bend, a junction; and a cell between two others.
        for cell in [Cell(1, 6), Cell(3, 2), Cell(6, 6)] {
            assert!(vertices.contains(&cell), "{cell:?}");
        }
        assert!(!vertices.contains(&Cell(5, 6)) && layout.is_free(Cell(5, 6)));
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
                        None => assert_eq!((here, walked), (start, 0), "nobody moves without a way"),
                    }
                }
            }
        }
    }

    #[test]
    fn one_exit_of_the_teleporters_is_a_pocket_without_a_way_out() {
        let layout = Maze::Teleport.layout();
        let from_pocket = layout.cells_to(Cell(1, 7));
        assert_eq!(from_pocket.iter().flatten().count(), 1);
        assert!(layout.exits().contains(&Cell(1, 7)));
        // Who asks about a wall, or about nowhere, is told that there is no way.
        assert!(layout.cells_to(Cell(0, 0)).iter().chain(&layout.cells_to(Cell(3, 99))).all(Option::is_none));
        assert_eq!(layout.next_cell(Cell(99, 99), &from_pocket), Cell(99, 99));
        assert!(layout.is_entrance([20.0, 10.5]) && !layout.is_entrance([20.0, 10.4]));
    }
}
