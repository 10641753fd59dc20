//! Tables with named columns: the role of each column, and the conversion of rows to episodes.
//! Shared by Parquet, CSV and LeRobot.

use super::{
    Extras, ReadOptions,
    finished_episodes::FinishedEpisodes,
    flat::{Assembler, Row},
};
use crate::{DataError, DefectKind, EpisodeSink, Feature, Remedy, Spec, episode::Ending};
use std::path::Path;

/// A column of a table, with `width` numbers in every row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TableColumn {
    pub name: String,
    pub width: usize,
    /// Whether the column holds strings, which can only identify episodes.
    pub is_text: bool,
    /// The reason why the contents cannot be used, if there is one.
    pub problem: Option<String>,
}

impl TableColumn {
    pub fn is_number(&self) -> bool {
        !self.is_text && self.problem.is_none()
    }
}

/// Rows of some columns of a table, in the requested order.
pub(super) struct Chunk {
    pub rows: usize,
    /// `[rows, width]` for each column except the episode column, which is empty.
    pub numbers: Vec<Vec<f64>>,
    /// The identifiers of episodes as strings, since numeric identifiers can have more digits than
    /// a float64. Empty if there is no episode column.
    pub episodes: Vec<String>,
}

/// A callback that receives the rows that are read.
pub(super) type Visit<'a> = &'a mut dyn FnMut(&Chunk) -> Result<(), DataError>;

/// A table that can be read from front to back.
pub(super) trait Table {
    /// Returns all columns of the table.
    fn columns(&self) -> &[TableColumn];

    /// Passes the chosen columns to `rows`, some rows at a time; column `episodes` is passed as
    /// strings.
    fn read(&mut self, chosen: &[usize], episodes: Option<usize>, rows: Visit<'_>) -> Result<(), DataError>;
}

const OBSERVATIONS: &[&str] = &["observations", "observation", "observation.state", "obs", "state"];
const OBSERVATION_PREFIXES: &[&str] =
    &["observation_", "observations_", "observation.", "obs_", "obs.", "state_"];
const ACTIONS: &[&str] = &["actions", "action"];
const ACTION_PREFIXES: &[&str] = &["action_", "actions_", "action."];
const EPISODES: &[&str] =
    &["episode_index", "episode_id", "episode", "trajectory_id", "trajectory", "traj_id", "case"];
const REWARDS: &[&str] = &["reward", "rewards", "next.reward"];
const TIMES: &[&str] = &["timestamp", "timestamps", "time"];
const ENDS: &[&str] = &["next.done", "done", "terminal", "terminals"];
const FRAMES: &[&str] = &["frame_index"];
/// Bookkeeping columns, which are not extra columns unless they are requested by name.
const BOOKKEEPING: &[&str] = &["index", "task_index"];

/// Finds columns of a table by name.
pub(crate) struct Names<'a> {
    pub path: &'a Path,
    pub columns: &'a [TableColumn],
}

impl Names<'_> {
    fn list(&self) -> String {
        self.columns.iter().map(|column| column.name.as_str()).collect::<Vec<_>>().join(", ")
    }

    fn find(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// Returns the column with a name.
    pub fn named(&self, name: &str) -> Result<usize, DataError> {
        self.find(name).ok_or_else(|| {
            let hint = match self.columns.is_empty() {
                true => "the file is empty".to_owned(),
                false => format!("its columns are {}", self.list()),
            };
            DataError::malformed(self.path, format!("no column '{name}'"), hint)
        })
    }

    /// Returns the columns with names, each of which is given once.
    fn all_named(&self, names: &[String]) -> Result<Vec<usize>, DataError> {
        if let Some(twice) = (1..names.len()).find(|&at| names[..at].contains(&names[at])) {
            let problem = format!("column '{}' is named twice", names[twice]);
            return Err(DataError::malformed(self.path, problem, "name each column once"));
        }
        names.iter().map(|name| self.named(name)).collect()
    }

    fn common(&self, names: &[&str]) -> Option<usize> {
        names.iter().find_map(|name| self.find(name))
    }

    /// Returns a column of numbers with a common name: one of strings is something else, such as
    /// dates or remarks.
    fn common_number(&self, names: &[&str]) -> Option<usize> {
        names.iter().find_map(|name| self.find(name).filter(|&at| !self.columns[at].is_text))
    }

    fn several(&self, wanted: &[String], names: &[&str], prefixes: &[&str]) -> Result<Vec<usize>, DataError> {
        let starting_with = |prefix: &&str| -> Vec<usize> {
            let fits = |column: &TableColumn| column.name.starts_with(*prefix) && column.is_number();
            (0..self.columns.len()).filter(|&at| fits(&self.columns[at])).collect()
        };
        match self.common(names) {
            _ if !wanted.is_empty() => self.all_named(wanted),
            Some(column) => Ok(vec![column]),
            None => {
                Ok(prefixes.iter().map(starting_with).find(|found| !found.is_empty()).unwrap_or_default())
            }
        }
    }

    /// Returns the columns of an observation: the wanted ones, or those with common names.
    pub fn observations(&self, wanted: &[String]) -> Result<Vec<usize>, DataError> {
        let found = self.several(wanted, OBSERVATIONS, OBSERVATION_PREFIXES)?;
        if found.is_empty() { Err(self.no_observation()) } else { Ok(found) }
    }

    /// Returns the column that identifies episodes: the wanted one, or one with a common name.
    pub fn episode(&self, wanted: Option<&str>) -> Result<Option<usize>, DataError> {
        match wanted {
            Some(name) => self.named(name).map(Some),
            None => Ok(self.common(EPISODES)),
        }
    }

    fn no_observation(&self) -> DataError {
        let hint = Remedy::Observations.hint(|option| {
            format!("name the columns of an observation with {option}; the columns are {}", self.list())
        });
        DataError::malformed(self.path, "no column looks like an observation", hint)
    }

    /// Returns the error of a table without a column that identifies episodes.
    pub fn no_episode(&self) -> DataError {
        let hint = Remedy::Episode.hint(|option| {
            format!("name the column that identifies episodes with {option}; the columns are {}", self.list())
        });
        DataError::malformed(self.path, "no column identifies episodes", hint)
    }
}

/// The roles of the columns of a table, as indices into the list of all columns.
#[derive(Debug, Default)]
pub(super) struct Choice {
    observations: Vec<usize>,
    actions: Vec<usize>,
    episode: Option<usize>,
    reward: Option<usize>,
    time: Option<usize>,
    ends: Option<usize>,
    frame: Option<usize>,
    extras: Vec<usize>,
}

impl Choice {
    /// Chooses columns by the options or, where these are not set, by common names.
    pub fn of(path: &Path, columns: &[TableColumn], options: &ReadOptions) -> Result<Self, DataError> {
        let names = Names { path, columns };
        let episode = names.episode(options.episode.as_deref())?;
        // The column of episodes has no other role by its name alone.
        let common = |names_of: &[&str]| names.common_number(names_of).filter(|at| episode != Some(*at));
        let one = |wanted: &Option<String>, names_of: &[&str]| match wanted {
            Some(name) => names.named(name).map(Some),
            None => Ok(common(names_of)),
        };
        let mut choice = Self {
            observations: names.several(&options.observations, OBSERVATIONS, OBSERVATION_PREFIXES)?,
            actions: names.several(&options.actions, ACTIONS, ACTION_PREFIXES)?,
            episode,
            reward: one(&options.reward, REWARDS)?,
            time: one(&options.time, TIMES)?,
            ends: common(ENDS),
            frame: common(FRAMES),
            extras: Vec::new(),
        };
        if choice.observations.is_empty() {
            return Err(names.no_observation());
        }
        if choice.episode.is_none() && choice.ends.is_none() {
            return Err(names.no_episode());
        }
        // No extra column is chosen yet: these are all columns with a role.
        let taken = choice.all();
        for &at in &taken {
            let column = &columns[at];
            let fail = |problem: String, hint: &str| {
                Err(DataError::malformed(path, format!("column '{}'{problem}", column.name), hint))
            };
            let is_vector = choice.observations.contains(&at) || choice.actions.contains(&at);
            let roles = [
                (is_vector, "an observation or action"),
                (choice.reward == Some(at), "the reward"),
                (choice.time == Some(at), "the time"),
            ];
            if let Some((_, role)) = roles.iter().find(|(has, _)| *has && choice.episode == Some(at)) {
                let hint = "name another column, or another column of episodes";
                return fail(format!(" identifies episodes, and is also {role}"), hint);
            }
            if column.is_text && choice.episode != Some(at) {
                let hint = "only the column of episodes may hold strings";
                return fail(" holds strings".into(), hint);
            }
            if let Some(problem) = &column.problem {
                let hint = "store it as numbers or lists of numbers, or name another column";
                return fail(format!(": {problem}"), hint);
            }
            if column.width != 1 && !is_vector {
                return fail(" holds lists".into(), "episodes, rewards, times and flags are single values");
            }
        }
        choice.extras = (0..columns.len())
            .filter(|at| !taken.contains(at) && columns[*at].is_number() && columns[*at].width > 0)
            .filter(|&at| options.extras != Extras::All || !BOOKKEEPING.contains(&columns[at].name.as_str()))
            .filter(|&at| options.wants_extra(&columns[at].name))
            .collect();
        Ok(choice)
    }

    /// Also keeps a column of numbers that has another role as an extra column, if it is wanted.
    /// Returns whether it is one.
    pub fn keep(&mut self, columns: &[TableColumn], name: &str, options: &ReadOptions) -> bool {
        let find = |column: &TableColumn| column.name == name && column.is_number() && column.width == 1;
        let is_wanted = |at: &usize| options.wants_extra(name) && self.episode != Some(*at);
        let Some(at) = columns.iter().position(find).filter(is_wanted) else {
            return false;
        };
        if !self.extras.contains(&at) {
            self.extras.push(at);
            self.extras.sort_unstable();
        }
        true
    }

    /// Returns the spec of the chosen columns. Columns of single numbers become named dimensions.
    pub fn spec(&self, columns: &[TableColumn]) -> Spec {
        let feature = |name: &str, chosen: &[usize]| match chosen {
            [column] => Feature::new(&columns[*column].name, columns[*column].width),
            _ => Feature {
                dimensions: match chosen.iter().all(|&at| columns[at].width == 1) {
                    true => chosen.iter().map(|&at| columns[at].name.clone()).collect(),
                    false => Vec::new(),
                },
                ..Feature::new(name, chosen.iter().map(|&at| columns[at].width).sum())
            },
        };
        let mut spec = Spec::new(0, 0);
        spec.observation = feature("observations", &self.observations);
        spec.action = feature("actions", &self.actions);
        spec.has_rewards = self.reward.is_some();
        spec.has_timestamps = self.time.is_some();
        spec.extras =
            self.extras.iter().map(|&at| Feature::new(&columns[at].name, columns[at].width)).collect();
        spec
    }

    /// Returns the columns of an observation.
    pub fn observations(&self) -> &[usize] {
        &self.observations
    }

    /// Returns the columns of an action.
    pub fn actions(&self) -> &[usize] {
        &self.actions
    }

    /// Returns whether a table has the chosen columns at the same places as the first table.
    pub fn fits(&self, first: &[TableColumn], other: &[TableColumn]) -> bool {
        self.all().into_iter().all(|at| other.get(at) == first.get(at))
    }

    /// Returns all columns with a role, in the order of the table.
    fn all(&self) -> Vec<usize> {
        let mut all: Vec<usize> =
            self.observations.iter().chain(&self.actions).chain(&self.extras).copied().collect();
        all.extend([self.episode, self.reward, self.time, self.ends, self.frame].into_iter().flatten());
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// Converts the rows of one or several tables to episodes.
pub(super) struct TableReader<'a> {
    choice: &'a Choice,
    chosen: Vec<usize>,
    widths: Vec<usize>,
    assembler: Assembler<'a>,
    current: Option<String>,
    finished: FinishedEpisodes,
    next_frame: f64,
}

impl<'a> TableReader<'a> {
    pub fn begin(
        path: &'a Path,
        columns: &[TableColumn],
        choice: &'a Choice,
        spec: &'a Spec,
        sink: &'a mut dyn EpisodeSink,
    ) -> Result<Self, DataError> {
        let chosen = choice.all();
        let widths = chosen.iter().map(|&at| columns[at].width).collect();
        let assembler = Assembler::begin(path, sink, spec)?;
        let finished = FinishedEpisodes::default();
        Ok(Self { choice, chosen, widths, assembler, current: None, finished, next_frame: 0.0 })
    }

    /// Reads all rows of a table.
    pub fn read(&mut self, table: &mut dyn Table) -> Result<(), DataError> {
        let (chosen, episodes) = (self.chosen.clone(), self.choice.episode);
        table.read(&chosen, episodes, &mut |chunk| self.rows(chunk))
    }

    fn rows(&mut self, chunk: &Chunk) -> Result<(), DataError> {
        let place =
            |column: usize| self.chosen.binary_search(&column).expect("every column with a role is chosen");
        let places = |columns: &[usize]| columns.iter().map(|&at| place(at)).collect::<Vec<usize>>();
        let observations = places(&self.choice.observations);
        let actions = places(&self.choice.actions);
        let extras = places(&self.choice.extras);
        let [episode, reward, time, ends, frame] =
            [self.choice.episode, self.choice.reward, self.choice.time, self.choice.ends, self.choice.frame]
                .map(|column| column.map(place));
        let widths = self.widths.clone();
        let (mut observation, mut action) = (Vec::new(), Vec::new());
        let mut extra_rows = vec![Vec::new(); extras.len()];
        for row in 0..chunk.rows {
            let values = |at: usize| &chunk.numbers[at][row * widths[at]..(row + 1) * widths[at]];
            let number = |at: Option<usize>| at.map_or(0.0, |at| values(at)[0]);
            if episode.is_some() {
                self.enter_episode(&chunk.episodes[row])?;
            }
            if let Some(at) = frame {
                let (index, at_row) = (values(at)[0], self.assembler.rows());
                if at_row == 0 {
                    self.next_frame = 0.0;
                }
                if index != self.next_frame {
                    let problem = format!("row {at_row} has frame_index {index}, not {}", self.next_frame);
                    let hint =
                        "frames are missing or out of order; write every frame of an episode, in order";
                    self.assembler.defect(DefectKind::Frames, Some(at_row), problem, hint.into())?;
                }
                self.next_frame = index + 1.0;
            }
            let gather = |into: &mut Vec<f32>, columns: &[usize]| {
                into.clear();
                columns.iter().for_each(|&at| into.extend(values(at).iter().map(|&value| value as f32)));
            };
            gather(&mut observation, &observations);
            gather(&mut action, &actions);
            for (extra, &at) in extra_rows.iter_mut().zip(&extras) {
                gather(extra, &[at]);
            }
            let (reward, timestamp) = (number(reward) as f32, number(time));
            let state = Row { observation: &observation, action: &action, reward, timestamp };
            self.assembler.row(&state, extra_rows.iter().map(Vec::as_slice))?;
            // A missing flag is NaN and does not end an episode.
            if episode.is_none() && number(ends) > 0.0 {
                self.assembler.end(Ending::Unknown)?;
            }
        }
        Ok(())
    }

    fn enter_episode(&mut self, episode: &str) -> Result<(), DataError> {
        if self.current.as_deref() == Some(episode) {
            return Ok(());
        }
        self.assembler.end(Ending::Unknown)?;
        if self.finished.contains(episode) {
            let problem = format!("its identifier '{episode}' occurred before");
            let hint = "sort the table by episode and time, and give every episode its own identifier";
            self.assembler.defect(DefectKind::Ends, Some(0), problem, hint.into())?;
        }
        if let Some(last) = self.current.replace(episode.to_owned()) {
            self.finished.insert(&last);
        }
        Ok(())
    }

    /// Ends the last episode.
    pub fn finish(mut self) -> Result<(), DataError> {
        match self.choice.episode {
            Some(_) => self.assembler.end(Ending::Unknown),
            None => self.assembler.end_unclosed("mark the last row of every episode, including the last one"),
        }
    }
}

/// Reads one table.
pub(super) fn read(
    path: &Path,
    table: &mut dyn Table,
    options: &ReadOptions,
    sink: &mut dyn EpisodeSink,
) -> Result<(), DataError> {
    let columns = table.columns().to_vec();
    let choice = Choice::of(path, &columns, options)?;
    let mut spec = choice.spec(&columns);
    options.complete(path, &mut spec)?;
    let mut reader = TableReader::begin(path, &columns, &choice, &spec, sink)?;
    reader.read(table)?;
    reader.finish()
}
