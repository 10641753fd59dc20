//! The parts of a model that can be exported.

/// A part of a model. Every file has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OnnxPart {
    /// The distance: `observation` and `goal`, both `[batch, observation width]`, give `distance`,
    /// `[batch]`, in steps, as [`paired_steps`] does: nats divided by `ln(1 / discount)`.
    ///
    /// [`paired_steps`]: isochrone_core::TemporalDistance::paired_steps
    Distance,
    /// The policy: `observation` and `goal`, both `[batch, observation width]`, give `action`,
    /// `[batch, action width]`, in the units of the dataset: the deterministic action, as
    /// [`actions`] returns it. Of a goal, the policy uses the dimensions of the dataset's goal
    /// space.
    ///
    /// [`actions`]: isochrone_core::GoalPolicy::actions
    Policy,
    /// The latent states that a quasimetric compares: `observation`, `[batch, observation width]`,
    /// gives `embedding`, `[batch, width]`, as [`LearnedDistance::embed`] does.
    ///
    /// [`LearnedDistance::embed`]: crate::LearnedDistance::embed
    Embedding,
}

impl OnnxPart {
    /// All parts.
    pub const ALL: [Self; 3] = [Self::Distance, Self::Policy, Self::Embedding];

    /// Returns the name of the part.
    pub fn name(self) -> &'static str {
        match self {
            Self::Distance => "distance",
            Self::Policy => "policy",
            Self::Embedding => "embedding",
        }
    }

    /// Returns the names of the inputs, in order.
    pub fn inputs(self) -> &'static [&'static str] {
        match self {
            Self::Distance | Self::Policy => &["observation", "goal"],
            Self::Embedding => &["observation"],
        }
    }

    /// Returns the name of the output.
    pub fn output(self) -> &'static str {
        match self {
            Self::Distance => "distance",
            Self::Policy => "action",
            Self::Embedding => "embedding",
        }
    }

    /// Returns the unit of the output.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Distance => "steps",
            Self::Policy => "units of the dataset's actions",
            Self::Embedding => "none",
        }
    }
}
