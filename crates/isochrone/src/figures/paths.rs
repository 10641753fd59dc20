use isochrone_envs::{
    World,
    maze::{CELL, MazeWorld, STEPS_PER_SECOND, ant_rods},
};
use isochrone_eval::{
    plot::{Film, Frame, Limb, PlaneChart, PlanePanel, WalkedPath},
    rollout::Attempt,
};

/// Paths of each task that are drawn: more hide each other.
const DRAWN: usize = 25;

/// Moments of a film, and the steps between them.
const MOMENTS: usize = 12;
const STEPS_BETWEEN: usize = 2;

/// Where attempts led, a map for every task; walls where the world has them.
pub fn path_chart(world: World, attempts: &[Attempt], title: String, note: String) -> PlaneChart {
    let walls: Vec<[[f64; 2]; 2]> = match world {
        World::Nav2d => Vec::new(),
        World::Maze(MazeWorld { maze, .. }) => maze
            .layout()
            .walls()
            .map(|cell| {
                let [x, y] = cell.centre();
                [[x - CELL / 2.0, y - CELL / 2.0], [x + CELL / 2.0, y + CELL / 2.0]]
            })
            .collect(),
    };
    let (width, _, _) = world.sizes();
    let place = |row: &[f32]| [f64::from(row[0]), f64::from(row[1])];
    let n_tasks = world.n_tasks();
    let panel = |task: usize| {
        let of: Vec<&Attempt> = attempts.iter().skip(task).step_by(n_tasks).collect();
        let arrived = of.iter().filter(|attempt| attempt.is_reached).count();
        let drawn = &of[..of.len().min(DRAWN)];
        let what = if n_tasks > 1 { format!("task {}: ", task + 1) } else { String::new() };
        PlanePanel {
            title: format!("{what}{arrived} of {} arrive", of.len()),
            walls: walls.clone(),
            paths: drawn
                .iter()
                .map(|attempt| WalkedPath {
                    places: attempt.path.chunks_exact(width).map(place).collect(),
                    is_reached: attempt.is_reached,
                })
                .collect(),
            starts: drawn.first().map(|attempt| place(&attempt.path)).into_iter().collect(),
            goals: drawn.first().map(|attempt| place(&attempt.goal)).into_iter().collect(),
            ..PlanePanel::default()
        }
    };
    let axes = ["x (m)".into(), "y (m)".into()];
    PlaneChart { title, note, axes, panels: (0..n_tasks).map(panel).collect() }
}

/// An ant on its way, moment by moment: the first attempt that arrived, or the first of all.
pub fn ant_film(attempts: &[Attempt], title: &str) -> Film {
    let Some(attempt) = attempts.iter().find(|attempt| attempt.is_reached).or(attempts.first()) else {
        return Film::default();
    };
    let width = attempt.path.len() / (attempt.steps + 1);
    // Not before it is on its way.
    let first = (attempt.steps / 4).min(attempt.steps.saturating_sub(MOMENTS * STEPS_BETWEEN));
    let rows: Vec<&[f32]> = attempt.path.chunks_exact(width).collect();
    let frame = |step: usize| {
        let limbs = ant_rods(rows[step]).into_iter().map(|(from, to, radius)| Limb { from, to, radius });
        Frame {
            label: format!("{:.1} s", step as f64 / STEPS_PER_SECOND),
            centre: [f64::from(rows[step][0]), f64::from(rows[step][1])],
            limbs: limbs.collect(),
        }
    };
    let steps = (first..rows.len()).step_by(STEPS_BETWEEN).take(MOMENTS);
    let note = if attempt.is_reached {
        format!("it arrives after {:.1} s", attempt.steps as f64 / STEPS_PER_SECOND)
    } else {
        "it does not arrive".to_owned()
    };
    Film { title: title.to_owned(), note, frames: steps.map(frame).collect() }
}
