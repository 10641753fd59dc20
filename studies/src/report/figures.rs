//! The figures of a report.

use super::tables::{groups, has_distance, label, planners, reference_rates};
use crate::{
    dataset::{self, StudyDataset},
    error::StudyError,
    evaluate::planner_config,
    jobs::{Part, jobs},
    recipe::{FigureKind, Recipe},
    results::{Results, RunResult},
    training,
};
use isochrone_core::{TemporalDistance, statistics::median};
use isochrone_eval::stats::{RESAMPLES, bootstrap, mean};
use isochrone_learn::model::{LearnedDistance, Model};
use isochrone_plot::{
    Bar, BarChart, BarColor, CalibrationSeries, Colors, CurveGroup, Figure, MIN_SEEDS, MapDirection,
    MapFrame, PlaneChart, PlanePanel, calibration_chart, curve_chart, on_one_scale,
};
use std::path::Path;

/// The number of cells on the longer side of a map.
const CELLS: usize = 130;

/// A figure with its name and caption.
pub struct NamedFigure {
    pub name: String,
    pub figure: Figure,
    pub caption: String,
}

/// Results, and the folders of studies that may contain their runs and datasets.
pub struct Source<'a> {
    pub results: &'a Results,
    pub folders: &'a [&'a Path],
}

/// Draws the figures of the recipe, dataset by dataset.
pub fn draw(source: &Source<'_>) -> Result<Vec<NamedFigure>, StudyError> {
    let recipe = &source.results.recipe;
    let mut figures = Vec::new();
    for name in recipe.datasets.keys() {
        let has_runs = source.results.runs.iter().any(|run| run.dataset == *name);
        let dataset = source.dataset(name)?;
        for kind in recipe.report.figures.iter().filter(|_| has_runs) {
            let mut drawn = match (kind, &dataset) {
                (FigureKind::Success, _) => vec![source.success(name)],
                (FigureKind::Curves, _) => vec![source.curves(name)],
                (FigureKind::Calibration, _) => source.calibration(name).into_iter().collect(),
                (FigureKind::Maps, Some(dataset)) => source.maps(name, dataset)?,
                (FigureKind::Plans, Some(dataset)) => source.plans(name, dataset)?,
                (FigureKind::Exact, Some(dataset)) => source.beside_exact(name, dataset)?,
                (_, None) => Vec::new(),
            };
            if recipe.datasets.len() > 1 {
                drawn.iter_mut().for_each(|figure| figure.name = format!("{}-{name}", figure.name));
            }
            figures.extend(drawn);
        }
    }
    Ok(figures)
}

impl Source<'_> {
    fn recipe(&self) -> &Recipe {
        &self.results.recipe
    }

    /// Loads a dataset; `None` if there is no file or its environment cannot be opened.
    fn dataset(&self, name: &str) -> Result<Option<StudyDataset>, StudyError> {
        let Some(folder) = self.folders.iter().find(|folder| dataset::path(folder, name).exists()) else {
            return Ok(None);
        };
        match StudyDataset::load(folder, name, self.recipe()) {
            Err(StudyError::Collect(_)) => Ok(None),
            loaded => loaded.map(Some),
        }
    }

    /// Loads the model of a run; `None` if there is no folder.
    fn model(&self, run: &RunResult) -> Result<Option<Model>, StudyError> {
        let jobs = jobs(self.recipe(), &Part::default());
        let Some(job) = jobs.iter().find(|job| run.is_of(job)) else { return Ok(None) };
        for folder in self.folders {
            if let Some(model) = training::last_model(&folder.join(job.folder()))? {
                return Ok(Some(model));
            }
        }
        Ok(None)
    }

    /// The first run of every method with the settings of the recipe.
    fn first_runs(&self, dataset: &str) -> Vec<&RunResult> {
        let groups = groups(self.results, dataset).into_iter().map(|group| group[0]);
        groups.filter(|run| run.variant.is_none()).collect()
    }

    /// The distances of the first run of every method that is mapped.
    fn mapped(&self, dataset: &str) -> Result<Vec<(&str, LearnedDistance)>, StudyError> {
        let mut mapped = Vec::new();
        for run in self.first_runs(dataset) {
            if self.recipe().report.mapped_methods.contains(&run.method)
                && let Some(distance) = self.model(run)?.and_then(|model| model.distance)
            {
                mapped.push((run.method.as_str(), distance));
            }
        }
        Ok(mapped)
    }

    /// Success rates with intervals, beside bounds and baselines.
    fn success(&self, dataset: &str) -> NamedFigure {
        let planners = planners(self.results);
        let (mut bars, mut without_distance, mut missing) = (Vec::new(), Vec::new(), Vec::new());
        for group in groups(self.results, dataset) {
            for (number, &planner) in planners.iter().enumerate() {
                let rates = group.iter().filter_map(|run| Some(100.0 * run.success(planner)?.last));
                let rates: Vec<f64> = rates.collect();
                match rates.len() {
                    0 if !has_distance(&group[0].method) => without_distance.push(label(group[0], None)),
                    0 => missing.push(label(group[0], planner)),
                    _ => bars.push(success_bar(label(group[0], planner), rates, BarColor::Category(number))),
                }
            }
        }
        for (name, rates) in reference_rates(self.results, dataset) {
            let length = 100.0 * mean(rates);
            let remark = format!("{length:.1} %");
            bars.push(Bar { name: name.into(), length, interval: None, color: BarColor::Reference, remark });
        }
        bars.sort_by(|a, b| b.length.total_cmp(&a.length));
        let mut note = format!(
            "Means over n seeds; whiskers: 95 % bootstrap intervals over seeds, for n >= {MIN_SEEDS}."
        );
        for (reason, mut names) in [("No distance", without_distance), ("Not evaluated", missing)] {
            names.dedup();
            if !names.is_empty() {
                note += &format!(" {reason}: {}.", names.join(", "));
            }
        }
        let meaning = |planner: &Option<&str>| match planner {
            None => "policy alone".to_owned(),
            Some(planner) => self.results.recipe.acts(planner),
        };
        let mut legend: Vec<(BarColor, String)> = planners
            .iter()
            .enumerate()
            .map(|(k, planner)| (BarColor::Category(k), meaning(planner)))
            .collect();
        if bars.iter().any(|bar| bar.color == BarColor::Reference) {
            legend.push((BarColor::Reference, "bound or baseline, not learned".into()));
        }
        let chart = BarChart {
            title: format!("Success rates: {dataset}"),
            axis: "success rate (%)".into(),
            note,
            legend,
            bars,
        };
        let caption = format!(
            "{dataset}: success rates at the last checkpoint, means over seeds. Gray bars are bounds and baselines that learn nothing."
        );
        NamedFigure { name: "success".into(), figure: chart.draw(), caption }
    }

    /// Success rates during training, or at the evaluated checkpoints if training was not
    /// evaluated.
    fn curves(&self, dataset: &str) -> NamedFigure {
        let percent = |(step, success): (u64, f64)| (step, 100.0 * success);
        let mut curves = Vec::new();
        let group_of = |name: String, curves: Vec<Vec<(u64, f64)>>| CurveGroup {
            name,
            dataset: dataset.to_owned(),
            curves,
        };
        for group in groups(self.results, dataset) {
            if group.iter().any(|run| !run.curve.is_empty()) {
                let of = group.iter().map(|run| run.curve.iter().copied().map(percent).collect());
                curves.push(group_of(label(group[0], None), of.collect()));
                continue;
            }
            for planner in planners(self.results) {
                let curve = |run: &&RunResult| {
                    let of = run.evaluations(planner);
                    of.iter().map(|of| percent((of.step, mean(&of.success)))).collect::<Vec<_>>()
                };
                let curves_of = group.iter().map(curve).collect();
                curves.push(group_of(label(group[0], planner), curves_of));
            }
        }
        let chart = curve_chart(&format!("Success over training: {dataset}"), "success rate (%)", &curves);
        let caption = match self.recipe().evaluation.training {
            Some(training) => format!(
                "{dataset}: success rates of the policy alone at ten times during training, over {} episodes of each task; the tasks differ from those of the tables.",
                training.episodes
            ),
            None => format!("{dataset}: success rates at the evaluated checkpoints."),
        };
        NamedFigure { name: "curves".into(), figure: chart.draw(), caption }
    }

    fn calibration(&self, dataset: &str) -> Option<NamedFigure> {
        let series = |group: Vec<&RunResult>| {
            let fits = group.iter().filter_map(|run| run.fit.as_ref());
            let pairs = fits.flat_map(|fit| fit.pairs.clone()).collect();
            CalibrationSeries { name: label(group[0], None), dataset: dataset.to_owned(), pairs }
        };
        let series: Vec<_> = groups(self.results, dataset).into_iter().map(series).collect();
        if series.iter().all(|series| series.pairs.is_empty()) {
            return None;
        }
        let title = "Learned against exact distances";
        let chart = calibration_chart(title, "exact steps under the optimal policy", &series);
        let caption = format!(
            "{dataset}: pairs of states with a path between them, of all seeds. On the gray diagonal, learned and exact distances are equal."
        );
        Some(NamedFigure { name: "calibration".into(), figure: chart.draw(), caption })
    }

    fn maps(&self, name: &str, dataset: &StudyDataset) -> Result<Vec<NamedFigure>, StudyError> {
        let frame = MapFrame::new(&dataset.data, [0, 1], CELLS);
        let place = nearest_state(dataset, self.recipe().report.place);
        let map = |(method, distance): (&str, LearnedDistance)| {
            let to = frame.panel("steps to the star", &distance, &place, MapDirection::To);
            let from = frame.panel("steps from the circle", &distance, &place, MapDirection::From);
            let mut panels = vec![to, from];
            on_one_scale(&mut panels);
            let title = format!("{method}: distances to and from the same state");
            let chart = PlaneChart { title, note: String::new(), axes: axes(), panels };
            let [x, y] = self.recipe().report.place;
            let caption = format!(
                "{name}, {method}: learned steps to and from the state nearest to ({x}, {y}). Lines are isochrones: states at the same distance."
            );
            NamedFigure { name: format!("map-{method}"), figure: chart.draw(), caption }
        };
        Ok(self.mapped(name)?.into_iter().map(map).collect())
    }

    /// Plans of the first planner that uses a learned distance, on maps of distances to their
    /// goals.
    fn plans(&self, name: &str, dataset: &StudyDataset) -> Result<Vec<NamedFigure>, StudyError> {
        let planners = self.recipe().planners.iter();
        let mut planners = planners.filter_map(|planner| Some((planner, planner_config(planner, 0)?)));
        let Some((planner, config)) = planners.next() else { return Ok(Vec::new()) };
        let frame = MapFrame::new(&dataset.data, [0, 1], CELLS);
        let draw = |(method, distance): (&str, LearnedDistance)| -> Result<NamedFigure, StudyError> {
            let paths = config.build(&distance, &dataset.data)?;
            let panel = |ends: &[[f64; 2]; 2]| {
                let [start, goal] = ends.map(|place| nearest_state(dataset, place));
                let path = paths.plan(&start, &goal).ok();
                let title = if path.is_some() { "" } else { "no path found" };
                let mut panel = frame.panel(title, paths.distance(), &goal, MapDirection::To);
                frame.draw_path(&mut panel, &start, path.as_ref().map(|path| &path.states[..]));
                panel
            };
            let panels = self.recipe().report.plans.iter().map(panel).collect();
            let title = format!("{method}: plans of the {} planner", planner.name);
            let note = "Colors: learned steps to the star.".into();
            let chart = PlaneChart { title, note, axes: axes(), panels };
            let caption = format!(
                "{name}, {method}: planned paths over dataset states; colors are learned steps to the goal."
            );
            Ok(NamedFigure { name: format!("plans-{method}"), figure: chart.draw(), caption })
        };
        self.mapped(name)?.into_iter().map(draw).collect()
    }

    /// Learned distances, exact distances and their difference, at every state.
    fn beside_exact(&self, name: &str, dataset: &StudyDataset) -> Result<Vec<NamedFigure>, StudyError> {
        let Some(exact) = dataset.reference.exact_to(self.recipe().report.place) else {
            return Ok(Vec::new());
        };
        let goal = exact.places[exact.goal];
        let largest = exact.steps.iter().copied().filter(|steps| steps.is_finite()).fold(0.0, f64::max);
        let panel = |title: String, colors: Colors, values: &[f64]| PlanePanel {
            title,
            colors: Some(colors),
            dots: exact.places.iter().zip(values).map(|(&place, &steps)| (place, Some(steps))).collect(),
            goals: vec![goal],
            ..PlanePanel::default()
        };
        let distances =
            |kind: &str| Colors::Distance { legend: format!("steps to the star, {kind}"), largest };
        let observations: Vec<f32> = exact.places.iter().flat_map(|place| place.map(|x| x as f32)).collect();
        let mut panels = Vec::new();
        for run in self.first_runs(name) {
            let Some(distance) = self.model(run)?.and_then(|model| model.distance) else { continue };
            let to = goal.map(|x| x as f32);
            let learned = distance.all_pairs_steps(&observations, &to).expect("places are full states");
            // One factor for all states: truncated episodes stretch learned distances.
            let pairs = learned.iter().zip(&exact.steps);
            let ratios = pairs.filter(|(_, exact)| exact.is_finite() && **exact > 0.0);
            let ratio = median(ratios.map(|(learned, exact)| learned / exact).collect());
            let scaled: Vec<f64> = learned.iter().map(|steps| steps / ratio).collect();
            let error: Vec<f64> = scaled.iter().zip(&exact.steps).map(|(a, b)| a - b).collect();
            let difference = Colors::Difference {
                legend: "steps too short (blue) or too long (red)".into(),
                largest: largest / 2.0,
            };
            let method = &run.method;
            panels.push(panel(format!("{method}, divided by {ratio:.2}"), distances("learned"), &scaled));
            panels.push(panel("exact".into(), distances("exact"), &exact.steps));
            panels.push(panel(format!("{method} minus exact"), difference, &error));
        }
        if panels.is_empty() {
            return Ok(Vec::new());
        }
        let title = "Learned distances, exact distances and their difference".into();
        let note = "Small gray dots: no path leads to the star. Learned distances are divided by the median of learned / exact.".into();
        let chart = PlaneChart { title, note, axes: axes(), panels };
        let caption =
            format!("{name}: learned and exact steps to the star, for the first seed of each method.");
        Ok(vec![NamedFigure { name: "exact".into(), figure: chart.draw(), caption }])
    }
}

fn axes() -> [String; 2] {
    ["x".into(), "y".into()]
}

/// The state of the exact solver nearest to a place or, without a solver, the nearest dataset
/// state.
fn nearest_state(dataset: &StudyDataset, place: [f64; 2]) -> Vec<f32> {
    if let Some(exact) = dataset.reference.exact_to(place) {
        return exact.places[exact.goal].map(|x| x as f32).to_vec();
    }
    let width = dataset.data.spec().observation.width;
    let apart = |row: &[f32]| (f64::from(row[0]) - place[0]).hypot(f64::from(row[1]) - place[1]);
    let nearer = |best: Vec<f32>, row: &[f32]| if apart(row) < apart(&best) { row.to_vec() } else { best };
    (0..dataset.data.n_episodes()).fold(vec![f32::INFINITY; width], |best, episode| {
        dataset.data.episode(episode).observations.chunks_exact(width).fold(best, nearer)
    })
}

/// The mean of success rates of several seeds, with an interval if there are enough of them.
fn success_bar(name: String, rates: Vec<f64>, color: BarColor) -> Bar {
    let (n, length) = (rates.len(), mean(&rates));
    let estimate = (n >= MIN_SEEDS).then(|| bootstrap(&[rates], mean, RESAMPLES, 0));
    let interval = estimate.map(|estimate| (estimate.low, estimate.high));
    let range = interval.map_or_else(String::new, |(low, high)| format!(" [{low:.1}, {high:.1}]"));
    Bar { name, length, interval, color, remark: format!("{length:.1} %{range}, n = {n}") }
}
