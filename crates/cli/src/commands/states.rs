//! Query states: points, dataset states, files of states, and goal sets.

use crate::commands::{
    output::{count, most_similar, note},
    query::LoadedRun,
};
use anyhow::{Context as _, bail};
use isochrone::data::{Dataset, Feature, tables::Matrix};
use std::{ops::Range, path::Path};

/// The maximum deviation from the mean of the data, in standard deviations of any dimension,
/// without a warning.
const MAX_DEVIATIONS: f32 = 6.0;
/// The maximum number of column names in a hint.
const MAX_NAMES: usize = 12;

/// The help text on the syntax of states.
pub const SYNTAX: &str = "\
States:
  1.5,2              a point: one number for each dimension of an observation
  @EPISODE:ROW       a state of the dataset, counted from 0; @EPISODE:last for the last one
  @EPISODE:FROM..TO  several states, TO excluded; @EPISODE for an episode, all for the dataset
  end                goal set: the last states of all episodes
  success            goal set: the states that the data mark as a success
  x=1.5,y=2          goal set: the recorded states within --within of these values, in
                     columns given by name (see isochrone data inspect) or by number from 0
  FILE               goal set: the states of a .npy array [n, dimensions] or of a .csv table";

/// States with their names and episodes.
#[derive(Default, Clone)]
pub struct QueryStates {
    pub names: Vec<String>,
    /// `[n, width]`
    pub rows: Vec<f32>,
    /// The episode of each state; `None` for points and states of a file.
    pub episodes: Vec<Option<usize>>,
}

/// A goal state, or a goal set of which any state may be reached.
pub struct Goal {
    pub name: String,
    pub members: QueryStates,
    pub is_set: bool,
}

/// How states are selected.
#[derive(clap::Args)]
pub struct SelectionArgs {
    /// Use every Nth state of @EPISODE, @EPISODE:FROM..TO and all
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    stride: Option<u32>,

    /// Maximum distance to the values of a slice such as x=1.5,y=2, in the units of its columns
    #[arg(long, value_name = "DISTANCE", allow_negative_numbers = true)]
    within: Option<f64>,
}

impl SelectionArgs {
    /// Selects every row, and slices with this maximum distance.
    pub fn within(within: Option<f64>) -> Self {
        Self { stride: None, within }
    }

    /// Rejects flags that would have no effect.
    pub fn refuse_unused(&self, texts: &[&str]) -> anyhow::Result<()> {
        self.within.map_or(Ok(()), check_within)?;
        if self.within.is_some() && !texts.iter().any(|text| Kind::of(text) == Kind::Slice) {
            bail!("--within does not apply; hint: use it with a slice such as x=1.5,y=2");
        }
        let is_range = |text: &&str| **text == *"all" || (text.starts_with('@') && !is_one_row(text));
        if self.stride.is_some() && !texts.iter().any(is_range) {
            bail!("--stride does not apply; hint: use it with @EPISODE, @EPISODE:FROM..TO or all");
        }
        Ok(())
    }

    fn stride(&self) -> usize {
        self.stride.map_or(1, |stride| stride as usize)
    }
}

/// Checks the value of `--within`.
pub fn check_within(within: f64) -> anyhow::Result<()> {
    if !(within.is_finite() && within >= 0.0) {
        bail!("--within {within}; hint: give a distance in the units of the columns, 0 or more");
    }
    Ok(())
}

/// Returns whether a text is a single state like `@3:10` or `@3:last`.
fn is_one_row(text: &str) -> bool {
    text.split_once(':').is_some_and(|(_, row)| !row.contains(".."))
}

/// The kind of selection that a text specifies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Point,
    States,
    All,
    End,
    Success,
    Slice,
    File,
}

impl Kind {
    fn of(text: &str) -> Self {
        let extension = Path::new(text).extension().map(std::ffi::OsStr::to_ascii_lowercase);
        match text {
            _ if text.starts_with('@') => Self::States,
            "all" => Self::All,
            "end" => Self::End,
            "success" => Self::Success,
            _ if extension.is_some_and(|extension| extension == "npy" || extension == "csv") => Self::File,
            _ if text.contains('=') => Self::Slice,
            _ => Self::Point,
        }
    }

    /// Returns whether the selected states form one goal set.
    fn is_set(self) -> bool {
        matches!(self, Self::End | Self::Success | Self::Slice | Self::File)
    }
}

impl QueryStates {
    pub fn len(&self) -> usize {
        self.names.len()
    }

    fn append(&mut self, mut other: Self) {
        self.names.append(&mut other.names);
        self.rows.append(&mut other.rows);
        self.episodes.append(&mut other.episodes);
    }

    /// Returns some of the states, by index.
    pub fn select(&self, numbers: impl IntoIterator<Item = usize>) -> Self {
        let width = self.rows.len() / self.len().max(1);
        let mut selected = Self::default();
        for number in numbers {
            selected.names.push(self.names[number].clone());
            selected.rows.extend(&self.rows[number * width..][..width]);
            selected.episodes.push(self.episodes[number]);
        }
        selected
    }

    /// Creates recorded states, by index over all episodes. All of their values must be finite.
    fn recorded(data: &Dataset, states: impl IntoIterator<Item = u64>) -> anyhow::Result<Self> {
        let mut selected = Self::default();
        for state in states {
            let ((episode, row), values) = (data.index().row_of_state(state), data.state(state));
            if let Some(at) = values.iter().position(|value| !value.is_finite()) {
                bail!(
                    "@{episode}:{row}: {} is {}; hint: choose other states; isochrone data validate lists values that are not finite",
                    data.spec().observation.dimension(at),
                    values[at]
                );
            }
            selected.names.push(format!("@{episode}:{row}"));
            selected.rows.extend(values);
            selected.episodes.push(Some(episode));
        }
        Ok(selected)
    }
}

impl LoadedRun {
    /// Returns the states that the texts specify, and warns about states far from the training
    /// data.
    pub fn query_states(
        &self,
        texts: &[String],
        flag: &str,
        selection: &SelectionArgs,
    ) -> anyhow::Result<QueryStates> {
        let mut states = QueryStates::default();
        for text in texts {
            states.append(self.selected(text, selection).with_context(|| flag.to_owned())?);
        }
        self.warn_if_far_from_data(&states, flag);
        Ok(states)
    }

    /// Returns the goals that the texts specify. A goal set is one goal, unless `each` makes every
    /// state a goal.
    pub fn goals(
        &self,
        texts: &[String],
        flag: &str,
        selection: &SelectionArgs,
        each: bool,
    ) -> anyhow::Result<Vec<Goal>> {
        let mut goals = Vec::new();
        for text in texts {
            let members = self.selected(text, selection).with_context(|| flag.to_owned())?;
            self.warn_if_far_from_data(&members, flag);
            if Kind::of(text).is_set() && !each {
                note(&format!("{flag} {text}: {}", count(members.len(), "state")));
                goals.push(Goal { name: text.clone(), members, is_set: true });
                continue;
            }
            goals.extend((0..members.len()).map(|number| {
                let members = members.select([number]);
                Goal { name: members.names[0].clone(), members, is_set: false }
            }));
        }
        Ok(goals)
    }

    /// Returns the single state that a text specifies.
    pub fn query_state(&self, text: &str, flag: &str) -> anyhow::Result<Vec<f32>> {
        if Kind::of(text).is_set() {
            bail!("{flag} {text}: a goal set, but one state is needed; hint: give one, like @0:10");
        }
        let selection = SelectionArgs::within(None);
        let states = self.query_states(&[text.to_owned()], flag, &selection)?;
        if states.len() != 1 {
            bail!("{flag} {text}: {} states; hint: give one, like @0:10", states.len());
        }
        Ok(states.rows)
    }

    fn warn_if_far_from_data(&self, states: &QueryStates, flag: &str) {
        let Some(distance) = &self.model.distance else { return };
        let (row, deviations) = distance.farthest(&states.rows);
        if deviations > MAX_DEVIATIONS {
            note(&format!(
                "warning: {flag} {}: {deviations:.0} standard deviations from the mean of the data; the distance is an extrapolation",
                states.names[row]
            ));
        }
    }

    fn selected(&self, text: &str, selection: &SelectionArgs) -> anyhow::Result<QueryStates> {
        let observation = &self.model.spec.observation;
        match Kind::of(text) {
            Kind::Point => Ok(QueryStates {
                rows: point(text, observation.width)?,
                names: vec![text.to_owned()],
                episodes: vec![None],
            }),
            Kind::States => dataset_states(&text[1..], self.data()?, selection.stride()),
            Kind::All => {
                let data = self.data()?;
                let states = (0..data.index().n_states()).step_by(selection.stride());
                QueryStates::recorded(data, states)
            }
            Kind::End => {
                let data = self.data()?;
                let last = |episode: usize| data.index().states(episode).end - 1;
                QueryStates::recorded(data, (0..data.n_episodes()).map(last))
            }
            Kind::Success => self.marked(),
            Kind::Slice => slice(text, self.data()?, selection.within),
            Kind::File => file(Path::new(text), observation),
        }
    }

    fn marked(&self) -> anyhow::Result<QueryStates> {
        let Some(successes) = self.successes()? else {
            bail!(
                "the data mark no success: there is no column such as success or next.success, and no terminated episode; hint: use end for the last states of all episodes, or a file of states"
            );
        };
        match (&successes.column, successes.states.len()) {
            (Some(column), 0) => bail!(
                "column '{column}' of the data marks no state; hint: use end for the last states of all episodes"
            ),
            (Some(column), _) => note(&format!("success: states marked by column '{column}' of the data")),
            (None, terminated) => note(&format!(
                "success: no column marks it; using the last states of {}",
                count(terminated, "terminated episode")
            )),
        }
        QueryStates::recorded(self.data()?, successes.states)
    }
}

/// Parses a point.
pub fn point(text: &str, width: usize) -> anyhow::Result<Vec<f32>> {
    let numbers: Result<Vec<f32>, _> = text.split(',').map(|number| number.trim().parse::<f32>()).collect();
    let Ok(numbers) = numbers else {
        let example = (0..width).map(|dimension| dimension.to_string()).collect::<Vec<_>>().join(",");
        bail!(
            "'{text}' is not a point; hint: give {width} numbers like {example}, a dataset state like @0:10, end, success, a slice like 0=1.5, or a .npy or .csv file"
        );
    };
    if numbers.len() != width || numbers.iter().any(|number| !number.is_finite()) {
        bail!(
            "'{text}' is not {width} finite numbers; hint: give all {width} dimensions of an observation, a slice like 0=1.5, or a dataset state like @0:10"
        );
    }
    Ok(numbers)
}

/// Parses `EPISODE:ROW`, `EPISODE:last`, `EPISODE:FROM..TO` (TO excluded) or `EPISODE` (all of its
/// states).
fn dataset_states(place: &str, data: &Dataset, stride: usize) -> anyhow::Result<QueryStates> {
    let wrong = || {
        format!(
            "'@{place}' is not a state; hint: write @EPISODE:ROW or @EPISODE:FROM..TO, like @0:10 or @0:10..20"
        )
    };
    let number = |text: &str| text.parse::<usize>().ok().with_context(wrong);
    let (episode, rows) =
        place.split_once(':').map_or((place, None), |(episode, rows)| (episode, Some(rows)));
    let episode = number(episode)?;
    if episode >= data.n_episodes() {
        bail!("'@{place}': no episode {episode}; hint: episodes are 0 to {}", data.n_episodes() - 1);
    }
    let states = data.index().steps(episode) + 1;
    let rows: Range<usize> = match rows.map(|rows| (rows, rows.split_once(".."))) {
        None => 0..states,
        Some((_, Some((from, to)))) => number(from)?..number(to)?,
        Some(("last", None)) => states - 1..states,
        Some((row, None)) => number(row)?..number(row)?.saturating_add(1),
    };
    if rows.start >= rows.end || rows.end > states {
        bail!(
            "'@{place}': episode {episode} has rows 0 to {}; hint: FROM must be less than TO, TO is excluded, and @EPISODE selects all rows",
            states - 1
        );
    }
    let first = data.index().states(episode).start;
    QueryStates::recorded(data, rows.step_by(stride).map(|row| first + row as u64))
}

/// Finds a dimension by name or number.
pub fn dimension(name: &str, observation: &Feature) -> anyhow::Result<usize> {
    let names = || (0..observation.width).map(|dimension| observation.dimension(dimension));
    let by_number = || name.parse().ok().filter(|&number: &usize| number < observation.width);
    if let Some(dimension) = names().position(|known| known == name).or_else(by_number) {
        return Ok(dimension);
    }
    let known: Vec<String> = names().take(MAX_NAMES).collect();
    let more = if observation.width > MAX_NAMES { ", ..." } else { "" };
    let hint = match most_similar(name, known.iter().map(String::as_str)) {
        Some(similar) => format!("did you mean '{similar}'?"),
        None => {
            format!("choose from {}{more}, or a number from 0 to {}", known.join(", "), observation.width - 1)
        }
    };
    bail!("observations have no dimension '{name}'; hint: {hint}")
}

/// Parses `NAME=VALUE,NAME=VALUE` and returns all recorded states near these values.
fn slice(text: &str, data: &Dataset, within: Option<f64>) -> anyhow::Result<QueryStates> {
    let observation = &data.spec().observation;
    let mut values: Vec<(usize, f64)> = Vec::new();
    for part in text.split(',') {
        let (name, value) = part.rsplit_once('=').unwrap_or((part, ""));
        let value = value.trim().parse().ok().filter(|value: &f64| value.is_finite());
        let Some(value) = value else {
            bail!("'{part}' of '{text}' is not of the form NAME=VALUE; hint: write a slice like x=1.5,y=2");
        };
        let column = dimension(name.trim(), observation).with_context(|| format!("'{text}'"))?;
        if values.iter().any(|(other, _)| *other == column) {
            bail!("'{text}' names a column twice; hint: write a slice like x=1.5,y=2");
        }
        values.push((column, value));
    }
    let mut near = Vec::new();
    let mut nearest = f64::INFINITY;
    for episode in 0..data.n_episodes() {
        let rows = data.episode(episode).observations.chunks_exact(observation.width);
        for (row, state) in rows.zip(data.index().states(episode)) {
            let square = |&(column, value): &(usize, f64)| (f64::from(row[column]) - value).powi(2);
            let distance = values.iter().map(square).sum::<f64>().sqrt();
            nearest = nearest.min(distance);
            if within.is_some_and(|within| distance <= within) {
                near.push(state);
            }
        }
    }
    let hint = format!("the nearest recorded state is {nearest:.3} away in these columns");
    match within {
        None => {
            bail!(
                "'{text}' is a slice, but --within is missing; hint: set the maximum distance with --within; {hint}"
            )
        }
        Some(within) if near.is_empty() => {
            bail!("'{text}': no recorded state is within {within}; hint: {hint}")
        }
        Some(_) => QueryStates::recorded(data, near),
    }
}

/// Reads the states of a file. Columns are matched by name if the file has all dimensions.
fn file(path: &Path, observation: &Feature) -> anyhow::Result<QueryStates> {
    let (matrix, name, width) = (Matrix::read(path)?, path.display(), observation.width);
    let by_name = |dimension: usize| {
        let name = observation.dimension(dimension);
        matrix.names.iter().position(|column| *column == name)
    };
    let by_name: Option<Vec<usize>> = (0..width).map(by_name).collect();
    let Some(columns) = by_name.or_else(|| (matrix.width == width).then(|| (0..width).collect())) else {
        bail!(
            "{name}: states of {} numbers, not {width}; hint: give one column per dimension of an observation",
            matrix.width
        );
    };
    if matrix.n_rows() == 0 {
        bail!("{name}: no states; hint: give one row per state");
    }
    let mut states = QueryStates::default();
    for (number, row) in matrix.values.chunks_exact(matrix.width).enumerate() {
        if columns.iter().any(|&column| !(row[column] as f32).is_finite()) {
            bail!("{name}: row {number} has values that are not finite; hint: remove it");
        }
        states.rows.extend(columns.iter().map(|&column| row[column] as f32));
        states.names.push(format!("{name}:{number}"));
        states.episodes.push(None);
    }
    Ok(states)
}
