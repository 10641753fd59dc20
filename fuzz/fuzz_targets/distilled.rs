//! Distilled distances and policies. The first byte selects the reader. What opens is queried.

#![no_main]

use isochrone_core::{Discount, GoalPolicy, TemporalDistance};
use isochrone_data::Dataset;
use isochrone_fuzz::{Scratch, Seed};
use isochrone_learn::{
    ComputeDevice,
    distill::{
        DistillConfig, DistillHead, DistilledDistance, distill,
        policy::{DistilledPolicy, PolicyDistillConfig, distill_policy},
    },
};

/// One step for each unit of a line.
struct Line;

impl TemporalDistance for Line {
    fn width(&self) -> usize {
        1
    }

    fn discount(&self) -> Discount {
        Discount::new(0.99).unwrap()
    }

    fn paired_nats(&self, from: &[f32], to: &[f32]) -> Vec<f32> {
        let unit = self.discount().nats_per_step() as f32;
        from.iter().zip(to).map(|(from, to)| (to - from).abs() * unit).collect()
    }

    fn all_pairs_nats(&self, from: &[f32], to: &[f32]) -> Vec<f32> {
        from.iter().flat_map(|&from| self.paired_nats(&vec![from; to.len()], to)).collect()
    }
}

impl GoalPolicy for Line {
    fn observation_width(&self) -> usize {
        1
    }

    fn action_width(&self) -> usize {
        1
    }

    fn actions(&self, observations: &[f32], goals: &[f32]) -> Vec<f32> {
        observations.iter().zip(goals).map(|(from, to)| (to - from).signum()).collect()
    }
}

fn seeds() -> Vec<Seed> {
    let walk: Vec<f32> = (0..60).map(|step| step as f32).collect();
    let data = Dataset::from_arrays(1, 1, [(walk, vec![1.0f32; 59])]).unwrap();
    let of_head = |head: DistillHead| {
        let config = DistillConfig { head, updates: 1, ..DistillConfig::default() };
        [&[0], &distill(&Line, &data, &config, |_, _| {}).unwrap().to_bytes()[..]].concat()
    };
    let config = PolicyDistillConfig { goals: 10, updates: 1, width: 4, ..PolicyDistillConfig::default() };
    let policy = distill_policy(&Line, "line", &data, &config, |_, _| {}).unwrap();
    vec![
        ("pair", of_head(DistillHead::Pair)),
        ("mrn", of_head(DistillHead::Mrn)),
        ("policy", [&[1], &policy.to_bytes()[..]].concat()),
    ]
}

isochrone_fuzz::target!(seeds, |bytes| {
    thread_local!(static SCRATCH: Scratch = Scratch::default());
    let Some((tag, bytes)) = bytes.split_first() else { return };
    let path = SCRATCH.with(|scratch| scratch.write("x.safetensors", bytes));
    if tag % 2 == 0 {
        if let Ok(distance) = DistilledDistance::load(&path) {
            let state = vec![0.5; distance.width()];
            let _ = distance.steps(&state, &state).unwrap();
        }
    } else if let Ok(policy) = DistilledPolicy::load_on(&path, ComputeDevice::Cpu) {
        let state = vec![0.5; policy.observation_width()];
        assert_eq!(policy.actions(&state, &state).len(), policy.action_width());
    }
});
