//! Situations that a run is asked about: points, states of its data, files of states, and sets of them that
//! are goals.

use crate::commands::{
    output::{count, most_similar, tell},
    query::Asker,
};
use anyhow::{Context as _, bail};
use isochrone::data::{Dataset, Feature, tables::Matrix};
use std::{ops::Range, path::Path};

/// Deviations from the mean of the data, in any dimension, beyond which a network guesses.
const FAR_OUT: f32 = 6.0;
/// Names of columns that a hint lists.
const MAX_NAMES: usize = 12;

/// What the help of commands says about situations.
pub const SYNTAX: &str = "\
Situations:
  1.5,2              a point: one number for each dimension of an observation
  @EPISODE:ROW       a state of the data, counted from 0; @EPISODE:last for the last
  @EPISODE:FROM..TO  several, TO not included; @EPISODE for all of an episode, all for all of the data
  end                the last states of all episodes
  success            the states that the data mark as a success
  x=1.5,y=2          all recorded states within --within of these values, in columns that are named
                     as isochrone data inspect names them, or by their numbers from 0
  FILE               the states of a .npy array [n, dimensions] or of a .csv table";

/// States, what they are called, and where they were recorded.
#[derive(Default, Clone)]
pub struct Situations {
    pub names: Vec<String>,
    /// `[n, width]`
    pub rows: Vec<f32>,
    /// The episode of each; none for points and states of a file.
    pub episodes: Vec<Option<usize>>,
}

/// One situation, or a set of which any will do.
pub struct Goal {
    pub name: String,
    pub members: Situations,
    pub is_set: bool,
}

/// How situations are selected.
#[derive(clap::Args)]
pub struct SelectionArgs {
    /// Take every Nth of the rows of @EPISODE, @EPISODE:FROM..TO and all
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    stride: Option<u32>,

    /// How near states must be to the values of a slice such as x=1.5,y=2, in the units of these columns
    #[arg(long, value_name = "DISTANCE", allow_negative_numbers = true)]
    within: Option<f64>,
}

impl SelectionArgs {
    /// Every row, and slices of this width.
    pub fn within(within: Option<f64>) -> Self {
        Self { stride: None, within }
    }

    /// A flag that would do nothing is an error, not a surprise.
    pub fn refuse_unused(&self, texts: &[&str]) -> anyhow::Result<()> {
        self.within.map_or(Ok(()), check_within)?;
        if self.within.is_some() && !texts.iter().any(|text| Kind::of(text) == Kind::Slice) {
            bail!("--within does not apply; hint: it belongs to a slice such as x=1.5,y=2");
        }
        let is_range = |text: &&str| **text == *"all" || (text.starts_with('@') && !is_one_row(text));
        if self.stride.is_some() && !texts.iter().any(is_range) {
            bail!("--stride does not apply; hint: it belongs to @EPISODE, @EPISODE:FROM..TO and all");
        }
        Ok(())
    }

    fn stride(&self) -> usize {
        self.stride.map_or(1, |stride| stride as usize)
    }
}

/// How near is near enough.
pub fn check_within(within: f64) -> anyhow::Result<()> {
    if !(within.is_finite() && within >= 0.0) {
        bail!("--within {within}; hint: give a distance in the units of the columns, 0 or more");
    }
    Ok(())
}

/// Whether a text is a state like `@3:10` or `@3:last`.
fn is_one_row(text: &str) -> bool {
    text.split_once(':').is_some_and(|(_, row)| !row.contains(".."))
}

/// What a text selects.
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

    /// Whether its states are a goal together: any of them will do.
    fn is_set(self) -> bool {
        matches!(self, Self::End | Self::Success | Self::Slice | Self::File)
    }
}

impl Situations {
    pub fn len(&self) -> usize {
        self.names.len()
    }

    fn append(&mut self, mut other: Self) {
        self.names.append(&mut other.names);
        self.rows.append(&mut other.rows);
        self.episodes.append(&mut other.episodes);
    }

    /// Some of them, by their numbers.
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

    /// Recorded states, by their numbers over all episodes.
    fn recorded(data: &Dataset, states: impl IntoIterator<Item = u64>) -> Self {
        let mut situations = Self::default();
        for state in states {
            let (episode, row) = data.index().row_of_state(state);
            situations.names.push(format!("@{episode}:{row}"));
            situations.rows.extend(data.state(state));
            situations.episodes.push(Some(episode));
        }
        situations
    }
}

impl Asker {
    /// Situations one by one; warns about those that nothing was learned of.
    pub fn situations(
        &self,
        texts: &[String],
        flag: &str,
        selection: &SelectionArgs,
    ) -> anyhow::Result<Situations> {
        let mut situations = Situations::default();
        for text in texts {
            situations.append(self.selected(text, selection).with_context(|| flag.to_owned())?);
        }
        self.warn_of_guesses(&situations, flag);
        Ok(situations)
    }

    /// Goals: of sets one each, unless each of their states shall be a goal of its own.
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
            self.warn_of_guesses(&members, flag);
            if Kind::of(text).is_set() && !each {
                tell(&format!("{flag} {text}: {}", count(members.len(), "state")));
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

    /// One situation.
    pub fn situation(&self, text: &str, flag: &str) -> anyhow::Result<Vec<f32>> {
        if Kind::of(text).is_set() {
            bail!("{flag} {text}: a set of situations; hint: give one, like @0:10");
        }
        let selection = SelectionArgs::within(None);
        let situations = self.situations(&[text.to_owned()], flag, &selection)?;
        if situations.len() != 1 {
            bail!("{flag} {text}: {} situations; hint: give one, like @0:10", situations.len());
        }
        Ok(situations.rows)
    }

    fn warn_of_guesses(&self, situations: &Situations, flag: &str) {
        let Some(distance) = &self.model.distance else { return };
        let (row, deviations) = distance.farthest(&situations.rows);
        if deviations > FAR_OUT {
            tell(&format!(
                "warning: {flag} {}: {deviations:.0} deviations from the mean of the data; nothing was learned out there",
                situations.names[row]
            ));
        }
    }

    fn selected(&self, text: &str, selection: &SelectionArgs) -> anyhow::Result<Situations> {
        let observation = &self.model.spec.observation;
        match Kind::of(text) {
            Kind::Point => Ok(Situations {
                rows: point(text, observation.width)?,
                names: vec![text.to_owned()],
                episodes: vec![None],
            }),
            Kind::States => states(&text[1..], self.data()?, selection.stride()),
            Kind::All => {
                let data = self.data()?;
                let states = (0..data.index().n_states()).step_by(selection.stride());
                Ok(Situations::recorded(data, states))
            }
            Kind::End => {
                let data = self.data()?;
                let last = |episode: usize| data.index().states(episode).end - 1;
                Ok(Situations::recorded(data, (0..data.n_episodes()).map(last)))
            }
            Kind::Success => self.marked(),
            Kind::Slice => slice(text, self.data()?, selection.within),
            Kind::File => file(Path::new(text), observation),
        }
    }

    fn marked(&self) -> anyhow::Result<Situations> {
        let Some(successes) = self.successes()? else {
            bail!(
                "the data mark no success: they have no column such as success or next.success, and no episode that its environment ended; hint: end is the last states of all episodes, and a file of states is a goal as well"
            );
        };
        match (&successes.column, successes.states.len()) {
            (Some(column), 0) => bail!(
                "column '{column}' of the data marks no state; hint: end is the last states of all episodes"
            ),
            (Some(column), _) => tell(&format!("success: as column '{column}' of the data marks it")),
            (None, ended) => tell(&format!(
                "success: no column marks it; the last states of the {} that the environment ended",
                count(ended, "episode")
            )),
        }
        Ok(Situations::recorded(self.data()?, successes.states))
    }
}

fn point(text: &str, width: usize) -> anyhow::Result<Vec<f32>> {
    let numbers: Result<Vec<f32>, _> = text.split(',').map(|number| number.trim().parse::<f32>()).collect();
    let Ok(numbers) = numbers else {
        let example = (0..width).map(|dimension| dimension.to_string()).collect::<Vec<_>>().join(",");
        bail!(
            "'{text}' is not a point; hint: give {width} numbers like {example}, a state of the data like @0:10, end, success, a slice like 0=1.5, or a .npy or .csv file"
        );
    };
    if numbers.len() != width || numbers.iter().any(|number| !number.is_finite()) {
        bail!(
            "'{text}' is not {width} finite numbers; hint: distances compare whole observations, of {width} dimensions here; a slice like 0=1.5 compares some, and @0:10 is a state of the data"
        );
    }
    Ok(numbers)
}

/// `EPISODE:ROW`, `EPISODE:last` or `EPISODE:FROM..TO`, the last not included; `EPISODE` alone is all of its states.
fn states(place: &str, data: &Dataset, stride: usize) -> anyhow::Result<Situations> {
    let wrong = || {
        format!("'@{place}' is not a state; hint: @EPISODE:ROW or @EPISODE:FROM..TO, like @0:10 or @0:10..20")
    };
    let number = |text: &str| text.parse::<usize>().ok().with_context(wrong);
    let (episode, rows) =
        place.split_once(':').map_or((place, None), |(episode, rows)| (episode, Some(rows)));
    let episode = number(episode)?;
    if episode >= data.n_episodes() {
        bail!("'@{place}': there are {} episodes; hint: they are counted from 0", data.n_episodes());
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
            "'@{place}': episode {episode} has rows 0 to {}; hint: FROM is less than TO, TO is not included, and @EPISODE alone is all of them",
            states - 1
        );
    }
    let first = data.index().states(episode).start;
    Ok(Situations::recorded(data, rows.step_by(stride).map(|row| first + row as u64)))
}

/// The dimension that a name or a number means.
pub fn dimension(name: &str, observation: &Feature) -> anyhow::Result<usize> {
    let names = || (0..observation.width).map(|dimension| observation.dimension(dimension));
    let by_number = || name.parse().ok().filter(|&number: &usize| number < observation.width);
    if let Some(dimension) = names().position(|known| known == name).or_else(by_number) {
        return Ok(dimension);
    }
    let known: Vec<String> = names().take(MAX_NAMES).collect();
    let more = if observation.width > MAX_NAMES { ", ..." } else { "" };
    let hint = match most_similar(name, known.iter().map(String::as_str)) {
        Some(alike) => format!("did you mean '{alike}'?"),
        None => format!(
            "there are {}{more}, or their numbers from 0 to {}",
            known.join(", "),
            observation.width - 1
        ),
    };
    bail!("observations have no dimension '{name}'; hint: {hint}")
}

/// `NAME=VALUE,NAME=VALUE`: all recorded states near these values.
fn slice(text: &str, data: &Dataset, within: Option<f64>) -> anyhow::Result<Situations> {
    let observation = &data.spec().observation;
    let mut wanted: Vec<(usize, f64)> = Vec::new();
    for part in text.split(',') {
        let (name, value) = part.rsplit_once('=').unwrap_or((part, ""));
        let value = value.trim().parse().ok().filter(|value: &f64| value.is_finite());
        let Some(value) = value else {
            bail!("'{part}' of '{text}' is not a column and its value; hint: a slice is like x=1.5,y=2");
        };
        let column = dimension(name.trim(), observation).with_context(|| format!("'{text}'"))?;
        if wanted.iter().any(|(other, _)| *other == column) {
            bail!("'{text}' names a column twice; hint: a slice is like x=1.5,y=2");
        }
        wanted.push((column, value));
    }
    let mut near = Vec::new();
    let mut nearest = f64::INFINITY;
    for episode in 0..data.n_episodes() {
        let rows = data.episode(episode).observations.chunks_exact(observation.width);
        for (row, state) in rows.zip(data.index().states(episode)) {
            let square = |&(column, value): &(usize, f64)| (f64::from(row[column]) - value).powi(2);
            let away = wanted.iter().map(square).sum::<f64>().sqrt();
            nearest = nearest.min(away);
            if within.is_some_and(|within| away <= within) {
                near.push(state);
            }
        }
    }
    let hint = format!("the nearest recorded state is {nearest:.3} away in these columns");
    match within {
        None => {
            bail!("'{text}' is a slice, and --within is missing; hint: say how near is near enough; {hint}")
        }
        Some(within) if near.is_empty() => {
            bail!("'{text}': no recorded state is within {within}; hint: {hint}")
        }
        Some(_) => Ok(Situations::recorded(data, near)),
    }
}

/// The states of a file. Columns are found by the names of dimensions, if the file has all of them.
fn file(path: &Path, observation: &Feature) -> anyhow::Result<Situations> {
    let (matrix, name, width) = (Matrix::read(path)?, path.display(), observation.width);
    let by_name = |dimension: usize| {
        let name = observation.dimension(dimension);
        matrix.names.iter().position(|column| *column == name)
    };
    let by_name: Option<Vec<usize>> = (0..width).map(by_name).collect();
    let Some(columns) = by_name.or_else(|| (matrix.width == width).then(|| (0..width).collect())) else {
        bail!(
            "{name}: states of {} numbers, not {width}; hint: give one number for each dimension of an observation",
            matrix.width
        );
    };
    if matrix.n_rows() == 0 {
        bail!("{name}: it has no state; hint: give a row for each state");
    }
    let mut situations = Situations::default();
    for (number, row) in matrix.values.chunks_exact(matrix.width).enumerate() {
        if columns.iter().any(|&column| !(row[column] as f32).is_finite()) {
            bail!("{name}: row {number} is not finite; hint: leave it out");
        }
        situations.rows.extend(columns.iter().map(|&column| row[column] as f32));
        situations.names.push(format!("{name}:{number}"));
        situations.episodes.push(None);
    }
    Ok(situations)
}
