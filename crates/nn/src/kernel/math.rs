//! Scalar functions and sums that the compiler can vectorize.

/// Returns `e^x` with a relative error of at most 4e-7: 0 below -87, where the result would be
/// subnormal and slow; at most `e^88`; NaN for NaN.
#[inline(always)]
pub(super) fn exp(x: f32) -> f32 {
    // Adding 1.5 * 2^23 rounds to an integer, which is then in the low bits.
    const ROUND: f32 = 12_582_912.0;
    const LN_2_HIGH: f32 = 0.693_359_4;
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    let tiny = x < -87.0;
    let x = if tiny { -87.0 } else { x };
    let x = if x > 88.0 { 88.0 } else { x };
    let shifted = x * std::f32::consts::LOG2_E + ROUND;
    let integer = shifted - ROUND;
    let rest = x - integer * LN_2_HIGH - integer * LN_2_LOW;
    let mut p = 1.987_569_1e-4;
    p = p * rest + 1.398_199_9e-3;
    p = p * rest + 8.333_452e-3;
    p = p * rest + 4.166_579_6e-2;
    p = p * rest + 1.666_666_5e-1;
    p = p * rest + 0.5;
    p = p * rest * rest + rest + 1.0;
    let power = f32::from_bits((shifted.to_bits() << 23).wrapping_add(1.0f32.to_bits()));
    if tiny { 0.0 } else { p * power }
}

/// `1 / (1 + e^-x)`
#[inline(always)]
pub(super) fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + exp(-x))
}

/// The number of interleaved partial sums, which are added in a fixed order, so that sums can be
/// vectorized and are reproducible on machines with the same instruction set.
pub(super) const LANES: usize = 16;

/// Returns `sum_i f(values_i)` in [`LANES`] interleaved partial sums.
#[inline(always)]
pub(super) fn sum_lanes(values: &[f32], f: impl Fn(f32) -> f32) -> f32 {
    sum_lanes_of_two(values, values, |value, _| f(value))
}

/// Returns `sum_i f(a_i, b_i)` in [`LANES`] interleaved partial sums; both slices have the same
/// length.
#[inline(always)]
pub(super) fn sum_lanes_of_two(a: &[f32], b: &[f32], f: impl Fn(f32, f32) -> f32) -> f32 {
    sum_lanes_of_three(a, b, b, |a, b, _| f(a, b))
}

/// Returns `sum_i f(a_i, b_i, c_i)` in [`LANES`] interleaved partial sums; all slices have the same
/// length.
#[inline(always)]
pub(super) fn sum_lanes_of_three(a: &[f32], b: &[f32], c: &[f32], f: impl Fn(f32, f32, f32) -> f32) -> f32 {
    let mut lanes = [0.0f32; LANES];
    let full = a.len() / LANES * LANES;
    let chunks = a.chunks_exact(LANES).zip(b.chunks_exact(LANES)).zip(c.chunks_exact(LANES));
    for ((a, b), c) in chunks {
        for lane in 0..LANES {
            lanes[lane] += f(a[lane], b[lane], c[lane]);
        }
    }
    let rest = a[full..].iter().zip(&b[full..]).zip(&c[full..]);
    for (lane, ((&a, &b), &c)) in lanes.iter_mut().zip(rest) {
        *lane += f(a, b, c);
    }
    lanes.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponential_is_accurate_and_propagates_nan() {
        for i in -8700..8800 {
            let x = i as f32 * 0.01;
            let exact = f64::from(x).exp();
            assert!((f64::from(exp(x)) - exact).abs() <= 4e-7 * exact, "exp({x}) = {} not {exact}", exp(x));
        }
        assert_eq!(exp(0.0), 1.0);
        assert!(exp(f32::NAN).is_nan());
        assert_eq!(exp(f32::NEG_INFINITY), 0.0);
    }

    #[test]
    fn sums_include_every_element() {
        for length in [0, 1, 15, 16, 17, 40] {
            let values: Vec<f32> = (0..length).map(|i| i as f32).collect();
            let expected: f32 = values.iter().map(|v| v * 2.0).sum();
            assert_eq!(sum_lanes(&values, |v| v + v), expected);
            assert_eq!(sum_lanes_of_two(&values, &values, |v, w| v + w), expected);
        }
    }
}
