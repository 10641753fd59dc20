use super::{Group, calibration_chart, curve_chart, observed_pairs};
use isochrone_data::Trajectories;
use isochrone_eval::{page::Page, plot::Picture};
use isochrone_learn::{
    error::LearnError,
    model::{Model, Which},
    run::{Record, Run, State},
};

/// Pairs of states that a calibration looks at.
const PAIRS: usize = 20_000;

/// A page about one run, or about several side by side: what they are, their curves, how well distances are calibrated. `data[i]` is what run `i` learned from, or is judged by; `more` are
/// further pictures with captions.
///
/// # Errors
/// If a run cannot be read.
pub fn run_page(
    runs: &[Run],
    data: &[&Trajectories],
    more: &[(Picture, String)],
) -> Result<Page, LearnError> {
    let name = |run: &Run| display_name(run, runs);
    let title = match runs {
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
    for run in runs {
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
            match status.state {
                State::Running if !run.is_active() => "interrupted".to_owned(),
                state => format!("{state:?}").to_lowercase(),
            },
            format!("{:.0}", status.seconds),
            best.map_or("-".into(), |best| {
                format!("{} {:.3} at step {}", best.metric, best.value, best.step)
            }),
        ]);
    }
    page.table(&columns.map(str::to_owned), &rows);
    let records: Vec<Vec<Record>> = runs.iter().map(Run::records).collect::<Result<_, _>>()?;
    page.heading("Training");
    for measure in measures(&records) {
        let groups: Vec<Group> = runs
            .iter()
            .zip(&records)
            .map(|(run, records)| Group { name: name(run), curves: vec![curve(records, &measure)] })
            .filter(|group| !group.curves[0].is_empty())
            .collect();
        let chart = curve_chart(&measure.replace('_', " "), "", &groups);
        page.picture(&chart.draw(), "");
    }
    let mut calibrations = Vec::new();
    for (run, data) in runs.iter().zip(data) {
        if let Some(distance) = Model::open(run.folder(), Which::Last)?.distance {
            calibrations.push((name(run), observed_pairs(&distance, data, PAIRS, 0)));
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
    if let [run] = runs {
        page.heading("Configuration");
        page.code(&toml::to_string(run.config()).unwrap_or_default());
    }
    let made_by = isochrone_learn::run::MadeBy::revision().unwrap_or("unknown");
    page.paragraph(&format!("Made by isochrone {} at revision {made_by}.", env!("CARGO_PKG_VERSION")));
    Ok(page)
}

/// The folder's name, or all of its path where another run has the same.
pub fn display_name(run: &Run, among: &[Run]) -> String {
    let name = |run: &Run| run.folder().file_name().unwrap_or_default().to_string_lossy().into_owned();
    let is_alone = among.iter().filter(|other| name(other) == name(run)).count() < 2;
    if is_alone { name(run) } else { run.folder().display().to_string() }
}

/// Losses and evaluations, in the order in which runs report them.
fn measures(records: &[Vec<Record>]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (name, _) in records.iter().flatten().flat_map(|record| &record.values) {
        if (name.ends_with("/loss") || name.starts_with("evaluation/")) && !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
}

/// A metric over training.
pub(crate) fn curve(records: &[Record], measure: &str) -> Vec<(u64, f64)> {
    let value =
        |record: &Record| record.values.iter().find(|(name, _)| name == measure).map(|(_, value)| *value);
    records.iter().filter_map(|record| Some((record.step, value(record)?))).collect()
}
