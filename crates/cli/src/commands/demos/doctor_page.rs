//! The page of `isochrone doctor`: a timeline for every episode with findings, colored by progress.

use super::source::Source;
use isochrone::{
    demos::{Diagnosis, EpisodeDiagnosis, Progress},
    plot::{
        Figure,
        html::{Page, escaped},
    },
};
use std::fmt::Write as _;

/// The width of a timeline, and its left margin for the name of the episode.
const WIDTH: f64 = 900.0;
const LEFT: f64 = 90.0;
/// The height of a bar of progress, and of the row.
const BAR: f64 = 16.0;
const ROW: f64 = 46.0;
/// Progress 0 and 1, from dark to light: the ends of the map that figures use.
const LOW: [f64; 3] = [68.0, 1.0, 84.0];
const MIDDLE: [f64; 3] = [33.0, 145.0, 140.0];
const HIGH: [f64; 3] = [253.0, 231.0, 37.0];

/// Returns the page.
pub fn page(source: &Source, progress: &Progress, diagnosis: &Diagnosis, commands: &[String]) -> String {
    let ranked = diagnosis.ranked();
    let mut page = Page::new("Findings in demonstrations");
    page.subtitle(&format!("{}, {} episodes", source.path.display(), diagnosis.episodes.len()));
    page.headline(&format!("{} episodes have findings.", ranked.len()));
    page.paragraph(
        "Bars are colored by progress, from dark (start) to yellow (done); gray where no recorded path \
         leads to a success. Red brackets are the frames of a finding. Episodes are ranked by score: 1 is \
         the threshold of a rule.",
    );
    for command in commands {
        page.code(command);
    }
    let longest = ranked.iter().map(|one| one.frames).max().unwrap_or(1);
    for one in ranked {
        let steps = &progress.episodes[one.episode].progress;
        page.figure(&Figure::from_svg(timeline(one, steps, longest)), &caption(one));
    }
    page.html()
}

fn caption(one: &EpisodeDiagnosis) -> String {
    let findings: Vec<String> = one
        .findings
        .iter()
        .map(|finding| {
            let (first, last) = (finding.first_frame, finding.end_frame - 1);
            format!(
                "{}, frames {first} to {last}: {}; {}",
                finding.rule.name(),
                finding.message,
                finding.rule.advice()
            )
        })
        .collect();
    let keep = one.keep.as_ref().map_or_else(String::new, |keep| format!(" Keep it: {keep}."));
    let task = if one.task.is_empty() { String::new() } else { format!(" ({})", one.task) };
    format!("Episode {}{task}, score {:.1}. {}.{keep}", one.episode, one.score, findings.join(". "))
}

/// Returns the timeline of an episode as an SVG.
fn timeline(one: &EpisodeDiagnosis, progress: &[f64], longest: usize) -> String {
    let scale = (WIDTH - LEFT - 10.0) / longest as f64;
    let x = |frame: usize| LEFT + frame as f64 * scale;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{ROW}\" viewBox=\"0 0 {WIDTH} {ROW}\" role=\"img\">\
         <title>{}</title><rect width=\"{WIDTH}\" height=\"{ROW}\" fill=\"#ffffff\"/>\
         <text x=\"8\" y=\"25\" font-family=\"DejaVu Sans\" font-size=\"13\" fill=\"#1a1a1a\">episode {}</text>",
        escaped(&caption(one)),
        one.episode
    );
    // Runs of frames of equal color are one rectangle.
    let shade = |value: f64| if value.is_nan() { 255 } else { (value * 31.0).round() as u8 };
    let mut first = 0;
    for run in progress.chunk_by(|a, b| shade(*a) == shade(*b)) {
        let (from, to) = (x(first), x(first + run.len()));
        let _ = write!(
            svg,
            "<rect x=\"{from:.1}\" y=\"12\" width=\"{:.1}\" height=\"{BAR}\" fill=\"{}\"/>",
            to - from + 0.3,
            color(run[0])
        );
        first += run.len();
    }
    for finding in &one.findings {
        let from = x(finding.first_frame.min(progress.len()));
        let to = x(finding.end_frame.min(progress.len())).max(from + 3.0);
        let _ = write!(
            svg,
            "<path d=\"M{from:.1} 30v6H{to:.1}v-6\" fill=\"none\" stroke=\"#d1350f\" stroke-width=\"2\"/>\
             <text x=\"{:.1}\" y=\"45\" text-anchor=\"middle\" font-family=\"DejaVu Sans\" font-size=\"9\" fill=\"#d1350f\">{}</text>",
            (0.5 * (from + to)).clamp(LEFT + 20.0, WIDTH - 25.0),
            finding.rule.name()
        );
    }
    svg + "</svg>"
}

fn color(progress: f64) -> String {
    if progress.is_nan() {
        return "#c8c8c8".into();
    }
    let (from, to, part) =
        if progress < 0.5 { (LOW, MIDDLE, 2.0 * progress) } else { (MIDDLE, HIGH, 2.0 * progress - 1.0) };
    let channel = |at: usize| (from[at] + part * (to[at] - from[at])).round() as u8;
    format!("#{:02x}{:02x}{:02x}", channel(0), channel(1), channel(2))
}
