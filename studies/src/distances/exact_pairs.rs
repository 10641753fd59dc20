//! Pairs of states with the exact steps between them.

/// Pairs of states, `[n, width]` each, and the exact steps from the first to the second.
#[derive(Debug, Clone, Default)]
pub struct ExactPairs {
    pub from: Vec<f32>,
    pub to: Vec<f32>,
    pub steps: Vec<f64>,
}

impl ExactPairs {
    pub fn push(&mut self, from: &[f32], to: &[f32], steps: f64) {
        self.from.extend(from);
        self.to.extend(to);
        self.steps.push(steps);
    }
}
