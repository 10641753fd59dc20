//! The help of every command ends with examples that can be copied.

use crate::run::{commands, isochrone};

const MAX_COLUMNS: usize = 98;

/// Returns the lines below a heading of a help, up to the next empty line.
fn section<'a>(help: &'a str, heading: &str) -> Vec<&'a str> {
    let lines = help.lines().skip_while(|line| *line != heading).skip(1);
    lines.take_while(|line| !line.is_empty()).collect()
}

/// Returns what is wrong with the examples of a help.
fn problems(help: &str) -> Vec<String> {
    let examples = section(help, "Examples:");
    let mut problems = Vec::new();
    if examples.is_empty() {
        problems.push("no examples".to_owned());
    }
    let mut continues = false;
    for line in examples {
        if line.chars().count() > MAX_COLUMNS {
            problems.push(format!("wider than {MAX_COLUMNS} columns: {line}"));
        }
        let starts: &[&str] = match continues {
            true => &["    "],
            false => &["  isochrone ", "  man ", "  # "],
        };
        if !starts.iter().any(|start| line.starts_with(start)) {
            problems.push(format!("not a command, a comment or a continuation: {line}"));
        }
        continues = line.ends_with(" \\");
    }
    if continues {
        problems.push("the last example is incomplete".to_owned());
    }
    problems
}

#[test]
fn every_command_has_examples_that_are_not_wrapped() {
    let helps = commands();
    for command in ["", "train", "data inspect", "plot map", "reproduce nav2d", "reproduce merge"] {
        assert!(helps.iter().any(|(known, _)| known == command), "isochrone {command} is not listed");
    }
    let mut found = Vec::new();
    for (command, help) in &helps {
        found.extend(problems(help).into_iter().map(|problem| format!("isochrone {command}: {problem}")));
    }
    assert!(found.is_empty(), "{} problems:\n{}", found.len(), found.join("\n"));
}

#[test]
fn short_help_shows_the_examples() {
    for command in ["", "train", "plot map", "reproduce nav2d"] {
        let help = isochrone(&format!("{command} -h")).stdout;
        assert_eq!(problems(&help), Vec::<String>::new(), "isochrone {command} -h");
    }
}

#[test]
fn wrapped_and_incomplete_examples_are_found() {
    let n_problems = |examples: &str| problems(&format!("Examples:\n{examples}\n\nGuide.")).len();
    assert_eq!(n_problems("  isochrone runs \\\n    --csv\n  # A comment\n  isochrone runs"), 0);
    assert_eq!(n_problems("  isochrone runs\n  --csv"), 1);
    assert_eq!(n_problems("  isochrone runs \\"), 1);
    assert_eq!(n_problems(&format!("  isochrone runs {}", "a".repeat(MAX_COLUMNS))), 1);
    assert_eq!(n_problems(""), 1);
}
