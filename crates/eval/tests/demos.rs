//! Progress, findings and gaps of demonstrations of a simulated arm with planted defects, beside
//! the oracle of the simulator. Thresholds were not set on these demonstrations.

use isochrone_core::statistics::spearman;
use isochrone_data::{Dataset, Episode, Feature, Spec, formats::ReadOptions};
use isochrone_eval::{
    demos::{Demos, DemosConfig, DemosError, Gaps, Progress, Rule, diagnose},
    refined::{RefinedConfig, RefinedDistance},
};
use std::path::Path;

/// Kinds of defects by their number in the column `defect`, and the rules that name them correctly.
const KINDS: [(&str, &[Rule]); 22] = [
    ("back_and_forth", &[Rule::Loop, Rule::Detour]),
    ("clean", &[]),
    ("detour", &[Rule::Loop, Rule::Detour]),
    ("dup_exact", &[Rule::Duplicate]),
    ("dup_near", &[Rule::Duplicate]),
    ("dup_trim", &[Rule::Duplicate]),
    ("fail_drop", &[Rule::End]),
    ("fail_miss", &[Rule::End]),
    ("fail_place", &[Rule::End]),
    ("fast", &[Rule::Pace]),
    ("frozen", &[Rule::Frozen]),
    ("honest_fail", &[Rule::End]),
    ("idle_head", &[Rule::IdleHead]),
    ("idle_tail", &[Rule::IdleTail]),
    ("jump", &[Rule::Jump]),
    ("regress", &[Rule::Loop, Rule::Detour]),
    ("reversed", &[Rule::Reversed]),
    ("slow", &[Rule::Pace]),
    ("spike", &[Rule::Spike, Rule::Jump]),
    ("stall", &[Rule::Stall]),
    ("task_swap", &[Rule::Task]),
    ("truncated", &[Rule::End]),
];

struct Arm {
    data: Dataset,
    kinds: Vec<&'static str>,
    rules: Vec<&'static [Rule]>,
    oracle_steps: Vec<Vec<f64>>,
}

/// Reads the demonstrations, with tasks and successes as LeRobot calls them.
fn arm() -> Arm {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies/assets/arm.npz");
    let file = Dataset::load(path, ReadOptions::default()).unwrap();
    let column = |name: &str| file.spec().extras.iter().position(|extra| extra.name == name).unwrap();
    let [task, success, defect, oracle] = ["task", "labeled_success", "defect", "oracle_steps"].map(column);
    let mut spec = Spec::new(file.spec().observation.width, 0);
    spec.extras = ["task_index", "next.success"].map(|name| Feature::new(name, 1)).to_vec();
    spec.frames_per_second = Some(30.0);
    let views = || (0..file.n_episodes()).map(|episode| file.episode(episode));
    let episodes = views().map(|view| Episode {
        observations: view.observations.to_vec(),
        extras: vec![view.extras[task].to_vec(), view.extras[success].to_vec()],
        ..Episode::default()
    });
    let kinds = || views().map(|view| KINDS[view.extras[defect][0] as usize]);
    Arm {
        data: Dataset::from_episodes(&spec, episodes).unwrap(),
        kinds: kinds().map(|kind| kind.0).collect(),
        rules: kinds().map(|kind| kind.1).collect(),
        oracle_steps: views()
            .map(|view| view.extras[oracle].iter().map(|steps| f64::from(*steps)).collect())
            .collect(),
    }
}

fn fit(data: &Dataset) -> Demos<'_> {
    Demos::fit(data, &DemosConfig::default(), &mut || ()).unwrap()
}

/// Returns the mean rank correlation with the oracle over episodes of a kind.
fn rank_within(arm: &Arm, progress: &Progress, kind: &str) -> f64 {
    let of_kind = (0..arm.kinds.len()).filter(|episode| arm.kinds[*episode] == kind);
    let ranks: Vec<f64> = of_kind
        .map(|episode| {
            let pairs = progress.episodes[episode].steps_to_go.iter().zip(&arm.oracle_steps[episode]);
            let (read, exact): (Vec<f64>, Vec<f64>) = pairs.filter(|(read, _)| read.is_finite()).unzip();
            spearman(&read, &exact)
        })
        .collect();
    ranks.iter().sum::<f64>() / ranks.len() as f64
}

#[test]
fn progress_agrees_with_the_oracle_and_defects_are_named() {
    let arm = arm();
    let demos = fit(&arm.data);
    let progress = Progress::of(&demos);
    let clean = rank_within(&arm, &progress, "clean");
    assert!(clean >= 0.985, "clean: {clean}");
    for kind in ["fail_drop", "fail_miss"] {
        let rank = rank_within(&arm, &progress, kind);
        assert!(rank > 0.3, "{kind}, labeled success: {rank}");
    }
    let read = progress.episodes.iter().flat_map(|one| one.steps_to_go.iter().copied());
    let exact = arm.oracle_steps.iter().flatten().copied();
    let pairs: Vec<(f64, f64)> = read.zip(exact).filter(|(read, _)| read.is_finite()).collect();
    let known = pairs.len() as f64 / arm.data.index().n_states() as f64;
    assert!(known > 0.95, "known: {known}");
    let error = pairs.iter().map(|(read, exact)| (read - exact).abs()).sum::<f64>() / pairs.len() as f64;
    assert!(error < 16.0, "mean error: {error} frames");
    let (read, exact): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
    let all = spearman(&read, &exact);
    assert!(all >= 0.95, "all frames: {all}");
    let quality = &progress.quality;
    assert!(quality.steps_to_go.rank_correlation > quality.linear_time.rank_correlation, "{quality:?}");

    let diagnosis = diagnose(&demos, &progress);
    let (mut named, mut flagged) = (0, 0);
    for (one, (kind, rules)) in diagnosis.episodes.iter().zip(arm.kinds.iter().zip(&arm.rules)) {
        match *kind {
            "clean" => flagged += usize::from(!one.findings.is_empty()),
            _ => named += usize::from(one.findings.iter().any(|finding| rules.contains(&finding.rule))),
        }
        for finding in &one.findings {
            assert!(
                finding.first_frame < finding.end_frame && finding.end_frame <= one.frames,
                "{finding:?}"
            );
            assert!(finding.score.is_finite() && finding.score > 0.0, "{finding:?}");
        }
    }
    assert!(named >= 60, "{named} of 68 defects have the right name");
    assert!(flagged <= 8, "{flagged} of 112 clean episodes have a finding");
    let ranked = diagnosis.ranked();
    assert!(ranked.is_sorted_by(|a, b| a.score >= b.score));
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let arm = arm();
    let first: Vec<Episode> = (0..40).map(|episode| arm.data.episode(episode).to_owned()).collect();
    let data = Dataset::from_episodes(arm.data.spec(), &first).unwrap();
    let compute = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let demos = fit(&data);
            let progress = Progress::of(&demos);
            let diagnosis = diagnose(&demos, &progress);
            let gaps = Gaps::of(&demos, &diagnosis, 3, 4);
            let steps: Vec<u64> = progress
                .episodes
                .iter()
                .flat_map(|one| one.steps_to_go.iter().chain(&one.progress))
                .map(|value| value.to_bits())
                .collect();
            (steps, diagnosis.episodes, gaps.bridges, gaps.starts, gaps.connected_frames.to_bits())
        })
    };
    assert!(compute(1) == compute(2));
}

#[test]
fn a_motion_that_was_cut_out_is_the_first_bridge() {
    // One task: along x from 0 to 100, on curves that cross; every episode is cut from 40 to 60.
    let path = |lane: usize, from: usize, to: usize| -> Vec<f32> {
        let at = |step: usize| [step as f32, 4.0 * (step as f32 * 0.08 + lane as f32 * 0.6).sin()];
        (from..to).flat_map(at).collect()
    };
    let mut spec = Spec::new(2, 0);
    spec.extras = vec![Feature::new("next.success", 1)];
    let episode = |lane: usize, from: usize, to: usize| Episode {
        observations: path(lane, from, to),
        extras: vec![(from..to).map(|step| f32::from(u8::from(step == 99))).collect()],
        ..Episode::default()
    };
    let gaps = |cut: std::ops::Range<usize>| {
        let lanes = (0..12).flat_map(|lane| [episode(lane, 0, cut.start), episode(lane, cut.end, 100)]);
        let whole = (0..12).map(|lane| episode(lane, 0, 100));
        let episodes: Vec<Episode> = if cut.is_empty() { whole.collect() } else { lanes.collect() };
        let data = Dataset::from_episodes(&spec, &episodes).unwrap();
        let demos = fit(&data);
        let progress = Progress::of(&demos);
        Gaps::of(&demos, &diagnose(&demos, &progress), 3, 2)
    };
    let whole = gaps(50..50);
    assert!(whole.is_connected() && whole.bridges.is_empty(), "{:?}", whole.connections);
    let cut = gaps(40..60);
    assert!(!cut.is_connected(), "{:?}, connected up to {}", cut.connections, cut.connected_frames);
    let bridge = &cut.bridges[0];
    let (from, to) = (bridge.values_from[0], bridge.values_to[0]);
    assert!((35.0..40.0).contains(&from) && (60.0..65.0).contains(&to), "{bridge:?}");
    assert!((15.0..30.0).contains(&bridge.steps) && bridge.pairs == 12, "{bridge:?}");
}

#[test]
fn one_episode_is_an_error() {
    let data = Dataset::from_arrays(1, 0, [(vec![0.0, 1.0, 2.0], Vec::new())]).unwrap();
    let error = Demos::fit(&data, &DemosConfig::default(), &mut || ()).err().unwrap();
    assert!(matches!(error, DemosError::TooFewEpisodes { episodes: 1 }), "{error}");
}

/// Folds leave episodes out, but errors count them all.
#[test]
fn a_value_that_is_not_finite_is_named_by_its_place_in_the_dataset() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.csv");
    let row = |number: usize| match (number / 20, number % 20) {
        (3, 7) => "3,1,nan\n".to_owned(),
        (episode, step) => format!("{episode},{step},{}\n", step * step),
    };
    let rows: String = (0..8 * 20).map(row).collect();
    std::fs::write(&path, format!("episode,x,y\n{rows}")).unwrap();
    let data = Dataset::load(&path, ReadOptions::default().observations(["x", "y"])).unwrap();
    let demos = Demos::fit(&data, &DemosConfig::default(), &mut || ()).err().unwrap().to_string();
    let refined = RefinedDistance::fit(&data, &RefinedConfig::default()).err().unwrap().to_string();
    assert_eq!(demos, refined);
    assert!(demos.starts_with("episode 3, row 7 of column 'y': NaN is not finite; hint: "), "{demos}");
}
