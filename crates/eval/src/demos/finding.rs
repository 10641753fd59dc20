//! Rules and findings.

use serde::Serialize;

/// What may be wrong with an episode, causes before their consequences: an episode with the wrong
/// task also ends elsewhere, and a slow one also stalls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// It repeats another episode.
    Duplicate,
    /// A column stops changing.
    Frozen,
    /// One frame is out of line.
    Spike,
    /// Frames are missing.
    Jump,
    /// It ends like episodes of another task.
    Task,
    /// It runs backward.
    Reversed,
    /// It ends where no success of its task does.
    End,
    /// It is much faster or slower than others.
    Pace,
    /// It does not move before it begins.
    IdleHead,
    /// It does not move after its end.
    IdleTail,
    /// It does not move for a while.
    Stall,
    /// It returns to where it was.
    Loop,
    /// It moves away from the goal.
    Detour,
}

impl Rule {
    /// All rules.
    pub const ALL: [Self; 13] = [
        Self::Duplicate,
        Self::Frozen,
        Self::Spike,
        Self::Jump,
        Self::Task,
        Self::Reversed,
        Self::End,
        Self::Pace,
        Self::IdleHead,
        Self::IdleTail,
        Self::Stall,
        Self::Loop,
        Self::Detour,
    ];

    /// Returns the name in output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Duplicate => "duplicate",
            Self::Frozen => "frozen",
            Self::Spike => "spike",
            Self::Jump => "jump",
            Self::Task => "task",
            Self::Reversed => "reversed",
            Self::End => "end",
            Self::Pace => "pace",
            Self::IdleHead => "idle_head",
            Self::IdleTail => "idle_tail",
            Self::Stall => "stall",
            Self::Loop => "loop",
            Self::Detour => "detour",
        }
    }

    /// Returns what to do about a finding.
    pub fn advice(self) -> &'static str {
        match self {
            Self::Duplicate => "delete one of the two",
            Self::Frozen => "check the sensor, and delete the episode",
            Self::Spike => "check the sensor; train without the frame",
            Self::Jump => "frames are missing: delete the episode, or record it again",
            Self::Task => "correct the task",
            Self::Reversed => "delete the episode, or reverse its frames",
            Self::End => "watch its end: a failure, or cut off; correct the label, or delete it",
            Self::Pace => "check the frame rate; delete it if it was recorded at another one",
            Self::IdleHead | Self::IdleTail | Self::Stall => "weight its frames by progress, or cut them",
            Self::Loop | Self::Detour => "watch it: weight its frames by progress, or delete it",
        }
    }

    /// Returns whether deleting the episode is the remedy.
    pub fn suggests_deletion(self) -> bool {
        matches!(
            self,
            Self::Duplicate
                | Self::Frozen
                | Self::Jump
                | Self::Reversed
                | Self::End
                | Self::Pace
                | Self::Detour
        )
    }

    /// Returns whether the rule is about whole episodes.
    pub(super) fn is_of_whole_episode(self) -> bool {
        matches!(self, Self::Duplicate | Self::Task | Self::Reversed | Self::End | Self::Pace)
    }
}

/// A defect of an episode.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// The rule.
    pub rule: Rule,
    /// The first frame.
    pub first_frame: usize,
    /// The frame after the last.
    pub end_frame: usize,
    /// How far it is beyond the threshold of the rule; 1 is at the threshold.
    pub score: f64,
    /// What was measured, in words.
    pub message: String,
}
