//! Seeded random streams, independent of global state and of the number of threads.

use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng, SeedableRng},
};

/// Returns random stream number `stream` of `seed`.
///
/// `ChaCha` is counter-based: streams of one seed never overlap, so work item `i` draws from stream
/// `i` and its numbers do not depend on which thread runs it or when.
pub fn stream(seed: u64, stream: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(stream);
    rng
}

/// Skips `draws` draws of 64 bits, in constant time.
pub fn skip(rng: &mut ChaCha8Rng, draws: u64) {
    let words_per_draw = 2;
    rng.set_word_pos(rng.get_word_pos() + words_per_draw * u128::from(draws));
}

/// Draws uniformly from `[0, 1)`, with 53 random bits.
pub fn unit_f64(rng: &mut ChaCha8Rng) -> f64 {
    unit_from_bits(rng.next_u64())
}

/// Converts 64 random bits to a number in `[0, 1)`; 53 of the bits are used.
pub fn unit_from_bits(bits: u64) -> f64 {
    (bits >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// Draws uniformly from `0..bound` (`bound > 0`) by multiplication; the bias is below `bound /
/// 2^64`.
pub fn below(rng: &mut ChaCha8Rng, bound: usize) -> usize {
    below_from_bits(rng.next_u64(), bound as u64) as usize
}

/// Draws from the standard normal distribution by the Box-Muller transform.
pub fn normal(rng: &mut ChaCha8Rng) -> f64 {
    let (u, v) = (1.0 - unit_f64(rng), unit_f64(rng));
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

/// Converts 64 random bits to a number in `0..bound`, as [`below`] does.
pub fn below_from_bits(bits: u64, bound: u64) -> u64 {
    ((u128::from(bits) * u128::from(bound)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_reproducible_and_distinct() {
        let draw = |seed, index| unit_f64(&mut stream(seed, index));
        assert_eq!(draw(7, 3), draw(7, 3));
        assert_ne!(draw(7, 3), draw(7, 4));
        assert_ne!(draw(7, 3), draw(8, 3));
    }

    #[test]
    fn skipping_equals_drawing() {
        let (mut drawn, mut skipped) = (stream(5, 1), stream(5, 1));
        (0..37).for_each(|_| _ = unit_f64(&mut drawn));
        skip(&mut skipped, 37);
        assert_eq!(unit_f64(&mut drawn), unit_f64(&mut skipped));
    }

    #[test]
    fn draws_are_uniform_over_their_range() {
        let mut rng = stream(1, 0);
        let mean = (0..10_000).map(|_| unit_f64(&mut rng)).sum::<f64>() / 10_000.0;
        assert!((mean - 0.5).abs() < 0.015, "mean {mean}");
        let mut seen = [0; 7];
        (0..7_000).for_each(|_| seen[below(&mut rng, 7)] += 1);
        assert!(seen.iter().all(|&count| (850..1150).contains(&count)), "{seen:?}");
    }

    #[test]
    fn normal_draws_have_the_moments_of_a_standard_normal() {
        let mut rng = stream(2, 0);
        let draws: Vec<f64> = (0..40_000).map(|_| normal(&mut rng)).collect();
        let moment = |power: i32| draws.iter().map(|x| x.powi(power)).sum::<f64>() / draws.len() as f64;
        assert!(moment(1).abs() < 0.02 && (moment(2) - 1.0).abs() < 0.03 && (moment(4) - 3.0).abs() < 0.2);
    }
}
