//! Searches for the shortest paths to a goal.

/// No edge.
pub(super) const NONE: u32 = u32::MAX;

/// The edges of a graph, ordered by end landmark.
#[derive(Clone, Copy)]
pub(super) struct EdgesInto<'a> {
    /// For every landmark, the index of the first edge that ends there, and the number of edges.
    pub first_into: &'a [usize],
    /// The start landmark and the cost of every edge.
    pub into: &'a [(u32, f32)],
}

/// The shortest paths from all landmarks to a goal landmark. The memory is reused by the next run.
#[derive(Default)]
pub(crate) struct Search {
    /// The first edge of the path from each landmark, or [`NONE`].
    pub first_edges: Vec<u32>,
    /// The landmarks with a path, nearest first.
    pub order: Vec<u32>,
    /// The cost of the path from each landmark.
    pub costs: Vec<f32>,
    is_settled: Vec<bool>,
    /// Landmarks by cost, in steps.
    buckets: Vec<Vec<u32>>,
    /// The edges of a landmark that are on shorter paths.
    shorter: Vec<u32>,
}

impl Search {
    /// Searches by Dial's algorithm: every edge costs at least one step, so landmarks in a bucket
    /// one step wide cannot improve each other.
    pub fn run(&mut self, edges: EdgesInto, goal: usize) {
        self.reset(edges.first_into.len() - 1);
        self.costs[goal] = 0.0;
        self.add(0, goal as u32);
        let mut bucket = 0;
        while bucket < self.buckets.len() {
            let mut landmarks = std::mem::take(&mut self.buckets[bucket]);
            for &landmark in &landmarks {
                if !std::mem::replace(&mut self.is_settled[landmark as usize], true) {
                    self.order.push(landmark);
                    self.settle(edges, landmark as usize);
                }
            }
            landmarks.clear();
            self.buckets[bucket] = landmarks;
            bucket += 1;
        }
    }

    /// Forgets the paths to another goal.
    fn reset(&mut self, landmarks: usize) {
        let Self { first_edges, order, costs, is_settled, .. } = self;
        order.clear();
        first_edges.clear();
        first_edges.resize(landmarks, NONE);
        costs.clear();
        costs.resize(landmarks, f32::INFINITY);
        is_settled.clear();
        is_settled.resize(landmarks, false);
    }

    /// Compares the paths through a landmark, whose own path is final, with those found before.
    fn settle(&mut self, edges: EdgesInto, to: usize) {
        let first = edges.first_into[to];
        let into = &edges.into[first..edges.first_into[to + 1]];
        let here = self.costs[to];
        if self.shorter.len() < into.len() {
            self.shorter.resize(into.len(), 0);
        }
        // Few edges are on shorter paths, and the processor cannot predict which: they are listed
        // without a branch.
        let mut n_shorter = 0;
        for (edge, &(from, cost)) in into.iter().enumerate() {
            self.shorter[n_shorter] = edge as u32;
            n_shorter += usize::from(here + cost < self.costs[from as usize]);
        }
        for place in 0..n_shorter {
            let edge = self.shorter[place];
            let (from, cost) = into[edge as usize];
            let through = here + cost;
            if through < self.costs[from as usize] {
                self.costs[from as usize] = through;
                self.first_edges[from as usize] = first as u32 + edge;
                self.add(through as usize, from);
            }
        }
    }

    fn add(&mut self, bucket: usize, landmark: u32) {
        if bucket >= self.buckets.len() {
            self.buckets.resize(bucket + 1, Vec::new());
        }
        self.buckets[bucket].push(landmark);
    }
}
