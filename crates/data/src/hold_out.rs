//! Divides a dataset by episode, into data for training and data for validation.

use crate::{Dataset, DatasetBuilder, EpisodeSink as _};

impl Dataset {
    /// Returns the dataset without one of every `one_in` episodes, and these episodes: number
    /// `one_in - 1`, `2 one_in - 1`, and so on, so that both parts are spread over the dataset.
    /// Both are copies in memory.
    ///
    /// Returns `None` if one of them would be empty.
    pub fn hold_out(&self, one_in: usize) -> Option<(Self, Self)> {
        if one_in < 2 || self.n_episodes() < one_in {
            return None;
        }
        let mut parts = [DatasetBuilder::default(), DatasetBuilder::default()];
        for part in &mut parts {
            part.begin(self.spec()).expect("a builder takes any spec");
        }
        for episode in 0..self.n_episodes() {
            let part = usize::from(is_held_out(episode, one_in));
            parts[part].episode(&self.episode(episode)).expect("an episode of a dataset");
            self.touched(episode);
        }
        let [training, validation] = parts.map(DatasetBuilder::finish);
        Some((training, validation))
    }
}

fn is_held_out(episode: usize, one_in: usize) -> bool {
    episode % one_in == one_in - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_disjoint_and_complete() {
        let episodes = (0..7).map(|number| (vec![number as f32, -1.0], Vec::new()));
        let data = Dataset::from_arrays(1, 0, episodes).unwrap();
        let (training, validation) = data.hold_out(3).unwrap();
        let first = |data: &Dataset| -> Vec<f32> {
            (0..data.n_episodes()).map(|episode| data.episode(episode).observations[0]).collect()
        };
        assert_eq!(first(&training), [0.0, 1.0, 3.0, 4.0, 6.0]);
        assert_eq!(first(&validation), [2.0, 5.0]);
        assert_eq!(data.hold_out(3).unwrap().0.content_hash(), training.content_hash());
        for one_in in [0, 1, 8] {
            assert!(data.hold_out(one_in).is_none(), "one part would be empty: {one_in}");
        }
    }
}
