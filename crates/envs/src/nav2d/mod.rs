//! One-way streets in the plane.
//!
//! A world is a set of *sites*: points laid along streets with some noise. From a site one can only get to those near it that lie ahead, as both streets see it. An action is a push
//! in the plane; where it leads is a matter of chance, the more likely the nearer to where it aims:
//!
//! ```text
//! P(q | p, a) ~ exp(-|q - (p + speed a)|^2 / (2 deviation^2))    over the sites q ahead of p
//! ```
//!
//! What is seen is the site with a little noise. A site from which nothing lies ahead is where a way ends.

mod curve;
mod episode;
mod exact;
mod plan;
mod recording;

pub use curve::{Point, apart};
pub use episode::Nav2dEnvironment;
pub use exact::{ExactPolicy, HEADINGS, heading};
pub use plan::{Plan, PlanError, Recordings, Street};

use curve::Curve;
use isochrone_core::rng;
use rand_chacha::ChaCha8Rng;
use std::sync::{Arc, OnceLock};

/// A place where one can be.
#[derive(Debug, Clone, PartialEq)]
pub struct Site {
    /// Where it is.
    pub place: Point,
    /// The street that it was laid on.
    pub street: usize,
    /// Where each street leads from here, of length one; none of those that do not pass here.
    pub leads: Vec<Option<Point>>,
}

/// A world of streets. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Nav2d {
    built: Arc<Built>,
}

#[derive(Debug)]
struct Built {
    plan: Plan,
    sites: Vec<Site>,
    /// Sites ahead of each, in reach.
    ahead: Vec<Vec<usize>>,
    /// Whether one can come from one to the other: `[from][to]`.
    leads_to: Vec<Vec<bool>>,
}

impl Nav2d {
    /// The world of the study, built once.
    pub fn standard() -> Self {
        static BUILT: OnceLock<Nav2d> = OnceLock::new();
        let build =
            || Plan::parse(Plan::STANDARD).and_then(Self::new).expect("the file is part of the program");
        BUILT.get_or_init(build).clone()
    }

    /// Lays the sites that a description asks for.
    ///
    /// # Errors
    /// If there is no way to a goal that is far enough.
    pub fn new(plan: Plan) -> Result<Self, PlanError> {
        let sites = lay(&plan);
        let ahead: Vec<Vec<usize>> = sites
            .iter()
            .map(|from| (0..sites.len()).filter(|&to| is_ahead(from, &sites[to], plan.reach)).collect())
            .collect();
        let leads_to: Vec<Vec<bool>> = (0..sites.len()).map(|from| reached_from(from, &ahead)).collect();
        let world = Self { built: Arc::new(Built { plan, sites, ahead, leads_to }) };
        let sites = world.sites().len();
        if !(0..sites).any(|from| (0..sites).any(|to| world.is_task(from, to))) {
            return Err(PlanError {
                problem: "no goal is far enough from any start that leads to it".into(),
            });
        }
        Ok(world)
    }

    /// What it was built from.
    pub fn plan(&self) -> &Plan {
        &self.built.plan
    }

    /// All sites, street by street.
    pub fn sites(&self) -> &[Site] {
        &self.built.sites
    }

    /// Sites that one can get to from a site in one move; none where a way ends.
    pub fn ahead(&self, site: usize) -> &[usize] {
        &self.built.ahead[site]
    }

    /// The site nearest to a point.
    pub fn nearest(&self, point: Point) -> usize {
        let distance = |site: &usize| apart(self.sites()[*site].place, point);
        (0..self.sites().len()).min_by(|a, b| distance(a).total_cmp(&distance(b))).expect("there are sites")
    }

    /// Sites from which a goal counts as reached.
    pub fn around(&self, goal: usize) -> Vec<usize> {
        let goal = self.sites()[goal].place;
        (0..self.sites().len())
            .filter(|&site| apart(self.sites()[site].place, goal) <= self.plan().success_radius)
            .collect()
    }

    /// Whether one may be asked to go from one site to the other: it is far, and it can be done.
    pub fn is_task(&self, from: usize, to: usize) -> bool {
        let far = apart(self.sites()[from].place, self.sites()[to].place) >= self.plan().goal_distance;
        far && self.built.leads_to[from][to]
    }

    /// Whether a way from one site to the other exists.
    pub fn leads_to(&self, from: usize, to: usize) -> bool {
        self.built.leads_to[from][to]
    }

    /// Where an action leads from a site, with probabilities; nowhere from the end of a way.
    pub fn moves(&self, site: usize, action: Point) -> Vec<(usize, f64)> {
        let Plan { speed, move_deviation, .. } = *self.plan();
        let place = self.sites()[site].place;
        let length = action[0].hypot(action[1]).max(1.0);
        let aim = [0, 1].map(|axis| place[axis] + speed * action[axis] / length);
        let exponent = |to: usize| -(apart(self.sites()[to].place, aim) / move_deviation).powi(2) / 2.0;
        let mut moves: Vec<(usize, f64)> = self.ahead(site).iter().map(|&to| (to, exponent(to))).collect();
        // Far from all of them, the nearest still has weight one.
        let largest = moves.iter().map(|(_, exponent)| *exponent).fold(f64::NEG_INFINITY, f64::max);
        moves.iter_mut().for_each(|(_, weight)| *weight = (*weight - largest).exp());
        let sum: f64 = moves.iter().map(|(_, weight)| weight).sum();
        moves.iter_mut().for_each(|(_, weight)| *weight /= sum);
        moves
    }

    /// What is seen at a site.
    fn seen(&self, site: usize, random: &mut ChaCha8Rng) -> [f32; 2] {
        let noise = self.plan().observation_deviation;
        self.sites()[site].place.map(|x| (x + noise * rng::normal(random)) as f32)
    }
}

/// Draws from a distribution; rounding may leave a sliver above the last.
fn draw(moves: &[(usize, f64)], random: &mut ChaCha8Rng) -> Option<usize> {
    let mut left = rng::unit_f64(random);
    let chosen = moves.iter().find(|(_, probability)| {
        left -= probability;
        left < 0.0
    });
    chosen.or(moves.last()).map(|(site, _)| *site)
}

/// Sites at equal intervals with jitter, and at random to the side. A site is on every street that passes it within its width.
fn lay(plan: &Plan) -> Vec<Site> {
    let curves: Vec<Curve> = plan.streets.iter().map(|street| Curve::through(&street.points)).collect();
    let mut sites = Vec::new();
    for (street, curve) in curves.iter().enumerate() {
        let mut random = rng::stream(plan.seed, street as u64);
        let count = (curve.length() * plan.sites_per_unit).ceil() as usize;
        for number in 0..count {
            let along = (number as f64 + rng::unit_f64(&mut random)) * curve.length() / count as f64;
            let aside = plan.street_width / 2.0 * (2.0 * rng::unit_f64(&mut random) - 1.0);
            let (middle, ahead) = curve.at(along);
            let place = [middle[0] - aside * ahead[1], middle[1] + aside * ahead[0]];
            let leads = curves.iter().enumerate().map(|(other, curve)| {
                let (distance, direction) = curve.beside(place);
                // Its own street passes it by construction, whatever rounding says.
                (other == street || distance <= plan.street_width / 2.0).then_some(direction)
            });
            sites.push(Site { place, street, leads: leads.collect() });
        }
    }
    sites
}

/// In reach, and forward along a street of each.
fn is_ahead(from: &Site, to: &Site, reach: f64) -> bool {
    let way = [0, 1].map(|axis| to.place[axis] - from.place[axis]);
    let is_forward =
        |site: &Site| site.leads.iter().flatten().any(|lead| way[0] * lead[0] + way[1] * lead[1] > 0.0);
    way[0].hypot(way[1]) <= reach && is_forward(from) && is_forward(to)
}

fn reached_from(start: usize, ahead: &[Vec<usize>]) -> Vec<bool> {
    let mut reached = vec![false; ahead.len()];
    let mut open = vec![start];
    reached[start] = true;
    while let Some(site) = open.pop() {
        for &next in &ahead[site] {
            if !std::mem::replace(&mut reached[next], true) {
                open.push(next);
            }
        }
    }
    reached
}
