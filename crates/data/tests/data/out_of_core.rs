//! A mapped file gives the same batches as memory.

use crate::support::{gather, random_walks, write};
use isochrone_core::Discount;
use isochrone_data::{
    Access, Dataset, Spec,
    sampling::{GoalDistribution, GoalDistributionConfig, GoalMixture, GoalSampler, SamplerConfig},
};

#[test]
fn mapped_and_resident_data_give_the_same_batches() {
    let mut spec = Spec::new(29, 8);
    spec.has_rewards = true;
    // Several record batches.
    let data = gather(&spec, &random_walks(&spec, (0..150).map(|episode| 900 + episode), 2));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.arrow");
    write(&data, &path);
    let mapped = Dataset::open(&path, Access::Random).unwrap();
    let mixture = GoalMixture { current: 0.1, geometric: 0.5, uniform: 0.2, random: 0.2 };
    let goals = GoalDistribution::new(
        GoalDistributionConfig { mixture, ..GoalDistributionConfig::default() },
        Discount::new(0.99).unwrap(),
    )
    .unwrap();
    let sampler = |data: Dataset| {
        let config = SamplerConfig {
            batch_size: 512,
            first_row: 0,
            rows_per_episode: 1,
            goals: vec![goals, goals],
            seed: 5,
            stream: 0,
        };
        GoalSampler::new(&data, config).unwrap()
    };
    let (resident, mapped) = (sampler(data), sampler(mapped));
    // Enough steps that pages are released and read again.
    for step in 0..60 {
        assert_eq!(resident.batch(step), mapped.batch(step), "batch {step}");
    }
}
