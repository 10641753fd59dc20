//! States that a dataset marks as a success.

use crate::{Dataset, episode::Ending};

/// What logs call a flag of success, in small letters.
const COLUMNS: [&str; 6] =
    ["success", "is_success", "successes", "next.success", "goal_reached", "goal_achieved"];
/// A flag of this prefix is about the state that follows.
const NEXT: &str = "next.";

/// States that a dataset marks as a success, and by what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Successes {
    /// The extra column with the flag; `None` if nothing but the end of an episode by its environment marks
    /// them.
    pub column: Option<String>,
    /// The states, all episodes counted one after another.
    pub states: Vec<u64>,
}

impl Dataset {
    /// The states with a flag of success, or else the last states of episodes that their environment ended.
    /// `None` if the dataset knows of neither. Extra columns have to be read for the flag.
    pub fn successes(&self) -> Option<Successes> {
        let extras = &self.spec().extras;
        let is_flag = |name: &str| COLUMNS.contains(&name.to_lowercase().as_str());
        let flag = extras.iter().position(|extra| extra.width == 1 && is_flag(&extra.name));
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
    use crate::{Episode, Feature, Spec};

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
    fn flags_come_before_endings_and_next_means_the_state_after() {
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
