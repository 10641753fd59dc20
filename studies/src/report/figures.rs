//! The figures of a report.

use super::tables::{groups, planners};
use crate::{
    dataset::{self, StudyDataset},
    error::StudyError,
    evaluate::planner_config,
    jobs::jobs,
    recipe::{FigureKind, Recipe},
    results::{Results, RunResult},
    training,
};
use isochrone_core::{TemporalDistance, statistics::median};
use isochrone_eval::stats::mean;
use isochrone_learn::model::{LearnedDistance, Model};
use isochrone_plot::{
    Bar, BarChart, Colors, CurveGroup, Figure, MapDirection, MapFrame, PlaneChart, PlanePanel,
    calibration_chart, curve_chart, on_one_scale,
};
use std::path::Path;

/// Cells on the longer side of a map.
const CELLS: usize = 130;

/// A figure with its name and caption.
pub struct NamedFigure {
    pub name: String,
    pub figure: Figure,
    pub caption: String,
}

/// Results, and folders of studies where their runs and datasets may lie.
pub struct Source<'a> {
    pub results: &'a Results,
    pub folders: &'a [&'a Path],
}

/// The figures that the recipe asks for, dataset by dataset.
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

    /// The dataset, where it is there and its environment can be opened.
    fn dataset(&self, name: &str) -> Result<Option<StudyDataset>, StudyError> {
        let Some(folder) = self.folders.iter().find(|folder| dataset::path(folder, name).exists()) else {
            return Ok(None);
        };
        match StudyDataset::load(folder, name, self.recipe()) {
            Err(StudyError::Collect(_)) => Ok(None),
            loaded => loaded.map(Some),
        }
    }

    /// The model of a run, where its folder is there.
    fn model(&self, run: &RunResult) -> Result<Option<Model>, StudyError> {
        let jobs = jobs(self.recipe(), None);
        let Some(job) = jobs.iter().find(|job| run.is_of(job)) else { return Ok(None) };
        for folder in self.folders {
            if let Some(model) = training::last_model(&folder.join(job.folder()))? {
                return Ok(Some(model));
            }
        }
        Ok(None)
    }

    /// The first run of every method, without changed settings.
    fn first_runs(&self, dataset: &str) -> Vec<&RunResult> {
        let groups = groups(self.results, dataset).into_iter().map(|group| group[0]);
        groups.filter(|run| run.variant.is_none()).collect()
    }

    /// Distances of the first run of every method that is mapped.
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

    fn success(&self, dataset: &str) -> NamedFigure {
        let mut bars: Vec<Bar> = Vec::new();
        for group in groups(self.results, dataset) {
            for planner in planners(self.results) {
                let last = group.iter().filter_map(|run| Some(run.success(planner)?.last));
                let last: Vec<f64> = last.collect();
                if last.is_empty() {
                    continue;
                }
                let length = 100.0 * mean(&last);
                let share = if planner.is_none() { 0.7 } else { 0.3 };
                let (name, remark) = (label(group[0], planner), format!("{length:.1} %"));
                bars.push(Bar { name, length, share, remark });
            }
        }
        bars.sort_by(|a, b| b.length.total_cmp(&a.length));
        let chart = BarChart {
            title: format!("Success: {dataset}"),
            axis: "episodes (%)".into(),
            note: "light: the policy alone; dark: with a planner".into(),
            bars,
        };
        let caption = format!("{dataset}: means over seeds, at the last checkpoint.");
        NamedFigure { name: "success".into(), figure: chart.draw(), caption }
    }

    /// Success during training, or at the evaluated checkpoints where it was not watched.
    fn curves(&self, dataset: &str) -> NamedFigure {
        let percent = |(step, success): (u64, f64)| (step, 100.0 * success);
        let mut curves = Vec::new();
        for group in groups(self.results, dataset) {
            if group.iter().any(|run| !run.curve.is_empty()) {
                let of = group.iter().map(|run| run.curve.iter().copied().map(percent).collect());
                curves.push(CurveGroup { name: label(group[0], None), curves: of.collect() });
                continue;
            }
            for planner in planners(self.results) {
                let curve = |run: &&RunResult| {
                    let of = run.evaluations(planner);
                    of.iter().map(|of| percent((of.step, mean(&of.success)))).collect::<Vec<_>>()
                };
                let curves_of = group.iter().map(curve).collect();
                curves.push(CurveGroup { name: label(group[0], planner), curves: curves_of });
            }
        }
        curves.retain(|group| group.curves.iter().any(|curve| !curve.is_empty()));
        let chart = curve_chart(&format!("Success over training: {dataset}"), "episodes (%)", &curves);
        let caption = match self.recipe().evaluation.training {
            Some(training) => format!(
                "{dataset}: the policy alone, {} episodes of each task at ten times, others than those of the tables.",
                training.episodes
            ),
            None => format!("{dataset}: at the evaluated checkpoints."),
        };
        NamedFigure { name: "curves".into(), figure: chart.draw(), caption }
    }

    fn calibration(&self, dataset: &str) -> Option<NamedFigure> {
        let series = groups(self.results, dataset).into_iter().filter_map(|group| {
            let fits = group.iter().filter_map(|run| run.fit.as_ref());
            let pairs: Vec<(f64, f64)> = fits.flat_map(|fit| fit.pairs.clone()).collect();
            (!pairs.is_empty()).then(|| (label(group[0], None), pairs))
        });
        let series: Vec<_> = series.collect();
        if series.is_empty() {
            return None;
        }
        let title = "Learned against exact distances";
        let chart = calibration_chart(title, "exact steps under the optimal policy", &series);
        let caption = format!("{dataset}: pairs of states with a path between them.");
        Some(NamedFigure { name: "calibration".into(), figure: chart.draw(), caption })
    }

    fn maps(&self, name: &str, dataset: &StudyDataset) -> Result<Vec<NamedFigure>, StudyError> {
        let frame = MapFrame::new(&dataset.data, [0, 1], CELLS);
        let place = nearest_state(dataset, self.recipe().report.place);
        let map = |(method, distance): (&str, LearnedDistance)| {
            let to = frame.panel("steps to this place", &distance, &place, MapDirection::To);
            let from = frame.panel("steps from this place", &distance, &place, MapDirection::From);
            let mut panels = vec![to, from];
            on_one_scale(&mut panels);
            let title = format!("{method}: distances to a place and from the same place");
            let chart = PlaneChart { title, note: String::new(), axes: axes(), panels };
            let caption = format!("{name}, {method}: lines of equal travel time.");
            NamedFigure { name: format!("map-{method}"), figure: chart.draw(), caption }
        };
        Ok(self.mapped(name)?.into_iter().map(map).collect())
    }

    /// Plans of the first planner that has a learned distance, over maps of distances to their goals.
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
            let caption = format!("{name}, {method}: paths over the states of the dataset.");
            Ok(NamedFigure { name: format!("plans-{method}"), figure: chart.draw(), caption })
        };
        self.mapped(name)?.into_iter().map(draw).collect()
    }

    /// Learned distances, exact ones and their difference, at every state.
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
            let learned = distance.all_pairs_steps(&observations, &to).expect("places are states");
            // One factor for all: truncated episodes stretch learned distances.
            let pairs = learned.iter().zip(&exact.steps);
            let ratios = pairs.filter(|(_, exact)| exact.is_finite() && **exact > 0.0);
            let ratio = median(ratios.map(|(learned, exact)| learned / exact).collect());
            let scaled: Vec<f64> = learned.iter().map(|steps| steps / ratio).collect();
            let error: Vec<f64> = scaled.iter().zip(&exact.steps).map(|(a, b)| a - b).collect();
            let difference = Colors::Difference {
                legend: "steps too near (blue) or too far (red)".into(),
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
        let note = "Small and gray: no path leads to the star. Learned distances are divided by the median of learned / exact.".into();
        let chart = PlaneChart { title, note, axes: axes(), panels };
        let caption = format!("{name}: the first seed.");
        Ok(vec![NamedFigure { name: "exact".into(), figure: chart.draw(), caption }])
    }
}

fn axes() -> [String; 2] {
    ["x".into(), "y".into()]
}

/// The state that stands for a place: one of the exact solver, or the nearest of the dataset.
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

/// The method, what was changed of its settings, and the planner.
fn label(run: &RunResult, planner: Option<&str>) -> String {
    let change = run.variant.as_ref().map_or_else(String::new, |variant| format!(", {variant}"));
    let with = planner.map_or_else(String::new, |planner| format!(" + {planner}"));
    format!("{}{change}{with}", run.method)
}
