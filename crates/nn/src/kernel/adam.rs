//! Adam (Kingma and Ba, 2015) in one pass over parameter, gradient and both moments.

use super::vectorize::vectorized;
use rayon::prelude::*;

/// The parameters of one update.
#[derive(Clone, Copy, Debug)]
pub struct AdamStep {
    /// Learning rate.
    pub learning_rate: f32,
    /// Decay rate of the first moment.
    pub beta_1: f32,
    /// Decay rate of the second moment.
    pub beta_2: f32,
    /// Added to the root of the second moment.
    pub epsilon: f32,
    /// The number of updates including this one.
    pub time: u32,
}

/// The number of elements per task. Four arrays of this length fit in the cache.
const TASK: usize = 1 << 13;

/// Replaces tiny values by zero. The moments of a dead unit would otherwise decay to subnormal
/// numbers, on which arithmetic is slow.
#[inline(always)]
fn flush(value: f32) -> f32 {
    if value.abs() < 1e-30 { 0.0 } else { value }
}

vectorized! {
    /// Updates the elements of one task; `correct` are the bias-correction factors of the moments.
    fn update(step: &'a AdamStep, correct: [f32; 2], p: &'a mut [f32], g: &'a [f32], m: &'a mut [f32], v: &'a mut [f32]) {
        let AdamStep { learning_rate, beta_1, beta_2, epsilon, .. } = *step;
        for (((p, &g), m), v) in p.iter_mut().zip(g).zip(m).zip(v) {
            *m = flush(beta_1 * *m + (1.0 - beta_1) * g);
            *v = flush(beta_2 * *v + (1.0 - beta_2) * g * g);
            *p -= learning_rate * (*m * correct[0]) / ((*v * correct[1]).sqrt() + epsilon);
        }
    }
}

impl AdamStep {
    /// Updates `parameter` and the moments in place. All slices have the same length.
    pub fn apply(&self, parameter: &mut [f32], gradient: &[f32], first: &mut [f32], second: &mut [f32]) {
        let length = parameter.len();
        assert!(gradient.len() == length && first.len() == length && second.len() == length);
        let arch = isochrone_core::vector_arch();
        let correct = [self.beta_1, self.beta_2]
            .map(|beta| 1.0 / (1.0 - f64::from(beta).powi(self.time as i32)) as f32);
        if parameter.len() <= TASK {
            return update(arch, self, correct, parameter, gradient, first, second);
        }
        let tasks = parameter.par_chunks_mut(TASK).zip(gradient.par_chunks(TASK));
        let tasks = tasks.zip(first.par_chunks_mut(TASK)).zip(second.par_chunks_mut(TASK));
        tasks.for_each(|(((p, g), m), v)| update(arch, self, correct, p, g, m, v));
    }
}
