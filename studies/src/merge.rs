//! Merges the shards of a study.

use crate::{
    error::StudyError,
    files::{MAX_RESULTS_BYTES, read_text, write_json},
    jobs::{Part, jobs},
    output_folder::claim,
    recipe::Recipe,
    report,
    results::{Results, RunResult},
    study::RESULT,
};
use serde_json::json;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// Merges the results of shards into one folder with a report. Runs that no shard has finished may
/// be missing, which the report states; runs that several shards have must agree. Shards may differ
/// in their methods and in the number of seeds, so that both can be added to a finished study.
///
/// # Errors
/// If a folder holds no results; if shards differ in recipe, protocol, physics or data; if they
/// disagree about a run.
pub fn merge(shards: &[PathBuf], output: &Path) -> Result<Results, StudyError> {
    let read = shards.iter().map(|folder| Ok((folder, load(folder)?)));
    let read = read.collect::<Result<Vec<_>, StudyError>>()?;
    let Some((first_folder, first)) = read.first() else {
        let problem = "no shards to merge".to_owned();
        return Err(StudyError::Invalid { path: output.into(), problem, hint: "give the folders of shards" });
    };
    let mut merged = Results { part: None, runs: Vec::new(), failures: Default::default(), ..first.clone() };
    let mismatch = |left: &Path, right: &Path, field| StudyError::Mismatch {
        left: left.into(),
        right: right.into(),
        field,
    };
    for (number, (folder, shard)) in read.iter().enumerate() {
        if read[..number].iter().any(|(other, _)| is_same_folder(other, folder)) {
            let problem = "the folder is given twice".to_owned();
            return Err(StudyError::Invalid { path: folder.into(), problem, hint: "give every shard once" });
        }
        let differs = |field: String| mismatch(first_folder, folder, field);
        let shared = |recipe: &Recipe| json!(Recipe { seeds: 1, methods: BTreeMap::new(), ..recipe.clone() });
        if shared(&shard.recipe) != shared(&first.recipe) {
            return Err(differs("the recipe".into()));
        }
        for (name, method) in &shard.recipe.methods {
            let known = merged.recipe.methods.entry(name.clone()).or_insert_with(|| method.clone());
            if known != method {
                return Err(differs(format!("the method {name} of the recipe")));
            }
        }
        merged.recipe.seeds = merged.recipe.seeds.max(shard.recipe.seeds);
        if shard.protocol != first.protocol {
            return Err(differs(format!("the evaluation protocol ({}, {})", first.protocol, shard.protocol)));
        }
        if shard.mujoco != first.mujoco {
            return Err(differs("the version of MuJoCo".into()));
        }
        for (name, info) in &shard.datasets {
            let known = merged.datasets.entry(name.clone()).or_insert_with(|| info.clone());
            if known.content_hash != info.content_hash {
                return Err(differs(format!("the dataset {name}")));
            }
        }
        merged.failures.extend(shard.failures.clone());
    }
    let recipe = merged.recipe.clone();
    let jobs = jobs(&recipe, &Part::default());
    merged.n_jobs = jobs.len();
    claim(output)?;
    for job in &jobs {
        let mut found: Option<(&Path, RunResult)> = None;
        for (folder, shard) in &read {
            let Some(listed) = shard.runs.iter().find(|run| run.is_of(job)) else { continue };
            // The file of the run, if present, has more than the list.
            let path = folder.join(job.folder()).join(RESULT);
            let run = RunResult::read(&path, job, &listed.settings_hash).unwrap_or_else(|| listed.clone());
            if json!(run.evaluations) != json!(listed.evaluations) {
                let list = folder.join("results.json");
                return Err(mismatch(&list, &path, "the result of the run".to_owned()));
            }
            match &found {
                Some((left, known)) if known.numbers() != run.numbers() => {
                    let field = format!("the result of {}", job.folder().display());
                    return Err(mismatch(left, folder, field));
                }
                Some(_) => {}
                None => found = Some((folder, run)),
            }
        }
        if let Some((_, run)) = found {
            let folder = output.join(job.folder());
            std::fs::create_dir_all(&folder).map_err(StudyError::io(&folder))?;
            write_json(&folder.join(RESULT), &run)?;
            merged.failures.remove(&job.folder().display().to_string());
            merged.runs.push(run);
        }
    }
    let folders: Vec<&Path> = shards.iter().map(PathBuf::as_path).collect();
    report::write(output, &merged, &folders)?;
    Ok(merged)
}

fn is_same_folder(one: &Path, other: &Path) -> bool {
    std::fs::canonicalize(one).ok().is_some_and(|one| std::fs::canonicalize(other).ok() == Some(one))
}

/// Loads the finished results of a shard.
fn load(folder: &Path) -> Result<Results, StudyError> {
    let path = folder.join("results.json");
    if !path.exists() {
        return Err(StudyError::Invalid {
            path: folder.into(),
            problem: "the folder has no results.json: it is not a study, or none of its runs is finished"
                .into(),
            hint: "give the folders of the shards",
        });
    }
    let text = read_text(&path, MAX_RESULTS_BYTES)?;
    let invalid = |problem: String| StudyError::Invalid {
        path: path.clone(),
        problem,
        hint: "give the folder of a study that was run by this version",
    };
    let results: Results = serde_json::from_str(&text)
        .map_err(|error| invalid(format!("the file has no valid results of a study: {error}")))?;
    // Folders are named after its datasets, and its seeds are counted.
    results.recipe.check(&path)?;
    for run in &results.runs {
        let RunResult { dataset, method, seed, .. } = run;
        if !results.datasets.contains_key(dataset) {
            return Err(invalid(format!("the dataset {dataset} of a run is not described")));
        }
        if !run.is_plausible() {
            let problem = format!("{dataset} {method} seed {seed}: its success is not between 0 and 1");
            return Err(invalid(problem));
        }
    }
    Ok(results)
}
