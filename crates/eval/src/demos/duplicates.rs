//! Episodes that repeat others.
//!
//! Two episodes of the same motion differ by the noise of the sensors. The noise is estimated
//! from second differences, which smooth motion hardly contributes to.

use super::{
    Demos,
    displacement::Frames,
    finding::{Finding, Rule},
};
use isochrone_core::statistics::median;
use rayon::prelude::*;

/// Two episodes repeat each other if they differ by less than this, in standard deviations of
/// noise.
const MAX_NOISE: f64 = 6.0;
/// Episodes whose lengths differ by more frames are not compared, at 30 frames per second.
const MAX_TRIMMED: usize = 30;
/// Every second frame is compared.
const STRIDE: usize = 2;
/// The number of compared frames after which hopeless pairs are given up.
const FIRST_FRAMES: usize = 8;
/// The smallest noise, as a share of the standard deviation of a column.
const MIN_NOISE: f64 = 1e-4;
/// The standard deviation of second differences of noise, and of a normal distribution in absolute
/// medians.
const SECOND_DIFFERENCE: f64 = 0.6745 * 2.449_489_742_783_178;

/// Returns, for each episode that repeats an earlier one, a finding that names it.
pub(super) fn find(demos: &Demos<'_>, frames: Frames) -> Vec<Option<Finding>> {
    let (width, n) = (demos.width(), demos.data.n_episodes());
    let noise = noise(demos);
    let scaled = |episode: usize| -> Vec<f32> {
        let states = demos.states(episode);
        states.iter().enumerate().map(|(at, value)| value / noise[at % width] as f32).collect()
    };
    let episodes: Vec<Vec<f32>> = (0..n).into_par_iter().map(scaled).collect();
    let max_trimmed = frames.at_30(MAX_TRIMMED) * width;
    let of_episode = |episode: usize| {
        let own = &episodes[episode];
        let compare = |other: usize| {
            let apart = difference(own, &episodes[other], width);
            (apart < MAX_NOISE).then_some((other, apart))
        };
        let near = (0..episode).filter(|other| episodes[*other].len().abs_diff(own.len()) <= max_trimmed);
        let (other, apart) = near.filter_map(compare).min_by(|a, b| a.1.total_cmp(&b.1))?;
        Some(Finding {
            rule: Rule::Duplicate,
            first_frame: 0,
            end_frame: own.len() / width,
            score: (MAX_NOISE / apart.max(1.0)).max(1.0),
            message: match apart == 0.0 {
                true => format!("a copy of episode {other}"),
                false => format!("repeats episode {other} within {apart:.1} times the noise of the sensors"),
            },
        })
    };
    (0..n).into_par_iter().map(of_episode).collect()
}

/// Returns the root mean square difference of two episodes that are aligned at their starts or at
/// their ends; infinite if it is far above the threshold.
fn difference(left: &[f32], right: &[f32], width: usize) -> f64 {
    let n = left.len().min(right.len());
    let aligned = |left: &[f32], right: &[f32]| {
        let (mut sum, mut compared) = (0.0, 0);
        for (left, right) in left.chunks_exact(width).zip(right.chunks_exact(width)).step_by(STRIDE) {
            sum += left.iter().zip(right).map(|(a, b)| f64::from((a - b) * (a - b))).sum::<f64>();
            compared += width;
            let is_hopeless = sum > 100.0 * MAX_NOISE * MAX_NOISE * compared as f64;
            if compared == FIRST_FRAMES * width && is_hopeless {
                return f64::INFINITY;
            }
        }
        (sum / compared as f64).sqrt()
    };
    let at_start = aligned(&left[..n], &right[..n]);
    at_start.min(aligned(&left[left.len() - n..], &right[right.len() - n..]))
}

/// Returns the standard deviation of the noise of each column.
fn noise(demos: &Demos<'_>) -> Vec<f64> {
    let width = demos.width();
    let deviations = &demos.reference(0).deviations;
    let of_column = |column: usize| {
        let mut second = Vec::new();
        for episode in 0..demos.data.n_episodes().min(500) {
            let value = |row: &[f32]| f64::from(row[column]);
            let rows: Vec<&[f32]> = demos.states(episode).chunks_exact(width).collect();
            second.extend(rows.windows(3).map(|r| (value(r[2]) - 2.0 * value(r[1]) + value(r[0])).abs()));
        }
        let noise = median(second) / SECOND_DIFFERENCE;
        noise.max(MIN_NOISE * deviations[column]).max(f64::from(f32::MIN_POSITIVE))
    };
    (0..width).into_par_iter().map(of_column).collect()
}
