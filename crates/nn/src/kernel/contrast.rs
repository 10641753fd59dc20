//! Contrastive losses over all pairs, computed in blocks with running log-sum-exps. The `n x m`
//! matrix of logits is stored only if it is small.

use super::{
    block::{PairGradients, Pairs, Tape},
    math::{LANES, exp, sigmoid, sum_lanes, sum_lanes_of_two},
    threads::min_tasks,
    vectorize::vectorized,
};
use rayon::prelude::*;
use std::{ops::Range, sync::Mutex};

/// The objective on the logits `f_ij = potential_j + slope * value_ij`, whose positives are on the
/// diagonal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Objective {
    /// Softmax cross-entropy. Forward classifies the goal of a state (rows), backward the state of
    /// a goal (columns). The losses of both are added.
    InfoNce {
        /// Whether the rows are included.
        forward: bool,
        /// Whether the columns are included.
        backward: bool,
        /// The weight of the mean squared log-sum-exp of every included direction.
        penalty: f32,
    },
    /// Mean binary cross-entropy of all `n^2` logits.
    BinaryNce,
}

/// The names of the statistics: the loss and five diagnostics.
pub const STATISTICS: [&str; 6] =
    ["loss", "forward_nll", "backward_nll", "accuracy", "positive_value", "mean_value"];

/// A contrastive problem on packed pairs: all rows of a square problem, or those of one process.
pub struct Contrast<'a> {
    /// `n` rows against `m` columns.
    pub pairs: &'a Pairs<'a>,
    /// The term that is added to each column, `[m]`.
    pub potential: &'a [f32],
    /// The column of the positive of row 0; that of row `i` is `first_positive + i`.
    pub first_positive: usize,
    /// The factor of the value in a logit, with its sign.
    pub slope: f32,
    /// The objective.
    pub objective: Objective,
}

/// The log-sum-exps of the `n` rows and `m` columns.
#[derive(Clone, Debug)]
pub struct LogSums {
    rows: Vec<f32>,
    columns: Vec<f32>,
}

/// A sum of exponentials, scaled so that it cannot overflow: `sum * e^max`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PartialSum {
    /// The largest exponent.
    pub max: f32,
    /// The sum of `e^(x - max)`.
    pub sum: f32,
}

impl PartialSum {
    /// Returns the logarithm of the sum.
    pub fn log(self) -> f32 {
        self.max + self.sum.ln()
    }

    /// Returns the logarithm of the sum of several sums, in their order.
    pub fn log_of_all(parts: impl Iterator<Item = Self> + Clone) -> f32 {
        let max = parts.clone().fold(f32::NEG_INFINITY, |max, part| max.max(part.max));
        let sum = parts.map(|part| part.sum * (part.max - max).exp()).sum();
        Self { max, sum }.log()
    }
}

/// Buffers for the matrix of values, its tape and its gradient.
#[derive(Clone, Debug, Default)]
pub struct ForwardCache {
    values: Vec<f32>,
    tape: Tape,
    gradient: Vec<f32>,
}

/// Buffers of earlier steps for reuse. Otherwise each step would allocate and zero tens of
/// megabytes.
static POOL: Mutex<Vec<ForwardCache>> = Mutex::new(Vec::new());
const MAX_POOLED: usize = 4;

impl ForwardCache {
    /// Takes buffers from the pool, or creates new ones. Their contents are overwritten.
    pub fn acquire() -> Self {
        POOL.lock().ok().and_then(|mut pool| pool.pop()).unwrap_or_default()
    }

    /// Returns the buffers to the pool for the next step.
    pub fn release(self) {
        if let Ok(mut pool) = POOL.lock()
            && pool.len() < MAX_POOLED
        {
            pool.push(self);
        }
    }
}

/// The maximum number of rows of a block if the matrix is not cached.
const BLOCK: usize = 256;
/// The number of columns per task.
const COLUMNS: usize = 256;
/// The number of rows per task.
const ROWS: usize = 16;
/// The operations that the exponential of a logit takes.
const EXP_OPERATIONS: usize = 16;

impl Contrast<'_> {
    /// Iterates over blocks of rows; there is one block if the matrix is cached.
    fn blocks(&self, cached: bool) -> impl Iterator<Item = Range<usize>> {
        let n = self.pairs.n();
        let rows = if cached { n } else { self.pairs.rows_per_block(BLOCK) };
        (0..n).step_by(rows).map(move |start| start..n.min(start + rows))
    }

    fn logit(&self, column: usize, value: f32) -> f32 {
        self.potential[column] + self.slope * value
    }

    /// Returns the statistics in the order of [`STATISTICS`], and the log-sum-exps for the backward
    /// pass. Fills `cache`, if given.
    pub fn forward(&self, cache: Option<&mut ForwardCache>) -> ([f32; 6], LogSums) {
        self.forward_among(cache, |columns| columns.into_iter().map(PartialSum::log).collect())
    }

    /// The same for the rows of one process. `log_sums` turns the sums over its rows of every
    /// column into the log-sum-exps over the rows of all processes. The statistics are means over
    /// the rows and columns of this process, whose means over processes are those of the problem.
    pub fn forward_among(
        &self,
        cache: Option<&mut ForwardCache>,
        log_sums: impl FnOnce(Vec<PartialSum>) -> Vec<f32>,
    ) -> ([f32; 6], LogSums) {
        let (n, m, arch) = (self.pairs.n(), self.pairs.m(), isochrone_core::vector_arch());
        assert!(
            self.first_positive + n <= m && self.potential.len() == m,
            "every row has a positive, and every column a potential"
        );
        let mut columns = vec![PartialSum { max: f32::NEG_INFINITY, sum: 0.0 }; m];
        let mut rows: Vec<RowSummary> = Vec::with_capacity(n);
        let (cached, mut scratch) = (cache.is_some(), ForwardCache::default());
        let ForwardCache { values, tape, .. } = cache.unwrap_or(&mut scratch);
        for block in self.blocks(cached) {
            values.resize(block.len() * m, 0.0);
            self.pairs.forward(block.clone(), values, cached.then_some(&mut *tape));
            let min_tasks = min_tasks(EXP_OPERATIONS * values.len());
            let summaries = values.par_chunks(m).enumerate().with_min_len(ROWS.max(min_tasks));
            rows.par_extend(summaries.map(|(r, values)| summarize_row(arch, self, block.start + r, values)));
            let tasks = columns.par_chunks_mut(COLUMNS).with_min_len(min_tasks).enumerate();
            tasks.for_each(|(task, columns)| update_columns(arch, self, values, task * COLUMNS, columns));
        }
        let columns = log_sums(columns);
        let statistics = self.statistics(&rows, &columns[self.first_positive..][..n]);
        (statistics, LogSums { rows: rows.into_iter().map(|row| row.log_sum).collect(), columns })
    }

    /// Returns the gradients of `upstream * loss` with respect to the pairs and the potential.
    /// Reads `cache` if the forward pass filled one.
    pub fn backward(
        &self,
        sums: &LogSums,
        cache: Option<&mut ForwardCache>,
        upstream: f32,
    ) -> (PairGradients, Vec<f32>) {
        let (m, arch) = (self.pairs.m(), isochrone_core::vector_arch());
        let pack = self.pairs.pack_for_backward();
        let mut gradients = self.pairs.zero_gradients();
        let mut dpotential = vec![0.0; m];
        let (cached, mut scratch) = (cache.is_some(), ForwardCache::default());
        let ForwardCache { values, tape, gradient } = cache.unwrap_or(&mut scratch);
        for block in self.blocks(cached) {
            if !cached {
                values.resize(block.len() * m, 0.0);
                self.pairs.forward(block.clone(), values, Some(&mut *tape));
            }
            gradient.resize(block.len() * m, 0.0);
            let min_tasks = min_tasks(EXP_OPERATIONS * values.len());
            let tasks = gradient.par_chunks_mut(ROWS * m).zip(values.par_chunks(ROWS * m));
            let tasks = tasks.enumerate().with_min_len(min_tasks);
            let of_potential = tasks.map(|(task, (gradient, values))| {
                let mut of_potential = vec![0.0; m];
                let rows = gradient.chunks_exact_mut(m).zip(values.chunks_exact(m)).enumerate();
                for (r, (gradient, values)) in rows {
                    let row = block.start + task * ROWS + r;
                    value_gradient(arch, self, row, values, sums, upstream, gradient, &mut of_potential);
                }
                of_potential
            });
            for part in of_potential.collect::<Vec<_>>() {
                dpotential.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
            }
            self.pairs.backward(block, gradient, tape, &pack, &mut gradients);
        }
        (gradients, dpotential)
    }

    /// Returns the statistics of the rows and of the columns of their positives.
    fn statistics(&self, rows: &[RowSummary], columns: &[f32]) -> [f32; 6] {
        let (n, m) = (rows.len() as f64, self.pairs.m() as f64);
        let mean = |f: &dyn Fn(usize) -> f64| (0..rows.len()).map(f).sum::<f64>() / n;
        let forward_nll = mean(&|i| f64::from(rows[i].log_sum) - f64::from(rows[i].positive));
        let backward_nll = mean(&|i| f64::from(columns[i]) - f64::from(rows[i].positive));
        let loss = match self.objective {
            Objective::InfoNce { forward, backward, penalty } => {
                let row_penalty = f64::from(penalty) * mean(&|i| f64::from(rows[i].log_sum).powi(2));
                let column_penalty = f64::from(penalty) * mean(&|i| f64::from(columns[i]).powi(2));
                f64::from(u8::from(forward)) * (forward_nll + row_penalty)
                    + f64::from(u8::from(backward)) * (backward_nll + column_penalty)
            }
            Objective::BinaryNce => mean(&|i| rows[i].binary) / m,
        };
        let accuracy = mean(&|i| f64::from(u8::from(rows[i].wins)));
        let positive_value = mean(&|i| f64::from(rows[i].positive_value));
        let mean_value = mean(&|i| f64::from(rows[i].value_sum)) / m;
        [loss, forward_nll, backward_nll, accuracy, positive_value, mean_value].map(|value| value as f32)
    }
}

vectorized! {
    /// Writes the gradient of `upstream * loss` with respect to the values of one row, and adds
    /// that of its logits to the gradient of the potential.
    fn value_gradient(
        contrast: &'a Contrast<'a>,
        row: usize,
        values: &'a [f32],
        sums: &'a LogSums,
        upstream: f32,
        gradient: &'a mut [f32],
        of_potential: &'a mut [f32],
    ) {
        let (n, m) = (contrast.pairs.n() as f32, values.len() as f32);
        let positive = contrast.first_positive + row;
        match contrast.objective {
            Objective::InfoNce { forward, backward, penalty } => {
                let each = upstream / n;
                let row_sum = sums.rows[row];
                let row_weight = if forward { each * (1.0 + 2.0 * penalty * row_sum) } else { 0.0 };
                let column_weight = if backward { each } else { 0.0 };
                for (((g, &value), &potential), &column_sum) in
                    gradient.iter_mut().zip(values).zip(contrast.potential).zip(&sums.columns)
                {
                    let logit = potential + contrast.slope * value;
                    *g = row_weight * exp(logit - row_sum)
                        + column_weight * (1.0 + 2.0 * penalty * column_sum) * exp(logit - column_sum);
                }
                gradient[positive] -= each * (f32::from(u8::from(forward)) + f32::from(u8::from(backward)));
            }
            Objective::BinaryNce => {
                let each = upstream / (n * m);
                for ((g, &value), &potential) in gradient.iter_mut().zip(values).zip(contrast.potential) {
                    *g = each * sigmoid(potential + contrast.slope * value);
                }
                gradient[positive] -= each;
            }
        }
        for (sum, g) in of_potential.iter_mut().zip(gradient) {
            *sum += *g;
            *g *= contrast.slope;
        }
    }
}

vectorized! {
    fn summarize_row(contrast: &'a Contrast<'a>, row: usize, values: &'a [f32]) -> RowSummary {
        let slope = contrast.slope;
        let mut lanes = [f32::NEG_INFINITY; LANES];
        for (values, potential) in values.chunks(LANES).zip(contrast.potential.chunks(LANES)) {
            for ((largest, value), potential) in lanes.iter_mut().zip(values).zip(potential) {
                let logit = potential + slope * value;
                *largest = if logit > *largest { logit } else { *largest };
            }
        }
        let max = lanes.iter().fold(f32::NEG_INFINITY, |a, &b| if b > a { b } else { a });
        let sum = sum_lanes_of_two(values, contrast.potential, |value, potential| exp(potential + slope * value - max));
        let own = contrast.first_positive + row;
        let positive = contrast.logit(own, values[own]);
        let at_least = sum_lanes_of_two(values, contrast.potential, |value, potential| {
            if potential + slope * value >= positive { 1.0 } else { 0.0 }
        });
        let binary = match contrast.objective {
            Objective::BinaryNce => {
                softplus_sum(values, contrast.potential, slope) - f64::from(positive)
            }
            Objective::InfoNce { .. } => 0.0,
        };
        RowSummary {
            log_sum: max + sum.ln(),
            positive,
            positive_value: values[own],
            wins: at_least as u32 == 1,
            value_sum: sum_lanes(values, |value| value),
            binary,
        }
    }
}

vectorized! {
    /// Updates the running maximum and scaled sum of the columns from `first` on with a block of
    /// rows.
    fn update_columns(contrast: &'a Contrast<'a>, values: &'a [f32], first: usize, columns: &'a mut [PartialSum]) {
        let (m, slope) = (contrast.potential.len(), contrast.slope);
        let potential = &contrast.potential[first..first + columns.len()];
        let (mut max, mut sum) = ([f32::NEG_INFINITY; COLUMNS], [0.0f32; COLUMNS]);
        for row in values.chunks_exact(m) {
            for ((max, value), potential) in max.iter_mut().zip(&row[first..]).zip(potential) {
                let logit = potential + slope * value;
                *max = if logit > *max { logit } else { *max };
            }
        }
        for (max, column) in max.iter_mut().zip(columns.iter_mut()) {
            let largest = max.max(column.max);
            *column = PartialSum { max: largest, sum: column.sum * exp(column.max - largest) };
            *max = largest;
        }
        for row in values.chunks_exact(m) {
            for (((sum, max), value), potential) in sum.iter_mut().zip(&max).zip(&row[first..]).zip(potential) {
                *sum += exp(potential + slope * value - max);
            }
        }
        columns.iter_mut().zip(sum).for_each(|(column, sum)| column.sum += sum);
    }
}

/// Returns `sum_j ln(1 + e^(logit_j))` of one row of logits.
#[inline(always)]
fn softplus_sum(values: &[f32], potential: &[f32], slope: f32) -> f64 {
    // The sum of logarithms is that of a product, whose factors are between 1 and 2: this many in
    // each lane do not overflow.
    const FACTORS: usize = 512;
    let mut total = 0.0;
    let parts = values.chunks(FACTORS * LANES).zip(potential.chunks(FACTORS * LANES));
    for (values, potential) in parts {
        let (mut products, mut sums) = ([1.0f64; LANES], [0.0f64; LANES]);
        for (values, potential) in values.chunks(LANES).zip(potential.chunks(LANES)) {
            let lanes = products.iter_mut().zip(&mut sums).zip(values.iter().zip(potential));
            for ((product, sum), (value, potential)) in lanes {
                let logit = potential + slope * value;
                *product *= 1.0 + f64::from(exp(-logit.abs()));
                *sum += f64::from(if logit > 0.0 { logit } else { 0.0 });
            }
        }
        total += products.iter().map(|product| product.ln()).sum::<f64>() + sums.iter().sum::<f64>();
    }
    total
}

/// The contribution of one row of logits to the statistics.
struct RowSummary {
    log_sum: f32,
    positive: f32,
    positive_value: f32,
    wins: bool,
    value_sum: f32,
    binary: f64,
}
