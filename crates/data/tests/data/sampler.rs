//! Batches follow their distributions, and do not depend on the thread that makes them.

use crate::support::{gather, random_walks};
use isochrone_core::Discount;
use isochrone_data::{
    Dataset, Episode, Spec,
    sampling::{
        GoalBatch, GoalDistribution, GoalDistributionConfig, GoalMixture, GoalSampler, Loader, MinOffset,
        OTHER_EPISODE, SamplerConfig,
    },
};
use std::{collections::BTreeMap, num::NonZeroUsize};

const GAMMA: f64 = 0.9;

/// Returns episodes whose states are their own positions: (episode, step).
fn numbered(steps: &[usize]) -> Dataset {
    let spec = Spec::new(2, 1);
    let episode = |(number, &steps): (usize, &usize)| Episode {
        observations: (0..=steps).flat_map(|step| [number as f32, step as f32]).collect(),
        actions: (0..steps).map(|step| (number * 1000 + step) as f32).collect(),
        ..Episode::default()
    };
    gather(&spec, &steps.iter().enumerate().map(episode).collect::<Vec<_>>())
}

fn mixture(current: f64, geometric: f64, uniform: f64, random: f64) -> GoalMixture {
    GoalMixture { current, geometric, uniform, random }
}

fn distribution(config: GoalDistributionConfig) -> GoalDistribution {
    GoalDistribution::new(config, Discount::new(GAMMA).unwrap()).unwrap()
}

fn sampler(data: &Dataset, batch_size: usize, goals: Vec<GoalDistribution>) -> GoalSampler {
    GoalSampler::new(
        data,
        SamplerConfig { batch_size, first_row: 0, rows_per_episode: 1, goals, seed: 11, stream: 3 },
    )
    .unwrap()
}

/// Returns the probability of exceeding a chi-square statistic, by Wilson and Hilferty's cube root,
/// which is accurate to about a percent.
fn chi_square_tail(statistic: f64, degrees: usize) -> f64 {
    let k = degrees as f64;
    let z = ((statistic / k).cbrt() - (1.0 - 2.0 / (9.0 * k))) / (2.0 / (9.0 * k)).sqrt();
    0.5 * (1.0 - erf(z / std::f64::consts::SQRT_2))
}

/// The error function, by Abramowitz and Stegun 7.1.26.
fn erf(x: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.327_591_1 * x.abs());
    let poly = t
        * (0.254_829_592
            + t * (-0.284_496_736 + t * (1.421_413_741 + t * (-1.453_152_027 + t * 1.061_405_429))));
    x.signum() * (1.0 - poly * (-x * x).exp())
}

/// Compares counts with probabilities by a chi-square test; cells with an expected count below 5
/// are pooled.
fn assert_distribution(
    counts: &BTreeMap<u64, u64>,
    probability: impl Fn(u64) -> f64,
    cells: u64,
    what: &str,
) {
    let n = counts.values().sum::<u64>() as f64;
    let (mut statistic, mut degrees) = (0.0, 0);
    let mut pooled = (0.0, 0.0);
    for cell in 0..cells {
        let (found, expected) = (counts.get(&cell).copied().unwrap_or(0) as f64, n * probability(cell));
        assert!(expected > 0.0 || found == 0.0, "{what}: {found} in the impossible cell {cell}");
        if expected < 5.0 {
            pooled = (pooled.0 + found, pooled.1 + expected);
        } else {
            statistic += (found - expected).powi(2) / expected;
            degrees += 1;
        }
    }
    if pooled.1 > 0.0 {
        statistic += (pooled.0 - pooled.1).powi(2) / pooled.1;
        degrees += 1;
    }
    let total: f64 = (0..cells).map(&probability).sum();
    assert!((total - 1.0).abs() < 1e-9, "{what}: the probabilities sum to {total}");
    assert!(counts.keys().all(|&cell| cell < cells), "{what}: {counts:?}");
    let tail = chi_square_tail(statistic, degrees - 1);
    assert!(tail > 1e-3, "{what}: chi-square {statistic:.1} with {} degrees has tail {tail:e}", degrees - 1);
}

/// Counts how often each offset occurs from the first state of one long episode.
fn offsets_from_start(config: GoalDistributionConfig, steps: usize) -> BTreeMap<u64, u64> {
    let data = numbered(&[steps]);
    let sampler = sampler(&data, 4096, vec![distribution(config)]);
    let mut counts = BTreeMap::new();
    for step in 0..100 {
        let batch = sampler.batch(step);
        for row in (0..batch.rows()).filter(|&row| batch.transitions[row] == 0) {
            *counts.entry(batch.goals[0].offsets[row] as u64).or_default() += 1;
        }
    }
    assert!(counts.values().sum::<u64>() > 5_000);
    counts
}

#[test]
fn clipped_offsets_follow_their_distribution() {
    let steps = 20;
    let counts = offsets_from_start(GoalDistributionConfig::default(), steps);
    let last = steps as u64;
    let probability =
        |k: u64| if k < last { (1.0 - GAMMA) * GAMMA.powi(k as i32) } else { GAMMA.powi(k as i32) };
    assert_distribution(&counts, probability, last + 1, "clip");
}

#[test]
fn offsets_can_start_at_one() {
    let steps = 15;
    let config = GoalDistributionConfig { min_offset: MinOffset::One, ..GoalDistributionConfig::default() };
    let counts = offsets_from_start(config, steps);
    let probability = |k: u64| match k as i32 {
        0 => 0.0,
        k if k == steps as i32 => GAMMA.powi(k - 1),
        k => (1.0 - GAMMA) * GAMMA.powi(k - 1),
    };
    assert_distribution(&counts, probability, steps as u64 + 1, "smallest offset 1");
}

#[test]
fn uniform_offsets_follow_their_distribution() {
    let steps = 12;
    let config =
        GoalDistributionConfig { mixture: mixture(0.0, 0.0, 1.0, 0.0), ..GoalDistributionConfig::default() };
    let counts = offsets_from_start(config, steps);
    assert_distribution(&counts, |_| 1.0 / (steps + 1) as f64, steps as u64 + 1, "uniform");
}

#[test]
fn transitions_and_random_goals_are_uniform() {
    let data = numbered(&[3, 1, 10, 6, 30]);
    let config =
        GoalDistributionConfig { mixture: mixture(0.0, 0.0, 0.0, 1.0), ..GoalDistributionConfig::default() };
    let sampler = sampler(&data, 1000, vec![distribution(config)]);
    let (mut transitions, mut states) = (BTreeMap::new(), BTreeMap::new());
    let first_state: Vec<u64> = (0..5).map(|episode| data.index().states(episode).start).collect();
    for step in 0..50 {
        let batch = sampler.batch(step);
        for row in 0..batch.rows() {
            *transitions.entry(batch.transitions[row]).or_default() += 1;
            let goal = &batch.goals[0].observations[2 * row..2 * row + 2];
            *states.entry(first_state[goal[0] as usize] + goal[1] as u64).or_default() += 1;
        }
    }
    assert_distribution(&transitions, |_| 1.0 / 50.0, 50, "transitions");
    assert_distribution(&states, |_| 1.0 / 55.0, 55, "random goals");
}

#[test]
fn mixtures_have_their_proportions() {
    let data = numbered(&[400; 50]);
    let config =
        GoalDistributionConfig { mixture: mixture(0.2, 0.3, 0.2, 0.3), ..GoalDistributionConfig::default() };
    let sampler = sampler(&data, 5000, vec![distribution(config)]);
    // Kind 0: current, or another kind with offset 0. Kind 2: random goals, of which 1 in 50 is in
    // the same episode.
    let mut counts = BTreeMap::new();
    for step in 0..20 {
        let batch = sampler.batch(step);
        for row in 0..batch.rows() {
            let own = batch.observations[2 * row];
            let kind = match batch.goals[0].offsets[row] {
                0 => 0,
                _ if batch.goals[0].observations[2 * row] != own => 2,
                _ => 1,
            };
            *counts.entry(kind).or_default() += 1;
        }
    }
    let same_episode = 0.3 / 50.0;
    // A uniform goal is the state itself with probability 1 / n, where the number of remaining
    // states n is uniform in 2..=401.
    let uniform_current = (2..=401).map(|n| 1.0 / f64::from(n)).sum::<f64>() / 400.0;
    let current = 0.2 + 0.3 * (1.0 - GAMMA) + 0.2 * uniform_current + same_episode / 401.0;
    let other_episode = 0.3 - same_episode;
    let probabilities = [current, 1.0 - current - other_episode, other_episode];
    assert_distribution(&counts, |kind| probabilities[kind as usize], 3, "mixture");
}

/// A distribution can have another discount than the run.
#[test]
fn geometric_offsets_can_have_their_own_discount() {
    let data = numbered(&[1000]);
    let config = GoalDistributionConfig { discount: Some(0.75), ..GoalDistributionConfig::default() };
    let sampler = sampler(&data, 4000, vec![distribution(config)]);
    let offsets = sampler.batch(0).goals.remove(0).offsets;
    let mean = offsets.iter().map(|&offset| f64::from(offset)).sum::<f64>() / offsets.len() as f64;
    // gamma / (1 - gamma) = 3, with a standard deviation of 3.5 / sqrt(4000).
    assert!((mean - 3.0).abs() < 0.3, "{mean}");
    let wrong = GoalDistributionConfig { discount: Some(1.0), ..GoalDistributionConfig::default() };
    assert!(GoalDistribution::new(wrong, Discount::new(GAMMA).unwrap()).is_err());
}

/// Uniform offsets can have a largest one; near the end of an episode there are fewer.
#[test]
fn uniform_offsets_can_have_a_maximum() {
    let data = numbered(&[1000]);
    let config = GoalDistributionConfig {
        mixture: mixture(0.0, 0.0, 1.0, 0.0),
        min_offset: MinOffset::One,
        max_offset: 4,
        ..GoalDistributionConfig::default()
    };
    let batch = sampler(&data, 40_000, vec![distribution(config)]).batch(0);
    let mut counts = [0_u32; 6];
    for row in 0..batch.rows() {
        let (at, offset) = (batch.observations[2 * row + 1] as i32, batch.goals[0].offsets[row]);
        assert!(offset >= 1 && at + offset <= 1000, "{at} {offset}");
        counts[offset as usize] += 1;
    }
    // A quarter each, with a standard deviation of 0.2 %.
    assert!(counts[1..5].iter().all(|&count| count.abs_diff(10_000) < 500), "{counts:?}");
    assert_eq!(counts[5], 0);
}

/// A fixed offset ends at the last state of the episode.
#[test]
fn offsets_can_be_fixed() {
    let data = numbered(&[30, 4]);
    let config = GoalDistributionConfig {
        min_offset: MinOffset::One,
        fixed_offset: Some(7),
        ..GoalDistributionConfig::default()
    };
    let batch = sampler(&data, 2_000, vec![distribution(config)]).batch(0);
    let mut clipped = 0;
    for row in 0..batch.rows() {
        let (episode, at) = (batch.observations[2 * row] as usize, batch.observations[2 * row + 1] as usize);
        let left = data.index().steps(episode) - at;
        assert_eq!(batch.goals[0].offsets[row] as usize, left.min(7));
        clipped += usize::from(left < 7);
    }
    assert!((200..1000).contains(&clipped), "{clipped}");
}

#[test]
fn rows_match_the_dataset() {
    let data = numbered(&[3, 1, 10, 6, 30]);
    let future = distribution(GoalDistributionConfig {
        mixture: mixture(0.1, 0.6, 0.3, 0.0),
        ..GoalDistributionConfig::default()
    });
    let random = distribution(GoalDistributionConfig {
        mixture: mixture(0.0, 0.0, 0.0, 1.0),
        ..GoalDistributionConfig::default()
    });
    let next = distribution(GoalDistributionConfig {
        mixture: mixture(0.0, 0.5, 0.5, 0.0),
        min_offset: MinOffset::One,
        ..GoalDistributionConfig::default()
    });
    let sampler = sampler(&data, 777, vec![future, random, next]);
    for step in 0..40 {
        let batch = sampler.batch(step);
        for row in 0..batch.rows() {
            let pair = |values: &[f32]| (values[2 * row] as usize, values[2 * row + 1] as usize);
            let (episode, at) = pair(&batch.observations);
            assert_eq!(pair(&batch.next_observations), (episode, at + 1), "next observation");
            assert_eq!(batch.actions[row], (episode * 1000 + at) as f32);
            for (kind, goals) in batch.goals.iter().enumerate() {
                let (goal_episode, goal_at) = pair(&goals.observations);
                let last = data.index().steps(goal_episode);
                assert!(goal_at <= last);
                let is_ahead = goal_episode == episode && goal_at >= at;
                assert!(is_ahead || kind == 1, "a future goal never leaves its episode");
                let offset = if is_ahead { (goal_at - at) as i32 } else { OTHER_EPISODE };
                assert_eq!(goals.offsets[row], offset);
                assert!(kind != 2 || offset >= 1);
            }
        }
    }
}

#[test]
fn states_without_actions_can_be_sampled() {
    let spec = Spec::new(2, 0);
    let data = gather(&spec, &random_walks(&spec, [5, 9], 2));
    let batch = sampler(&data, 64, vec![distribution(GoalDistributionConfig::default())]).batch(0);
    assert_eq!((batch.observations.len(), batch.actions.len()), (128, 0));
}

#[test]
fn rows_do_not_depend_on_the_batch_size() {
    let data = numbered(&[30, 40, 50]);
    let distributions = vec![distribution(GoalDistributionConfig::default())];
    let (small, large) =
        (sampler(&data, 100, distributions.clone()).batch(9), sampler(&data, 257, distributions).batch(9));
    assert_eq!(small.transitions[..], large.transitions[..100]);
    assert_eq!(small.goals[0].observations[..], large.goals[0].observations[..200]);
}

/// Rows of an episode are grouped; each row by itself is still uniform over all transitions.
#[test]
fn rows_of_one_episode_are_grouped() {
    let steps = [30, 7, 13];
    let data = numbered(&steps);
    let config = |rows_per_episode| SamplerConfig {
        batch_size: 256,
        first_row: 0,
        rows_per_episode,
        goals: vec![distribution(GoalDistributionConfig::default())],
        seed: 11,
        stream: 3,
    };
    let sampler = GoalSampler::new(&data, config(16)).unwrap();
    let mut counts = BTreeMap::new();
    for step in 0..400 {
        let batch = sampler.batch(step);
        for rows in batch.transitions.chunks_exact(16) {
            let episodes: Vec<usize> =
                rows.iter().map(|&row| data.index().episode_of_transition(row).0).collect();
            assert!(episodes.iter().all(|episode| *episode == episodes[0]), "{episodes:?}");
        }
        // Few rows of each group, since the rows of a group share their episode.
        for &transition in
            batch.transitions.iter().step_by(16).chain(batch.transitions.iter().skip(5).step_by(16))
        {
            *counts.entry(transition).or_insert(0) += 1;
        }
    }
    let total = steps.iter().sum::<usize>() as u64;
    assert_distribution(&counts, |_| 1.0 / total as f64, total, "transitions");
    for wrong in [0, 3, 256] {
        assert!(GoalSampler::new(&data, config(wrong)).is_err(), "{wrong}");
    }
}

#[test]
fn streams_and_steps_differ() {
    let data = numbered(&[300, 400]);
    let draw = |seed, stream, step| {
        let config = SamplerConfig {
            batch_size: 64,
            first_row: 0,
            rows_per_episode: 1,
            goals: vec![distribution(GoalDistributionConfig::default())],
            seed,
            stream,
        };
        GoalSampler::new(&data, config).unwrap().batch(step).transitions
    };
    let first = draw(1, 1, 1);
    assert_eq!(first, draw(1, 1, 1));
    for other in [draw(2, 1, 1), draw(1, 2, 1), draw(1, 1, 2)] {
        let same = first.iter().zip(&other).filter(|(a, b)| a == b).count();
        assert!(same < 8, "{same} of 64 rows agree");
    }
}

#[test]
fn any_number_of_loader_threads_and_any_resume_point_give_the_same_batches() {
    let spec = Spec::new(5, 2);
    let data = gather(&spec, &random_walks(&spec, [50, 80, 20, 33], 4));
    let config =
        GoalDistributionConfig { mixture: mixture(0.1, 0.4, 0.2, 0.3), ..GoalDistributionConfig::default() };
    let sampler = sampler(&data, 130, vec![distribution(config)]);
    let expected: Vec<GoalBatch> = (0..60).map(|step| sampler.batch(step)).collect();
    let number = |n: usize| NonZeroUsize::new(n).unwrap();
    for workers in [1, 2, 4] {
        for ahead in [1, 3] {
            for first in [0, 1, 17, 58] {
                let mut loader = Loader::start(&sampler, first as u64, number(workers), number(ahead));
                for batch in &expected[first..] {
                    assert_eq!(loader.next_batch(), batch, "{workers} workers from step {first}");
                }
            }
        }
    }
}

#[test]
fn invalid_settings_are_rejected() {
    let discount = Discount::new(GAMMA).unwrap();
    for parts in
        [(0.5, 0.6, 0.0, 0.0), (-0.5, 1.5, 0.0, 0.0), (f64::NAN, 1.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0)]
    {
        let config = GoalDistributionConfig {
            mixture: mixture(parts.0, parts.1, parts.2, parts.3),
            ..GoalDistributionConfig::default()
        };
        let error = GoalDistribution::new(config, discount).unwrap_err().to_string();
        assert!(error.contains("sum to 1"), "{error}");
    }
    let data = numbered(&[3]);
    let one = distribution(GoalDistributionConfig::default());
    for (batch_size, goals) in [(0, vec![one]), (1 << 24, vec![one]), (8, vec![]), (8, vec![one; 5])] {
        let config =
            SamplerConfig { batch_size, first_row: 0, rows_per_episode: 1, goals, seed: 0, stream: 0 };
        assert!(GoalSampler::new(&data, config).is_err());
    }
    let empty = gather(&Spec::new(2, 1), &[]);
    let config = SamplerConfig {
        batch_size: 8,
        first_row: 0,
        rows_per_episode: 1,
        goals: vec![one],
        seed: 0,
        stream: 0,
    };
    assert!(GoalSampler::new(&empty, config).is_err());
}
