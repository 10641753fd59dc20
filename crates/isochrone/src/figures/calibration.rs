use super::in_steps;
use isochrone_core::{TemporalDistance, rng, statistics};
use isochrone_data::Trajectories;
use isochrone_eval::{
    calibration::{Calibrated, Calibration, OFFSETS},
    plot::{LineChart, Panel, Series},
};

/// What is true and what was predicted, in steps.
pub type Pairs = Vec<(f64, f64)>;

/// Bins of a chart, by what is true.
const BINS: usize = 12;
/// A bin of fewer pairs says nothing.
const FEWEST: usize = 20;

/// Pairs of states of one episode, `[n, width]` twice, and the steps between them: as many as are said, where the episode is that long, or else any. `below` draws a number below another.
fn pairs_ahead(
    data: &Trajectories,
    n: usize,
    said: Option<usize>,
    below: &mut dyn FnMut(usize) -> usize,
) -> (Vec<f32>, Vec<f32>, Vec<usize>) {
    let (index, width) = (data.index(), data.spec().observation.width);
    let (mut from, mut to, mut steps) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..n {
        let (episode, row) = index.row_of_transition(below(index.n_transitions() as usize) as u64);
        let left = index.steps(episode) - row;
        let ahead = said.unwrap_or_else(|| 1 + below(left));
        // Episodes that end before are no witnesses.
        if ahead <= left {
            let view = data.episode(episode);
            from.extend(&view.observations[row * width..][..width]);
            to.extend(&view.observations[(row + ahead) * width..][..width]);
            steps.push(ahead);
        }
    }
    (from, to, steps)
}

/// Pairs of states of one episode: the steps that were observed between them, and those that a distance predicts.
pub fn observed_pairs(distance: &dyn TemporalDistance, data: &Trajectories, n: usize, seed: u64) -> Pairs {
    let mut random = rng::stream(seed, 1);
    let (from, to, observed) = pairs_ahead(data, n, None, &mut |bound| rng::below(&mut random, bound));
    let predicted = in_steps(distance, distance.paired_nats(&from, &to));
    observed.into_iter().map(|steps| steps as f64).zip(predicted).collect()
}

/// Pairs of states at each offset of a calibration.
pub const CALIBRATED_BY: usize = 2000;

/// Reads a distance by what it says of states that recordings saw a known number of steps apart.
pub fn calibrated<'a>(distance: &'a dyn TemporalDistance, data: &Trajectories, seed: u64) -> Calibrated<'a> {
    let mut random = rng::stream(seed, 2);
    let of_offset = |ahead: usize| {
        let below = &mut |bound| rng::below(&mut random, bound);
        let (from, to, _) = pairs_ahead(data, CALIBRATED_BY, Some(ahead), below);
        (ahead, distance.paired_nats(&from, &to))
    };
    let said: Vec<(usize, Vec<f32>)> =
        OFFSETS.into_iter().map(of_offset).filter(|(_, nats)| nats.len() >= FEWEST).collect();
    Calibrated::new(distance, Calibration::fit(&said, distance.discount()))
}

/// Predicted against true steps: the median of a bin and its middle half, beside the line where both are equal.
pub fn calibration_chart(title: &str, truth: &str, series: &[(String, Pairs)]) -> LineChart {
    let is_finite = |(truth, predicted): &&(f64, f64)| truth.is_finite() && predicted.is_finite();
    let farthest = series
        .iter()
        .flat_map(|(_, pairs)| pairs.iter().filter(is_finite))
        .map(|pair| pair.0)
        .fold(0.0, f64::max);
    let binned = |(name, pairs): &(String, Pairs)| {
        let mut drawn = Series { name: name.clone(), ..Series::default() };
        for bin in 0..BINS {
            let (low, high) =
                (farthest * bin as f64 / BINS as f64, farthest * (bin + 1) as f64 / BINS as f64);
            let is_inside = |pair: &&(f64, f64)| pair.0 > low && pair.0 <= high;
            let inside: Pairs = pairs.iter().filter(is_finite).filter(is_inside).copied().collect();
            if inside.len() < FEWEST {
                continue;
            }
            let mut predicted: Vec<f64> = inside.iter().map(|pair| pair.1).collect();
            predicted.sort_by(f64::total_cmp);
            let middle = inside.iter().map(|pair| pair.0).sum::<f64>() / inside.len() as f64;
            drawn.points.push((middle, statistics::median(predicted.clone())));
            drawn.band.push((predicted[predicted.len() / 4], predicted[predicted.len() * 3 / 4]));
        }
        drawn
    };
    let mut drawn: Vec<Series> = series.iter().map(binned).collect();
    drawn.push(Series {
        name: "equal".into(),
        points: vec![(0.0, 0.0), (farthest, farthest)],
        band: Vec::new(),
    });
    LineChart {
        title: title.to_owned(),
        note: "Lines: medians; bands: the middle half of the pairs.".into(),
        x_axis: truth.to_owned(),
        panels: vec![Panel { title: "predicted steps".into(), series: drawn, ..Panel::default() }],
    }
}
