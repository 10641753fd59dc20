//! Grid worlds from text maps.

use super::{
    builder::{MdpError, RowWriter},
    mdp::TabularMdp,
};
use thiserror::Error;

/// A direction of movement, which is also an action: its number is its place in [`Direction::ALL`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// To the previous row.
    Up,
    /// To the next column.
    Right,
    /// To the next row.
    Down,
    /// To the previous column.
    Left,
}

impl Direction {
    /// Clockwise, in the order of action numbers.
    pub const ALL: [Self; 4] = [Self::Up, Self::Right, Self::Down, Self::Left];

    /// The name of the action.
    pub fn name(self) -> &'static str {
        ["up", "right", "down", "left"][self as usize]
    }

    /// `(rows, columns)` moved.
    pub fn offset(self) -> (isize, isize) {
        [(-1, 0), (0, 1), (1, 0), (0, -1)][self as usize]
    }

    fn turned(self, quarter_turns: usize) -> Self {
        Self::ALL[(self as usize + quarter_turns) % 4]
    }
}

/// What stands on one square of a map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cell {
    /// `#`: cannot be entered.
    Wall,
    /// `.` (also `S` and `G`): open floor.
    Free,
    /// `^ > v <`: left only along the arrow, entered from anywhere but its front.
    OneWay(Direction),
    /// `0`-`9`: an agent that enters comes out at another cell with the same digit, each equally likely.
    Teleporter(u8),
}

/// What can be wrong with a map. Lines and columns count from 1, as editors show them.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum MapError {
    /// No cell that is not a wall.
    #[error("the map has no free cell; hint: '.' is free, '#' is a wall")]
    NoFreeCell,
    /// Lines of different lengths.
    #[error(
        "line {line} has {width} cells, the first line has {expected}; hint: make the map a rectangle, fill with '#'"
    )]
    Ragged {
        /// The offending line.
        line: usize,
        /// Its length.
        width: usize,
        /// The length of the first line.
        expected: usize,
    },
    /// A character that means nothing.
    #[error(
        "line {line}, column {column}: unknown cell {cell:?}; hint: use # . ^ > v < 0-9, S for the start, G for a goal"
    )]
    UnknownCell {
        /// Line of the character.
        line: usize,
        /// Column of the character.
        column: usize,
        /// The character.
        cell: char,
    },
    /// More than one `S`.
    #[error("line {line}, column {column}: a second start 'S'; hint: keep one")]
    SecondStart {
        /// Line of the second one.
        line: usize,
        /// Column of the second one.
        column: usize,
    },
    /// A digit that occurs once.
    #[error(
        "teleporter '{digit}' occurs once; hint: a teleporter needs a second cell with the same digit to come out at"
    )]
    LonelyTeleporter {
        /// The digit.
        digit: u8,
    },
    /// A slip probability outside [0, 1].
    #[error("slip = {0} is not in [0, 1]; hint: 0.1 sends one move in ten sideways")]
    Slip(f64),
    /// The map is too large for the solver.
    #[error(transparent)]
    Mdp(#[from] MdpError),
}

/// A rectangular map of cells. Coordinates are `(row, column)` from 0 at the top left.
#[derive(Debug, Clone, PartialEq)]
pub struct GridWorld {
    width: usize,
    cells: Vec<Cell>,
    start: Option<(usize, usize)>,
    goals: Vec<(usize, usize)>,
    /// The state of each cell; walls have none.
    state_of_cell: Vec<Option<u32>>,
    cell_of_state: Vec<u32>,
}

impl GridWorld {
    /// Parses a map: one line per row, one character per cell, blank lines at either end ignored.
    pub fn parse(text: &str) -> Result<Self, MapError> {
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        let first = lines.iter().position(|line| !line.is_empty()).ok_or(MapError::NoFreeCell)?;
        let last = lines.iter().rposition(|line| !line.is_empty()).unwrap_or(first);
        let width = lines[first].chars().count();
        let (mut cells, mut start, mut goals) = (Vec::new(), None, Vec::new());
        for (row, text) in lines[first..=last].iter().enumerate() {
            let (line, found) = (first + row + 1, text.chars().count());
            if found != width {
                return Err(MapError::Ragged { line, width: found, expected: width });
            }
            for (column, cell) in text.chars().enumerate() {
                match cell {
                    'S' if start.is_some() => return Err(MapError::SecondStart { line, column: column + 1 }),
                    'S' => start = Some((row, column)),
                    'G' => goals.push((row, column)),
                    _ => {}
                }
                let unknown = MapError::UnknownCell { line, column: column + 1, cell };
                cells.push(parse_cell(cell).ok_or(unknown)?);
            }
        }
        let mut cell_of_state = Vec::new();
        let number = |(index, &cell): (usize, &Cell)| {
            (cell != Cell::Wall).then(|| {
                cell_of_state.push(index as u32);
                cell_of_state.len() as u32 - 1
            })
        };
        let state_of_cell = cells.iter().enumerate().map(number).collect();
        if cell_of_state.is_empty() {
            return Err(MapError::NoFreeCell);
        }
        let occurs_once = |digit| cells.iter().filter(|&&cell| cell == Cell::Teleporter(digit)).count() == 1;
        match (0..10).find(|&digit| occurs_once(digit)) {
            Some(digit) => Err(MapError::LonelyTeleporter { digit }),
            None => Ok(Self { width, cells, start, goals, state_of_cell, cell_of_state }),
        }
    }

    /// Columns of the map.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Rows of the map.
    pub fn height(&self) -> usize {
        self.cells.len() / self.width
    }

    /// The cell marked `S`.
    pub fn start(&self) -> Option<(usize, usize)> {
        self.start
    }

    /// The cells marked `G`.
    pub fn goals(&self) -> &[(usize, usize)] {
        &self.goals
    }

    /// What stands at `(row, column)`; a wall outside the map.
    pub fn cell(&self, row: usize, column: usize) -> Cell {
        self.index(row, column).map_or(Cell::Wall, |index| self.cells[index])
    }

    /// Number of cells that are not walls.
    pub fn n_states(&self) -> usize {
        self.cell_of_state.len()
    }

    /// The state of a cell; `None` for walls and outside the map.
    pub fn state(&self, row: usize, column: usize) -> Option<usize> {
        self.state_of_cell[self.index(row, column)?].map(|state| state as usize)
    }

    fn index(&self, row: usize, column: usize) -> Option<usize> {
        (row < self.height() && column < self.width).then(|| row * self.width + column)
    }

    /// The `(row, column)` of a state.
    pub fn position(&self, state: usize) -> (usize, usize) {
        let index = self.cell_of_state[state] as usize;
        (index / self.width, index % self.width)
    }

    /// The cell that a move from `(row, column)` enters, if it is not blocked. Teleporters are not followed.
    pub fn neighbor(&self, row: usize, column: usize, direction: Direction) -> Option<(usize, usize)> {
        let (rows, columns) = direction.offset();
        let (to_row, to_column) = (row.checked_add_signed(rows)?, column.checked_add_signed(columns)?);
        let may_leave = match self.cell(row, column) {
            Cell::OneWay(arrow) => arrow == direction,
            cell => cell != Cell::Wall,
        };
        let may_enter = match self.cell(to_row, to_column) {
            Cell::OneWay(arrow) => arrow != direction.turned(2),
            cell => cell != Cell::Wall,
        };
        (may_leave && may_enter).then_some((to_row, to_column))
    }

    /// The decision process of walking on the map. Action `k` is `Direction::ALL[k]`.
    ///
    /// A move goes where it is meant with probability `1 - slip` and to either side with `slip / 2`
    /// each; a blocked move stays in place.
    pub fn to_mdp(&self, slip: f64) -> Result<TabularMdp, MapError> {
        if !(0.0..=1.0).contains(&slip) {
            return Err(MapError::Slip(slip));
        }
        let mut exits: Vec<Vec<usize>> = vec![Vec::new(); 10];
        for state in 0..self.n_states() {
            if let Cell::Teleporter(digit) = self.cells[self.cell_of_state[state] as usize] {
                exits[digit as usize].push(state);
            }
        }
        let mut writer = RowWriter::new(self.n_states());
        let mut outcomes = Vec::new();
        for state in 0..self.n_states() {
            for (action, direction) in Direction::ALL.into_iter().enumerate() {
                outcomes.clear();
                for (quarter_turns, probability) in [(0, 1.0 - slip), (1, 0.5 * slip), (3, 0.5 * slip)] {
                    let turned = direction.turned(quarter_turns);
                    self.push_arrivals(state, turned, probability, &exits, &mut outcomes);
                }
                writer.row(state, action, outcomes.iter().copied())?;
            }
        }
        Ok(writer.finish()?)
    }

    fn push_arrivals(
        &self,
        state: usize,
        direction: Direction,
        probability: f64,
        exits: &[Vec<usize>],
        outcomes: &mut Vec<(usize, f64)>,
    ) {
        let (row, column) = self.position(state);
        let Some((to_row, to_column)) = self.neighbor(row, column, direction) else {
            outcomes.push((state, probability));
            return;
        };
        let entered = self.state(to_row, to_column).expect("a neighbor is not a wall");
        if let Cell::Teleporter(digit) = self.cell(to_row, to_column) {
            let others = exits[digit as usize].iter().copied().filter(|&exit| exit != entered);
            let share = probability / (exits[digit as usize].len() - 1) as f64;
            outcomes.extend(others.map(|exit| (exit, share)));
        } else {
            outcomes.push((entered, probability));
        }
    }
}

fn parse_cell(cell: char) -> Option<Cell> {
    Some(match cell {
        '#' => Cell::Wall,
        '.' | 'S' | 'G' => Cell::Free,
        '^' | '↑' => Cell::OneWay(Direction::Up),
        '>' | '→' => Cell::OneWay(Direction::Right),
        'v' | '↓' => Cell::OneWay(Direction::Down),
        '<' | '←' => Cell::OneWay(Direction::Left),
        '0'..='9' => Cell::Teleporter(cell as u8 - b'0'),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Discount, exact::ExactSolver};

    fn steps(map: &str, slip: f64, from: (usize, usize), to: (usize, usize)) -> f64 {
        let world = GridWorld::parse(map).unwrap();
        let mdp = world.to_mdp(slip).unwrap();
        let goal = world.state(to.0, to.1).unwrap();
        let solver = ExactSolver::new(&mdp, Discount::new(0.9).unwrap());
        solver.to_goal(goal).unwrap().steps(world.state(from.0, from.1).unwrap())
    }

    #[test]
    fn walking_takes_as_many_steps_as_cells() {
        assert!((steps("...\n.#.\n...", 0.0, (0, 0), (2, 2)) - 4.0).abs() < 1e-12);
    }

    #[test]
    fn one_way_cells_let_through_one_way() {
        assert!((steps(".>.", 0.0, (0, 0), (0, 2)) - 2.0).abs() < 1e-12);
        assert_eq!(steps(".>.", 0.0, (0, 2), (0, 0)), f64::INFINITY);
        // A street may turn a corner: only the front of an arrow is closed.
        assert!((steps(".>v\n##.", 0.0, (0, 0), (1, 2)) - 3.0).abs() < 1e-12);
    }

    #[test]
    fn teleporters_come_out_at_the_other_end() {
        assert!((steps(".1#1.", 0.0, (0, 0), (0, 4)) - 2.0).abs() < 1e-12);
        // Three exits: entering one comes out at either of the others, and one of them is a dead end.
        let fork = steps(".1#1.\n###1#", 0.0, (0, 0), (0, 4));
        assert!(fork > 2.0 && fork.is_finite());
    }

    #[test]
    fn slipping_costs_time() {
        let dry = steps(".....\n.....", 0.0, (0, 0), (0, 4));
        let wet = steps(".....\n.....", 0.2, (0, 0), (0, 4));
        assert!(wet > dry + 0.5, "{wet} against {dry}");
    }

    #[test]
    fn errors_say_where() {
        let error = |text: &str| GridWorld::parse(text).unwrap_err();
        assert_eq!(error(".?"), MapError::UnknownCell { line: 1, column: 2, cell: '?' });
        assert_eq!(error("\n..\n."), MapError::Ragged { line: 3, width: 1, expected: 2 });
        assert_eq!(error("SS"), MapError::SecondStart { line: 1, column: 2 });
        assert_eq!(error("1."), MapError::LonelyTeleporter { digit: 1 });
        assert_eq!(error("##"), MapError::NoFreeCell);
        assert_eq!(error(""), MapError::NoFreeCell);
        assert_eq!(GridWorld::parse(".").unwrap().to_mdp(1.5), Err(MapError::Slip(1.5)));
    }
}
