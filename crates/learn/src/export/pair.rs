//! Learned distances: encoders and pair heads.

use super::graph::{Attribute, Graph, Value};
use burn::tensor::{Device, Tensor};
use isochrone_nn::{
    kernel::PairForm,
    module::{Metric, PairHead},
};

impl Graph {
    /// Adds the distances of the pairs `(from_i, to_i)`, the maximum over members: `[n, inputs]`
    /// and `[n, inputs]` give `[n]`.
    pub fn metric(&mut self, metric: &Metric, from: &Value, to: &Value) -> Value {
        let distances: Vec<Value> = (metric.members().iter())
            .map(|member| {
                let (x, y) = (self.encoder(&member.encoder, from), self.encoder(&member.encoder, to));
                self.pair_head(&member.head, &x, &y)
            })
            .collect();
        self.combined("Max", &distances)
    }

    /// Adds the latent rows of a metric, those of its members side by side, and returns their
    /// width: `[n, inputs]` gives `[n, width]`.
    pub fn embedding(&mut self, metric: &Metric, rows: &Value) -> (Value, usize) {
        let latent: Vec<Value> =
            metric.members().iter().map(|member| self.encoder(&member.encoder, rows)).collect();
        let width = metric.members().iter().map(|member| member.head.width()).sum();
        (self.concat(1, &latent.iter().collect::<Vec<_>>()), width)
    }

    /// Adds the values of the pairs `(x_i, y_i)` of latent rows: `[n, width]` and `[n, width]` give
    /// `[n]`.
    pub fn pair_head(&mut self, head: &PairHead, x: &Value, y: &Value) -> Value {
        let (from, to) = head.columns();
        let has_all = from == to;
        let compared = [(x, from), (y, to)].map(|(rows, columns)| match has_all {
            true => rows.clone(),
            false => self.slice(rows, 1, columns),
        });
        let [x, y] = &compared;
        match head.form() {
            PairForm::MaxL2 { components, max_width, l2_width } => {
                self.max_l2([components, max_width, l2_width], x, y)
            }
            PairForm::Interval { groups, group_width } => {
                let mix = head.mix(&Tensor::zeros([1, 1], &Device::flex()));
                let mix: Vec<f32> = mix.into_data().try_into_vec().expect("single precision");
                self.interval([groups, group_width], f64::from(mix[0]), x, y)
            }
            PairForm::InnerProduct { .. } => {
                let products = self.op("Mul", &[x, y]);
                self.reduce("ReduceSum", &products, 1)
            }
        }
    }

    /// Combines the values of several networks, `Max` or `Min`; one value stays as it is.
    pub(crate) fn combined(&mut self, operator: &str, values: &[Value]) -> Value {
        match values {
            [value] => value.clone(),
            values => self.op(operator, &values.iter().collect::<Vec<_>>()),
        }
    }

    /// Adds [`PairForm::MaxL2`].
    fn max_l2(&mut self, [components, max_width, l2_width]: [usize; 3], x: &Value, y: &Value) -> Value {
        let difference = self.op("Sub", &[x, y]);
        let difference = self.groups(&difference, [components, max_width + l2_width]);
        let mut parts = Vec::new();
        if max_width > 0 {
            let asymmetric = self.slice(&difference, 2, 0..max_width);
            let asymmetric = self.op("Relu", &[&asymmetric]);
            parts.push(self.reduce("ReduceMax", &asymmetric, 2));
        }
        if l2_width > 0 {
            let symmetric = self.slice(&difference, 2, max_width..max_width + l2_width);
            parts.push(self.reduce("ReduceL2", &symmetric, 2));
        }
        let values = self.combined("Sum", &parts);
        self.reduce("ReduceMean", &values, 1)
    }

    /// Adds [`PairForm::Interval`].
    ///
    /// Intervals are sorted by their starts, as in the kernel. The scan over intervals is a running
    /// maximum, which takes a logarithmic number of nodes: after the pass with shift `s`, an
    /// element is the maximum over the `2 s` elements up to it.
    fn interval(&mut self, [groups, width]: [usize; 2], mix: f64, x: &Value, y: &Value) -> Value {
        let (x, y) = (self.groups(x, [groups, width]), self.groups(y, [groups, width]));
        let count = self.integers(&[width as i64]);
        let ascending = [("axis", Attribute::Int(-1)), ("largest", Attribute::Int(0))];
        let [starts, order] = self.op_with_outputs("TopK", &[&x, &count], &ascending);
        let ends = self.op_with("GatherElements", &[&y, &order], &[("axis", Attribute::Int(2))]);
        let mut reach = self.op("Max", &[&starts, &ends]);
        let mut shift = 1;
        while shift < width {
            // The first elements are compared with themselves.
            let shifted = self.shifted(&reach, &reach, shift, width);
            reach = self.op("Max", &[&reach, &shifted]);
            shift *= 2;
        }
        // What earlier intervals have covered is not counted again.
        let covered = if width > 1 { self.shifted(&starts, &reach, 1, width) } else { starts.clone() };
        let low = self.op("Max", &[&starts, &covered]);
        let pieces = self.op("Sub", &[&reach, &low]);
        let lengths = self.reduce("ReduceSum", &pieces, 2);
        let shares = [("ReduceMax", mix), ("ReduceMean", 1.0 - mix)].map(|(operator, share)| {
            let reduced = self.reduce(operator, &lengths, 1);
            let share = self.number(share);
            self.op("Mul", &[&reduced, &share])
        });
        self.op("Add", &[&shares[0], &shares[1]])
    }

    /// Returns `[first.., x..]` with the first `shift` elements of `first`, as long as `x`, along
    /// the last axis of groups.
    fn shifted(&mut self, first: &Value, x: &Value, shift: usize, width: usize) -> Value {
        let (first, rest) = (self.slice(first, 2, 0..shift), self.slice(x, 2, 0..width - shift));
        self.concat(2, &[&first, &rest])
    }

    /// Reshapes rows `[n, groups * width]` to `[n, groups, width]`.
    fn groups(&mut self, rows: &Value, [groups, width]: [usize; 2]) -> Value {
        // 0 keeps the dimension of the input, also if the batch is empty.
        let shape = self.integers(&[0, groups as i64, width as i64]);
        self.op("Reshape", &[rows, &shape])
    }
}
