//! The committed figures match the output of the commands.

use crate::run::{isochrone_in, workspace};

#[test]
fn committed_figures_are_current() {
    let root = workspace();
    let figures = [
        ("slippery-maze", "exact examples/slippery-maze.txt --slip 0.2"),
        ("teleport-maze", "exact examples/teleport-maze.txt --slip 0.1"),
        ("orders", "exact examples/orders.csv --goal delivered"),
        ("walks", "data inspect examples/walks.csv --observations x,y"),
    ];
    let folder = tempfile::tempdir().unwrap();
    for (name, arguments) in figures {
        let plotted = folder.path().join(format!("{name}.svg"));
        let outcome = isochrone_in(&root, &format!("{arguments} --plot {}", plotted.display()));
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        let committed = std::fs::read_to_string(root.join(format!("docs/figures/{name}.svg"))).unwrap();
        assert!(
            std::fs::read_to_string(&plotted).unwrap() == committed,
            "docs/figures/{name}.svg differs from the output of the command; run `just figures` and check it"
        );
    }
}

/// Analysts want the time on the clock; steps are in the labels.
#[test]
fn bars_of_an_event_log_are_times() {
    let orders = std::fs::read_to_string(workspace().join("docs/figures/orders.svg")).unwrap();
    for part in ["expected time (days), given that it is reached", "6.5 days, 5.8 steps, reached by 86 %"] {
        assert!(orders.contains(part), "{part}");
    }
}

#[test]
fn png_figures_have_the_declared_size() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("tiny.txt"), "S..\n.#G\n").unwrap();
    let outcome = isochrone_in(folder.path(), "exact tiny.txt --plot tiny.png");
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let bytes = std::fs::read(folder.path().join("tiny.png")).unwrap();
    assert_eq!(&bytes[..8], b"\x89PNG\r\n\x1a\n");
    let side = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    // The SVG of the same figure declares its size; a PNG has two pixels per unit.
    isochrone_in(folder.path(), "exact tiny.txt --plot tiny.svg");
    let svg = std::fs::read_to_string(folder.path().join("tiny.svg")).unwrap();
    let declared = format!("viewBox=\"0 0 {} {}\"", side(16) / 2, side(20) / 2);
    assert!(svg.contains(&declared), "no {declared} in {}", &svg[..300]);
}
