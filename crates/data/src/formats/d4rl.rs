//! D4RL files: HDF5 with flat `observations, actions, rewards, terminals, timeouts`, and `infos/*`.
//!
//! A row holds a state and the action taken there; flags mark the ends of episodes. In the mazes,
//! which store `infos/goal`, `timeouts` end episodes and `terminals` only mark visits to the goal;
//! in locomotion both end episodes. If a file is ambiguous, the user has to set [`Ends`]. The state
//! after an episode's last row is not stored, so that row's action is dropped, unless the file has
//! `next_observations`.

use super::{
    Ends, ReadOptions,
    flags::flags,
    flat::{Assembler, Row},
    hdf5::{self, Column, WINDOW_ROWS},
};
use crate::{DataError, Defect, DefectKind, EpisodeSink, Feature, Remedy, Spec, episode::Ending};
use hdf5_pure::File;
use std::path::Path;

const HINT: &str = "a D4RL file has observations, actions, rewards, terminals and timeouts of equal length";

/// Returns whether an HDF5 file looks like D4RL.
pub(super) fn is_d4rl(path: &Path) -> bool {
    path.is_file() && File::open_streaming(path).is_ok_and(|file| file.dataset("observations").is_ok())
}

/// Reads a file in windows of rows.
pub fn read(path: &Path, options: &ReadOptions, sink: &mut dyn EpisodeSink) -> Result<(), DataError> {
    let fail = |problem: String| DataError::malformed(path, problem, HINT);
    let file = hdf5::open(path, HINT)?;
    let column = |name: &str| -> Result<Option<Column>, DataError> {
        match file.dataset(name) {
            Ok(data) => Column::open(&file, name, data).map(Some).map_err(fail),
            Err(_) => Ok(None),
        }
    };
    let needed = |name: &str| column(name)?.ok_or_else(|| fail(format!("no array '{name}'")));
    let observations = needed("observations")?;
    let n = observations.rows;
    let of_length = |column: Option<Column>| match column {
        Some(column) if column.rows != n => {
            Err(fail(format!("'{}' has {} rows, but 'observations' has {n}", column.name, column.rows)))
        }
        column => Ok(column),
    };
    let actions = of_length(Some(needed("actions")?))?.expect("a required column");
    let rewards = of_length(column("rewards")?)?.filter(|rewards| rewards.width == 1);
    let terminals = of_length(column("terminals")?)?.filter(|flags| flags.width == 1);
    let timeouts = of_length(column("timeouts")?)?.filter(|flags| flags.width == 1);
    let next = of_length(column("next_observations")?)?.filter(|next| next.width == observations.width);
    let extras = extra_columns(&file, n, options);

    let (by_timeouts, by_terminals) = match options.ends {
        Ends::Timeouts => (true, false),
        Ends::Terminals => (false, true),
        Ends::Either => (true, true),
        Ends::Auto => {
            match timeout_and_lone_terminal(n, terminals.as_ref(), timeouts.as_ref()).map_err(fail)? {
                (false, _) => (false, true),
                (true, None) => (true, false),
                // Mazes store their goal; there, a terminal is a visit to the goal.
                (true, Some(_)) if file.dataset("infos/goal").is_ok() => (true, false),
                (true, Some(row)) => {
                    sink.defect(Defect {
                        path: path.into(),
                        episode: Some(0),
                        row: usize::try_from(row).ok(),
                        kind: DefectKind::Ends,
                        problem: format!(
                            "it has both timeouts and terminals, \
                         and row {row} of the file is terminal without a timeout"
                        ),
                        hint: Remedy::Ends.hint(|option| {
                            format!(
                                "set {option} to either if a terminal ends the episode (locomotion), \
                             or to timeouts if the episode continues (mazes)"
                            )
                        }),
                    })?;
                    (true, true)
                }
            }
        }
    };

    let mut spec = Spec::new(observations.width, actions.width);
    spec.has_rewards = rewards.is_some();
    spec.extras = extras.iter().map(|extra| Feature::new(extra.short_name(), extra.width)).collect();
    options.complete(path, &mut spec)?;
    let mut assembler = Assembler::begin(path, sink, &spec)?;
    for start in (0..n).step_by(WINDOW_ROWS as usize) {
        let window = |column: &Option<Column>| match column {
            Some(column) => column.read(start, WINDOW_ROWS).map_err(fail),
            None => Ok(Vec::new()),
        };
        let observed = observations.read(start, WINDOW_ROWS).map_err(fail)?;
        let acted = actions.read(start, WINDOW_ROWS).map_err(fail)?;
        let (rewarded, nexts) = (window(&rewards)?, window(&next)?);
        let terminal = flags_of(terminals.as_ref(), start).map_err(fail)?;
        let timeout = flags_of(timeouts.as_ref(), start).map_err(fail)?;
        let extra_rows: Vec<Vec<f32>> = extras
            .iter()
            .map(|extra| extra.read(start, WINDOW_ROWS).map_err(fail))
            .collect::<Result<_, _>>()?;
        for row in 0..(n - start).min(WINDOW_ROWS) as usize {
            let part = |values: &'_ [f32], width: usize| row * width..((row + 1) * width).min(values.len());
            let values = Row {
                observation: &observed[part(&observed, observations.width)],
                action: &acted[part(&acted, actions.width)],
                reward: rewarded.get(row).copied().unwrap_or(0.0),
                timestamp: 0.0,
            };
            let rows = extras.iter().zip(&extra_rows).map(|(extra, rows)| &rows[part(rows, extra.width)]);
            assembler.row(&values, rows)?;
            let [is_terminal, is_timeout] = [&terminal, &timeout].map(|flags| flags.get(row) == Some(&true));
            let ending = match (is_terminal && by_terminals, is_timeout && by_timeouts) {
                (true, _) => Ending::Terminated,
                (false, true) => Ending::Truncated,
                (false, false) => continue,
            };
            if nexts.is_empty() {
                assembler.end(ending)?;
            } else {
                assembler.end_with(&nexts[part(&nexts, observations.width)], ending)?;
            }
        }
    }
    if assembler.rows() > 0 {
        if assembler.number() == 0 {
            let problem = format!("none of its {n} rows ends an episode");
            let hint = Remedy::Ends.hint(|option| {
                format!("set timeouts on the last row of every episode, or set {option} to terminals")
            });
            assembler.defect(DefectKind::Ends, None, problem, hint)?;
        }
        // The last episode was cut off, as in D4RL's own files.
        assembler.end(Ending::Unknown)?;
    }
    Ok(())
}

/// Returns whether a file has a timeout, and the first row with a terminal and no timeout.
fn timeout_and_lone_terminal(
    rows: u64,
    terminals: Option<&Column>,
    timeouts: Option<&Column>,
) -> Result<(bool, Option<u64>), String> {
    let (mut has_timeout, mut lone_terminal) = (false, None);
    for start in (0..rows).step_by(WINDOW_ROWS as usize) {
        let (terminal, timeout) = (flags_of(terminals, start)?, flags_of(timeouts, start)?);
        has_timeout |= timeout.contains(&true);
        let lone = (0..terminal.len()).find(|&at| terminal[at] && timeout.get(at) != Some(&true));
        lone_terminal = lone_terminal.or(lone.map(|at| start + at as u64));
    }
    Ok((has_timeout, lone_terminal))
}

/// Returns the flags of the rows from `start` on, or none without a column.
fn flags_of(column: Option<&Column>, start: u64) -> Result<Vec<bool>, String> {
    let Some(column) = column else { return Ok(Vec::new()) };
    flags(&column.name, start, &column.read(start, WINDOW_ROWS)?)
}

/// Returns the columns of `infos` that have a row for every state.
fn extra_columns(file: &File, rows: u64, options: &ReadOptions) -> Vec<Column> {
    let Ok(infos) = file.group("infos") else { return Vec::new() };
    let mut names = infos.datasets().unwrap_or_default();
    names.sort();
    let open = |name: &String| Column::open(file, &format!("infos/{name}"), infos.dataset(name).ok()?).ok();
    names.iter().filter_map(open).filter(|column| column.is_extra(rows, options)).collect()
}
