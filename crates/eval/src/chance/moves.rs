//! Recorded segments as moves.

use super::{
    chord::Chord,
    hazard::Hazards,
    jumps::Jumps,
    landmarks::Landmarks,
    problem::{Move, Source},
};
use crate::refined::edges::{Edge, by_landmark, segments};
use rayon::prelude::*;

/// The longest segment, in steps; longer ones hide where the hazard lies.
const MAX_STEPS: u32 = 16;
/// Of the segments between two landmarks, the one with the least steps is kept, where a jump counts
/// as this many.
const STEPS_PER_JUMP: f64 = 1000.0;

/// Returns the best recorded move between each pair of landmarks, ordered by start and end.
pub fn recorded(jumps: &Jumps, landmarks: &Landmarks, hazards: &Hazards) -> Vec<Move> {
    let cells = &landmarks.cells;
    // The sum of -ln(1 - q) over all rows before a row; the hazard of a segment is that of the rows
    // it passes.
    let mut risk_before = Vec::with_capacity(cells.len() + 1);
    let mut sum = 0.0;
    risk_before.push(0.0);
    for (landmark, _) in cells {
        sum -= (-hazards.per_row[*landmark as usize]).ln_1p();
        risk_before.push(sum);
    }
    let hazard = |edge: &Edge| {
        let (first, last) = (edge.row as usize, (edge.row + edge.lag) as usize);
        let risk: f64 = risk_before[first] - risk_before[last];
        // Differences of long sums leave a trace of rounding where there is no hazard.
        if risk > -1e-9 { 0.0 } else { -risk.exp_m1() }
    };
    let price = |edge: &Edge| f64::from(edge.cost) + STEPS_PER_JUMP * hazard(edge);
    let (first, members) = by_landmark(cells, landmarks.len());
    let moves_from = |best: &mut Vec<Option<(f64, Edge)>>, from: usize| {
        best.resize(landmarks.len(), None);
        let mut ends = Vec::new();
        let members = &members[first[from]..first[from + 1]];
        let own = segments(&jumps.rows, cells, &jumps.breaks_before, members);
        for edge in own.filter(|edge| edge.lag <= MAX_STEPS) {
            let candidate = (price(&edge), edge);
            let best = &mut best[edge.to as usize];
            match best {
                None => {
                    ends.push(edge.to);
                    *best = Some(candidate);
                }
                Some(known) => {
                    let order = candidate.0.total_cmp(&known.0).then(candidate.1.order(&known.1));
                    if order.is_lt() {
                        *best = Some(candidate);
                    }
                }
            }
        }
        ends.sort_unstable();
        let taken = ends.into_iter().filter_map(|to| best[to as usize].take());
        let as_move = |(_, edge): (f64, Edge)| Move {
            from: edge.from,
            to: edge.to,
            steps: edge.cost,
            hazard: hazard(&edge) as f32,
            source: Source::Recorded,
        };
        taken.map(as_move).collect::<Vec<Move>>()
    };
    (0..landmarks.len()).into_par_iter().map_init(Vec::new, moves_from).flatten_iter().collect()
}

/// Charges every move with the hazard of its chord, if that is larger: a policy heads straight for
/// the end of a move, while the recorded segment may have turned around an entry.
pub fn charge_chords(moves: &mut [Move], landmarks: &Landmarks, hazards: &Hazards) {
    let chord = Chord { points: &landmarks.points, hazards: &hazards.per_row, radius: landmarks.radius };
    moves.par_iter_mut().for_each(|step| {
        let straight = chord.hazard(landmarks.value(step.from), landmarks.value(step.to)) as f32;
        step.hazard = step.hazard.max(straight);
    });
}
