//! Extraction of policies from distances.

use burn::tensor::{Device, Tensor, TensorData};
use isochrone_core::Discount;
use isochrone_data::{
    Spec,
    sampling::{GoalDistribution, OTHER_EPISODE},
};
use isochrone_learn::{
    DeviceBatch, DeviceGoals, LearnerContext, Metrics, Preset,
    components::{Extraction, Policy, PolicyConfig},
};

const DISCOUNT: f64 = 0.9;

/// Goals on a line.
fn goals(positions: &[f32], offsets: &[i32], column: impl Fn(&[f32]) -> Tensor<2>) -> DeviceGoals {
    let observations = column(positions);
    let [n, _] = observations.dims();
    let at_goal = observations.zeros_like().reshape([n]);
    let policy_goals = observations.clone();
    DeviceGoals { observations, policy_goals, at_goal, offsets: offsets.to_vec() }
}

/// An advantage over several steps counts the distance that the data covers until a later state,
/// but not beyond the goal.
#[test]
fn advantages_over_several_steps_end_at_the_goal() {
    let device = Device::flex().autodiff();
    let column = |rows: &[f32]| Tensor::from_data(TensorData::new(rows.to_vec(), [rows.len(), 1]), &device);
    // Three rows start at 0. In five steps, the first two move to 5, and the third to -5. The goal
    // of the second is at 2, those of the others are in other episodes.
    let batch = DeviceBatch {
        step: 0,
        observations: column(&[0.0; 3]),
        actions: column(&[0.5; 3]),
        next_observations: column(&[1.0, 1.0, -1.0]),
        goals: vec![
            goals(&[9.0; 3], &[9; 3], column),
            goals(&[7.0, 2.0, 7.0], &[OTHER_EPISODE, 2, OTHER_EPISODE], column),
            goals(&[5.0, 5.0, -5.0], &[5; 3], column),
        ],
    };
    let mean_weight = |advantage_steps: u32| {
        let extraction = Extraction::Awr { alpha: 0.5, max_weight: 100.0, advantage_steps };
        let context = LearnerContext::new(&Spec::new(1, 1), Discount::new(DISCOUNT).unwrap(), 1, 1, &device);
        let mut policy = Policy::new(&PolicyConfig::preset(Preset::Small), &context).unwrap().unwrap();
        let of = batch.goals[1].observations.clone();
        let distance = |states: Tensor<2>| (states - of.clone()).abs().reshape([3]);
        // An action moves by itself.
        let after = |actions: Tensor<2>| distance(batch.observations.clone() + actions);
        let mut metrics = Metrics::default();
        metrics.add("actor", &policy.extract(extraction, &batch, &batch.goals[1], after, distance));
        metrics.get("actor/mean_weight").unwrap()
    };
    let mean = |advantages: [f64; 3]| advantages.map(|a| (0.5 * a).exp()).iter().sum::<f64>() / 3.0;
    assert!((mean_weight(1) - mean([0.5; 3])).abs() < 1e-5, "{}", mean_weight(1));
    assert!((mean_weight(5) - mean([5.0, 2.0, -5.0])).abs() < 1e-5, "{}", mean_weight(5));
}

#[test]
fn later_states_are_at_the_number_of_steps() {
    let awr = |advantage_steps| Extraction::Awr { alpha: 1.0, max_weight: 100.0, advantage_steps };
    let discount = Discount::new(DISCOUNT).unwrap();
    assert_eq!(awr(1).later_states(), None);
    assert_eq!(Extraction::default().later_states(), None);
    let later = awr(25).later_states().unwrap();
    assert_eq!((later.fixed_offset, later.mixture.geometric), (Some(25), 1.0));
    GoalDistribution::new(later, discount).unwrap();
    let error = awr(0).check().unwrap_err().to_string();
    assert!(error.contains("advantage_steps"), "{error}");
}
