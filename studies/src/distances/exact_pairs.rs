//! Pairs of states and the exact steps between them.

/// Pairs of states, `[n, width]` twice, and the exact steps from the one to the other.
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
