//! The figures of the study.

use super::{Failure, Finished, Study};
use isochrone_core::{TemporalDistance, statistics::median};
use isochrone_eval::{
    plan::{Path, PlanMethod, Planner, Transitions},
    stats::mean,
};
use isochrone_learn::{algos::Algorithm, model::LearnedDistance};
use isochrone_plot::{
    Bar, BarChart, Colors, CurveGroup, MapDirection, MapFrame, PlaneChart, PlanePanel, calibration_chart,
    curve_chart, on_one_scale,
};

/// Cells on the longer side of a map.
const CELLS: usize = 130;
/// Ways that are drawn, from near the first place to near the second: right at the crossing; left at the crossing and into the inner ring; from the inner ring by way of two turnings into the
/// outer one.
const SHOWN_WAYS: [([f64; 2], [f64; 2]); 3] =
    [([-11.0, 0.0], [-12.0, -12.0]), ([0.0, 16.0], [8.5, 9.5]), ([11.0, 7.0], [-16.5, 0.0])];
/// The place of the maps.
const SHOWN_PLACE: [f64; 2] = [6.0, 0.0];

/// A figure with its name and caption.
pub(super) struct Figure {
    pub(super) name: &'static str,
    pub(super) picture: isochrone_plot::Figure,
    pub(super) caption: String,
}

impl Study {
    /// All figures, of the first seed where one has to be chosen.
    pub(super) fn figures(&self, finished: &[Finished]) -> Result<Vec<Figure>, Failure> {
        let mut figures = vec![self.success_bars(finished), self.curves(finished)];
        let has_distances = finished.iter().any(|run| run.verdict.fit.is_some());
        if has_distances {
            figures.push(self.calibration(finished));
        }
        for method in [Algorithm::Cmd1, Algorithm::Cmd2] {
            if self.methods.contains(&method) {
                figures.extend(self.maps(method)?);
            }
        }
        if has_distances {
            figures.push(self.beside_exact()?);
        }
        Ok(figures)
    }

    fn success_bars(&self, finished: &[Finished]) -> Figure {
        // Dark with a plan, light without.
        let bar = |name: String, success: f64, share: f64| {
            let remark = format!("{:.1} %", 100.0 * success);
            Bar { name, length: 100.0 * success, share, remark }
        };
        let mut bars: Vec<Bar> = Vec::new();
        for method in &self.methods {
            let of = || finished.iter().filter(|run| run.verdict.method == method.name());
            let alone: Vec<f64> = of().map(|run| run.verdict.alone.success).collect();
            bars.push(bar(method.name().into(), mean(&alone), 0.7));
            let planned: Vec<f64> = of().filter_map(|run| Some(run.verdict.greedy?.success)).collect();
            if !planned.is_empty() {
                bars.push(bar(format!("{} + plan", method.name()), mean(&planned), 0.3));
            }
        }
        bars.sort_by(|a, b| b.length.total_cmp(&a.length));
        let chart = BarChart {
            title: "Tasks done".into(),
            axis: "share of tasks (%)".into(),
            note: "light: the policy alone; dark: with a greedy plan above it".into(),
            bars,
        };
        let caption = "Means over seeds; plan: greedy next-state selection among recorded moves.".into();
        Figure { name: "success", picture: chart.draw(), caption }
    }

    fn curves(&self, finished: &[Finished]) -> Figure {
        let group = |method: &Algorithm| CurveGroup {
            name: method.name().into(),
            curves: finished
                .iter()
                .filter(|run| run.verdict.method == method.name())
                .map(|run| run.curve.iter().map(|&(step, success)| (step, 100.0 * success)).collect())
                .collect(),
        };
        let groups: Vec<CurveGroup> = self.methods.iter().map(group).collect();
        let chart = curve_chart("Success over training", "tasks done (%), without a plan", &groups);
        let caption = format!(
            "{} tasks at each of ten times, others than those of the table.",
            self.recipe.rollouts_in_training
        );
        Figure { name: "curves", picture: chart.draw(), caption }
    }

    fn calibration(&self, finished: &[Finished]) -> Figure {
        let pairs = |method: &Algorithm| {
            let fits = finished.iter().filter(|run| run.verdict.method == method.name());
            let pairs: Vec<(f64, f64)> =
                fits.filter_map(|run| run.verdict.fit.as_ref()).flat_map(|fit| fit.pairs.clone()).collect();
            (!pairs.is_empty()).then(|| (method.name().to_owned(), pairs))
        };
        let series: Vec<_> = self.methods.iter().filter_map(pairs).collect();
        let chart = calibration_chart(
            "Learned against exact distances",
            "exact steps under the best policy",
            &series,
        );
        let caption = "Pairs of sites of which one leads to the other.".into();
        Figure { name: "calibration", picture: chart.draw(), caption }
    }

    /// The site nearest to a place, as the data would say it.
    fn shown(&self, place: [f64; 2]) -> [f32; 2] {
        let world = &self.judge.world;
        world.sites()[world.nearest(place)].place.map(|x| x as f32)
    }

    /// To a goal, from a start, and ways over the data.
    fn maps(&self, method: Algorithm) -> Result<Vec<Figure>, Failure> {
        let model = self.model(method, 0)?;
        let Some(distance) = &model.distance else { return Ok(Vec::new()) };
        let frame = MapFrame::new(&self.data, [0, 1], CELLS);
        let axes = ["x".to_owned(), "y".to_owned()];
        let goal = self.shown(SHOWN_PLACE);
        let to = frame.panel("how long it takes to come here", distance, &goal, MapDirection::To);
        let from = frame.panel("how long it takes from here", distance, &goal, MapDirection::From);
        let mut both = vec![to, from];
        on_one_scale(&mut both);
        let title = format!("{}: distances to a place and from the same place", method.name());
        let map = PlaneChart {
            title,
            note: "Streets are one-way, so the two differ.".into(),
            axes: axes.clone(),
            panels: both,
        };
        let moves = Transitions::sample(&self.data, self.recipe.moves, 0);
        let planner = Planner::new(PlanMethod::Greedy { radius: self.recipe.radius }, distance, moves)?;
        let ways = PlaneChart {
            title: format!("{}: greedy plans", method.name()),
            note: "Always the recorded next state within a ball that is nearest to the star in learned time; colors: steps to the star.".into(),
            axes,
            panels: SHOWN_WAYS.iter().map(|&ends| self.way(ends, &frame, distance, &planner)).collect(),
        };
        let (map_name, plans) = match method {
            Algorithm::Cmd1 => ("map-cmd1", "ways-cmd1"),
            _ => ("map-cmd2", "ways-cmd2"),
        };
        Ok(vec![
            Figure { name: map_name, picture: map.draw(), caption: "Lines: equal travel time.".into() },
            Figure {
                name: plans,
                picture: ways.draw(),
                caption:
                    "No recording leads from one street into another: every way that turns was put together."
                        .into(),
            },
        ])
    }

    fn way(
        &self,
        (start, goal): ([f64; 2], [f64; 2]),
        frame: &MapFrame,
        distance: &dyn TemporalDistance,
        planner: &Planner<&LearnedDistance>,
    ) -> PlanePanel {
        let (start, goal) = (self.shown(start), self.shown(goal));
        let path = planner.plan(&start, &goal).ok();
        let title = if path.is_some() { "" } else { "no path was found" };
        let mut panel = frame.panel(title, distance, &goal, MapDirection::To);
        frame.draw_path(&mut panel, &start, path.as_ref().map(Path::states));
        panel
    }

    /// Learned, exact and their difference, at every site.
    fn beside_exact(&self) -> Result<Figure, Failure> {
        let goal = self.judge.world.nearest(SHOWN_PLACE);
        let sites = self.judge.world.sites();
        let place = sites[goal].place;
        let exact: Vec<f64> = (0..sites.len()).map(|from| self.judge.exact.steps(from, goal)).collect();
        let largest = exact.iter().copied().filter(|steps| steps.is_finite()).fold(0.0, f64::max);
        let dots = |values: &[f64]| {
            sites.iter().zip(values).map(|(site, &steps)| (site.place, Some(steps))).collect()
        };
        let distances = |legend: &str| Some(Colors::Distance { legend: legend.into(), largest });
        let mut panels = Vec::new();
        for &method in &self.methods {
            let Some(distance) = self.model(method, 0)?.distance else { continue };
            let to = place.map(|x| x as f32);
            let learned = distance.all_pairs_steps(&self.judge.places(), &to).expect("places are states");
            // One factor for all: truncated recordings stretch learned distances.
            let ratios = learned.iter().zip(&exact).filter(|(_, exact)| exact.is_finite() && **exact > 0.0);
            let ratio = median(ratios.map(|(learned, exact)| learned / exact).collect());
            let scaled: Vec<f64> = learned.iter().map(|steps| steps / ratio).collect();
            let error: Vec<f64> = scaled.iter().zip(&exact).map(|(learned, exact)| learned - exact).collect();
            let name = method.name();
            panels.push(PlanePanel {
                title: format!("{name}, divided by {ratio:.2}"),
                colors: distances("steps to the star, learned"),
                dots: dots(&scaled),
                goals: vec![place],
                ..PlanePanel::default()
            });
            panels.push(PlanePanel {
                title: "exact".into(),
                colors: distances("steps to the star, exact"),
                dots: dots(&exact),
                goals: vec![place],
                ..PlanePanel::default()
            });
            panels.push(PlanePanel {
                title: format!("{name} minus exact"),
                colors: Some(Colors::Difference {
                    legend: "steps too near (blue) or too far (red)".into(),
                    largest: largest / 2.0,
                }),
                dots: dots(&error),
                goals: vec![place],
                ..PlanePanel::default()
            });
        }
        let chart = PlaneChart {
            title: "Learned, exact, and their difference".into(),
            note: "Small and grey: no way leads to the star. Learned distances are divided by the median of learned / exact.".into(),
            axes: ["x".into(), "y".into()],
            panels,
        };
        Ok(Figure { name: "beside-exact", picture: chart.draw(), caption: "Seed 0.".into() })
    }
}
