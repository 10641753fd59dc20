//! Maps of steps: a plane for two-dimensional observations, recorded states on two axes for wider
//! ones.

use crate::commands::{query::LoadedRun, states::dimension};
use anyhow::{Context as _, bail};
use isochrone::{
    TemporalDistance,
    plot::{MapAxis, MapDirection, MapFrame, PlanePanel, StateMap},
};

/// The value of `--axes` that selects the principal axes.
const PRINCIPAL: &str = "principal";

/// A map of a run's data.
pub enum StepMap {
    /// A plane of two-dimensional observations, where there are data.
    Plane(MapFrame, [String; 2]),
    /// Recorded states of wider observations.
    States(StateMap),
}

impl StepMap {
    /// Creates a map with the axes `X,Y` or `principal`. The default is the plane, the goal space,
    /// or the principal axes.
    pub fn new(loaded: &LoadedRun, axes: Option<&str>, cells: usize) -> anyhow::Result<Self> {
        let (data, observation) = (loaded.data()?, &loaded.model.spec.observation);
        if observation.width < 2 {
            bail!(
                "{}: observations of one dimension cannot be drawn as a map; hint: use isochrone distance",
                loaded.run.folder().display()
            );
        }
        let columns = match axes {
            Some(PRINCIPAL) => None,
            Some(axes) => Some(columns(axes, loaded).with_context(|| format!("--axes {axes}"))?),
            None => {
                let goal = loaded.model.spec.goal_space();
                let is_plane =
                    observation.width == 2 || (loaded.model.spec.goal.is_some() && goal.len() >= 2);
                is_plane.then_some([goal.start, goal.start + 1])
            }
        };
        Ok(match columns {
            Some(columns) if observation.width == 2 => {
                let names = columns.map(|column| observation.dimension(column));
                Self::Plane(MapFrame::new(data, columns, cells), names)
            }
            Some(columns) => {
                Self::States(StateMap::new(data, columns.map(|column| MapAxis::column(observation, column))))
            }
            // Weighted by the hop metric, in steps: columns that are not informative about time
            // have no weight.
            None => {
                let weights: Vec<f64> =
                    loaded.refined()?.metric().weights().iter().map(|weight| weight.sqrt()).collect();
                Self::States(StateMap::new(data, MapAxis::principal(data, &weights)))
            }
        })
    }

    /// Returns the names of the axes.
    pub fn axes(&self) -> [String; 2] {
        match self {
            Self::Plane(_, names) => names.clone(),
            Self::States(map) => map.axes(),
        }
    }

    /// Returns a panel of the steps to a state, or from it.
    pub fn panel(
        &self,
        title: &str,
        distance: &dyn TemporalDistance,
        state: &[f32],
        direction: MapDirection,
    ) -> PlanePanel {
        match self {
            Self::Plane(frame, _) => frame.panel(title, distance, state, direction),
            Self::States(map) => map.panel(title, distance, state, direction),
        }
    }

    /// Draws a path on a map of steps to its goal.
    pub fn draw_path(&self, panel: &mut PlanePanel, from: &[f32], states: Option<&[f32]>) {
        match self {
            Self::Plane(frame, _) => frame.draw_path(panel, from, states),
            Self::States(map) => map.draw_path(panel, from, states),
        }
    }
}

/// Parses two columns by name or number.
fn columns(text: &str, loaded: &LoadedRun) -> anyhow::Result<[usize; 2]> {
    let observation = &loaded.model.spec.observation;
    let Some((x, y)) = text.split_once(',') else {
        bail!("not two columns; hint: give two names or numbers like 0,1, or {PRINCIPAL}");
    };
    let columns = [dimension(x.trim(), observation)?, dimension(y.trim(), observation)?];
    if columns[0] == columns[1] {
        bail!("the same column twice; hint: give two different columns, counted from 0");
    }
    Ok(columns)
}
