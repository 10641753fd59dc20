//! What is known about the jumps of a dataset.

use super::{ChanceConfig, error::ChanceError, jumps::Jumps};
use isochrone_data::Dataset;

/// The recurring jumps of a dataset.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct JumpReport {
    /// The number of jumps.
    pub jumps: usize,
    /// The observation columns that jump.
    pub columns: Vec<usize>,
    /// The regions that jumps start from.
    pub entries: Vec<EntryRegion>,
    /// The places where jumps land.
    pub exits: Vec<ExitPlace>,
}

/// A region that jumps start from.
#[derive(Debug, Clone, PartialEq)]
pub struct EntryRegion {
    /// The mean of the columns that jump, over the last rows before the jumps.
    pub center: Vec<f32>,
    /// The number of jumps to each exit.
    pub exits: Vec<u32>,
}

impl EntryRegion {
    /// Returns the number of jumps from this region.
    pub fn jumps(&self) -> u32 {
        self.exits.iter().sum()
    }
}

/// A place where jumps land.
#[derive(Debug, Clone, PartialEq)]
pub struct ExitPlace {
    /// The mean of the columns that jump, over the rows after the jumps.
    pub center: Vec<f32>,
    /// The number of landings.
    pub landings: u32,
}

impl JumpReport {
    /// Finds the jumps of a dataset.
    ///
    /// # Errors
    /// If the dataset has no transitions, or no column is informative about elapsed time.
    pub fn of(data: &Dataset) -> Result<Self, ChanceError> {
        Ok(Self::new(data, &Jumps::find(data, &ChanceConfig::default())?))
    }

    pub(super) fn new(data: &Dataset, jumps: &Jumps) -> Self {
        let Jumps { columns, jump_rows, entry_of, exit_of, .. } = jumps;
        let center = |of: &[u32], number: u32, offset: u64| {
            let own = jump_rows.iter().zip(of).filter(|(_, other)| **other == number);
            let rows: Vec<u64> = own.map(|(row, _)| u64::from(*row) + offset).collect();
            let mean = |column: &usize| {
                let sum: f64 = rows.iter().map(|row| f64::from(data.state(*row)[*column])).sum();
                (sum / rows.len() as f64) as f32
            };
            columns.iter().map(mean).collect()
        };
        let counts = jumps.counts();
        let landings = |exit: usize| counts.iter().map(|of_entry| of_entry[exit]).sum();
        let entries = counts.iter().enumerate().map(|(entry, exits)| EntryRegion {
            center: center(entry_of, entry as u32, 0),
            exits: exits.clone(),
        });
        let exits = (0..jumps.n_exits)
            .map(|exit| ExitPlace { center: center(exit_of, exit as u32, 1), landings: landings(exit) });
        Self {
            jumps: jump_rows.len(),
            columns: columns.clone(),
            entries: entries.collect(),
            exits: exits.collect(),
        }
    }
}
