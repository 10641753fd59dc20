//! Interactive pages: their numbers, size and layers. `browser.py` opens them in a browser.

use isochrone_core::rng;
use isochrone_data::{
    Dataset,
    tables::{Column, write_parquet},
};
use isochrone_eval::refined::{PortableGraph, RefinedConfig, RefinedDistance};
use isochrone_plot::{ExploreLayers, ExplorePage};
use serde_json::Value;
use std::fs;

/// Walks in a box of two or more dimensions.
fn walks(width: usize, episodes: usize, steps: usize) -> Dataset {
    let mut random = rng::stream(5, 0);
    let mut walk = || {
        let mut state: Vec<f32> = (0..width).map(|_| rng::unit_f64(&mut random) as f32).collect();
        let mut velocity = vec![0f32; width];
        let mut states = Vec::new();
        for _ in 0..=steps {
            states.extend(&state);
            for (x, v) in state.iter_mut().zip(&mut velocity) {
                *v = 0.9 * *v + 0.01 * (rng::unit_f64(&mut random) as f32 - 0.5);
                *x = (*x + *v).clamp(0.0, 1.0);
            }
        }
        (states, Vec::new())
    };
    Dataset::from_arrays(width, 0, (0..episodes).map(|_| walk()).collect::<Vec<_>>()).unwrap()
}

fn graph(data: &Dataset, landmarks: usize) -> PortableGraph {
    let config = RefinedConfig { landmarks, ..RefinedConfig::default() };
    RefinedDistance::fit(data, &config).unwrap().portable(data).unwrap()
}

fn page<'a>(data: &'a Dataset, graph: &'a PortableGraph, layers: ExploreLayers) -> ExplorePage<'a> {
    ExplorePage {
        title: "a < b".into(),
        subtitle: "walks".into(),
        note: "by isochrone".into(),
        data,
        graph,
        states: ExplorePage::fitting_states(data, graph, 5000).unwrap(),
        layers,
    }
}

/// Returns the JSON in a page.
fn contents(html: &str) -> Value {
    let text = html.split("type=\"application/json\">").nth(1).unwrap().split("</script>").next().unwrap();
    serde_json::from_str(text).unwrap()
}

/// Decodes an array of the page, independently of the encoder.
fn bytes(array: &Value) -> Vec<u8> {
    let digit = |c: char| match c {
        'A'..='Z' => c as u32 - 65,
        'a'..='z' => c as u32 - 71,
        '0'..='9' => c as u32 + 4,
        '+' => 62,
        _ => 63,
    };
    let text = array["base64"].as_str().unwrap().trim_end_matches('=');
    let (mut bits, mut n, mut bytes) = (0u32, 0, Vec::new());
    for c in text.chars() {
        (bits, n) = (bits << 6 | digit(c), n + 6);
        if n >= 8 {
            n -= 8;
            bytes.push((bits >> n & 255) as u8);
        }
    }
    bytes
}

fn floats(array: &Value) -> Vec<f32> {
    bytes(array).chunks_exact(4).map(|four| f32::from_le_bytes(four.try_into().unwrap())).collect()
}

#[test]
fn a_page_holds_the_numbers_of_graph_and_states_exactly() {
    let data = walks(3, 30, 200);
    let graph = graph(&data, 200);
    let page = page(&data, &graph, ExploreLayers::default());
    let contents = contents(&page.html().unwrap());
    let found = &contents["graph"];
    assert_eq!(floats(&found["landmarks"]), graph.landmarks);
    assert_eq!(floats(&found["scales"]), graph.column_scales);
    assert_eq!(floats(&found["edges"]["cost"]), graph.edges.iter().map(|e| e.cost).collect::<Vec<_>>());
    assert_eq!(
        floats(&found["connections"]["hop"]),
        graph.connections.iter().map(|c| c.hop).collect::<Vec<_>>()
    );
    let to: Vec<u32> = bytes(&found["edges"]["to"])
        .chunks(2)
        .map(|two| u32::from(u16::from_le_bytes([two[0], two[1]])))
        .collect();
    assert_eq!(to, graph.edges.iter().map(|edge| edge.to).collect::<Vec<_>>());
    let states: Vec<f32> = page.states.iter().flat_map(|&state| data.state(state)).copied().collect();
    assert_eq!(floats(&contents["states"]["values"]), states);
    assert_eq!(contents["radius"], Value::Null);
    assert_eq!(found["radius"].as_f64().unwrap() as f32, graph.radius_steps);
}

#[test]
fn a_page_is_self_contained_and_small() {
    let data = walks(2, 60, 300);
    let graph = graph(&data, 700);
    let html = page(&data, &graph, ExploreLayers::default()).html().unwrap();
    assert!(html.len() < ExplorePage::MAX_BYTES, "{} bytes", html.len());
    assert!(html.contains("<title>a &lt; b</title>") && html.contains("<h1>a &lt; b</h1>"));
    for reference in ["http", "//cdn", "src=", "href=", "import ", "fetch(", "@import", "url(", "XMLHttp"] {
        assert!(!html.contains(reference), "{reference}");
    }
    assert_eq!(html.matches("<script").count(), 2);
    assert_eq!(html.matches("{title}").count() + html.matches("{note}").count(), 0);
}

#[test]
fn wide_states_are_fewer_and_too_large_graphs_are_refused() {
    let data = walks(40, 20, 100);
    let mut large = graph(&data, 80);
    large.landmarks = vec![0.0; 800_000];
    let states = ExplorePage::fitting_states(&data, &large, 5000).unwrap();
    assert!(states.len() < 2020 && states.len() >= 100, "{} of 2020", states.len());
    let html = page(&data, &large, ExploreLayers::default()).html().unwrap();
    assert!(html.len() > 4_000_000 && html.len() <= ExplorePage::MAX_BYTES, "{}", html.len());
    let mut huge = large.clone();
    huge.landmarks = vec![0.0; 1_000_000];
    let error = ExplorePage::fitting_states(&data, &huge, 5000).unwrap_err().to_string();
    assert!(error.contains("80 landmarks") && error.contains("more than 5000000"), "{error}");
}

#[test]
fn layers_are_read_and_checked_against_the_dataset() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path
    };
    let doctor = file(
        "doctor.json",
        r#"{"episodes": [{"episode": 0, "frames": 101, "findings": []}, {"episode": 2, "task": "t", "success": null, "findings": [
            {"rule": "stall", "first_frame": 10, "end_frame": 70, "score": 2.0, "message": "</script> stands still", "advice": "cut"},
            {"rule": "loop", "first_frame": 1, "end_frame": 5, "score": 3.0, "message": "m", "advice": null}]}]}"#,
    );
    let gaps = file(
        "gaps.json",
        r#"{"bridges": [{"from": {"episode": 1, "frame": 3}, "to": {"episode": 0, "frame": 100}, "steps": 24.5, "pairs": 42}],
            "starts": [{"task": "t", "values": {"x": 0.27}, "radius": 1.3}]}"#,
    );
    let data = walks(2, 10, 100);
    let graph = graph(&data, 100);
    let mut layers = ExploreLayers::default();
    layers.read_findings(&doctor).unwrap();
    layers.read_gaps(&gaps).unwrap();
    let html = page(&data, &graph, layers.clone()).html().unwrap();
    assert_eq!(html.matches("</script>").count(), 2, "texts cannot end the script");
    let contents = contents(&html);
    let findings = &contents["layers"]["findings"];
    assert_eq!((&findings[0]["rule"], &findings[0]["episode"]), (&"loop".into(), &2.into()));
    assert_eq!((&findings[1]["first"], &findings[1]["end"]), (&10.into(), &70.into()));
    let bridge = &contents["layers"]["bridges"][0];
    assert_eq!(floats(&bridge["to"]["values"]), data.state(100));
    layers.bridges[0].to.frame = 101;
    let error = page(&data, &graph, layers).html().unwrap_err().to_string();
    assert!(error.starts_with("the gaps refer to frame 101 of episode 0"), "{error}");
    let error = ExploreLayers::default().read_gaps(&file("x.json", "[1]")).unwrap_err().to_string();
    assert!(error.contains("x.json: ") && error.contains("; hint: "), "{error}");
}

#[test]
fn progress_is_read_for_every_state() {
    let data = walks(2, 4, 100);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("progress.parquet");
    let numbers = |value: fn(u32) -> f64| Column::Numbers((0..4 * 101).map(value).collect());
    let columns = [
        ("episode_index", numbers(|row| f64::from(row / 101))),
        ("frame_index", numbers(|row| f64::from(row % 101))),
        ("progress_sparse", numbers(|row| f64::from(row) / 1000.0)),
        ("steps_to_go", numbers(|row| if row == 7 { f64::INFINITY } else { 1.0 })),
    ];
    write_parquet(&path, &columns).unwrap();
    let mut layers = ExploreLayers::default();
    layers.read_progress(&path, &data, &[0, 102, 403]).unwrap();
    assert_eq!(layers.progress.unwrap(), [0.0, 0.102, 0.403]);
    for (other, expected) in
        [(walks(2, 5, 100), "4 episodes, but"), (walks(2, 4, 99), "101 frames in episode 0")]
    {
        let error = ExploreLayers::default().read_progress(&path, &other, &[0]).unwrap_err().to_string();
        assert!(error.contains(expected) && error.contains("; hint: "), "{error}");
    }
}
