//! The contents of a line chart: panels of named series.

/// The curves of one metric.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Panel {
    /// The quantity on the y axis, with its unit.
    pub title: String,
    /// The curves, drawn in this order, the last on top.
    pub series: Vec<Series>,
    /// Lines for comparison, such as a diagonal: thin, gray and dashed, below the curves. Their
    /// bands are ignored.
    pub references: Vec<Series>,
}

/// One metric of one run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Series {
    /// The name in the legend; long names are shortened. A series without a name has no entry
    /// there.
    pub name: String,
    /// Points `(x, y)` in any order. A `y` that is not finite is a gap in the line; a point whose
    /// `x` is not finite is left out.
    pub points: Vec<(f64, f64)>,
    /// `(low, high)` at each point, such as a confidence interval; empty for none. Gaps are as in
    /// the line.
    pub band: Vec<(f64, f64)>,
}

/// Items by dataset, in the order of their first appearance. Numbers of different datasets are not
/// comparable, so that each dataset has a panel of its own.
pub(super) fn by_dataset<T>(items: &[T], dataset: fn(&T) -> &str) -> Vec<(&str, Vec<&T>)> {
    let mut groups: Vec<(&str, Vec<&T>)> = Vec::new();
    for item in items {
        match groups.iter_mut().find(|(name, _)| *name == dataset(item)) {
            Some((_, group)) => group.push(item),
            None => groups.push((dataset(item), vec![item])),
        }
    }
    groups
}

/// The title of a panel: the quantity, and the dataset if there are several.
pub(super) fn panel_title(quantity: &str, dataset: &str, n_datasets: usize) -> String {
    match (n_datasets > 1, quantity) {
        (false, _) => quantity.to_owned(),
        (true, "") => dataset.to_owned(),
        (true, _) => format!("{quantity}: {dataset}"),
    }
}
