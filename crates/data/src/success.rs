//! States that a dataset marks as successes.

use crate::{Dataset, Spec, episode::Ending};

/// Common names of success flags, in lowercase.
const COLUMNS: [&str; 6] =
    ["success", "is_success", "successes", "next.success", "goal_reached", "goal_achieved"];
/// A flag with this prefix describes the next state.
const NEXT: &str = "next.";

/// The states that a dataset marks as successes, and the column that marks them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Successes {
    /// The extra column with the flag; `None` if the states are the last states of terminated
    /// episodes.
    pub column: Option<String>,
    /// The states, numbered across all episodes.
    pub states: Vec<u64>,
}

/// Returns the extra column with a success flag, if there is one.
pub(crate) fn flag(spec: &Spec) -> Option<usize> {
    let is_flag = |name: &str| COLUMNS.contains(&name.to_lowercase().as_str());
    spec.extras.iter().position(|extra| extra.width == 1 && is_flag(&extra.name))
}

impl Dataset {
    /// Returns the states with a success flag or, if there is no such column, the last states of
    /// terminated episodes. Returns `None` if the dataset has neither. The flag is only found if
    /// extra columns are read.
    pub fn successes(&self) -> Option<Successes> {
        let extras = &self.spec().extras;
        let flag = flag(self.spec());
        let (index, mut states) = (self.index(), Vec::new());
        for episode in 0..self.n_episodes() {
            let (rows, view) = (index.states(episode), self.episode(episode));
            match flag {
                Some(flag) => {
                    let later = u64::from(extras[flag].name.to_lowercase().starts_with(NEXT));
                    let flagged = rows.clone().zip(view.extras[flag]).filter(|(_, flag)| **flag > 0.0);
                    states.extend(flagged.map(|(row, _)| (row + later).min(rows.end - 1)));
                    states.dedup();
                }
                None => states.extend((view.ending == Ending::Terminated).then_some(rows.end - 1)),
            }
            self.touched(episode);
        }
        let column = flag.map(|flag| extras[flag].name.clone());
        (column.is_some() || !states.is_empty()).then_some(Successes { column, states })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Episode, Feature};

    fn data(column: Option<&str>, flags: [Vec<f32>; 2], ending: Ending) -> Dataset {
        let mut spec = Spec::new(1, 0);
        spec.extras = column.into_iter().map(|name| Feature::new(name, 1)).collect();
        let episode = |flags: Vec<f32>| Episode {
            observations: vec![0.0; 3],
            extras: column.into_iter().map(|_| flags.clone()).collect(),
            ending,
            ..Episode::default()
        };
        Dataset::from_episodes(&spec, flags.map(episode)).unwrap()
    }

    #[test]
    fn flags_take_precedence_over_endings_and_next_refers_to_the_next_state() {
        let flags = || [vec![0.0, 1.0, 1.0], vec![0.0, 0.0, 0.0]];
        let states = |column, ending| data(column, flags(), ending).successes();
        let found = |column: &str, states: &[u64]| {
            Some(Successes { column: Some(column.into()), states: states.to_vec() })
        };
        assert_eq!(states(Some("Success"), Ending::Terminated), found("Success", &[1, 2]));
        assert_eq!(states(Some("next.success"), Ending::Unknown), found("next.success", &[2]));
        assert_eq!(
            states(Some("temperature"), Ending::Terminated),
            Some(Successes { column: None, states: vec![2, 5] })
        );
        assert_eq!(states(None, Ending::Truncated), None);
    }
}
