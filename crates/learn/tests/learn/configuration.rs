//! Settings: their sources, and the errors of wrong ones.

use crate::support::walks;
use isochrone_learn::{Algorithm, Preset, Training, run::RunConfig, settings::parse_assignment};

fn resolve(file: &str, assignments: &[&str], algorithm: Option<Algorithm>) -> Result<RunConfig, String> {
    let folder = tempfile::tempdir().unwrap();
    let training = algorithm.map_or_else(Training::default, Training::new).preset(Preset::Small);
    let training = match file {
        "" => training,
        text => {
            let path = folder.path().join("run.toml");
            std::fs::write(&path, text).unwrap();
            training.config_file(path).unwrap()
        }
    };
    set_all(training, assignments).config(&walks(10, 300)).map_err(|error| error.to_string())
}

fn set_all(training: Training, assignments: &[&str]) -> Training {
    assignments.iter().fold(training, |training, text| {
        let (name, value) = parse_assignment(text).unwrap();
        training.set(&name, value)
    })
}

#[test]
fn defaults_fit_the_data() {
    let config = resolve("", &[], None).unwrap();
    assert_eq!(config.learner.algorithm().name(), "cmd1");
    // Episodes of 300 steps: a horizon of 30.
    assert_eq!((config.discount, config.batch_size, config.steps), (0.967, 256, 50_000));
}

#[test]
fn assignments_override_the_file_and_the_file_overrides_defaults() {
    let file = "steps = 1000\nseed = 5\n[learner]\nalgorithm = \"qrl\"\npush_offset = 7.5\n[learner.critic]\nwidth = 32";
    let config = resolve(
        file,
        &[
            "seed=6",
            "learner.critic.depth=1",
            "learner.critic.head.kind=mrn",
            "learner.critic.head.components=4",
        ],
        None,
    );
    let config = config.unwrap();
    assert_eq!((config.steps, config.seed), (1000, 6));
    let settings = config.learner.settings();
    let head: toml::Table = "kind = \"mrn\"\ncomponents = 4".parse().unwrap();
    assert_eq!(settings["critic"]["head"], head.into(), "another kind discards the settings of the first");
    assert_eq!((&settings["critic"]["width"], &settings["critic"]["depth"]), (&32.into(), &1.into()));
    assert_eq!(settings["push_offset"], 7.5.into());
}

#[test]
fn every_listed_default_can_be_set() {
    let of_awr =
        Algorithm::Cmd1.settings(Preset::Small).into_iter().find(|s| s.name == "learner.extraction.alpha");
    assert_eq!(of_awr.unwrap().only_with.as_deref(), Some("learner.extraction.kind=awr"));
    for algorithm in Algorithm::ALL {
        for setting in algorithm.settings(Preset::Small) {
            let Some(default) = setting.default else { continue };
            let mut training = Training::new(algorithm).preset(Preset::Small);
            if let Some((choice, value)) = setting.only_with.as_ref().and_then(|with| with.split_once('=')) {
                training = training.set(choice, value);
            }
            let training = training.set(&setting.name, default);
            training.config(&walks(10, 300)).unwrap_or_else(|error| panic!("{algorithm}: {error}"));
        }
    }
}

fn awr() -> toml::Value {
    let awr: toml::Table =
        "kind = \"awr\"\nalpha = 10.0\nmax_weight = 100.0\nadvantage_steps = 1".parse().unwrap();
    awr.into()
}

#[test]
fn variants_are_chosen_by_name() {
    let config =
        resolve("", &["learner.extraction.kind=awr", "learner.extraction.alpha=10"], Some(Algorithm::CrlCpc))
            .unwrap();
    assert_eq!(config.learner.algorithm(), Algorithm::CrlCpc);
    assert_eq!(config.learner.settings()["extraction"], awr());
    // A file of another algorithm than the one given.
    let config =
        resolve("[learner]\nalgorithm = \"qrl\"\npush_offset = 7.5", &[], Some(Algorithm::Gcbc)).unwrap();
    assert_eq!(config.learner.algorithm().name(), "gcbc");
}

/// Algorithms are named as in the help, and the settings of a file for another algorithm are
/// ignored.
#[test]
fn the_order_of_assignments_does_not_matter() {
    let assignments = ["learner.extraction.alpha=10", "learner.extraction.kind=awr"];
    assert_eq!(resolve("", &assignments, None).unwrap().learner.settings()["extraction"], awr());
    let algorithm = |file: &str, assignments: &[&str], algorithm| {
        resolve(file, assignments, algorithm).unwrap().learner.algorithm()
    };
    let nce = "[learner]\nalgorithm = \"crl-nce\"\nstate_only_fraction = 0.3";
    assert_eq!(algorithm("", &["learner.algorithm=crl-cpc"], None), Algorithm::CrlCpc);
    assert_eq!(algorithm(nce, &[], None), Algorithm::CrlNce);
    assert_eq!(algorithm(nce, &[], Some(Algorithm::CrlCpc)), Algorithm::CrlCpc);
    assert_eq!(algorithm(nce, &["learner.algorithm=gcbc"], None), Algorithm::Gcbc);
    let config = resolve(
        "[learner]\nalgorithm = \"qrl\"\npush_offset = 7.5",
        &["learner.policy.width=32"],
        Some(Algorithm::Gcbc),
    );
    assert_eq!(config.unwrap().learner.settings()["policy"]["width"], 32.into());
}

/// Paths in a file are relative to the file, assigned paths to the working directory; read options
/// are merged from both.
#[test]
fn data_settings_are_merged_from_file_and_assignments() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.toml");
    let file = "[data]\npath = \"a/walks.csv\"\n[data.read]\nobservations = [\"x\", \"y\"]\nextras = \"all\"";
    std::fs::write(&path, file).unwrap();
    let data = |assignments: &[&str]| {
        let training = Training::default().config_file(&path).unwrap();
        set_all(training, assignments).data_from_settings().map(Option::unwrap)
    };
    let both = data(&["data.read.goal.start=0", "data.read.goal.end=1"]).unwrap();
    assert_eq!(both.path, folder.path().join("a/walks.csv"));
    assert_eq!((both.read.observations, both.read.goal), (vec!["x".to_owned(), "y".into()], Some(0..1)));
    assert_eq!(both.read.extras, isochrone_data::formats::Extras::Named(Vec::new()));
    assert_eq!(data(&["data.path=b.csv"]).unwrap().path, std::env::current_dir().unwrap().join("b.csv"));
    assert!(Training::default().data_from_settings().unwrap().is_none());
    let error = data(&["data.read.observation=x"]).unwrap_err().to_string();
    assert!(error.contains("data.read.observation") && error.contains("observations"), "{error}");
}

/// The prefix `learner.` is optional, integers may be written as floats, and similar names are
/// suggested.
#[test]
fn names_and_numbers_may_be_abbreviated_and_typos_get_suggestions() {
    let config = resolve("", &["critic.width=128", "steps=1e6", "batch_size=64.0"], None).unwrap();
    assert_eq!((config.steps, config.batch_size), (1_000_000, 64));
    assert_eq!(config.learner.get("critic.width"), Some(&128.into()));
    assert_eq!(config.metrics.every, 5000, "defaults derived from the number of steps use 1e6");
    for (assignment, expected) in [
        (
            "learning_rate=1e-3",
            "learner.critic_optimizer.learning_rate, learner.policy.optimizer.learning_rate",
        ),
        ("critic.learning_rate=1e-3", "learner.critic_optimizer.learning_rate"),
        ("stepps=3", "did you mean steps?"),
        ("critic.widht=3", "did you mean learner.critic.width?"),
        ("xyz=3", "learner"),
    ] {
        let error = resolve("", &[assignment], None).unwrap_err();
        assert!(error.contains("unknown setting") && error.contains(expected), "{assignment}: {error}");
    }
    assert!(resolve("", &["steps=1.5"], None).unwrap_err().contains("steps = 1.5"));
}

#[test]
fn wrong_settings_are_named_with_their_value_and_a_hint() {
    let cases: [(&[&str], &[&str]); 11] = [
        (&["learner.critic.widths=3"], &["learner.critic.widths = 3", "learner.critic.width"]),
        (&["stepps=3"], &["stepps = 3", "steps"]),
        (
            &["steps=10", "learner.critic.width=wide"],
            &["learner.critic.width = \"wide\"", "must be an integer"],
        ),
        (&["discount=1.5"], &["1.5"]),
        (&["discount=high"], &["discount = \"high\"", "must be a number"]),
        (&["steps=0"], &["steps = 0", "at least 1"]),
        (&["batch_size=10000000"], &["batch_size = 10000000", "at most 65536"]),
        (&["learner.algorithm=sac"], &["learner.algorithm = sac", "cmd1"]),
        (&["checkpoints.keep_last=0"], &["checkpoints.keep_last = 0"]),
        (&["learner.extraction.kind=sampling"], &["sampling"]),
        (&["learner.extraction=3"], &["learner"]),
    ];
    for (assignments, expected) in cases {
        let error = resolve("", assignments, None).unwrap_err();
        assert!(expected.iter().all(|part| error.contains(part)), "{assignments:?}: {error}");
        assert!(error.contains("hint:"), "{assignments:?}: {error}");
    }
    let error = resolve("steps = 10\n[learner]\nstate_only_fractions = 0.5", &[], None).unwrap_err();
    assert!(
        error.contains("run.toml")
            && error.contains("learner.state_only_fractions")
            && error.contains("state_only_fraction"),
        "{error}"
    );
}

/// Values out of range are reported with their full name when the learner is built.
#[test]
fn ranges_are_checked() {
    let data = walks(2, 10);
    for assignment in [
        "learner.state_only_fraction=1.5",
        "learner.critic.width=0",
        "learner.critic.head.components=7",
        "learner.critic_optimizer.learning_rate=-1",
        "learner.policy.optimizer.beta_1=1.5",
        "learner.extraction.bc_weight=-1",
        "learner.critic.width=1000000000",
        "learner.critic.depth=1000000000",
    ] {
        let config = resolve("", &[assignment], None).unwrap();
        let context = config.context(data.spec(), &isochrone_learn::cpu());
        let error = config.learner.init(&context).err().unwrap().to_string();
        let (name, _) = assignment.split_once('=').unwrap();
        let last = name.rsplit('.').next().unwrap();
        assert!(
            error.starts_with("learner.") && error.contains(last) && error.contains("hint:"),
            "{assignment}: {error}"
        );
    }
}

#[test]
fn assignments_are_parsed_as_toml_or_text() {
    assert_eq!(parse_assignment("a.b=3").unwrap(), ("a.b".into(), toml::Value::Integer(3)));
    assert_eq!(
        parse_assignment(" a = text here ").unwrap(),
        ("a".into(), toml::Value::String("text here".into()))
    );
    assert_eq!(parse_assignment("a=1e-3").unwrap().1, toml::Value::Float(1e-3));
    for wrong in ["a", "=3", "a..b=3"] {
        parse_assignment(wrong).unwrap_err();
    }
}
