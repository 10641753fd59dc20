//! The decision problem of a model: moves between landmarks, some of which risk a jump.

/// A move from one landmark to another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Move {
    /// The landmark that it starts from.
    pub from: u32,
    /// The landmark that it leads to, unless a jump intervenes.
    pub to: u32,
    /// The number of steps.
    pub steps: f32,
    /// The probability that a jump intervenes.
    pub hazard: f32,
    /// Where the move comes from.
    pub source: Source,
}

/// Where a move comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// A recorded segment.
    Recorded,
    /// The reverse of a recorded segment; the data lack this direction.
    Reverse,
    /// A straight connection of two landmarks; the data lack a segment between them.
    Bridge,
}

impl Source {
    /// Returns the name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Recorded => "recorded",
            Self::Reverse => "reverse",
            Self::Bridge => "bridge",
        }
    }
}

/// Where a jump from a region leads.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Outcomes {
    /// The landmarks at which jumps end, ascending, and their probabilities.
    pub landings: Vec<(u32, f64)>,
    /// The probability of an outcome that was never seen, which counts as failing.
    pub unseen: f64,
}

impl Outcomes {
    /// Returns the mean of a value over the outcomes.
    pub(super) fn mean(&self, value: impl Fn(u32) -> f64, of_unseen: f64) -> f64 {
        let seen: f64 = self.landings.iter().map(|&(landing, p)| p * value(landing)).sum();
        seen + self.unseen * of_unseen
    }
}

/// Moves between landmarks, and the outcomes of jumps.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    /// The moves, by the landmark that they start from.
    moves: Vec<Move>,
    /// The index of the first move from each landmark, and the number of moves.
    first_moves: Vec<u32>,
    /// For each landmark, the region whose outcomes a jump from there has.
    regions: Vec<u32>,
    /// Whether rows near a landmark jumped, so that entering on purpose is a move of one step.
    is_entry: Vec<bool>,
    outcomes: Vec<Outcomes>,
}

impl Problem {
    /// Creates a problem. `regions` and `is_entry` have a value for each landmark; without
    /// `outcomes` there are no jumps, and `regions` is ignored.
    ///
    /// # Panics
    /// If a move or an entry refers to a landmark or a region that does not exist.
    pub fn new(
        mut moves: Vec<Move>,
        regions: Vec<u32>,
        is_entry: Vec<bool>,
        outcomes: Vec<Outcomes>,
    ) -> Self {
        let n = regions.len();
        assert_eq!(is_entry.len(), n, "one value per landmark");
        assert!(
            moves.iter().all(|step| (step.from.max(step.to) as usize) < n),
            "moves are between landmarks"
        );
        let has_region = |landmark: usize| (regions[landmark] as usize) < outcomes.len();
        let is_risky = |step: &Move| step.hazard > 0.0;
        assert!(moves.iter().filter(|step| is_risky(step)).all(|step| has_region(step.from as usize)));
        assert!((0..n).filter(|&landmark| is_entry[landmark]).all(has_region));
        moves.sort_by_key(|step| (step.from, step.to));
        let mut first_moves = vec![0; n + 1];
        moves.iter().for_each(|step| first_moves[step.from as usize + 1] += 1);
        for landmark in 0..n {
            first_moves[landmark + 1] += first_moves[landmark];
        }
        Self { moves, first_moves, regions, is_entry, outcomes }
    }

    /// Returns the number of landmarks.
    pub fn n_landmarks(&self) -> usize {
        self.regions.len()
    }

    /// Returns all moves, by the landmark that they start from.
    pub fn moves(&self) -> &[Move] {
        &self.moves
    }

    /// Returns the indices of the moves from a landmark.
    pub(super) fn from(&self, landmark: usize) -> std::ops::Range<usize> {
        self.first_moves[landmark] as usize..self.first_moves[landmark + 1] as usize
    }

    /// Returns the outcomes of all regions.
    pub fn outcomes(&self) -> &[Outcomes] {
        &self.outcomes
    }

    /// Returns the outcomes of a jump near a landmark.
    pub(super) fn outcomes_at(&self, landmark: usize) -> &Outcomes {
        &self.outcomes[self.region(landmark)]
    }

    /// Returns the region of a landmark, for landmarks with a hazard.
    pub(super) fn region(&self, landmark: usize) -> usize {
        self.regions[landmark] as usize
    }

    /// Returns whether entering on purpose is possible at a landmark.
    pub fn is_entry(&self, landmark: usize) -> bool {
        self.is_entry[landmark]
    }
}
