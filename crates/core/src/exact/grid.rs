//! Gridworlds from text maps.

use super::{
    builder::{MdpError, RowWriter},
    mdp::TabularMdp,
};
use thiserror::Error;

/// A direction of movement, which is also an action: the action number is the index in
/// [`Direction::ALL`].
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
    /// All directions, clockwise, in the order of action numbers.
    pub const ALL: [Self; 4] = [Self::Up, Self::Right, Self::Down, Self::Left];

    /// Returns the name of the action.
    pub fn name(self) -> &'static str {
        ["up", "right", "down", "left"][self as usize]
    }

    /// Returns the displacement `(rows, columns)`.
    pub fn offset(self) -> (isize, isize) {
        [(-1, 0), (0, 1), (1, 0), (0, -1)][self as usize]
    }

    fn turned(self, quarter_turns: usize) -> Self {
        Self::ALL[(self as usize + quarter_turns) % 4]
    }
}

/// The type of one cell of a map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cell {
    /// `#`: cannot be entered.
    Wall,
    /// `.` (also `S` and `G`): open floor.
    Free,
    /// `^ > v <`: can be left only along the arrow, and entered from every side but the one it
    /// points to.
    OneWay(Direction),
    /// `0`-`9`: moves an agent that enters to another cell with the same digit, uniformly at
    /// random.
    Teleporter(u8),
}

/// An error in a map. Lines and columns are numbered from 1.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum MapError {
    /// All cells are walls.
    #[error("the map has no free cell; hint: '.' is free, '#' is a wall")]
    NoFreeCell,
    /// Lines have different lengths.
    #[error(
        "line {line} has {width} cells, the first line has {expected}; hint: pad the map to a rectangle with '#'"
    )]
    Ragged {
        /// The line.
        line: usize,
        /// Its length.
        width: usize,
        /// The length of the first line.
        expected: usize,
    },
    /// A character is not a cell type.
    #[error(
        "line {line}, column {column}: unknown cell {cell:?}; hint: use # . ^ > v < 0-9, S for the start, G for a goal"
    )]
    UnknownCell {
        /// The line of the character.
        line: usize,
        /// The column of the character.
        column: usize,
        /// The character.
        cell: char,
    },
    /// There is more than one `S`.
    #[error("line {line}, column {column}: second start 'S'; hint: a map has at most one start")]
    SecondStart {
        /// The line of the second one.
        line: usize,
        /// The column of the second one.
        column: usize,
    },
    /// A digit occurs only once.
    #[error("teleporter '{digit}' occurs only once; hint: add a second cell with the same digit as its exit")]
    UnpairedTeleporter {
        /// The digit.
        digit: u8,
    },
    /// Too many cells have the same digit: every entrance leads to every exit.
    #[error(
        "the {cells} cells of teleporter '{digit}' lead to more than {limit} transitions; hint: use fewer cells \
         with the same digit, or other digits for some of them"
    )]
    TooManyTeleporters {
        /// The digit with the most transitions.
        digit: u8,
        /// The number of its cells.
        cells: usize,
        /// The maximum number of transitions of all teleporters.
        limit: usize,
    },
    /// The slip probability is not in [0, 1].
    #[error("slip = {0} is not in [0, 1]; hint: with 0.1, one move in ten goes sideways")]
    Slip(f64),
    /// The map is too large for the solver.
    #[error(transparent)]
    Mdp(#[from] MdpError),
}

/// The maximum number of transitions that teleporters may have (100 MiB of them).
const MAX_TELEPORTER_TRANSITIONS: usize = 1 << 23;

/// A rectangular map of cells. Coordinates are `(row, column)` from 0 at the top left.
#[derive(Debug, Clone, PartialEq)]
pub struct GridWorld {
    width: usize,
    cells: Vec<Cell>,
    start: Option<(usize, usize)>,
    goals: Vec<(usize, usize)>,
    /// The state of each cell; `None` for walls.
    state_of_cell: Vec<Option<u32>>,
    cell_of_state: Vec<u32>,
}

impl GridWorld {
    /// Parses a map: one line per row, one character per cell. Blank lines at the start and end are
    /// ignored.
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
            Some(digit) => Err(MapError::UnpairedTeleporter { digit }),
            None => Ok(Self { width, cells, start, goals, state_of_cell, cell_of_state }),
        }
    }

    /// Returns the number of columns.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns the number of rows.
    pub fn height(&self) -> usize {
        self.cells.len() / self.width
    }

    /// Returns the `(row, column)` marked `S`.
    pub fn start(&self) -> Option<(usize, usize)> {
        self.start
    }

    /// Returns the cells marked `G`.
    pub fn goals(&self) -> &[(usize, usize)] {
        &self.goals
    }

    /// Returns the cell at `(row, column)`; a wall outside the map.
    pub fn cell(&self, row: usize, column: usize) -> Cell {
        self.index(row, column).map_or(Cell::Wall, |index| self.cells[index])
    }

    /// Returns the number of cells that are not walls.
    pub fn n_states(&self) -> usize {
        self.cell_of_state.len()
    }

    /// Returns the state of a cell; `None` for walls and outside the map.
    pub fn state(&self, row: usize, column: usize) -> Option<usize> {
        self.state_of_cell[self.index(row, column)?].map(|state| state as usize)
    }

    fn index(&self, row: usize, column: usize) -> Option<usize> {
        (row < self.height() && column < self.width).then(|| row * self.width + column)
    }

    /// Returns the `(row, column)` of a state.
    pub fn position(&self, state: usize) -> (usize, usize) {
        let index = self.cell_of_state[state] as usize;
        (index / self.width, index % self.width)
    }

    /// Returns the cell that a move from `(row, column)` enters, or `None` if the move is blocked.
    /// Teleporters are not applied.
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

    /// Builds the Markov decision process of the map. Action `k` is `Direction::ALL[k]`.
    ///
    /// A move goes in its direction with probability `1 - slip` and to either side with probability
    /// `slip / 2` each. A blocked move stays in place.
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
        self.check_teleporters(&exits, if slip > 0.0 { 3 } else { 1 })?;
        let mut writer = RowWriter::new(self.n_states());
        let mut outcomes = Vec::new();
        for state in 0..self.n_states() {
            for (action, direction) in Direction::ALL.into_iter().enumerate() {
                outcomes.clear();
                for (quarter_turns, probability) in [(0, 1.0 - slip), (1, 0.5 * slip), (3, 0.5 * slip)] {
                    let turned = direction.turned(quarter_turns);
                    self.push_outcomes(state, turned, probability, &exits, &mut outcomes);
                }
                writer.row(state, action, outcomes.iter().copied())?;
            }
        }
        Ok(writer.finish()?)
    }

    /// Refuses maps whose teleporters have too many transitions: their number grows with the square
    /// of the cells that share a digit, so a small map could take all memory. A move can enter
    /// `directions` cells.
    fn check_teleporters(&self, exits: &[Vec<usize>], directions: usize) -> Result<(), MapError> {
        let mut transitions = [0usize; 10];
        for state in 0..self.n_states() {
            let (row, column) = self.position(state);
            for direction in Direction::ALL {
                let Some((row, column)) = self.neighbor(row, column, direction) else { continue };
                if let Cell::Teleporter(digit) = self.cell(row, column) {
                    let others = exits[digit as usize].len() - 1;
                    transitions[digit as usize] += directions * others;
                }
            }
        }
        if transitions.iter().sum::<usize>() <= MAX_TELEPORTER_TRANSITIONS {
            return Ok(());
        }
        let digit = (0..10u8).max_by_key(|&digit| transitions[digit as usize]).unwrap_or(0);
        let (cells, limit) = (exits[digit as usize].len(), MAX_TELEPORTER_TRANSITIONS);
        Err(MapError::TooManyTeleporters { digit, cells, limit })
    }

    fn push_outcomes(
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
        let grid = GridWorld::parse(map).unwrap();
        let mdp = grid.to_mdp(slip).unwrap();
        let goal = grid.state(to.0, to.1).unwrap();
        let solver = ExactSolver::new(&mdp, Discount::new(0.9).unwrap());
        solver.to_goal(goal).unwrap().steps(grid.state(from.0, from.1).unwrap())
    }

    #[test]
    fn a_path_takes_one_step_per_cell() {
        assert!((steps("...\n.#.\n...", 0.0, (0, 0), (2, 2)) - 4.0).abs() < 1e-12);
    }

    #[test]
    fn one_way_cells_can_be_passed_only_along_the_arrow() {
        assert!((steps(".>.", 0.0, (0, 0), (0, 2)) - 2.0).abs() < 1e-12);
        assert_eq!(steps(".>.", 0.0, (0, 2), (0, 0)), f64::INFINITY);
        // One-way cells may turn a corner: only the side that an arrow points to is closed.
        assert!((steps(".>v\n##.", 0.0, (0, 0), (1, 2)) - 3.0).abs() < 1e-12);
    }

    #[test]
    fn teleporters_lead_to_the_other_cells_with_their_digit() {
        assert!((steps(".1#1.", 0.0, (0, 0), (0, 4)) - 2.0).abs() < 1e-12);
        // Three cells: entering one leads to either of the others, and one of those is a dead end.
        let fork = steps(".1#1.\n###1#", 0.0, (0, 0), (0, 4));
        assert!(fork > 2.0 && fork.is_finite());
    }

    #[test]
    fn many_teleporters_of_one_digit_are_refused() {
        let map =
            |side: usize| format!("{}G{}", ("0".repeat(side) + "\n").repeat(side - 1), "0".repeat(side - 1));
        for (side, slip) in [(60, 0.0), (100, 0.0), (1000, 0.0), (30, 0.1)] {
            let error = GridWorld::parse(&map(side)).unwrap().to_mdp(slip).unwrap_err();
            assert!(
                matches!(error, MapError::TooManyTeleporters { digit: 0, cells, .. } if cells == side * side - 1),
                "{side}: {error}"
            );
        }
        GridWorld::parse(&map(30)).unwrap().to_mdp(0.0).unwrap();
        // Ten digits share the cells: a tenth of the transitions.
        let row: String = (0..60).map(|cell| char::from(b'0' + cell as u8 % 10)).collect();
        GridWorld::parse(&(row + "\n").repeat(60)).unwrap().to_mdp(0.0).unwrap();
    }

    #[test]
    fn slip_increases_the_distance() {
        let dry = steps(".....\n.....", 0.0, (0, 0), (0, 4));
        let wet = steps(".....\n.....", 0.2, (0, 0), (0, 4));
        assert!(wet > dry + 0.5, "{wet} against {dry}");
    }

    #[test]
    fn errors_give_line_and_column() {
        let error = |text: &str| GridWorld::parse(text).unwrap_err();
        assert_eq!(error(".?"), MapError::UnknownCell { line: 1, column: 2, cell: '?' });
        assert_eq!(error("\n..\n."), MapError::Ragged { line: 3, width: 1, expected: 2 });
        assert_eq!(error("SS"), MapError::SecondStart { line: 1, column: 2 });
        assert_eq!(error("1."), MapError::UnpairedTeleporter { digit: 1 });
        assert_eq!(error("##"), MapError::NoFreeCell);
        assert_eq!(error(""), MapError::NoFreeCell);
        assert_eq!(GridWorld::parse(".").unwrap().to_mdp(1.5), Err(MapError::Slip(1.5)));
    }
}
