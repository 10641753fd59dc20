//! Pursuit of a path: a plan is made once, and followed until the goal or until it is lost.

use super::Follower;
use isochrone_core::TemporalDistance;

/// Plans of paths between states.
pub(super) trait Paths: Sync {
    /// Returns the waypoints of the path from each row of `from` to the same row of `goals`,
    /// `[n, width]` each; the last one is the goal.
    fn paths(&self, from: &[f32], goals: &[f32]) -> Vec<Vec<f32>>;

    /// Returns the distance that the paths were found with.
    fn distance(&self) -> &dyn TemporalDistance;

    /// Returns the edge length, in nats, up to which the distance is accurate.
    fn edge_scale_nats(&self) -> f32;
}

/// The distance of the waypoint that is aimed at, in edge scales: the first, until the policy makes
/// no progress, then the other.
const AIM_SCALES: [f32; 2] = [1.0, 2.0];
/// The number of steps without progress after which the distance of the aim changes, in edge
/// scales.
const STALL_SCALES: f64 = 3.0;
/// The distance to all next waypoints above which the path is lost, in edge scales.
const LOST_SCALES: f32 = 3.0;
/// The number of waypoints that are compared with the state at each step.
const COMPARED: usize = 8;
/// The smallest such number: with fewer, a state that is at the waypoint after its aim would get
/// itself as the next aim.
const MIN_COMPARED: usize = 3;

/// The pursuit of paths in several episodes.
///
/// The policy gets the farthest of the next waypoints within an edge scale, and never one before
/// that of the last step, so that it does not return where two parts of a path are near each other.
/// If it makes no progress, it gets the farthest within two edge scales of a new path, and so on in
/// turn. The distance is evaluated between the state and the next few waypoints only, which matters
/// for critics that take a state and a goal together. If all of them are too far, such as after a
/// teleport, a new path is planned.
pub(super) struct Pursuit<'a> {
    planner: Box<dyn Paths + 'a>,
    courses: Vec<Option<Course>>,
}

/// The path of one episode.
struct Course {
    goal: Vec<f32>,
    /// `[n, width]`; the last one is the goal.
    waypoints: Vec<f32>,
    /// The nats of the edge to every waypoint.
    edges: Vec<f32>,
    /// The nats along the path from the first waypoint to every waypoint.
    along: Vec<f32>,
    /// The index of the waypoint that is aimed at. It only grows.
    aim: usize,
    /// The number of steps since the aim moved.
    steps_at_aim: usize,
    /// How often the policy made no progress.
    stalls: usize,
    /// The distance to all next waypoints above which the path is lost, in nats.
    lost_nats: f32,
}

impl Course {
    fn new(waypoints: Vec<f32>, &Row { from, goal, .. }: &Row<'_>, planner: &dyn Paths) -> Self {
        let (distance, width) = (planner.distance(), goal.len());
        let before: Vec<f32> = from.iter().chain(&waypoints[..waypoints.len() - width]).copied().collect();
        let edges = distance.paired_nats(&before, &waypoints);
        let mut along = vec![0.0; edges.len()];
        for waypoint in 1..edges.len() {
            along[waypoint] = along[waypoint - 1] + edges[waypoint].max(0.0);
        }
        // Where data are sparse, the path may begin with a long edge.
        let lost_nats = (LOST_SCALES * planner.edge_scale_nats()).max(1.5 * edges[0]);
        Self { goal: goal.to_vec(), waypoints, edges, along, aim: 0, steps_at_aim: 0, stalls: 0, lost_nats }
    }

    /// Returns the indices of the waypoints that the state is compared with. They are near the aim
    /// along the path, because a distance may be too small through a wall.
    fn compared(&self, scale_nats: f32) -> std::ops::Range<usize> {
        let aim_nats = self.aim_nats(scale_nats);
        let last = self.along.len().min(self.aim + COMPARED);
        let far = self.along[self.aim..last].iter().position(|nats| nats - self.along[self.aim] > aim_nats);
        self.aim..far.map_or(last, |far| self.aim + far.max(MIN_COMPARED).min(last - self.aim))
    }

    fn aim_nats(&self, scale_nats: f32) -> f32 {
        AIM_SCALES[self.stalls % AIM_SCALES.len()] * scale_nats
    }

    /// Moves the aim, given the nats to the compared waypoints. Returns whether the path is lost,
    /// or there was no progress for `stall_steps`.
    fn advance(&mut self, nats: &[f32], scale_nats: f32, stall_steps: usize) -> bool {
        let aim_nats = self.aim_nats(scale_nats);
        // At a waypoint, the next one is within reach, however long the edge between them.
        let is_near = |(nats, edge): (&f32, &f32)| *nats <= aim_nats.max(*edge);
        let farthest = nats.iter().zip(&self.edges[self.aim..]).rposition(is_near);
        self.steps_at_aim += 1;
        if let Some(ahead @ 1..) = farthest {
            (self.aim, self.steps_at_aim) = (self.aim + ahead, 0);
        }
        self.stalls += usize::from(self.steps_at_aim == stall_steps);
        self.steps_at_aim == stall_steps
            || farthest.is_none() && nats.iter().all(|nats| *nats > self.lost_nats)
    }
}

impl<'a> Pursuit<'a> {
    pub fn new(planner: Box<dyn Paths + 'a>, n_episodes: usize) -> Self {
        Self { planner, courses: (0..n_episodes).map(|_| None).collect() }
    }

    /// Plans the paths of some rows.
    fn plan(&mut self, rows: &[Row<'_>]) {
        if rows.is_empty() {
            return;
        }
        let gather = |part: fn(&Row<'_>) -> Vec<f32>| rows.iter().flat_map(part).collect::<Vec<f32>>();
        let paths = self.planner.paths(&gather(|row| row.from.to_vec()), &gather(|row| row.goal.to_vec()));
        for (row, waypoints) in rows.iter().zip(paths) {
            let course = &mut self.courses[row.episode];
            let stalls =
                course.as_ref().filter(|course| course.goal == row.goal).map_or(0, |course| course.stalls);
            *course = Some(Course { stalls, ..Course::new(waypoints, row, &*self.planner) });
        }
    }

    /// Moves the aims of some rows, all in one call of the distance. Returns the rows whose path is
    /// lost.
    fn advance<'r>(&mut self, rows: &[Row<'r>]) -> Vec<Row<'r>> {
        if rows.is_empty() {
            return Vec::new();
        }
        let scale_nats = self.planner.edge_scale_nats();
        let scale_steps = f64::from(scale_nats) / self.planner.distance().discount().nats_per_step();
        let stall_steps = ((STALL_SCALES * scale_steps).ceil() as usize).saturating_add(1);
        let (mut from, mut to, mut counts) = (Vec::new(), Vec::new(), Vec::new());
        for row in rows {
            let (course, width) = (self.course(row.episode), row.goal.len());
            let compared = course.compared(scale_nats);
            counts.push(compared.len());
            compared.clone().for_each(|_| from.extend(row.from));
            to.extend(&course.waypoints[compared.start * width..compared.end * width]);
        }
        let mut nats = &self.planner.distance().paired_nats(&from, &to)[..];
        let mut lost = Vec::new();
        for (row, count) in rows.iter().zip(counts) {
            let (own, others) = nats.split_at(count);
            nats = others;
            let course = self.courses[row.episode].as_mut().expect("it was planned");
            if course.advance(own, scale_nats, stall_steps) {
                lost.push(*row);
            }
        }
        lost
    }

    fn course(&self, episode: usize) -> &Course {
        self.courses[episode].as_ref().expect("it was planned")
    }
}

/// The state and the goal of an episode.
#[derive(Clone, Copy)]
struct Row<'r> {
    episode: usize,
    from: &'r [f32],
    goal: &'r [f32],
}

impl Follower for Pursuit<'_> {
    fn next(&mut self, episodes: &[usize], from: &[f32], goals: &[f32]) -> Vec<f32> {
        let width = self.planner.distance().width();
        let pairs = from.chunks_exact(width).zip(goals.chunks_exact(width));
        let rows = episodes.iter().zip(pairs).map(|(&episode, (from, goal))| Row { episode, from, goal });
        let rows: Vec<Row<'_>> = rows.collect();
        let is_new =
            |row: &&Row<'_>| self.courses[row.episode].as_ref().is_none_or(|course| course.goal != row.goal);
        let new: Vec<Row<'_>> = rows.iter().filter(is_new).copied().collect();
        self.plan(&new);
        let lost = self.advance(&rows);
        self.plan(&lost);
        self.advance(&lost);
        let aim = |row: &Row<'_>| {
            let course = self.course(row.episode);
            course.waypoints[course.aim * width..][..width].to_vec()
        };
        rows.iter().flat_map(aim).collect()
    }
}
