//! Embeddings of frames, such as those of camera images, joined to observations by the index of the
//! frame.

mod projection;
mod rows;
mod safetensors;
mod source;

use crate::{DataError, Defect, EpisodeSink, EpisodeView, Feature, Spec, formats::options::EmbeddingOptions};
use projection::Projection;
use std::path::Path;

/// The maximum number of rows, evenly spread over the file, from which components are computed.
const MAX_FITTED_ROWS: usize = 8192;

/// The components of a file's embeddings.
struct Embeddings {
    name: String,
    /// The indices of frames, sorted.
    indices: Vec<i64>,
    /// `[frames, width]`
    values: Vec<f32>,
    /// The weight of each component in a standardized observation, `[width]`.
    weights: Vec<f32>,
}

impl Embeddings {
    /// Reads a file twice: to compute the components, and to apply them.
    fn read(options: &EmbeddingOptions) -> Result<Self, DataError> {
        let path = &options.path;
        let fail = |problem: String| DataError::malformed(path, problem, rows::HINT);
        if !(options.weight > 0.0 && options.weight.is_finite()) {
            let problem = format!("a weight of {} for embeddings", options.weight);
            return Err(DataError::setting(problem, "give a positive number"));
        }
        let mut indices = Vec::new();
        let mut width = None;
        source::read(path, &mut |index, row| {
            if row.len() != *width.get_or_insert(row.len()) {
                return Err(fail(format!(
                    "the row of frame {index} has {} numbers, not those of the first",
                    row.len()
                )));
            }
            if let Some(at) = row.iter().position(|value| !value.is_finite()) {
                return Err(fail(format!("number {at} of frame {index} is {}", row[at])));
            }
            indices.push(index);
            Ok(())
        })?;
        let width = width.ok_or_else(|| fail("it has no rows".into()))?;
        let (every, mut at, mut sample) = (indices.len().div_ceil(MAX_FITTED_ROWS), 0, Vec::new());
        source::read(path, &mut |_, row| {
            if at % every == 0 {
                sample.extend_from_slice(row);
            }
            at += 1;
            Ok(())
        })?;
        let projection = Projection::fit(&sample, width, options.components, options.weight);
        let mut values = Vec::with_capacity(indices.len() * projection.deviations.len());
        source::read(path, &mut |_, row| {
            projection.apply(row, &mut values);
            Ok(())
        })?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let weights = projection.deviations;
        if indices.is_sorted() {
            return Ok(Self { name, indices, values, weights });
        }
        let mut order: Vec<usize> = (0..indices.len()).collect();
        order.sort_by_key(|&at| indices[at]);
        let row = |at: usize| &values[at * weights.len()..(at + 1) * weights.len()];
        let sorted = order.iter().flat_map(|&at| row(at).iter().copied()).collect();
        Ok(Self { name, indices: order.iter().map(|&at| indices[at]).collect(), values: sorted, weights })
    }

    /// Returns the components of a frame.
    fn row(&self, index: i64) -> Option<&[f32]> {
        let at = self.indices.binary_search(&index).ok()?;
        let width = self.weights.len();
        Some(&self.values[at * width..(at + 1) * width])
    }
}

/// The index of every frame, and the place of the first frame of every episode.
pub(crate) struct FrameIndex {
    pub index: Vec<i64>,
    pub first: Vec<usize>,
}

/// Forwards episodes with embeddings as further dimensions of their observations.
pub(crate) struct Join<'a> {
    sink: &'a mut dyn EpisodeSink,
    embeddings: Vec<Embeddings>,
    paths: Vec<&'a Path>,
    frames: Option<FrameIndex>,
    n_states: usize,
    width: usize,
}

impl<'a> Join<'a> {
    /// Reads the embeddings. Without `frames`, the index of a frame is the number of its state.
    pub fn open(
        frames: Option<FrameIndex>,
        options: &'a [EmbeddingOptions],
        sink: &'a mut dyn EpisodeSink,
    ) -> Result<Self, DataError> {
        let embeddings = options.iter().map(Embeddings::read).collect::<Result<_, _>>()?;
        let paths = options.iter().map(|options| &*options.path).collect();
        Ok(Self { sink, embeddings, paths, frames, n_states: 0, width: 0 })
    }

    /// Returns the index of a frame of an episode.
    fn index(&self, episode: usize, frame: usize) -> Option<i64> {
        match &self.frames {
            Some(frames) => frames.index.get(frames.first.get(episode)? + frame).copied(),
            None => Some((self.n_states + frame) as i64),
        }
    }
}

impl EpisodeSink for Join<'_> {
    fn begin(&mut self, spec: &Spec) -> Result<(), DataError> {
        let mut spec = spec.clone();
        self.width = spec.observation.width;
        let Feature { width, dimensions, weights, .. } = &mut spec.observation;
        if dimensions.is_empty() {
            let plain = Feature::new("observations", *width);
            dimensions.extend((0..*width).map(|index| plain.dimension(index)));
        }
        weights.resize(*width, 1.0);
        for embeddings in &self.embeddings {
            dimensions.extend((0..embeddings.weights.len()).map(|at| format!("{}[{at}]", embeddings.name)));
            weights.extend(&embeddings.weights);
        }
        *width = weights.len();
        // Bounds are those of single dimensions.
        spec.observation.bounds.clear();
        let place = self.paths.first().copied().unwrap_or(Path::new(""));
        spec.check().map_err(|problem| DataError::malformed(place, problem.to_string(), problem.hint()))?;
        self.sink.begin(&spec)
    }

    fn episode(&mut self, episode: &EpisodeView<'_>) -> Result<(), DataError> {
        let mut observations = Vec::new();
        for (frame, row) in episode.observations.chunks_exact(self.width).enumerate() {
            observations.extend_from_slice(row);
            for (embeddings, path) in self.embeddings.iter().zip(&self.paths) {
                let index = self.index(episode.number, frame);
                let Some(components) = index.and_then(|index| embeddings.row(index)) else {
                    let index = index.map_or_else(|| "unknown".to_owned(), |index| index.to_string());
                    let problem =
                        format!("no row for index {index}, frame {frame} of episode {}", episode.number);
                    let hint = "compute the embeddings of all frames of this dataset, in its order";
                    return Err(DataError::malformed(path, problem, hint));
                };
                observations.extend_from_slice(components);
            }
        }
        self.n_states += episode.steps + 1;
        let joined = EpisodeView { observations: &observations, extras: episode.extras.clone(), ..*episode };
        self.sink.episode(&joined)
    }

    fn defect(&mut self, defect: Defect) -> Result<(), DataError> {
        self.sink.defect(defect)
    }
}
