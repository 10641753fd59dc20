//! Operations on rows: scaling, columns and reductions.

use super::graph::{Attribute, Graph, Value};
use crate::scaling::Affine;
use std::ops::Range;

impl Graph {
    /// Adds `(x - shift) * factor` for rows in the units of the data.
    pub(crate) fn scaled(&mut self, scaling: &Affine, rows: &Value) -> Value {
        let [shift, factor] = self.affine(scaling);
        let centered = self.op("Sub", &[rows, &shift]);
        self.op("Mul", &[&centered, &factor])
    }

    /// Adds `x / factor + shift` for scaled rows.
    pub(crate) fn unscaled(&mut self, scaling: &Affine, rows: &Value) -> Value {
        let [shift, factor] = self.affine(scaling);
        let centered = self.op("Div", &[rows, &factor]);
        self.op("Add", &[&centered, &shift])
    }

    fn affine(&mut self, scaling: &Affine) -> [Value; 2] {
        [&scaling.shift, &scaling.factor].map(|values| self.floats(&[values.len()], values))
    }

    /// Concatenates values along an axis.
    pub fn concat(&mut self, axis: i64, values: &[&Value]) -> Value {
        self.op_with("Concat", values, &[("axis", Attribute::Int(axis))])
    }

    /// Selects a range along an axis.
    pub fn slice(&mut self, x: &Value, axis: i64, range: Range<usize>) -> Value {
        let [start, end, axis] = [range.start as i64, range.end as i64, axis].map(|n| self.integers(&[n]));
        self.op("Slice", &[x, &start, &end, &axis])
    }

    /// Appends columns of zeros to rows.
    pub fn pad_columns(&mut self, rows: &Value, columns: usize) -> Value {
        let pads = self.integers(&[0, 0, 0, columns as i64]);
        self.op("Pad", &[rows, &pads])
    }

    /// Reduces an axis, which is removed; `operator` is `ReduceMax`, `ReduceSum` or similar.
    pub fn reduce(&mut self, operator: &str, x: &Value, axis: i64) -> Value {
        let axes = self.integers(&[axis]);
        self.op_with(operator, &[x, &axes], &[("keepdims", Attribute::Int(0))])
    }
}
