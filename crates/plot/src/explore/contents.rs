//! The numbers of the page, as its script reads them.

use super::{
    ExploreError,
    base64::Array,
    layers::{ExploreLayers, PageLayers},
};
use crate::{MapAxis, MapFrame};
use isochrone_data::Dataset;
use isochrone_eval::refined::PortableGraph;
use serde::Serialize;

/// The number of cells on the longer side of a plane.
const CELLS: usize = 100;
/// The bytes of an edge: from, to, steps, count, row, cost, two hops, three landmarks.
const EDGE_BYTES: usize = 4 * 2 + 4 * 4 + 3 * 2;
/// The bytes of a connection: landmark and hop.
const CONNECTION_BYTES: usize = 2 + 4;

#[derive(Serialize)]
pub(super) struct Contents {
    columns: Vec<String>,
    fps: Option<f64>,
    graph: Graph,
    states: States,
    /// The number of states of every episode.
    episode_lengths: Array,
    axes: Vec<Axis>,
    /// The axes at the start, as places in `axes`.
    default_axes: [usize; 2],
    /// Episode and frame of the state at the start.
    first_state: [u64; 2],
    plane: Option<Plane>,
    layers: PageLayers,
}

#[derive(Serialize)]
struct Graph {
    scales: Array,
    radius: f32,
    landmarks: Array,
    edges: Edges,
    connections: Connections,
}

#[derive(Serialize)]
struct Edges {
    from: Array,
    to: Array,
    row: Array,
    steps: Array,
    cost: Array,
    before: Array,
    after: Array,
    via: Array,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Connections {
    /// The number of connections of every edge.
    count: Array,
    next_to: Array,
    hop: Array,
}

#[derive(Serialize)]
struct States {
    row: Array,
    values: Array,
}

#[derive(Serialize)]
struct Axis {
    name: String,
    is_frame: bool,
    parts: Vec<(usize, f64)>,
}

/// The cells of a plane with data.
#[derive(Serialize)]
struct Plane {
    x: (f64, f64),
    y: (f64, f64),
    columns: usize,
    rows: usize,
    known: Array,
}

/// Returns the bytes of a graph before they are encoded as text.
pub(super) fn graph_bytes(graph: &PortableGraph) -> usize {
    4 * graph.landmarks.len() + EDGE_BYTES * graph.edges.len() + CONNECTION_BYTES * graph.connections.len()
}

impl Contents {
    pub fn new(
        data: &Dataset,
        graph: &PortableGraph,
        states: &[u64],
        layers: &ExploreLayers,
    ) -> Result<Self, ExploreError> {
        let observation = &data.spec().observation;
        let index = data.index();
        let values = states.iter().flat_map(|&state| data.state(state)).copied();
        let last_frame = index.states(0).end.saturating_sub(1);
        let (axes, default_axes) = axes(data, graph);
        Ok(Self {
            columns: (0..observation.width).map(|column| observation.dimension(column)).collect(),
            fps: data.frames_per_second(),
            graph: Graph::new(graph),
            states: States {
                row: Array::u32(states.iter().map(|&state| state as u32)),
                values: Array::f32(values),
            },
            episode_lengths: Array::u32((0..data.n_episodes()).map(|episode| {
                let states = index.states(episode);
                (states.end - states.start) as u32
            })),
            axes,
            default_axes,
            first_state: [0, last_frame],
            plane: (observation.width == 2).then(|| Plane::new(&MapFrame::new(data, [0, 1], CELLS))),
            layers: PageLayers::new(layers, data)?,
        })
    }
}

impl Graph {
    fn new(graph: &PortableGraph) -> Self {
        let edges = || graph.edges.iter();
        let mut count = vec![0; graph.edges.len()];
        graph.connections.iter().for_each(|connection| count[connection.edge as usize] += 1);
        Self {
            scales: Array::f32(graph.column_scales.iter().copied()),
            radius: graph.radius_steps,
            landmarks: Array::f32(graph.landmarks.iter().copied()),
            edges: Edges {
                from: Array::u16(edges().map(|edge| edge.from)),
                to: Array::u16(edges().map(|edge| edge.to)),
                row: Array::u32(edges().map(|edge| edge.row)),
                steps: Array::u16(edges().map(|edge| edge.steps)),
                cost: Array::f32(edges().map(|edge| edge.cost)),
                before: Array::f32(edges().map(|edge| edge.hop_before)),
                after: Array::f32(edges().map(|edge| edge.hop_after)),
                via: Array::u16(edges().flat_map(|edge| edge.via)),
            },
            connections: Connections {
                count: Array::u16(count),
                next_to: Array::u16(graph.connections.iter().map(|connection| connection.next_to)),
                hop: Array::f32(graph.connections.iter().map(|connection| connection.hop)),
            },
        }
    }
}

impl Plane {
    fn new(frame: &MapFrame) -> Self {
        let (columns, rows) = frame.size();
        let [x, y] = frame.ranges();
        Self { x, y, columns, rows, known: Array::bits(frame.is_known()) }
    }
}

/// Returns the axes, and which of them are shown at the start: two columns, the goal space, or the
/// two directions along which states differ most in time.
fn axes(data: &Dataset, graph: &PortableGraph) -> (Vec<Axis>, [usize; 2]) {
    let (spec, width) = (data.spec(), data.spec().observation.width);
    let axis =
        |axis: MapAxis| Axis { name: axis.name.clone(), is_frame: false, parts: axis.parts().to_vec() };
    let mut axes: Vec<Axis> =
        (0..width).map(|column| axis(MapAxis::column(&spec.observation, column))).collect();
    if width > 2 {
        let weights: Vec<f64> = graph.column_scales.iter().map(|&scale| f64::from(scale)).collect();
        axes.extend(MapAxis::principal(data, &weights).map(axis));
    }
    axes.push(Axis { name: "frame of the episode".into(), is_frame: true, parts: Vec::new() });
    let goal = spec.goal_space();
    let shown = match width {
        1 => [1, 0],
        2 => [0, 1],
        _ if spec.goal.is_some() && goal.len() >= 2 => [goal.start, goal.start + 1],
        _ => [width, width + 1],
    };
    (axes, shown)
}
