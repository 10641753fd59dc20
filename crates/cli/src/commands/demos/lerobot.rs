//! Commands of LeRobot that use the results.

use std::{fmt::Display, path::Path};

/// Quotes a text for a POSIX shell, if it has to be.
fn quoted(text: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:=".contains(letter);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

fn name(dataset: &Path) -> String {
    dataset.file_name().map_or_else(|| "dataset".into(), |name| name.to_string_lossy().into_owned())
}

/// Returns the command that trains with weights from a progress file.
pub fn train(dataset: &Path, progress: &Path) -> String {
    format!(
        "lerobot-train --dataset.repo_id={} --dataset.root={} --policy.type=pi05 \
         --sample_weighting.type=rabc --sample_weighting.progress_path={}",
        quoted(&format!("local/{}", name(dataset))),
        quoted(&dataset.display().to_string()),
        quoted(&progress.display().to_string()),
    )
}

/// Returns the command that copies a dataset without some episodes.
pub fn delete_episodes(dataset: &Path, episodes: &[usize]) -> String {
    let folder = dataset.display().to_string();
    format!(
        "lerobot-edit-dataset --repo_id {id} --root {root} --new_repo_id {id}_clean --new_root {new} \
         --operation.type delete_episodes --operation.episode_indices {episodes}",
        id = quoted(&format!("local/{}", name(dataset))),
        root = quoted(&folder),
        new = quoted(&format!("{}_clean", folder.trim_end_matches('/'))),
        episodes = quoted(&list(episodes)),
    )
}

/// Returns the command that corrects tasks in place.
pub fn modify_tasks(dataset: &Path, tasks: &[(usize, String)]) -> String {
    let tasks: serde_json::Map<_, _> =
        tasks.iter().map(|(episode, task)| (episode.to_string(), task.clone().into())).collect();
    format!(
        "lerobot-edit-dataset --repo_id {} --root {} --operation.type modify_tasks --operation.episode_tasks {}",
        quoted(&format!("local/{}", name(dataset))),
        quoted(&dataset.display().to_string()),
        quoted(&serde_json::Value::Object(tasks).to_string()),
    )
}

/// Returns `[1, 2, 3]`.
fn list(values: &[impl Display]) -> String {
    format!("[{}]", values.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_quoted_for_a_shell() {
        let command = delete_episodes(Path::new("my data/arm"), &[0, 12]);
        assert!(command.contains("--root 'my data/arm' --new_repo_id local/arm_clean"), "{command}");
        assert!(command.ends_with("--operation.episode_indices '[0, 12]'"), "{command}");
        let command = modify_tasks(Path::new("arm"), &[(3, "it's left".into())]);
        assert!(command.ends_with(r#"'{"3":"it'\''s left"}'"#), "{command}");
    }
}
