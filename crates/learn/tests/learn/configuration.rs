//! Settings: where they come from, and what is said of wrong ones.

use crate::support::walks;
use isochrone_learn::{
    algos::{Algorithm, AlgorithmConfig, CrlLoss},
    parts::{Extraction, Size},
    run::{DataConfig, RunConfig, Wishes, overrides},
};
use isochrone_nn::module::PairHeadConfig;

fn resolve(file: &str, said: &[&str], algorithm: Option<Algorithm>) -> Result<RunConfig, String> {
    let data = walks(10, 300);
    let file = (!file.is_empty()).then(|| ("run.toml".into(), file.parse().unwrap()));
    let overrides = said.iter().map(|text| overrides::parse(text).unwrap()).collect();
    let wishes = Wishes { file, overrides, algorithm, size: Size::Small };
    wishes
        .resolve(DataConfig { path: "walks".into(), ..DataConfig::default() }, data.index())
        .map_err(|error| error.to_string())
}

#[test]
fn defaults_fit_the_data() {
    let config = resolve("", &[], None).unwrap();
    assert_eq!(config.learner.name(), "cmd1");
    // Episodes of 300 steps: a horizon of 30.
    assert_eq!((config.discount, config.batch_size, config.steps), (0.967, 256, 50_000));
}

#[test]
fn overrides_are_stronger_than_the_file_and_the_file_than_defaults() {
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
    let AlgorithmConfig::Qrl(learner) = config.learner else { panic!("{:?}", config.learner) };
    assert_eq!((learner.critic.trunk.width, learner.critic.trunk.depth, learner.push_offset), (32, 1, 7.5));
    assert_eq!(
        learner.critic.head,
        PairHeadConfig::Mrn { components: 4 },
        "another kind forgets the settings of the first"
    );
}

#[test]
fn variants_are_chosen_by_name() {
    let config =
        resolve("", &["learner.extraction.kind=awr", "learner.extraction.alpha=10"], Some(Algorithm::CrlCpc))
            .unwrap();
    let AlgorithmConfig::Crl(learner) = config.learner else { panic!("{:?}", config.learner) };
    assert!(matches!(learner.loss, CrlLoss::Cpc(_)));
    assert_eq!(learner.extraction, Extraction::Awr { alpha: 10.0, largest_weight: 100.0 });
    // A file of another algorithm, and a flag.
    let config =
        resolve("[learner]\nalgorithm = \"qrl\"\npush_offset = 7.5", &[], Some(Algorithm::Gcbc)).unwrap();
    assert_eq!(config.learner.name(), "gcbc");
}

/// The order of overrides does not matter, names of algorithms are those of the help, and what a file says of another algorithm is left out.
#[test]
fn the_order_of_overrides_does_not_matter() {
    let extraction = |config: RunConfig| match config.learner {
        AlgorithmConfig::Cmd1(learner) => learner.extraction,
        other => panic!("{other:?}"),
    };
    let said = ["learner.extraction.alpha=10", "learner.extraction.kind=awr"];
    assert_eq!(
        extraction(resolve("", &said, None).unwrap()),
        Extraction::Awr { alpha: 10.0, largest_weight: 100.0 }
    );
    let name = |file: &str, said: &[&str], algorithm| resolve(file, said, algorithm).unwrap().learner.name();
    assert_eq!(name("", &["learner.algorithm=crl-cpc"], None), "crl-cpc");
    assert_eq!(name("[learner]\nalgorithm = \"crl\"\n[learner.loss]\nkind = \"cpc\"", &[], None), "crl-cpc");
    assert_eq!(
        name("[learner]\nalgorithm = \"crl\"\n[learner.loss]\nkind = \"nce\"", &[], Some(Algorithm::CrlCpc)),
        "crl-cpc"
    );
    assert_eq!(
        name("[learner]\nalgorithm = \"crl\"\nstates_alone = 0.3", &["learner.algorithm=gcbc"], None),
        "gcbc"
    );
    let config = resolve(
        "[learner]\nalgorithm = \"qrl\"\npush_offset = 7.5",
        &["learner.policy.width=32"],
        Some(Algorithm::Gcbc),
    );
    let AlgorithmConfig::Gcbc(learner) = config.unwrap().learner else { panic!("cloning was asked for") };
    assert_eq!(learner.policy.trunk.width, 32);
}

/// Paths of a file are relative to the file, those of the command to where it is run; how to read comes from both.
#[test]
fn data_settings_come_from_file_and_command() {
    let file = "[data]\npath = \"a/walks.csv\"\n[data.read]\nobservations = [\"x\", \"y\"]\nextras = \"all\"";
    let wishes = |said: &[&str]| Wishes {
        file: Some(("/somewhere/run.toml".into(), file.parse().unwrap())),
        overrides: said.iter().map(|text| overrides::parse(text).unwrap()).collect(),
        ..Wishes::default()
    };
    let data = wishes(&["data.read.goal.start=0", "data.read.goal.end=1"]).data().unwrap().unwrap();
    assert_eq!(data.path, std::path::Path::new("/somewhere/a/walks.csv"));
    assert_eq!((data.read.observations, data.read.goal), (vec!["x".to_owned(), "y".into()], Some(0..1)));
    assert_eq!(data.read.extras, isochrone_data::formats::Extras::Named(Vec::new()));
    let data = wishes(&["data.path=b.csv"]).data().unwrap().unwrap();
    assert_eq!(data.path, std::env::current_dir().unwrap().join("b.csv"));
    assert!(Wishes::default().data().unwrap().is_none());
    let error = wishes(&["data.read.observation=x"]).data().unwrap_err().to_string();
    assert!(error.contains("data.read.observation") && error.contains("observations"), "{error}");
}

#[test]
fn wrong_settings_are_named_with_their_value_and_a_hint() {
    let cases: [(&[&str], &[&str]); 9] = [
        (&["learner.critic.widths=3"], &["learner.critic.widths = 3", "learner.critic.width"]),
        (&["stepps=3"], &["stepps = 3", "steps"]),
        (&["steps=10", "learner.critic.width=wide"], &["learner.critic.width = \"wide\"", "usize"]),
        (&["discount=1.5"], &["1.5"]),
        (&["steps=0"], &["steps = 0", "at least 1"]),
        (&["learner.algorithm=sac"], &["learner.algorithm = sac", "cmd1"]),
        (&["checkpoints.keep_last=0"], &["checkpoints.keep_last = 0"]),
        (&["learner.extraction.kind=sampling"], &["sampling"]),
        (&["learner.extraction=3"], &["learner"]),
    ];
    for (said, expected) in cases {
        let error = resolve("", said, None).unwrap_err();
        assert!(expected.iter().all(|part| error.contains(part)), "{said:?}: {error}");
        assert!(error.contains("hint:"), "{said:?}: {error}");
    }
    let error = resolve("steps = 10\n[learner]\nstates_alones = 0.5", &[], None).unwrap_err();
    assert!(
        error.contains("run.toml")
            && error.contains("learner.states_alones")
            && error.contains("states_alone"),
        "{error}"
    );
}

/// Numbers out of range are found when the learner is built, with their whole name.
#[test]
fn ranges_are_checked() {
    let data = walks(2, 10);
    for said in [
        "learner.states_alone=1.5",
        "learner.critic.width=0",
        "learner.critic.head.components=7",
        "learner.critic_optimiser.learning_rate=-1",
        "learner.policy.optimiser.beta_1=1.5",
        "learner.extraction.cloning=-1",
        "learner.critic.width=1000000000",
        "learner.critic.depth=1000000000",
    ] {
        let config = resolve("", &[said], None).unwrap();
        let setting = isochrone_learn::setting::Setting::of(
            data.spec(),
            config.discount(),
            0,
            1,
            &isochrone_learn::cpu(),
        );
        let error = config.learner.init(&setting).err().unwrap().to_string();
        let (name, _) = said.split_once('=').unwrap();
        let last = name.rsplit('.').next().unwrap();
        assert!(
            error.starts_with("learner.") && error.contains(last) && error.contains("hint:"),
            "{said}: {error}"
        );
    }
}

#[test]
fn dotted_text_is_read_as_people_mean_it() {
    assert_eq!(overrides::parse("a.b=3").unwrap(), ("a.b".into(), toml::Value::Integer(3)));
    assert_eq!(
        overrides::parse(" a = text here ").unwrap(),
        ("a".into(), toml::Value::String("text here".into()))
    );
    assert_eq!(overrides::parse("a=1e-3").unwrap().1, toml::Value::Float(1e-3));
    for wrong in ["a", "=3", "a..b=3"] {
        overrides::parse(wrong).unwrap_err();
    }
}
