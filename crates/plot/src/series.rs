//! What a line chart shows: panels of named series.

/// The curves of one measure.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Panel {
    /// What is measured, with its unit.
    pub title: String,
    /// Drawn in this order, the last on top.
    pub series: Vec<Series>,
}

/// One measure of one run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Series {
    /// What the legend calls it; long names are shortened. Without a name it has no entry there.
    pub name: String,
    /// `(x, y)`, in any order. Where `y` is not finite the line has a gap; where `x` is not, there is no point.
    pub points: Vec<(f64, f64)>,
    /// `(low, high)` at each point, such as a confidence interval; empty without. Gaps as in the line.
    pub band: Vec<(f64, f64)>,
}
