//! Experience against the plan: where progress stalls, moves get dearer.

use super::ChanceModel;
use crate::refined::rows::apart;

/// The number of steps without progress after which moves get dearer.
const PATIENCE: usize = 40;
/// The steps that are added the first time, and doubled each time after.
const EXTRA_STEPS: f32 = 40.0;
/// A step longer than this many mean steps is a jump, after which progress is measured anew.
const JUMP: f32 = 6.0;
/// Progress is a value that is lower by this many steps.
const PROGRESS: f64 = 1.0;
/// Stalls within this many radii count as one place.
const SAME_PLACE: f32 = 4.0;
/// Moves that pass within this many radii of a stall get dearer.
const BLOCKED: f32 = 1.5;
/// The block is assumed this many radii ahead.
const AHEAD: f32 = 0.3;

/// The progress of one episode.
#[derive(Default)]
pub(super) struct Watch {
    last: Option<Vec<f32>>,
    /// The lowest value since the last jump, and when and where it was.
    best: Option<Best>,
    /// The places where progress stalled.
    stalls: Vec<Vec<f32>>,
    /// The steps that experience adds to moves, by their index; empty for none.
    pub extra_steps: Vec<f32>,
}

struct Best {
    value: f64,
    step: usize,
    place: Vec<f32>,
    next: Option<u32>,
}

impl Watch {
    /// Notes the value of a state and the next landmark of the plan. Returns whether moves got
    /// dearer, so that a new plan is due.
    pub fn observe(
        &mut self,
        model: &ChanceModel,
        step: usize,
        here: &[f32],
        value: f64,
        next: Option<u32>,
    ) -> bool {
        let jumped = self.last.as_ref().is_some_and(|last| apart(last, here) > JUMP * model.mean_step);
        self.last = Some(here.to_vec());
        if jumped {
            self.best = None;
        }
        match &self.best {
            Some(best) if value >= best.value - PROGRESS => {
                if step - best.step <= PATIENCE {
                    return false;
                }
                let Some(best) = self.best.take_if(|best| best.next.is_some()) else { return false };
                self.block(model, &best.place, model.landmark(best.next.expect("it has a next landmark")));
                true
            }
            _ => {
                self.best = Some(Best { value, step, place: here.to_vec(), next });
                false
            }
        }
    }

    /// Makes moves dearer that pass a place in the direction of `toward`.
    fn block(&mut self, model: &ChanceModel, place: &[f32], toward: &[f32]) {
        self.stalls.push(place.to_vec());
        let is_same = |stall: &&Vec<f32>| apart(stall, place) < SAME_PLACE * model.radius;
        let times = self.stalls.iter().filter(is_same).count();
        let extra = EXTRA_STEPS * 2f32.powi(times as i32 - 1);
        let length = apart(place, toward).max(1e-9);
        let direction: Vec<f32> = toward.iter().zip(place).map(|(to, from)| (to - from) / length).collect();
        let block: Vec<f32> =
            place.iter().zip(&direction).map(|(x, u)| x + AHEAD * model.radius * u).collect();
        let moves = model.problem().moves();
        self.extra_steps.resize(moves.len(), 0.0);
        for (step, extra_steps) in moves.iter().zip(&mut self.extra_steps) {
            let (from, to) = (model.landmark(step.from), model.landmark(step.to));
            let along: f32 = (0..from.len()).map(|i| (to[i] - from[i]) * direction[i]).sum();
            if along > 0.5 * apart(from, to) && distance_to_segment(&block, from, to) < BLOCKED * model.radius
            {
                *extra_steps += extra;
            }
        }
    }
}

/// Returns the distance from a point to the segment between two others.
fn distance_to_segment(point: &[f32], from: &[f32], to: &[f32]) -> f32 {
    let n = point.len();
    let square: f32 = (0..n).map(|i| (to[i] - from[i]).powi(2)).sum::<f32>().max(1e-12);
    let along: f32 = (0..n).map(|i| (point[i] - from[i]) * (to[i] - from[i])).sum::<f32>() / square;
    let along = along.clamp(0.0, 1.0);
    (0..n).map(|i| (from[i] + along * (to[i] - from[i]) - point[i]).powi(2)).sum::<f32>().sqrt()
}
