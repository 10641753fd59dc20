//! What to do about an error, in the words of this library.

use serde::{Serialize, Serializer};
use std::fmt;

/// What to do about an error.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Hint {
    /// The hint as a sentence. It names its remedy as [`Remedy`] displays it.
    pub text: String,
    /// The part of the library that it points at, so that a program can put it in its own words.
    pub remedy: Option<Remedy>,
}

/// A part of the library that resolves an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    /// [`ReadOptions::observations`](crate::formats::ReadOptions::observations).
    Observations,
    /// [`ReadOptions::episode`](crate::formats::ReadOptions::episode).
    Episode,
    /// [`ReadOptions::extras`](crate::formats::ReadOptions::extras).
    Extras,
    /// [`ReadOptions::ends`](crate::formats::ReadOptions::ends).
    Ends,
    /// [`ReadOptions::frames_per_second`](crate::formats::ReadOptions::frames_per_second).
    FrameRate,
    /// [`ReadOptions::action_bounds`](crate::formats::ReadOptions::action_bounds).
    ActionBounds,
    /// [`Format::read`](crate::formats::Format::read), with a format that is chosen instead of detected.
    Format,
    /// [`DatasetSummary`](crate::DatasetSummary).
    Summary,
    /// [`Writer`](crate::formats::Writer).
    Writer,
    /// [`LogColumns::case`](crate::tabular::LogColumns::case).
    CaseColumn,
    /// [`LogColumns::activity`](crate::tabular::LogColumns::activity).
    ActivityColumn,
    /// [`LogColumns::timestamp`](crate::tabular::LogColumns::timestamp).
    TimestampColumn,
}

impl Remedy {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::Observations,
        Self::Episode,
        Self::Extras,
        Self::Ends,
        Self::FrameRate,
        Self::ActionBounds,
        Self::Format,
        Self::Summary,
        Self::Writer,
        Self::CaseColumn,
        Self::ActivityColumn,
        Self::TimestampColumn,
    ];

    /// A hint that points here; `text` is given the name.
    pub(crate) fn hint(self, text: impl FnOnce(Self) -> String) -> Hint {
        Hint { text: text(self), remedy: Some(self) }
    }
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Observations => "`ReadOptions::observations`",
            Self::Episode => "`ReadOptions::episode`",
            Self::Extras => "`ReadOptions::extras`",
            Self::Ends => "`ReadOptions::ends`",
            Self::FrameRate => "`ReadOptions::frames_per_second`",
            Self::ActionBounds => "`ReadOptions::action_bounds`",
            Self::Format => "`Format::read`",
            Self::Summary => "`DatasetSummary`",
            Self::Writer => "`Writer`",
            Self::CaseColumn => "`LogColumns::case`",
            Self::ActivityColumn => "`LogColumns::activity`",
            Self::TimestampColumn => "`LogColumns::timestamp`",
        })
    }
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl From<&str> for Hint {
    fn from(text: &str) -> Self {
        Self { text: text.into(), remedy: None }
    }
}

impl From<String> for Hint {
    fn from(text: String) -> Self {
        Self { text, remedy: None }
    }
}

impl Serialize for Hint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}
