//! Moves that the data lack, where the data show that moves can be undone.
//!
//! Ignorance that can be tried again is priced in time, ignorance that cannot be undone in
//! probability: such a move costs more steps, and the hazard of all that it passes.

use super::{
    chord::Chord,
    hazard::Hazards,
    landmarks::Landmarks,
    neighbors,
    problem::{Move, Source},
};
use crate::{quantile::at_quantile, refined::rows::apart};
use rayon::prelude::*;
use std::collections::BTreeSet;

/// Moves are undone if at least this share of near moves between often visited landmarks is
/// recorded in both directions: 0.99 in mazes, 0 on a one-way ring.
pub const MIN_REVERSIBLE: f64 = 0.9;
/// A landmark is visited often from this number of rows on, or from this quantile.
const OFTEN: f64 = 300.0;
const OFTEN_QUANTILE: f64 = 0.7;
/// The minimum number of moves that the share is estimated from.
const MIN_MOVES: usize = 20;
/// The length of a near move, in radii.
const NEAR: f32 = 2.0;
/// The price of the reverse of a recorded move, relative to it.
const REVERSE_PRICE: f32 = 2.0;
/// The maximum length of a bridge, in radii: the hole in the data that it may cross.
const MAX_BRIDGE: f32 = 6.0;

/// Returns the share of near moves between often visited landmarks that are recorded in both
/// directions; 0 if there are too few.
pub fn reversible_share(moves: &[Move], landmarks: &Landmarks, hazards: &Hazards) -> f64 {
    let often = at_quantile(&mut hazards.visits.clone(), OFTEN_QUANTILE, f64::total_cmp);
    let often = often.map_or(OFTEN, |visits| visits.min(OFTEN));
    let known = pairs(moves);
    let is_often = |landmark: u32| hazards.visits[landmark as usize] >= often;
    let chosen: Vec<&Move> = moves
        .iter()
        .filter(|step| is_often(step.from) && is_often(step.to))
        .filter(|step| length(landmarks, step) <= NEAR * landmarks.radius)
        .collect();
    if chosen.len() < MIN_MOVES {
        return 0.0;
    }
    let undone = chosen.iter().filter(|step| known.contains(&(step.to, step.from))).count();
    undone as f64 / chosen.len() as f64
}

fn pairs(moves: &[Move]) -> BTreeSet<(u32, u32)> {
    moves.iter().map(|step| (step.from, step.to)).collect()
}

fn length(landmarks: &Landmarks, step: &Move) -> f32 {
    apart(landmarks.value(step.from), landmarks.value(step.to))
}

/// Returns the reverses of near moves that were recorded in one direction only.
pub fn reverses(moves: &[Move], landmarks: &Landmarks, hazards: &Hazards) -> Vec<Move> {
    let known = pairs(moves);
    let is_new = |step: &&Move| !known.contains(&(step.to, step.from));
    let is_near = |step: &&Move| length(landmarks, step) <= NEAR * landmarks.radius;
    let reverse = |step: &Move| Move {
        from: step.to,
        to: step.from,
        steps: REVERSE_PRICE * step.steps,
        hazard: joined([step.hazard.into(), hazards.per_row[step.to as usize]]),
        source: Source::Reverse,
    };
    moves.iter().filter(is_new).filter(is_near).map(reverse).collect()
}

/// Returns straight connections between landmarks that are near each other and have no move.
pub fn bridges(moves: &[Move], landmarks: &Landmarks, hazards: &Hazards, width: usize) -> Vec<Move> {
    let known = pairs(moves);
    let (radius, values) = (landmarks.radius, &landmarks.values);
    let near = neighbors::within(values, width, MAX_BRIDGE * radius);
    let chord = Chord { points: &landmarks.points, hazards: &hazards.per_row, radius };
    let is_risky = |landmark: u32| hazards.per_row[landmark as usize] > 0.0;
    let of_landmark = |from: usize| {
        let from = from as u32;
        // Most landmarks are far from any entry.
        let risk_is_near = is_risky(from) || near[from as usize].iter().any(|(other, _)| is_risky(*other));
        let others = near[from as usize].iter().filter(|(to, _)| !known.contains(&(from, *to)));
        let bridge = |&(to, apart): &(u32, f32)| {
            let hazard =
                if risk_is_near { chord.hazard(landmarks.value(from), landmarks.value(to)) } else { 0.0 };
            let steps = (2.0 + apart / radius) * apart + 2.0;
            Move { from, to, steps, hazard: hazard as f32, source: Source::Bridge }
        };
        others.map(bridge).collect::<Vec<Move>>()
    };
    (0..landmarks.len()).into_par_iter().flat_map_iter(of_landmark).collect()
}

/// Returns the probability that at least one of several hazards strikes.
fn joined(hazards: impl IntoIterator<Item = f64>) -> f32 {
    (1.0 - hazards.into_iter().map(|hazard| 1.0 - hazard).product::<f64>()) as f32
}
