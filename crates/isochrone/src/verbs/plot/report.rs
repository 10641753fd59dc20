use crate::verbs::{runs::found, situations::Asker};
use anyhow::{Context as _, bail};
use isochrone::{
    TemporalDistance,
    figures::{Direction, MapFrame, Subject, run_page},
    learn::{model::Which, run::write_file},
    plot::PlaneChart,
};
use std::{io::Write, path::PathBuf};

/// A page about a run, or about several side by side: settings, curves, calibration, maps; one HTML file that needs nothing else
#[derive(clap::Args)]
pub struct Args {
    /// Runs, or folders of runs
    #[arg(default_value = "runs")]
    folders: Vec<PathBuf>,

    /// The page (.html)
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
}

/// Cells on the longer side of a map.
const CELLS: usize = 90;
/// Maps of more runs would make the page too long.
const MOST_MAPS: usize = 12;

pub fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<()> {
    if !args.output.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("html")) {
        bail!("{}: a page is HTML; hint: end the name in .html", args.output.display());
    }
    let askers: Vec<Asker> = found(&args.folders)?
        .into_iter()
        .map(|run| Asker::of(run, Which::Last, None))
        .collect::<anyhow::Result<_>>()?;
    let subjects = askers.iter().map(subject).collect::<anyhow::Result<Vec<_>>>()?;
    let mut maps = Vec::new();
    for Subject { run, data, distance } in subjects.iter().take(MOST_MAPS) {
        let Some(distance) = *distance else { continue };
        if data.spec().observation.width < 2 {
            continue;
        }
        // The end of the first episode: a place that is known to be reached.
        let view = data.episode(0);
        let goal = &view.observations[view.steps * data.spec().observation.width..];
        let frame = MapFrame::new(data, [0, 1], CELLS);
        let panels = vec![
            frame.panel("to the star", distance, goal, Direction::To),
            frame.panel("from the circle", distance, goal, Direction::From),
        ];
        let name = run.folder().file_name().unwrap_or_default().to_string_lossy().into_owned();
        let axes = [0, 1].map(|dimension| data.spec().observation.dimension(dimension));
        let chart = PlaneChart { title: name, note: String::new(), axes, panels };
        maps.push((chart.draw(), "Steps to the last state of the first episode, and from it.".to_owned()));
    }
    let page = run_page(&subjects, &maps)?;
    write_file(&args.output, page.html().as_bytes())
        .with_context(|| format!("{}: the page cannot be written", args.output.display()))?;
    writeln!(out, "{}: {} runs", args.output.display(), subjects.len())?;
    Ok(())
}

fn subject(asker: &Asker) -> anyhow::Result<Subject<'_>> {
    let distance = asker.model.distance.as_ref().map(|distance| distance as &dyn TemporalDistance);
    Ok(Subject { run: &asker.run, data: asker.data()?, distance })
}
