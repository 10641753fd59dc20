//! A Markov chain estimated from an event log.

use super::{
    builder::{MdpError, RowWriter},
    mdp::TabularMdp,
};
use std::collections::BTreeMap;
use thiserror::Error;

/// One event of a case: an activity and its time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Event {
    /// The number of the activity.
    pub activity: usize,
    /// The time in seconds, relative to any origin.
    pub at_seconds: f64,
}

/// The first-order Markov chain of an event log: how often and after what time one activity follows
/// another.
///
/// The states are the activities, [`start`](Self::start), in which every case starts, and the
/// absorbing state [`end`](Self::end). Transition probabilities are the observed frequencies
/// (maximum likelihood).
#[derive(Debug, Clone)]
pub struct EventChain {
    n_activities: usize,
    chain: TabularMdp,
    /// `(count, total seconds)` of each observed transition.
    observed: BTreeMap<(usize, usize), (u64, f64)>,
    visits: Vec<u64>,
}

/// An error in an event log.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum EventChainError {
    /// The log has no events.
    #[error("the log has no events; hint: it needs at least one row below the header")]
    Empty,
    /// The chain could not be built.
    #[error(transparent)]
    Mdp(#[from] MdpError),
}

impl EventChain {
    /// Estimates the chain from cases, each a list of events in chronological order. Empty cases
    /// are ignored.
    pub fn estimate(n_activities: usize, cases: &[Vec<Event>]) -> Result<Self, EventChainError> {
        let (start, end) = (n_activities, n_activities + 1);
        let mut observed = BTreeMap::<(usize, usize), (u64, f64)>::new();
        let mut visits = vec![0; n_activities + 2];
        for case in cases.iter().filter(|case| !case.is_empty()) {
            let mut previous = Event { activity: start, at_seconds: case[0].at_seconds };
            let closing = Event { activity: end, at_seconds: case[case.len() - 1].at_seconds };
            visits[start] += 1;
            for &event in case.iter().chain([&closing]) {
                let (count, seconds) = observed.entry((previous.activity, event.activity)).or_default();
                *count += 1;
                *seconds += event.at_seconds - previous.at_seconds;
                visits[event.activity] += 1;
                previous = event;
            }
        }
        if visits[start] == 0 {
            return Err(EventChainError::Empty);
        }
        let mut writer = RowWriter::new(visits.len());
        for (from, &departures) in visits.iter().enumerate() {
            if from == end || departures == 0 {
                writer.row(from, 0, [(from, 1.0)])?;
                continue;
            }
            let leaving = observed.range((from, 0)..(from + 1, 0));
            let shares = leaving.map(|(&(_, to), &(count, _))| (to, count as f64 / departures as f64));
            writer.row(from, 0, shares)?;
        }
        let chain = writer.finish()?;
        Ok(Self { n_activities, chain, observed, visits })
    }

    /// Returns the chain over activities, start and end.
    pub fn chain(&self) -> &TabularMdp {
        &self.chain
    }

    /// Returns the state in which every case starts.
    pub fn start(&self) -> usize {
        self.n_activities
    }

    /// Returns the absorbing state in which every case ends.
    pub fn end(&self) -> usize {
        self.n_activities + 1
    }

    /// Returns the number of visits of each state in the log.
    pub fn visits(&self) -> &[u64] {
        &self.visits
    }

    /// Returns the mean time in seconds between two consecutive activities; 0 if the pair was not
    /// observed.
    pub fn mean_seconds(&self, from: usize, to: usize) -> f64 {
        self.observed.get(&(from, to)).map_or(0.0, |&(count, seconds)| seconds / count as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact::hitting_statistics;

    #[test]
    fn frequencies_and_times_are_those_of_the_log() {
        // Activity 0 is followed by 1 in two of three cases, after 10 and 20 seconds.
        let case = |events: &[(usize, f64)]| -> Vec<Event> {
            events.iter().map(|&(activity, at_seconds)| Event { activity, at_seconds }).collect()
        };
        let cases =
            [case(&[(0, 0.0), (1, 10.0)]), case(&[(0, 5.0), (1, 25.0)]), case(&[(0, 0.0)]), case(&[])];
        let log = EventChain::estimate(2, &cases).unwrap();
        assert_eq!(log.visits(), &[3, 2, 3, 3]);
        let row = log.chain().action_row(0, 0).unwrap();
        assert_eq!(row.successors, &[1, log.end() as u32]);
        assert!((row.probabilities[0] - 2.0 / 3.0).abs() < 1e-15);
        assert_eq!(log.mean_seconds(0, 1), 15.0);

        let hitting = hitting_statistics(log.chain(), &[1]).unwrap();
        assert!((hitting.reach_probability()[log.start()] - 2.0 / 3.0).abs() < 1e-12);
        assert!((hitting.mean_if_reached(|_, _| 1.0)[log.start()] - 2.0).abs() < 1e-12);
        assert!((hitting.mean_if_reached(|from, to| log.mean_seconds(from, to))[0] - 15.0).abs() < 1e-12);
        assert_eq!(hitting.reach_probability()[log.end()], 0.0);
    }

    #[test]
    fn an_empty_log_is_an_error() {
        assert_eq!(EventChain::estimate(3, &[vec![]]).unwrap_err(), EventChainError::Empty);
    }
}
