//! Steps to goals and to goal sets.

use crate::commands::states::{Goal, QueryStates};
use anyhow::bail;
use isochrone::{TemporalDistance, refined::RefinedDistance, statistics::quantile};
use std::collections::BTreeMap;

/// The maximum number of distances to members of a set that are held in memory at a time.
const MAX_HELD: usize = 4_000_000;
/// The maximum number of distances to members of a set; more would take hours.
const MAX_DISTANCES: usize = 100_000_000;

/// The pairs of a query.
pub enum Pairs {
    /// Every start with every goal.
    All,
    /// These pairs, by index of start and goal.
    Listed(Vec<(usize, usize)>),
}

/// How the distance to a goal set is defined.
#[derive(clap::Args)]
pub struct SetArgs {
    /// Quantile of the distances to the states of a goal set, instead of the minimum; 0.25 suits
    /// episode ends that differ
    #[arg(long, value_name = "Q", allow_negative_numbers = true)]
    quantile: Option<f64>,

    /// Exclude the states of a goal set that are in the same episode as the start
    #[arg(long)]
    other_episodes: bool,

    /// Treat every state of a goal set as a separate goal
    #[arg(long, conflicts_with_all = ["quantile", "other_episodes"])]
    pub each: bool,
}

impl SetArgs {
    /// Rejects flags that would have no effect.
    pub fn check(&self, goals: &[Goal]) -> anyhow::Result<()> {
        if let Some(quantile) = self.quantile.filter(|quantile| !(0.0..=1.0).contains(quantile)) {
            bail!("--quantile {quantile}; hint: give a number between 0 and 1");
        }
        let flag = if self.quantile.is_some() { "--quantile" } else { "--other-episodes" };
        if (self.quantile.is_some() || self.other_episodes) && !goals.iter().any(|goal| goal.is_set) {
            bail!("{flag} does not apply; hint: use it with a goal set, such as --to end");
        }
        Ok(())
    }
}

/// Computes distances to goals and goal sets.
pub struct GoalSteps<'a> {
    pub distance: &'a dyn TemporalDistance,
    /// The same distance if it is a refined one, which has a faster method for the nearest state of
    /// a set.
    pub refined: Option<RefinedDistance>,
    pub sets: &'a SetArgs,
}

impl GoalSteps<'_> {
    /// Returns the steps of all pairs, `[from, goals]`, or of the listed pairs.
    pub fn steps(&self, from: &QueryStates, goals: &[Goal], pairs: &Pairs) -> anyhow::Result<Vec<f64>> {
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
                // Positions in the list by goal: each set is evaluated once, for all its start
                // states.
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

    fn to_set(&self, from: &QueryStates, set: &QueryStates) -> anyhow::Result<Vec<f64>> {
        let is_nearest = self.sets.quantile.is_none() && !self.sets.other_episodes;
        if let Some(refined) = self.refined.as_ref().filter(|_| is_nearest) {
            return Ok(refined.steps_to_set(&from.rows, &refined.goal_set(&set.rows)?)?);
        }
        let n_distances = from.len().saturating_mul(set.len());
        if n_distances > MAX_DISTANCES {
            bail!(
                "{} start states and a set of {} states give {n_distances} distances, more than {MAX_DISTANCES}; hint: take fewer states with --stride, or a smaller set",
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
                let is_excluded =
                    |other: &Option<usize>| self.sets.other_episodes && episode.is_some() && other == episode;
                let members = found.iter().zip(&set.episodes).filter(|(_, other)| !is_excluded(other));
                let members: Vec<f64> = members.map(|(value, _)| *value).collect();
                steps.push(match members.is_empty() {
                    // An empty set cannot be reached.
                    true => f64::INFINITY,
                    false => quantile(members, self.sets.quantile.unwrap_or(0.0)),
                });
            }
        }
        Ok(steps)
    }
}
