//! Success over training, for studies that judge more than the last three checkpoints.

use super::{Failure, Study, Verdict, means, runs_of};
use isochrone_eval::rollout::LAST_THREE;
use isochrone_plot::{CurveGroup, curve_chart};
use std::fmt::Write as _;

impl Study {
    /// Whether there is more to draw than the protocol's three points.
    pub(super) fn has_curves(&self) -> bool {
        self.recipe.checkpoints > LAST_THREE
    }

    /// Draws every data set's curves: `curve-<data set>.svg` and `.png`.
    pub(super) fn draw_curves(&self, verdicts: &[Verdict]) -> Result<(), Failure> {
        for set in &self.data_sets {
            let name = set.id.name();
            let mut groups = Vec::new();
            for method in &self.methods {
                let of = runs_of(verdicts, &name, *method);
                let alone = of.iter().map(|verdict| curve(verdict, &verdict.alone)).collect();
                let planned = of.iter().map(|verdict| curve(verdict, &verdict.planned)).collect();
                groups.push(CurveGroup { name: method.name().into(), curves: alone });
                groups.push(CurveGroup { name: format!("{} + graph", method.name()), curves: planned });
            }
            groups.retain(|group| group.curves.iter().any(|curve| !curve.is_empty()));
            let picture = curve_chart(&name, "episodes that arrive (%)", &groups).draw();
            for extension in ["svg", "png"] {
                picture.save(&self.folder.join(format!("curve-{name}.{extension}")))?;
            }
        }
        Ok(())
    }

    /// The same as a table, a row for every checkpoint of every run of a data set.
    pub(super) fn curve_table(&self, text: &mut String, data_set: &str, verdicts: &[Verdict]) {
        text.push_str(
            "| method | seed | updates | minutes of training | alone | graph |\n|---|---|---|---|---|---|\n",
        );
        for verdict in verdicts.iter().filter(|verdict| verdict.data_set == data_set) {
            let planned = curve(verdict, &verdict.planned);
            for (step, alone) in curve(verdict, &verdict.alone) {
                let graph = planned.iter().find(|(at, _)| *at == step);
                let graph = graph.map_or_else(|| "-".into(), |(_, success)| format!("{success:.1}"));
                let minutes = verdict.seconds / 60.0 * step as f64 / verdict.steps as f64;
                writeln!(
                    text,
                    "| {} | {} | {step} | {minutes:.0} | {alone:.1} | {graph} |",
                    verdict.method, verdict.seed
                )
                .expect("a string takes all");
            }
        }
        writeln!(text, "\n![Success over training](curve-{data_set}.svg)\n").expect("a string takes all");
    }
}

/// Per cent at the last checkpoints, as many as were judged.
fn curve(verdict: &Verdict, judged: &[Vec<f64>]) -> Vec<(u64, f64)> {
    let first = verdict.checkpoints.len() - judged.len();
    let steps = verdict.checkpoints[first..].iter().copied();
    steps.zip(means(judged)).map(|(step, share)| (step, 100.0 * share)).collect()
}
