//! Studies from end to end: uninterrupted, interrupted, sharded and merged.

use isochrone_learn::{Algorithm, StopHandle};
use isochrone_studies::{Collecting, Event, Part, Recipe, Results, RunResult, Study, StudyError, merge};
use serde_json::json;
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

const TINY: &str = r#"
title = "Tiny"
summary = "Two methods, two seeds, some steps"
seeds = 2
data_seed = 1
data_share = 0.02
steps = 20
evaluation = { checkpoints = 2, episodes = 4, task_seed = 5000, training = { episodes = 2, task_seed = 9000 } }
planners = [{ name = "graph", search = { kind = "graph", max_edge_steps = 8.0 }, states = 50, episodes = 2 }, { name = "recorded", search = { kind = "recorded", look_ahead_steps = 6.0 }, episodes = 2 }]
datasets = { nav2d = { published = { hiql = 7 } } }
settings = { batch_size = 32, discount = 0.9 }
methods = { cmd1 = {}, gcbc = {} }
thresholds = [{ metric = "success", above = "idle", min = 2.0 }]

[report]
figures = ["success", "curves", "calibration", "maps", "plans", "exact"]
mapped_methods = ["cmd1"]
place = [6.0, 0.0]
plans = [[[-11.0, 0.0], [-12.0, -12.0]]]
"#;

/// Every run is trained once and evaluated at two checkpoints; at the last one also with recorded
/// segments, and CMD-1 with a graph.
const RUNS: usize = 4;
const PIECES: usize = 2 * 4 + 2 * 3;

fn tiny() -> Recipe {
    Recipe::parse(TINY, Path::new("tiny.toml")).unwrap()
}

/// The recipe without figures, which take most of the time.
fn plain() -> Recipe {
    let mut recipe = tiny();
    recipe.report.figures.clear();
    recipe
}

/// Counts trained runs and evaluated checkpoints.
#[derive(Default)]
struct Count {
    trained: AtomicUsize,
    evaluated: AtomicUsize,
}

impl Count {
    fn observe(&self, event: &Event<'_>) {
        match event {
            Event::Trained(_) => self.trained.fetch_add(1, Ordering::SeqCst),
            Event::Evaluated(_) => self.evaluated.fetch_add(1, Ordering::SeqCst),
            Event::Finished(_) => 0,
        };
    }

    fn numbers(&self) -> (usize, usize) {
        (self.trained.load(Ordering::SeqCst), self.evaluated.load(Ordering::SeqCst))
    }
}

fn run(folder: &Path, recipe: Recipe, shard: Option<&str>, count: &Count) -> Results {
    let part = Part { shard: shard.map(|shard| shard.parse().unwrap()), ..Part::default() };
    let study = Study::open(folder, recipe, part, &|_| ()).unwrap();
    study.run(&StopHandle::default(), &|event| count.observe(&event)).unwrap()
}

/// The numbers that must not depend on time, machine, interruptions and shards.
fn numbers(results: &Results) -> Vec<RunResult> {
    let strip = |run: &RunResult| RunResult { seconds: 0.0, ..run.clone() };
    results.without_pairs().runs.iter().map(strip).collect()
}

/// Runs a study without interruption.
fn uninterrupted(recipe: Recipe) -> (tempfile::TempDir, Results) {
    let folder = tempfile::tempdir().unwrap();
    let count = Count::default();
    let results = run(folder.path(), recipe, None, &count);
    assert_eq!(count.numbers(), (RUNS, PIECES));
    (folder, results)
}

fn stored(folder: &Path) -> Results {
    serde_json::from_str(&std::fs::read_to_string(folder.join("results.json")).unwrap()).unwrap()
}

#[test]
fn a_study_writes_a_report_and_repeats_nothing() {
    let (folder, results) = uninterrupted(tiny());
    assert!(results.is_complete() && results.failures.is_empty());
    let [cmd1, _, gcbc, _] = &results.runs[..] else { panic!("two methods, two seeds") };
    assert_eq!((cmd1.method.as_str(), gcbc.method.as_str()), ("cmd1", "gcbc"));
    assert_eq!(cmd1.checkpoints, [18, 20]);
    let planned = |run: &RunResult| ["graph", "recorded"].map(|name| run.evaluations(Some(name)).len());
    // Recorded segments need no learned distance, so that gcbc has a planner, too.
    assert_eq!((planned(cmd1), planned(gcbc)), ([1, 1], [0, 1]));
    assert_eq!(cmd1.curve.len(), 10);
    assert!(cmd1.fit.as_ref().is_some_and(|fit| !fit.pairs.is_empty()) && gcbc.fit.is_none());
    let thresholds = results.thresholds();
    assert_eq!(thresholds.len(), RUNS);
    assert!(thresholds.iter().all(|threshold| threshold.min > 2.0 && !threshold.holds()));

    let report = std::fs::read_to_string(folder.path().join("report.md")).unwrap();
    for part in
        ["Published: hiql 7.", "optimal success rate", "no action", "| cmd1 |", "rank, across streets"]
    {
        assert!(report.contains(part), "{part}: {report}");
    }
    // Two seeds are too few for an interval, and a method without a distance is listed.
    assert!(
        report.contains("Highest success rate on nav2d: ") && report.contains("n = 2 seeds, no interval")
    );
    assert!(!report.lines().any(|line| line.starts_with("| cmd1") && line.contains('[')), "{report}");
    assert!(report.contains("No distance: gcbc."), "{report}");
    let success = std::fs::read_to_string(folder.path().join("figures/success.svg")).unwrap();
    // Notes are wrapped: their lines are joined.
    let success = success.lines().filter(|line| !line.starts_with('<')).collect::<Vec<_>>().join(" ");
    for part in ["policy alone", "straight line to the goal", "n = 2", "No distance: gcbc."] {
        assert!(success.contains(part), "{part}");
    }
    for name in ["success", "curves", "calibration", "map-cmd1", "plans-cmd1", "exact"] {
        assert!(report.contains(&format!("figures/{name}.png")), "{name}: {report}");
        assert!(folder.path().join(format!("figures/{name}.svg")).exists(), "{name}");
    }
    let html = std::fs::read_to_string(folder.path().join("report.html")).unwrap();
    assert!(html.contains("data_share = 0.02") && html.contains("<svg"));
    assert!(html.contains("<h1>Tiny</h1>") && html.contains("4 runs of cmd1, gcbc, 2 seeds each."), "{html}");
    assert_eq!(numbers(&stored(folder.path())), numbers(&results));

    let count = Count::default();
    assert_eq!(run(folder.path(), tiny(), None, &count), results);
    assert_eq!(count.numbers(), (0, 0));

    // A truncated result is evaluated again, without training again.
    let torn = folder.path().join("runs/nav2d/cmd1-1/result.json");
    let text = std::fs::read_to_string(&torn).unwrap();
    std::fs::write(&torn, &text[..text.len() / 2]).unwrap();
    assert_eq!(run(folder.path(), tiny(), None, &count), results);
    assert_eq!(count.numbers(), (0, 4));
}

/// Every episode is reported, so that a user sees how long it takes.
#[test]
fn collection_is_observed_once() {
    let folder = tempfile::tempdir().unwrap();
    let observed = Mutex::new(Vec::new());
    let open = || {
        let observe = |one: Collecting<'_>| observed.lock().unwrap().push((one.done, one.episodes));
        drop(Study::open(folder.path(), plain(), Part::default(), &observe).unwrap());
        std::mem::take(&mut *observed.lock().unwrap())
    };
    let first = open();
    assert!(first.len() > 1);
    let expected: Vec<_> = (1..=first.len()).map(|done| (done, first.len())).collect();
    assert_eq!(first, expected);
    assert_eq!(open(), [], "the dataset is there");
}

/// The process is killed after every piece: every piece is done once, and the results are the same.
#[test]
fn a_study_killed_after_every_piece_loses_none() {
    let (_keep, expected) = uninterrupted(plain());
    let folder = tempfile::tempdir().unwrap();
    let count = Count::default();
    let mut processes = 0;
    let results = loop {
        processes += 1;
        assert!(processes <= RUNS + PIECES + 1, "a process made no progress");
        let study = Study::open(folder.path(), plain(), Part::default(), &|_| ()).unwrap();
        let killed = catch_unwind(AssertUnwindSafe(|| {
            let observe = |event: Event<'_>| {
                count.observe(&event);
                assert!(matches!(event, Event::Finished(_)), "killed");
            };
            study.run(&StopHandle::default(), &observe).unwrap()
        }));
        if let Ok(results) = killed {
            break results;
        }
    };
    assert!(processes >= 5, "{processes}");
    assert_eq!(count.numbers(), (RUNS, PIECES));
    assert_eq!(numbers(&results), numbers(&expected));
}

#[test]
fn a_stopped_study_continues() {
    let (_keep, expected) = uninterrupted(plain());
    let folder = tempfile::tempdir().unwrap();
    let count = Count::default();
    let stop = StopHandle::default();
    let study = Study::open(folder.path(), plain(), Part::default(), &|_| ()).unwrap();
    let stopped = study.run(&stop, &|event| {
        count.observe(&event);
        stop.stop();
    });
    assert!(!stopped.unwrap().is_complete());
    let report = std::fs::read_to_string(folder.path().join("report.md")).unwrap();
    assert!(report.contains("of 4 runs are finished"), "{report}");
    let second = Study::open(folder.path(), plain(), Part::default(), &|_| ());
    assert!(second.is_err(), "the folder is locked");
    drop(study);
    assert_eq!(numbers(&run(folder.path(), plain(), None, &count)), numbers(&expected));
    assert_eq!(count.numbers(), (RUNS, PIECES));
}

/// Two shards are merged; shards of other studies are refused.
#[test]
fn shards_of_one_study_are_merged() {
    let (_keep, expected) = uninterrupted(plain());
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let count = Count::default();
    for (name, shard) in [("a", "1/2"), ("b", "2/2")] {
        let results = run(&at(name), tiny(), Some(shard), &count);
        assert_eq!((results.runs.len(), results.part), (2, Some(format!("shard {shard}"))));
    }
    assert_eq!(count.numbers(), (RUNS, PIECES));
    let merged = merge(&[at("b"), at("a")], &at("c")).unwrap();
    assert!(merged.is_complete());
    assert_eq!(numbers(&merged), numbers(&expected));
    assert_eq!(merged.datasets, expected.datasets);
    assert_eq!(merged.part, None);
    let report = std::fs::read_to_string(at("c").join("report.md")).unwrap();
    assert!(
        report.contains("figures/map-cmd1.png") && report.contains("figures/calibration.png"),
        "{report}"
    );
    assert_eq!(numbers(&stored(&at("c"))), numbers(&expected));

    // A merged study can be merged again, and runs that several folders have must agree.
    assert_eq!(numbers(&merge(&[at("c"), at("a")], &at("d")).unwrap()), numbers(&expected));
    let half = merge(&[at("a")], &at("e")).unwrap();
    assert_eq!((half.runs.len(), half.n_jobs), (2, 4));

    let edited = |edit: &dyn Fn(&mut Results)| {
        let mut results = stored(&at("b"));
        edit(&mut results);
        std::fs::create_dir_all(at("edited")).unwrap();
        let text = serde_json::to_string(&results).unwrap();
        std::fs::write(at("edited").join("results.json"), text).unwrap();
        merge(&[at("c"), at("edited")], &at("f")).unwrap_err().to_string()
    };
    for (edit, expected_error) in [
        (
            (&|results: &mut Results| results.recipe.first_seed = 3) as &dyn Fn(&mut Results),
            "the recipe differs",
        ),
        (&|results| results.protocol += 1, "the evaluation protocol"),
        (
            &|results| results.datasets.get_mut("nav2d").unwrap().content_hash = "other".into(),
            "the dataset nav2d differs",
        ),
        (
            &|results| {
                let success = &mut results.runs[0].evaluations[0].success[0];
                *success = 1.0 - *success / 2.0;
            },
            "the result of runs/nav2d",
        ),
    ] {
        let error = edited(edit);
        assert!(error.contains(expected_error) && error.contains("hint:"), "{error}");
    }
    assert!(!at("f").join("report.md").exists(), "no report is written");

    // Seeds can be added to a finished study: the last of three shards has the third seed.
    let more = Recipe { seeds: 3, ..tiny() };
    let third = run(&at("third"), more.clone(), Some("3/3"), &count);
    assert!(third.runs.iter().all(|run| run.seed == more.first_seed + 2), "{third:?}");
    let all = merge(&[at("c"), at("third")], &at("g3")).unwrap();
    assert_eq!((all.runs.len(), all.n_jobs, all.recipe.seeds), (6, 6, 3));
    assert!(all.is_complete());

    // So can methods.
    for method in [Algorithm::Cmd1, Algorithm::Gcbc] {
        run(&at(method.name()), plain().with_methods(&[method]).unwrap(), None, &count);
    }
    let both = merge(&[at("gcbc"), at("cmd1")], &at("methods")).unwrap();
    assert!(both.is_complete());
    assert_eq!(numbers(&both), numbers(&expected));
    let mut results = stored(&at("cmd1"));
    let mut method = results.recipe.methods["cmd1"].clone();
    method.steps = Some(9);
    results.recipe.methods.insert("gcbc".to_owned(), method);
    std::fs::write(at("edited").join("results.json"), serde_json::to_string(&results).unwrap()).unwrap();
    let error = merge(&[at("gcbc"), at("edited")], &at("f")).unwrap_err().to_string();
    assert!(error.contains("the method gcbc of the recipe differs") && error.contains("hint:"), "{error}");

    // Results may come from strangers: folders are named after their datasets.
    let escapes = |results: &mut Results| {
        let name = at("outside").display().to_string();
        let nav2d = results.recipe.datasets["nav2d"].clone();
        results.recipe.datasets.insert(name.clone(), nav2d);
        let info = results.datasets["nav2d"].clone();
        results.datasets.insert(name.clone(), info);
        results.runs[0].dataset = name;
    };
    for (edit, expected_error) in [
        (&escapes as &dyn Fn(&mut Results), "outside is not a dataset; hint:"),
        (&|results| results.recipe.seeds = 1_000_000_000_000_000, "seeds = 1000000000000000; hint:"),
        (&|results| results.recipe.first_seed = u64::MAX, "first_seed = 18446744073709551615; hint:"),
        (&|results| results.runs[0].evaluations[0].success.clear(), "its success is not between 0 and 1"),
        (&|results| results.recipe.data_share = 1e300, "data_share = "),
        (&|results| results.datasets.clear(), "the dataset nav2d of a run is not described; hint:"),
    ] {
        let mut results = stored(&at("b"));
        edit(&mut results);
        let path = at("edited").join("results.json");
        std::fs::write(&path, serde_json::to_string(&results).unwrap()).unwrap();
        let error = merge(&[at("edited")], &at("f")).unwrap_err().to_string();
        assert!(error.contains(expected_error) && error.contains("results.json"), "{error}");
    }
    assert!(!at("outside").exists());
    assert!(matches!(merge(&[at("nowhere")], &at("f")), Err(StudyError::Invalid { .. })));
    let part = Part { datasets: vec!["mazes".to_owned()], shard: None };
    let refused = Study::open(&at("g"), tiny(), part, &|_| ()).err().unwrap().to_string();
    assert!(refused.contains("mazes is not a dataset of this study; hint: choose from nav2d"), "{refused}");
    assert!(!at("g").exists(), "nothing is written");
}

#[test]
fn shards_divide_the_runs() {
    let recipe = Recipe::built_in("mazes").unwrap();
    let folders = |shard: Option<&str>| -> Vec<PathBuf> {
        let part = Part { shard: shard.map(|shard| shard.parse().unwrap()), ..Part::default() };
        isochrone_studies::jobs(&recipe, &part).iter().map(isochrone_studies::Job::folder).collect()
    };
    let all = folders(None);
    assert_eq!(all.len(), 3 * 7 * 3);
    let mut parts: Vec<PathBuf> = (1..=5).flat_map(|shard| folders(Some(&format!("{shard}/5")))).collect();
    parts.sort();
    let mut sorted = all.clone();
    sorted.sort();
    assert_eq!(parts, sorted, "every run is in one shard");
    let datasets = vec!["pointmaze-large-stitch".to_owned()];
    let of_dataset = Part { datasets: datasets.clone(), shard: None };
    let half = Part { datasets, shard: Some("1/2".parse().unwrap()) };
    assert_eq!(half.to_string(), "shard 1/2 of pointmaze-large-stitch");
    assert_eq!(isochrone_studies::jobs(&recipe, &half).len(), 11);
    let jobs = isochrone_studies::jobs(&recipe, &of_dataset);
    assert_eq!(jobs.len(), 7 * 3);
    assert!(jobs.iter().all(|job| job.dataset == "pointmaze-large-stitch"));
    for text in ["0/5", "6/5", "5", "a/b", "1/0"] {
        assert!(matches!(text.parse::<isochrone_studies::Shard>(), Err(StudyError::Shard(_))), "{text}");
    }
}

#[test]
fn the_stochastic_planner_is_a_row_of_a_study() {
    let search = "search = { kind = \"recorded\", look_ahead_steps = 6.0 }";
    let stochastic = "search = { kind = \"stochastic\", recorded_only = true }";
    let text = TINY.replace(search, stochastic).replace("seeds = 2", "seeds = 1");
    let mut recipe = Recipe::parse(&text, Path::new("tiny.toml")).unwrap();
    recipe = recipe.with_methods(&[Algorithm::named("gcbc").unwrap()]).unwrap();
    recipe.report.figures.clear();
    let folder = tempfile::tempdir().unwrap();
    let results = run(folder.path(), recipe, None, &Count::default());
    assert_eq!(results.runs[0].evaluations(Some("recorded")).len(), 1);
    let report = std::fs::read_to_string(folder.path().join("report.md")).unwrap();
    assert!(
        report.contains("where failing costs ten times") && report.contains("recorded moves only"),
        "{report}"
    );
}

/// Policies and planners see the dimensions of a goal that the recipe names.
#[test]
fn goals_may_be_a_part_of_a_state() {
    let text = TINY.replace("seeds = 2", "seeds = 1\ngoal = { start = 0, end = 1 }");
    let mut recipe = Recipe::parse(&text, Path::new("tiny.toml")).unwrap();
    recipe = recipe.with_methods(&[Algorithm::named("gcbc").unwrap()]).unwrap();
    recipe.report.figures.clear();
    let folder = tempfile::tempdir().unwrap();
    let results = run(folder.path(), recipe, None, &Count::default());
    assert_eq!(results.runs[0].evaluations(Some("recorded")).len(), 1);
    let config = std::fs::read_to_string(folder.path().join("runs/nav2d/gcbc-0/config.toml")).unwrap();
    assert!(config.contains("[data.read.goal]\nstart = 0\nend = 1"), "{config}");
}

/// Results from before networks of waypoints have a flag for planners that became a policy.
#[test]
fn a_flag_means_a_planner_distilled_into_a_policy() {
    for (written, student) in
        [("true", json!("policy")), ("false", json!(null)), ("\"waypoints\"", json!("waypoints"))]
    {
        let text = TINY.replace(
            "look_ahead_steps = 6.0 }",
            &format!("look_ahead_steps = 6.0 }}, distilled = {written}"),
        );
        let recipe = Recipe::parse(&text, Path::new("tiny.toml")).unwrap();
        let planners = serde_json::to_value(&recipe.planners).unwrap();
        let recorded = planners.as_array().unwrap().iter().find(|planner| planner["name"] == "recorded");
        assert_eq!(recorded.unwrap()["distilled"], student, "{written}");
    }
}

#[test]
fn invalid_recipes_are_refused() {
    for (from, to, expected_error) in [
        ("nav2d =", "nav3d =", "nav3d is not a dataset"),
        ("gcbc = {}", "hiql = {}", "hiql is not a method"),
        (
            "steps = 20",
            "goal = { start = 1, end = 1 }\nsteps = 20",
            "goal = 1..1 is no slice of the 2 dimensions",
        ),
        (
            "steps = 20",
            "goal = { start = 0, end = 9 }\nsteps = 20",
            "goal = 0..9 is no slice of the 2 dimensions",
        ),
        (
            "look_ahead_steps = 6.0 }",
            "look_ahead_steps = 6.0 }, distilled = 5",
            "expected \"policy\" or \"waypoints\"",
        ),
        ("seeds = 2", "seeds = 0", "seeds = 0"),
        ("steps = 20", "", "cmd1 has no steps"),
        ("data_share", "data_shares", "data_shares"),
        ("kind = \"graph\"", "kind = \"tree\"", "tree"),
        ("states = 50, ", "", "states of the planner graph"),
        ("states = 50", "states = 0", "states of the planner graph"),
        (
            "look_ahead_steps = 6.0 }",
            "look_ahead_steps = 6.0 }, states = 50",
            "states of the planner recorded",
        ),
    ] {
        let error = Recipe::parse(&TINY.replace(from, to), Path::new("mine.toml")).unwrap_err().to_string();
        assert!(
            error.contains(expected_error) && error.contains("mine.toml") && error.contains("hint:"),
            "{error}"
        );
    }
    for (from, to, expected_error) in [
        ("seeds = 1", "seeds = 0", "quick: seeds = 0; hint: "),
        ("steps_share = 0.5", "steps_share = 0.0", "steps_share = 0; hint: "),
        ("data_share = 0.01", "data_share = -1.0", "quick: data_share = -1; hint: "),
    ] {
        let quick =
            "[quick]\nseeds = 1\nsteps_share = 0.5\ndata_share = 0.01\nepisodes = 1\ncheckpoints = 1\n";
        Recipe::parse(&format!("{TINY}{quick}"), Path::new("mine.toml")).unwrap();
        let quick = quick.replace(from, to);
        let error = Recipe::parse(&format!("{TINY}{quick}"), Path::new("mine.toml")).unwrap_err().to_string();
        assert!(error.contains("mine.toml") && error.contains(expected_error), "{error}");
    }
    let error = Recipe::parse("base = 'maze'", Path::new("mine.toml")).unwrap_err().to_string();
    assert!(error.contains("base = \"maze\"") && error.contains("hint:"), "{error}");
    let error = tiny().with_methods(&[Algorithm::Qrl]).unwrap_err().to_string();
    assert!(error.contains("qrl") && error.contains("cmd1, gcbc"), "{error}");
}

/// Unset fields are those of the base recipe.
#[test]
fn a_recipe_may_change_another() {
    let base = Recipe::built_in("mazes").unwrap();
    let text = "base = 'mazes'\nonly = ['cmd1']\ntitle = 'Mine'\nplanners = []\nevaluation = { episodes = 7 }\n\
                methods.cmd1.steps = 9";
    let mine = Recipe::parse(text, Path::new("mine.toml")).unwrap();
    assert_eq!((mine.title.as_str(), mine.planners.len(), mine.evaluation.episodes), ("Mine", 0, 7));
    assert_eq!(mine.evaluation.task_seed, base.evaluation.task_seed);
    assert_eq!((mine.datasets, mine.settings), (base.datasets, base.settings));
    assert_eq!(mine.methods.keys().collect::<Vec<_>>(), ["cmd1"]);
    assert_eq!(mine.methods["cmd1"].steps, Some(9));
    assert_eq!(mine.methods["cmd1"].settings, base.methods["cmd1"].settings);
    // Settings of one kind are not those of another.
    let text = "base = 'd4rl'\n[settings]\n'learner.extraction' = { kind = 'awr', alpha = 2.0 }";
    let extraction = &Recipe::parse(text, Path::new("mine.toml")).unwrap().settings["learner.extraction"];
    assert_eq!(extraction.as_table().unwrap().keys().collect::<Vec<_>>(), ["alpha", "kind"]);
    let text = "base = 'd4rl'\n[settings]\n'learner.extraction' = { bc_weight = 0.5 }";
    let extraction = &Recipe::parse(text, Path::new("mine.toml")).unwrap().settings["learner.extraction"];
    assert_eq!(extraction["kind"].as_str(), Some("ddpg_bc"), "it keeps its kind");
}

/// Waypoints of the data are no planner.
#[test]
fn advantages_become_a_network_of_waypoints() {
    let with = |planner: &str| {
        let text = format!("base = 'waypoints'\n[[planners]]\nname = 'two'\nepisodes = 1\n{planner}");
        Recipe::parse(&text, Path::new("mine.toml")).map_err(|error| error.to_string())
    };
    let advantages = "search = { kind = 'advantages', steps = 25, alpha = 0.03 }\n";
    with(&format!("{advantages}distilled = 'waypoints'")).unwrap();
    for wrong in [
        advantages.to_owned(),
        format!("{advantages}distilled = 'policy'"),
        format!("{}distilled = 'waypoints'", advantages.replace("25", "0")),
        format!("{}distilled = 'waypoints'", advantages.replace("0.03", "-1.0")),
    ] {
        let error = with(&wrong).unwrap_err();
        assert!(error.contains("advantages of the planner two") && error.contains("hint"), "{error}");
    }
}

/// The base has `learner.policy.goals.mixture.random`, a part of the setting that is changed.
#[test]
fn a_changed_setting_keeps_no_parts_of_the_base() {
    let mixture = "learner.policy.goals.mixture";
    let changes = format!("base = 'policies-search'\n[settings]\n'{mixture}' = {{ uniform = 1.0 }}");
    let settings = Recipe::parse(&changes, Path::new("mine.toml")).unwrap().settings;
    let kept: Vec<&String> = settings.keys().filter(|name| name.starts_with(mixture)).collect();
    assert_eq!(kept, [mixture]);
}

/// The alpha of a method has to fit its distances.
#[test]
fn a_method_has_an_alpha_of_its_own() {
    let parse = |text: &str| Recipe::parse(text, Path::new("mine.toml")).map_err(|error| error.to_string());
    let recipe = parse("base = 'pointmazes-two-levels'\n[methods.qrl]\nalpha = 0.5").unwrap();
    assert_eq!((recipe.methods["qrl"].alpha, recipe.methods["mqe"].alpha), (Some(0.5), None));
    for (base, alpha) in
        [("pointmazes-two-levels", "-1.0"), ("pointmazes-two-levels", "nan"), ("pointmazes", "1.0")]
    {
        let error = parse(&format!("base = '{base}'\n[methods.qrl]\nalpha = {alpha}")).unwrap_err();
        assert!(error.contains("of qrl") && error.contains("hint"), "{error}");
    }
}
