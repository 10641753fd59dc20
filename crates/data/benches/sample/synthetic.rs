//! Episodes of noise: only their size matters here.

use isochrone_core::Discount;
use isochrone_data::{
    Dataset, EpisodeSink, EpisodeView, Spec,
    sampling::{GoalDistribution, GoalDistributionConfig, GoalSampler, SamplerConfig},
};

/// The widths of an observation and an action, as in the antmaze datasets.
pub const WIDTHS: (usize, usize) = (29, 8);
/// The number of steps of an episode.
pub const STEPS: usize = 1000;

/// Sends this many episodes of noise to a sink.
pub fn send(episodes: usize, sink: &mut dyn EpisodeSink) {
    let spec = Spec::new(WIDTHS.0, WIDTHS.1);
    sink.begin(&spec).unwrap();
    let mut state = 1u64;
    let mut noise = move || {
        // Xorshift: of low quality, but fast and hard to compress.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / (1 << 23) as f32 - 1.0
    };
    let mut observations = vec![0.0; (STEPS + 1) * WIDTHS.0];
    let mut actions = vec![0.0; STEPS * WIDTHS.1];
    for _ in 0..episodes {
        observations.iter_mut().for_each(|value| *value = noise());
        actions.iter_mut().for_each(|value| *value = noise());
        let view = EpisodeView {
            number: 0,
            steps: STEPS,
            observations: &observations,
            actions: &actions,
            rewards: &[],
            timestamps: &[],
            extras: Vec::new(),
            ending: isochrone_data::Ending::Unknown,
        };
        sink.episode(&view).unwrap();
    }
}

/// Returns a sampler with geometric goals at gamma 0.99, clipped at the end of the episode.
pub fn sampler(data: Dataset, batch_size: usize) -> GoalSampler {
    let discount = Discount::new(0.99).unwrap();
    let goals = GoalDistribution::new(GoalDistributionConfig::default(), discount).unwrap();
    GoalSampler::new(
        &data,
        SamplerConfig {
            batch_size,
            first_row: 0,
            rows_per_episode: 1,
            goals: vec![goals],
            seed: 1,
            stream: 0,
        },
    )
    .unwrap()
}

/// Returns the median.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Describes the data and the machine of the measurement.
pub fn machine() -> String {
    let processor = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = processor.lines().find_map(|line| line.strip_prefix("model name")?.split(": ").nth(1));
    format!(
        "- isochrone {}, seed 1, synthetic noise, observations {}, actions {}, episodes of {STEPS} steps\n- processor: {}, {} cores",
        env!("CARGO_PKG_VERSION"),
        WIDTHS.0,
        WIDTHS.1,
        name.unwrap_or("unknown"),
        std::thread::available_parallelism().map_or(0, std::num::NonZeroUsize::get)
    )
}
