//! Steps to goals, and to sets of them.

use crate::commands::situations::{Goal, Situations};
use anyhow::bail;
use isochrone::{TemporalDistance, refined::RefinedDistance, statistics::quantile};
use std::collections::BTreeMap;

/// Readings between members of sets that are held at a time.
const MAX_HELD: usize = 4_000_000;
/// More readings would take hours.
const MAX_READINGS: usize = 100_000_000;

/// Which pairs are asked about.
pub enum Pairs {
    /// Every situation with every goal.
    All,
    /// These, by their numbers.
    Listed(Vec<(usize, usize)>),
}

/// How far a set is.
#[derive(clap::Args)]
pub struct SetArgs {
    /// A set of goals is as far as this quantile of its states, instead of its nearest: 0.25 for many ends
    /// that differ
    #[arg(long, value_name = "Q", allow_negative_numbers = true)]
    quantile: Option<f64>,

    /// Leave out the states of a set that were recorded in the same episode as the start
    #[arg(long)]
    other_episodes: bool,

    /// Every state of a set is a goal of its own
    #[arg(long, conflicts_with_all = ["quantile", "other_episodes"])]
    pub each: bool,
}

impl SetArgs {
    /// A flag that would do nothing is an error, not a surprise.
    pub fn check(&self, goals: &[Goal]) -> anyhow::Result<()> {
        if let Some(quantile) = self.quantile.filter(|quantile| !(0.0..=1.0).contains(quantile)) {
            bail!("--quantile {quantile}; hint: give a number between 0 and 1");
        }
        let flag = if self.quantile.is_some() { "--quantile" } else { "--other-episodes" };
        if (self.quantile.is_some() || self.other_episodes) && !goals.iter().any(|goal| goal.is_set) {
            bail!("{flag} does not apply; hint: it belongs to a set of goals, such as --to end");
        }
        Ok(())
    }
}

/// A distance that is asked about goals.
pub struct GoalReader<'a> {
    pub distance: &'a dyn TemporalDistance,
    /// The same distance, if it is a refined one: it knows a short cut to the nearest state of a set.
    pub refined: Option<RefinedDistance>,
    pub sets: &'a SetArgs,
}

impl GoalReader<'_> {
    /// Steps of all pairs, `[from, goals]`, or of those listed.
    pub fn steps(&self, from: &Situations, goals: &[Goal], pairs: &Pairs) -> anyhow::Result<Vec<f64>> {
        let (sets, single): (Vec<usize>, Vec<usize>) = (0..goals.len()).partition(|&goal| goals[goal].is_set);
        let rows = |numbers: &[usize]| -> Vec<f32> {
            numbers.iter().flat_map(|&goal| &goals[goal].members.rows).copied().collect()
        };
        match pairs {
            Pairs::All => {
                let mut steps = vec![0.0; from.len() * goals.len()];
                let mut put =
                    |number: usize, goal: usize, value: f64| steps[number * goals.len() + goal] = value;
                if !single.is_empty() {
                    let found = self.distance.all_pairs_steps(&from.rows, &rows(&single))?;
                    for (number, row) in found.chunks_exact(single.len()).enumerate() {
                        single.iter().zip(row).for_each(|(&goal, &value)| put(number, goal, value));
                    }
                }
                for goal in sets {
                    let found = self.to_set(from, &goals[goal].members)?;
                    found.into_iter().enumerate().for_each(|(number, value)| put(number, goal, value));
                }
                Ok(steps)
            }
            Pairs::Listed(pairs) => {
                let mut steps = vec![0.0; pairs.len()];
                // Places in the list, by goal: sets are asked once, with all situations that ask about them.
                let mut places: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
                let mut of_single = Vec::new();
                for (place, &(_, goal)) in pairs.iter().enumerate() {
                    match goals[goal].is_set {
                        true => places.entry(goal).or_default().push(place),
                        false => of_single.push(place),
                    }
                }
                let starts = |places: &[usize]| from.select(places.iter().map(|&place| pairs[place].0));
                let ends: Vec<usize> = of_single.iter().map(|&place| pairs[place].1).collect();
                let found = self.distance.paired_steps(&starts(&of_single).rows, &rows(&ends))?;
                of_single.iter().zip(found).for_each(|(&place, value)| steps[place] = value);
                for (goal, places) in places {
                    let found = self.to_set(&starts(&places), &goals[goal].members)?;
                    places.iter().zip(found).for_each(|(&place, value)| steps[place] = value);
                }
                Ok(steps)
            }
        }
    }

    fn to_set(&self, from: &Situations, set: &Situations) -> anyhow::Result<Vec<f64>> {
        let is_nearest = self.sets.quantile.is_none() && !self.sets.other_episodes;
        if let Some(refined) = self.refined.as_ref().filter(|_| is_nearest) {
            return Ok(refined.steps_to_set(&from.rows, &refined.goal_set(&set.rows)?)?);
        }
        let readings = from.len().saturating_mul(set.len());
        if readings > MAX_READINGS {
            bail!(
                "{} situations and a set of {} states are {readings} readings, more than {MAX_READINGS}; hint: take fewer with --stride, or a smaller set",
                from.len(),
                set.len()
            );
        }
        let (width, at_once) = (self.distance.width(), (MAX_HELD / set.len().max(1)).max(1));
        let mut steps = Vec::with_capacity(from.len());
        let starts = from.rows.chunks(at_once * width).zip(from.episodes.chunks(at_once));
        for (rows, episodes) in starts {
            let found = self.distance.all_pairs_steps(rows, &set.rows)?;
            for (found, episode) in found.chunks_exact(set.len()).zip(episodes) {
                let is_left_out =
                    |other: &Option<usize>| self.sets.other_episodes && episode.is_some() && other == episode;
                let members = found.iter().zip(&set.episodes).filter(|(_, other)| !is_left_out(other));
                let members: Vec<f64> = members.map(|(value, _)| *value).collect();
                steps.push(match members.is_empty() {
                    // A set without a state is never reached.
                    true => f64::INFINITY,
                    false => quantile(members, self.sets.quantile.unwrap_or(0.0)),
                });
            }
        }
        Ok(steps)
    }
}
