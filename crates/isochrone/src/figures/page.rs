use super::{Group, calibration_chart, curve_chart, observed_pairs};
use isochrone_core::TemporalDistance;
use isochrone_data::Trajectories;
use isochrone_eval::{page::Page, plot::Picture};
use isochrone_learn::{
    error::LearnError,
    run::{Record, Run, metrics},
};

/// Pairs of states that a calibration looks at.
const PAIRS: usize = 20_000;

/// A run, what it learned from or is judged by, and what it learned of distances.
pub struct Subject<'a> {
    /// The run.
    pub run: &'a Run,
    /// Its data.
    pub data: &'a Trajectories,
    /// Its distance, if it has one.
    pub distance: Option<&'a dyn TemporalDistance>,
}

/// A page about one run, or about several side by side: what they are, their curves, how well distances are calibrated. `more` are further pictures with captions.
///
/// # Errors
/// If a run cannot be read.
pub fn run_page(subjects: &[Subject<'_>], more: &[(Picture, String)]) -> Result<Page, LearnError> {
    let runs: Vec<&Run> = subjects.iter().map(|subject| subject.run).collect();
    let name = |run: &Run| display_name(run, &runs);
    let title = match runs[..] {
        [run] => format!("{}: {}", name(run), run.manifest().algorithm),
        _ => format!("{} runs", runs.len()),
    };
    let mut page = Page::new(&title);
    let columns = [
        "run",
        "algorithm",
        "data",
        "contents",
        "seed",
        "steps",
        "batch",
        "discount",
        "state",
        "seconds",
        "best evaluation",
    ];
    let mut rows = Vec::new();
    for run in &runs {
        let (manifest, config, status) = (run.manifest(), run.config(), run.status()?);
        let best = status.best.as_ref();
        rows.push(vec![
            name(run),
            manifest.algorithm.clone(),
            manifest.data.path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            manifest.data.content_hash[..12].to_owned(),
            manifest.seed.to_string(),
            format!("{} of {}", status.step, config.steps),
            config.batch_size.to_string(),
            config.discount.to_string(),
            run.standing(status.state).to_owned(),
            format!("{:.0}", status.seconds),
            best.map_or("-".into(), |best| {
                format!("{} {:.3} at step {}", best.metric, best.value, best.step)
            }),
        ]);
    }
    page.table(&columns.map(str::to_owned), &rows);
    let records: Vec<Vec<Record>> = runs.iter().map(|run| run.records()).collect::<Result<_, _>>()?;
    page.heading("Training");
    let names = metrics::names(records.iter().flatten());
    for measure in names.into_iter().filter(|name| metrics::is_main(name)) {
        let groups: Vec<Group> = runs
            .iter()
            .zip(&records)
            .map(|(run, records)| Group { name: name(run), curves: vec![metrics::curve(records, measure)] })
            .filter(|group| !group.curves[0].is_empty())
            .collect();
        let chart = curve_chart(&measure.replace('_', " "), "", &groups);
        page.picture(&chart.draw(), "");
    }
    let mut calibrations = Vec::new();
    for Subject { run, data, distance } in subjects {
        if let Some(distance) = distance {
            calibrations.push((name(run), observed_pairs(*distance, data, PAIRS, 0)));
        }
    }
    if !calibrations.is_empty() {
        page.heading("Calibration");
        let chart = calibration_chart("Predicted against observed steps", "observed steps", &calibrations);
        page.picture(&chart.draw(), "Pairs of states of one episode. Behaviour that dawdles takes more steps than needed, so that the best distance lies below the line.");
    }
    if !more.is_empty() {
        page.heading("Maps");
    }
    for (picture, caption) in more {
        page.picture(picture, caption);
    }
    if let [run] = runs[..] {
        page.heading("Configuration");
        page.code(&toml::to_string(run.config()).unwrap_or_default());
    }
    let made_by = isochrone_learn::run::MadeBy::revision().unwrap_or("unknown");
    page.paragraph(&format!("Made by isochrone {} at revision {made_by}.", env!("CARGO_PKG_VERSION")));
    Ok(page)
}

/// The folder's name, or all of its path where another run has the same.
pub fn display_name(run: &Run, among: &[&Run]) -> String {
    let name = |run: &Run| run.folder().file_name().unwrap_or_default().to_string_lossy().into_owned();
    let is_alone = among.iter().filter(|other| name(other) == name(run)).count() < 2;
    if is_alone { name(run) } else { run.folder().display().to_string() }
}
