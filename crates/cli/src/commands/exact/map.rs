//! Text maps.

use super::{Args, solve};
use crate::commands::output::{Field, Report, count, named, note_fmt, save};
use anyhow::{Context, anyhow, bail};
use isochrone::{
    data::tabular::read_map,
    exact::{Cell, Direction, GoalDistances, GridWorld, TabularMdp, path_to_goal},
    plot::{FieldMap, Glyph},
};
use serde_json::json;
use std::io::Write;

/// The maximum width of a text map; wider maps are printed as a table of cells.
const MAX_TEXT_WIDTH: usize = 160;

struct Solved<'a> {
    args: &'a Args,
    grid: GridWorld,
    distances: GoalDistances,
    goals: Vec<(usize, usize)>,
    /// The start cell and its state.
    start: Option<((usize, usize), usize)>,
    /// The cells from the start to the goal; empty without a start or a path.
    path: Vec<(usize, usize)>,
}

pub fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<()> {
    let grid = read_map(&args.input)?;
    let mdp = grid.to_mdp(args.slip.unwrap_or(0.0)).context("--slip")?;
    if args.all_pairs {
        let name = |state| cell_name(grid.position(state));
        return solve::all_pairs(args, &mdp, name, out);
    }
    let solved = solve(args, grid, &mdp)?;
    solved.print_summary();
    if let Some(path) = &args.plot {
        save(&solved.field().draw(), path)?;
    }
    match solved.text_grid() {
        Some(grid) if args.style.is_text() => Ok(out.write_all(grid.as_bytes())?),
        _ => Ok(solved.table().write(solved.rows(), &args.style, out)?),
    }
}

fn solve<'a>(args: &'a Args, grid: GridWorld, mdp: &TabularMdp) -> anyhow::Result<Solved<'a>> {
    if args.goal.is_empty() && grid.goals().is_empty() {
        bail!("{}: no goal; hint: mark a cell with G, or set --goal ROW,COLUMN", args.input.display());
    }
    let (mut goals, start) = args.ends(|flag, text| parse_cell(&grid, flag, text))?;
    if goals.is_empty() {
        goals = grid.goals().to_vec();
    }
    let state = |(row, column)| grid.state(row, column).expect("goals and starts are free cells");
    let start = start.or(grid.start()).map(|cell| (cell, state(cell)));
    let goal_states: Vec<usize> = goals.iter().map(|&goal| state(goal)).collect();
    let distances = solve::to_goal_set(args, mdp, &goal_states)?;
    let path = start.map_or_else(Vec::new, |(_, start)| path_to_goal(mdp, &distances, start));
    let path = path.into_iter().map(|state| grid.position(state)).collect();
    Ok(Solved { args, grid, distances, goals, start, path })
}

fn parse_cell(grid: &GridWorld, flag: &str, text: &str) -> anyhow::Result<(usize, usize)> {
    let numbers = text.split_once(',').and_then(|(row, column)| {
        Some((row.trim().parse::<usize>().ok()?, column.trim().parse::<usize>().ok()?))
    });
    let (row, column) = numbers.ok_or_else(|| {
        anyhow!("{flag} {text:?} is not a cell; hint: write ROW,COLUMN, counted from 0 at the top left")
    })?;
    let (last_row, last_column) = (grid.height() - 1, grid.width() - 1);
    if row > last_row || column > last_column {
        bail!("{flag} {text}: outside the map; hint: rows are 0 to {last_row}, columns 0 to {last_column}");
    }
    if grid.cell(row, column) == Cell::Wall {
        bail!("{flag} {text} is a wall; hint: ROW,COLUMN are counted from 0 at the top left");
    }
    Ok((row, column))
}

fn cell_name((row, column): (usize, usize)) -> String {
    format!("{row},{column}")
}

impl Solved<'_> {
    fn slip(&self) -> f64 {
        self.args.slip.unwrap_or(0.0)
    }

    fn cells(&self) -> impl Iterator<Item = ((usize, usize), usize)> + Clone {
        (0..self.grid.n_states()).map(|state| (self.grid.position(state), state))
    }

    /// Prints a summary to stderr.
    fn print_summary(&self) {
        let grid = &self.grid;
        note_fmt!(
            "{} x {} map, {}, slip {}, gamma {}; {}",
            grid.height(),
            grid.width(),
            count(grid.n_states(), "free cell"),
            self.slip(),
            self.args.gamma,
            solve::quality(&self.distances)
        );
        let can_reach =
            |state: usize| self.distances.nats(state) > 0.0 && self.distances.nats(state).is_finite();
        let finite = self.cells().filter(|&(_, state)| can_reach(state));
        let farthest = finite.max_by(|a, b| self.distances.nats(a.1).total_cmp(&self.distances.nats(b.1)));
        if let Some((cell, state)) = farthest {
            note_fmt!("farthest: {} at {}", cell_name(cell), self.steps_text(state));
        }
        let n_unreachable =
            self.cells().filter(|&(_, state)| self.distances.nats(state).is_infinite()).count();
        if n_unreachable > 0 {
            note_fmt!("no path to the goal from {}", count(n_unreachable, "cell"));
        }
        if let Some((cell, state)) = self.start {
            let name = cell_name(cell);
            match self.path.len() {
                0 => note_fmt!("start {name}: the goal cannot be reached"),
                cells => {
                    let (steps, moves) = (self.steps_text(state), count(cells - 1, "move"));
                    note_fmt!("start {name}: {steps}; best path of {moves}");
                }
            }
        }
    }

    fn steps_text(&self, state: usize) -> String {
        let steps = self.distances.steps(state);
        match self.args.step_seconds {
            Some(seconds) => format!("{steps:.2} steps ({:.2} s)", steps * seconds),
            None => format!("{steps:.2} steps"),
        }
    }

    /// Returns the map with the number of steps in each cell, unless it is too wide.
    fn text_grid(&self) -> Option<String> {
        let grid = &self.grid;
        let text = |row: usize, column: usize| match grid.state(row, column) {
            None => "#".to_owned(),
            Some(state) if self.distances.nats(state).is_infinite() => "x".to_owned(),
            Some(state) => format!("{:.1}", self.distances.steps(state)),
        };
        let cells: Vec<Vec<String>> = (0..grid.height())
            .map(|row| (0..grid.width()).map(|column| text(row, column)).collect())
            .collect();
        let width = cells.iter().flatten().map(String::len).max().unwrap_or(1);
        if (width + 1) * grid.width() > MAX_TEXT_WIDTH {
            return None;
        }
        let line = |row: &Vec<String>| {
            row.iter().map(|cell| format!("{cell:>width$}")).collect::<Vec<_>>().join(" ")
        };
        Some(cells.iter().map(|row| line(row) + "\n").collect())
    }

    /// Returns the table without its rows.
    fn table(&self) -> Report {
        let (args, distances) = (self.args, &self.distances);
        let mut facts = solve::facts(args, distances);
        facts["slip"] = json!(self.slip());
        facts["goals"] = json!(self.goals);
        if let Some((cell, state)) = self.start {
            facts["start"] = json!({"cell": cell, "steps": distances.steps(state), "path": self.path});
        }
        let columns = ["row", "column"].into_iter().chain(solve::distance_columns(args)).chain(["action"]);
        Report::new(facts, named(columns), [])
    }

    /// Makes the rows of the table: one for each cell.
    fn rows(&self) -> impl Iterator<Item = Vec<Field>> + Clone {
        let (args, distances) = (self.args, &self.distances);
        self.cells().map(move |((row, column), state)| {
            let mut fields = vec![Field::Count(row), Field::Count(column)];
            fields.extend(solve::distance_fields(args, distances.steps(state), distances.nats(state)));
            let action = distances.action(state).map(|action| Direction::ALL[action].name().to_owned());
            fields.push(action.map_or(Field::Missing, Field::Text));
            fields
        })
    }

    /// Returns the map to plot.
    fn field(&self) -> FieldMap {
        let grid = &self.grid;
        let slip = if self.slip() > 0.0 { format!(", slip {}", self.slip()) } else { String::new() };
        let title = match self.start {
            Some((_, start)) if !self.path.is_empty() => {
                format!("{:.1} steps from start to goal{slip}", self.distances.steps(start))
            }
            Some(_) => format!("The start cannot reach the goal{slip}"),
            None => format!("Steps to the goal{slip}"),
        };
        let legend = format!("effective steps (gamma {})", self.args.gamma);
        let mut field = FieldMap::new(grid.height(), grid.width(), title, legend);
        for ((row, column), state) in self.cells() {
            field.set_steps((row, column), self.distances.steps(state));
            let glyph = match grid.cell(row, column) {
                Cell::OneWay(direction) => {
                    let (rows, columns) = direction.offset();
                    Some(Glyph::Arrow(rows, columns))
                }
                Cell::Teleporter(digit) => Some(Glyph::Label((b'0' + digit) as char)),
                Cell::Free | Cell::Wall => None,
            };
            field.glyphs.extend(glyph.map(|glyph| ((row, column), glyph)));
            // Isochrones are drawn only between cells that are connected in both directions.
            for (there, back) in [(Direction::Right, Direction::Left), (Direction::Down, Direction::Up)] {
                if let Some(next) = grid.neighbor(row, column, there)
                    && grid.neighbor(next.0, next.1, back).is_some()
                    && !self.is_teleporter(next)
                    && !self.is_teleporter((row, column))
                {
                    field.join((row, column), next);
                }
            }
        }
        field.goals.clone_from(&self.goals);
        field.path = match self.start {
            Some((start, _)) if self.path.is_empty() => vec![start],
            _ => self.path.clone(),
        };
        field
    }

    /// Returns whether the cell is a teleporter. Entering one leads elsewhere, so it is not
    /// connected to adjacent cells.
    fn is_teleporter(&self, (row, column): (usize, usize)) -> bool {
        matches!(self.grid.cell(row, column), Cell::Teleporter(_))
    }
}
