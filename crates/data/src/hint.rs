//! Hints that accompany errors.

use serde::Serialize;
use std::fmt;

/// What to do about an error.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(transparent)]
pub struct Hint {
    /// The text of the hint. It names its remedy as [`Remedy`] displays it.
    pub text: String,
    /// The part of the library that the hint refers to, so that a program can substitute its own
    /// name for it.
    #[serde(skip)]
    pub remedy: Option<Remedy>,
}

named_enum! {
    /// A part of the library that resolves an error.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Remedy, fn name {
        /// [`ReadOptions::observations`](crate::formats::ReadOptions::observations).
        Observations = "`ReadOptions::observations`",
        /// [`ReadOptions::episode`](crate::formats::ReadOptions::episode).
        Episode = "`ReadOptions::episode`",
        /// [`ReadOptions::extras`](crate::formats::ReadOptions::extras).
        Extras = "`ReadOptions::extras`",
        /// [`ReadOptions::ends`](crate::formats::ReadOptions::ends).
        Ends = "`ReadOptions::ends`",
        /// [`ReadOptions::frames_per_second`](crate::formats::ReadOptions::frames_per_second).
        FrameRate = "`ReadOptions::frames_per_second`",
        /// [`ReadOptions::action_bounds`](crate::formats::ReadOptions::action_bounds).
        ActionBounds = "`ReadOptions::action_bounds`",
        /// [`Format::read`](crate::formats::Format::read), with an explicit format instead of a
        /// detected one.
        Format = "`Format::read`",
        /// [`DatasetSummary`](crate::DatasetSummary).
        Summary = "`DatasetSummary`",
        /// [`Writer`](crate::formats::Writer).
        Writer = "`Writer`",
        /// [`LogColumns::case`](crate::tabular::LogColumns::case).
        CaseColumn = "`LogColumns::case`",
        /// [`LogColumns::activity`](crate::tabular::LogColumns::activity).
        ActivityColumn = "`LogColumns::activity`",
        /// [`LogColumns::timestamp`](crate::tabular::LogColumns::timestamp).
        TimestampColumn = "`LogColumns::timestamp`",
    }
}

impl Remedy {
    /// Creates a hint that refers to this remedy; `text` receives the remedy to display.
    pub(crate) fn hint(self, text: impl FnOnce(Self) -> String) -> Hint {
        Hint { text: text(self), remedy: Some(self) }
    }
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
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
