//! Sites along the streets, and the transitions between them.

use super::{StreetMap, StreetMapError, curve::Curve};
use crate::geometry::{Point, distance};
use isochrone_core::rng;
use rand_chacha::ChaCha8Rng;
use std::sync::{Arc, OnceLock};

/// A point that the agent can be at.
#[derive(Debug, Clone, PartialEq)]
pub struct Site {
    /// The position in the plane.
    pub place: Point,
    /// The street on which the site was placed.
    pub street: usize,
    /// The unit tangent of each street at this site; `None` for streets that do not pass here.
    pub directions: Vec<Option<Point>>,
}

/// Streets with their sites. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Nav2d {
    built: Arc<Built>,
}

#[derive(Debug)]
struct Built {
    map: StreetMap,
    sites: Vec<Site>,
    /// The sites ahead of each site, within reach.
    successors: Vec<Vec<usize>>,
    /// Whether a path exists from one site to another: `[from][to]`.
    is_reachable: Vec<Vec<bool>>,
}

impl Nav2d {
    /// Returns the streets of the study, which are built once.
    pub fn standard() -> Self {
        static BUILT: OnceLock<Nav2d> = OnceLock::new();
        BUILT.get_or_init(|| Self::built_in(StreetMap::STANDARD)).clone()
    }

    /// Returns the streets of the second study, which are built once.
    pub fn version_2() -> Self {
        static BUILT: OnceLock<Nav2d> = OnceLock::new();
        BUILT.get_or_init(|| Self::built_in(StreetMap::VERSION_2)).clone()
    }

    fn built_in(map: &str) -> Self {
        StreetMap::parse(map).and_then(Self::new).expect("built-in maps are valid")
    }

    /// Places sites along the streets of a map.
    ///
    /// # Errors
    /// If no start and goal are far enough apart and connected by a path.
    pub fn new(map: StreetMap) -> Result<Self, StreetMapError> {
        let sites = place_sites(&map);
        let ahead_of = |from: &Site| {
            (0..sites.len()).filter(|&to| is_ahead(from, &sites[to], map.reach)).collect::<Vec<_>>()
        };
        let successors: Vec<Vec<usize>> = sites.iter().map(ahead_of).collect();
        let is_reachable = (0..sites.len()).map(|from| reached_from(from, &successors)).collect();
        let streets = Self { built: Arc::new(Built { map, sites, successors, is_reachable }) };
        let sites = streets.sites().len();
        if !(0..sites).any(|from| (0..sites).any(|to| streets.is_task(from, to))) {
            let problem = "no goal that is far enough from its start can be reached".into();
            return Err(StreetMapError { problem });
        }
        Ok(streets)
    }

    /// Returns the map that the streets were built from.
    pub fn map(&self) -> &StreetMap {
        &self.built.map
    }

    /// Returns all sites, street by street.
    pub fn sites(&self) -> &[Site] {
        &self.built.sites
    }

    /// Returns the sites that one action can lead to; none at a dead end.
    pub fn successors(&self, site: usize) -> &[usize] {
        &self.built.successors[site]
    }

    /// Returns the site nearest to a point.
    pub fn nearest(&self, point: Point) -> usize {
        let to_point = |site: &usize| distance(self.sites()[*site].place, point);
        (0..self.sites().len()).min_by(|a, b| to_point(a).total_cmp(&to_point(b))).expect("there are sites")
    }

    /// Returns the sites at which an episode with this goal site succeeds.
    pub fn goal_sites(&self, goal: usize) -> Vec<usize> {
        let goal = self.sites()[goal].place;
        let is_near = |site: &usize| distance(self.sites()[*site].place, goal) <= self.map().success_radius;
        (0..self.sites().len()).filter(is_near).collect()
    }

    /// Returns whether two sites are a valid start and goal: far apart and connected by a path.
    pub fn is_task(&self, from: usize, to: usize) -> bool {
        let far = distance(self.sites()[from].place, self.sites()[to].place) >= self.map().goal_distance;
        far && self.built.is_reachable[from][to]
    }

    /// Returns whether a path exists from one site to another.
    pub fn is_reachable(&self, from: usize, to: usize) -> bool {
        self.built.is_reachable[from][to]
    }

    /// Returns the possible next sites of an action with their probabilities; none at a dead end.
    pub fn transitions(&self, site: usize, action: Point) -> Vec<(usize, f64)> {
        let StreetMap { speed, transition_std, .. } = *self.map();
        let place = self.sites()[site].place;
        let length = action[0].hypot(action[1]).max(1.0);
        let aim = [0, 1].map(|axis| place[axis] + speed * action[axis] / length);
        let exponent = |to: usize| -(distance(self.sites()[to].place, aim) / transition_std).powi(2) / 2.0;
        let mut transitions: Vec<(usize, f64)> =
            self.successors(site).iter().map(|&to| (to, exponent(to))).collect();
        // Relative to the largest exponent, so that the nearest site has weight one even far from
        // all.
        let largest = transitions.iter().map(|(_, exponent)| *exponent).fold(f64::NEG_INFINITY, f64::max);
        transitions.iter_mut().for_each(|(_, weight)| *weight = (*weight - largest).exp());
        let sum: f64 = transitions.iter().map(|(_, weight)| weight).sum();
        transitions.iter_mut().for_each(|(_, weight)| *weight /= sum);
        transitions
    }

    /// Samples a noisy observation of a site.
    pub(super) fn observe(&self, site: usize, random: &mut ChaCha8Rng) -> [f32; 2] {
        let noise = self.map().observation_std;
        self.sites()[site].place.map(|x| (x + noise * rng::normal(random)) as f32)
    }
}

/// Samples from a distribution. If rounding leaves the sum below 1, the rest goes to the last
/// entry.
pub(super) fn sample(transitions: &[(usize, f64)], random: &mut ChaCha8Rng) -> Option<usize> {
    let mut left = rng::unit_f64(random);
    let chosen = transitions.iter().find(|(_, probability)| {
        left -= probability;
        left < 0.0
    });
    chosen.or(transitions.last()).map(|(site, _)| *site)
}

/// Returns sites at jittered intervals along each street, with random lateral offsets. A site is on
/// every street whose width covers it.
fn place_sites(map: &StreetMap) -> Vec<Site> {
    let curves: Vec<Curve> = map.streets.iter().map(|street| Curve::through(&street.points)).collect();
    let mut sites = Vec::new();
    for (street, curve) in curves.iter().enumerate() {
        let mut random = rng::stream(map.seed, street as u64);
        let count = (curve.length() * map.sites_per_unit).ceil() as usize;
        for number in 0..count {
            let along = (number as f64 + rng::unit_f64(&mut random)) * curve.length() / count as f64;
            let aside = map.street_width / 2.0 * (2.0 * rng::unit_f64(&mut random) - 1.0);
            let (middle, ahead) = curve.at(along);
            let place = [middle[0] - aside * ahead[1], middle[1] + aside * ahead[0]];
            let directions = curves.iter().enumerate().map(|(other, curve)| {
                let (aside, direction) = curve.nearest(place);
                // The site's own street covers it by construction, regardless of rounding.
                (other == street || aside <= map.street_width / 2.0).then_some(direction)
            });
            sites.push(Site { place, street, directions: directions.collect() });
        }
    }
    sites
}

/// Returns whether `to` is within reach and forward along a street of each site.
fn is_ahead(from: &Site, to: &Site, reach: f64) -> bool {
    let path = [0, 1].map(|axis| to.place[axis] - from.place[axis]);
    let is_forward = |site: &Site| {
        site.directions.iter().flatten().any(|along| path[0] * along[0] + path[1] * along[1] > 0.0)
    };
    path[0].hypot(path[1]) <= reach && is_forward(from) && is_forward(to)
}

fn reached_from(start: usize, successors: &[Vec<usize>]) -> Vec<bool> {
    let mut reached = vec![false; successors.len()];
    let mut open = vec![start];
    reached[start] = true;
    while let Some(site) = open.pop() {
        for &next in &successors[site] {
            if !std::mem::replace(&mut reached[next], true) {
                open.push(next);
            }
        }
    }
    reached
}
