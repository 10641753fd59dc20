//! Maps of steps: the plane where observations are places, recorded states on two axes where they are more.

use crate::commands::{query::Asker, situations::dimension};
use anyhow::{Context as _, bail};
use isochrone::{
    TemporalDistance,
    plot::{MapAxis, MapDirection, MapFrame, PlanePanel, StateMap},
};

/// The name of the principal axes.
const PRINCIPAL: &str = "principal";

/// A map of a run's data.
pub enum StepMap {
    /// Observations of two numbers: every place where there are data.
    Plane(MapFrame, [String; 2]),
    /// Wider ones: recorded states.
    States(StateMap),
}

impl StepMap {
    /// A map on the axes that a text names, `X,Y` or `principal`. By default the plane, the goal space, or
    /// the principal axes.
    pub fn new(asker: &Asker, axes: Option<&str>, cells: usize) -> anyhow::Result<Self> {
        let (data, observation) = (asker.data()?, &asker.model.spec.observation);
        if observation.width < 2 {
            bail!(
                "{}: observations of one number are not places of a map; hint: isochrone distance asks about them",
                asker.run.folder().display()
            );
        }
        let columns = match axes {
            Some(PRINCIPAL) => None,
            Some(axes) => Some(columns(axes, asker).with_context(|| format!("--axes {axes}"))?),
            None => {
                let goal = asker.model.spec.goal_space();
                let is_place = observation.width == 2 || (asker.model.spec.goal.is_some() && goal.len() >= 2);
                is_place.then_some([goal.start, goal.start + 1])
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
            // In steps, as far as a hop is one: columns that say nothing about time have no part.
            None => {
                let weights: Vec<f64> =
                    asker.refined()?.metric().weights().iter().map(|weight| weight.sqrt()).collect();
                Self::States(StateMap::new(data, MapAxis::principal(data, &weights)))
            }
        })
    }

    /// What the axes are called.
    pub fn axes(&self) -> [String; 2] {
        match self {
            Self::Plane(_, names) => names.clone(),
            Self::States(map) => map.axes(),
        }
    }

    /// Steps to a state, or from it.
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

/// Two columns by their names or numbers.
fn columns(text: &str, asker: &Asker) -> anyhow::Result<[usize; 2]> {
    let observation = &asker.model.spec.observation;
    let Some((x, y)) = text.split_once(',') else {
        bail!("not two columns; hint: give two names or numbers like 0,1, or {PRINCIPAL}");
    };
    let columns = [dimension(x.trim(), observation)?, dimension(y.trim(), observation)?];
    if columns[0] == columns[1] {
        bail!("the same column twice; hint: give two different ones, counted from 0");
    }
    Ok(columns)
}
