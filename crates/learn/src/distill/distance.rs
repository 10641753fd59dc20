//! A distilled distance, which answers queries without its teacher.

use super::{
    Agreement, DistillConfig, DistillHead,
    features::{Columns, FeatureMap, FeatureRows},
    network::{Student, tensor},
    pool::TargetPool,
};
use crate::device::OpenDevice;
use burn::tensor::{Device, Tensor};
use isochrone_core::{Discount, ShapeError, TemporalDistance};
use isochrone_data::Dataset;
use isochrone_nn::{error::StateError, module::Initializer, store::Archive};
use serde::{Deserialize, Serialize};
use std::{ops::Range, sync::Arc};

/// The number of pairs per forward pass, and of rows whose features are held.
const CHUNK: usize = 2048;
/// The discount, which only determines the unit of nats.
const DISCOUNT: f64 = 0.99;

/// The description of a distilled network in its file, besides its weights.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct About {
    pub head: DistillHead,
    pub updates: u64,
    pub seed: u64,
    pub columns: Columns,
    /// Whether the network predicts unreachable pairs.
    pub knows_unreachable: bool,
    /// The number of steps per unit of the network.
    pub unit_steps: f32,
    /// The longest finite distance among its targets.
    pub longest_steps: f32,
    /// SHA-256 of the dataset.
    pub data_sha256: String,
    /// The device that trained it.
    #[serde(default = "cpu", skip_serializing_if = "is_cpu")]
    pub device: String,
    /// The agreement with its teacher, if it was measured.
    pub agreement: Option<Agreement>,
}

/// The device of files that name none, which are those of the CPU.
fn cpu() -> String {
    "cpu".to_owned()
}

fn is_cpu(device: &String) -> bool {
    *device == cpu()
}

impl About {
    pub fn new(
        config: &DistillConfig,
        device: &OpenDevice,
        features: &FeatureMap,
        pool: &TargetPool,
        data: &Dataset,
    ) -> Self {
        let (n, sum, longest_steps) = pool.finite().fold((0u64, 0f64, 0f32), |(n, sum, longest), steps| {
            (n + 1, sum + f64::from(steps), longest.max(steps))
        });
        // The initial outputs are about one for a pair network and about four for a quasimetric.
        let outputs = if config.head == DistillHead::Pair { 1.0 } else { 4.0 };
        Self {
            head: config.head,
            updates: config.updates,
            seed: config.seed,
            columns: features.columns.clone(),
            knows_unreachable: config.head == DistillHead::Pair && pool.has_unreachable(),
            unit_steps: (sum / n as f64 / outputs) as f32,
            longest_steps,
            data_sha256: data.content_hash().to_owned(),
            device: device.description.clone(),
            agreement: None,
        }
    }
}

/// A network that predicts the distances of a teacher without the teacher, its graph or the data.
/// Clones share the network.
///
/// The distance between equal states is exactly 0. A pair network returns infinity for pairs that
/// it predicts to be unreachable; it is not a metric. A quasimetric satisfies the triangle
/// inequality, and returns at least about twice the longest distance for such pairs.
#[derive(Clone)]
pub struct DistilledDistance {
    about: About,
    features: Arc<FeatureMap>,
    student: Student,
    device: Device,
}

impl DistilledDistance {
    /// The name of its file in the folder of a run.
    pub const FILE_NAME: &'static str = "distilled.safetensors";

    /// The head of its network.
    pub fn head(&self) -> DistillHead {
        self.about.head
    }

    /// SHA-256 of the dataset that it was distilled on.
    pub fn data_sha256(&self) -> &str {
        &self.about.data_sha256
    }

    /// The device that trained it; see [`OpenDevice::description`](crate::OpenDevice::description).
    pub fn device(&self) -> &str {
        &self.about.device
    }

    /// The columns of a goal that it uses.
    pub fn goal(&self) -> Range<usize> {
        self.about.columns.goal.clone()
    }

    /// The agreement with its teacher, if it was measured.
    pub fn agreement(&self) -> Option<&Agreement> {
        self.about.agreement.as_ref()
    }

    /// Measures the agreement with its teacher on new random pairs, and stores it if all values are
    /// defined.
    ///
    /// # Errors
    /// If the states of the teacher or the dataset have another width.
    pub fn compare(
        &mut self,
        teacher: &dyn TemporalDistance,
        data: &Dataset,
        seed: u64,
    ) -> Result<Agreement, ShapeError> {
        let agreement = Agreement::of(&*self, teacher, data, seed)?;
        self.about.agreement = agreement.is_finite().then_some(agreement);
        Ok(agreement)
    }

    pub(super) fn about(&self) -> &About {
        &self.about
    }

    /// Returns the weights as named arrays.
    pub(super) fn to_archive(&self) -> Archive {
        let mut archive = Archive::default();
        archive.insert_module("network", &self.student);
        self.features.insert_into(&mut archive);
        archive
    }

    /// Builds a network from an archive that contains exactly its weights. The size of the network
    /// must have been checked.
    pub(super) fn from_archive(
        about: About,
        mut archive: Archive,
        device: &Device,
    ) -> Result<Self, StateError> {
        let features = FeatureMap::take_from(&mut archive, about.columns.clone())?;
        let mut init = Initializer::new(0, 0, device);
        let mut student = Student::new(about.head, &features, about.knows_unreachable, &mut init)?;
        archive.take_module("network", &mut student)?;
        archive.finish()?;
        Ok(Self { about, features: Arc::new(features), student, device: device.clone() })
    }

    /// Appends the distances of pairs of rows to `steps`; a state at its goal has distance 0.
    fn append_steps(
        &self,
        from: &FeatureRows,
        to: &FeatureRows,
        pairs: &[(usize, usize)],
        steps: &mut Vec<f32>,
    ) {
        for pairs in pairs.chunks(CHUNK) {
            let prediction = self.student.predict((from, to), pairs, &self.device);
            let values = numbers(prediction.steps);
            let no_path = prediction.no_path.map(numbers);
            steps.extend(pairs.iter().enumerate().map(|(number, &(i, j))| {
                if from.goal_columns(i) == to.goal_columns(j) {
                    0.0
                } else if no_path.as_ref().is_some_and(|no_path| no_path[number] > 0.0) {
                    f32::INFINITY
                } else {
                    values[number] * self.about.unit_steps
                }
            }));
        }
    }

    fn paired(&self, from: &[f32], to: &[f32]) -> Vec<f32> {
        let chunk = CHUNK * self.width();
        let mut steps = Vec::with_capacity(from.len() / self.width());
        for (from, to) in from.chunks(chunk).zip(to.chunks(chunk)) {
            let pairs: Vec<(usize, usize)> = (0..from.len() / self.width()).map(|i| (i, i)).collect();
            self.append_steps(&self.features.rows(from), &self.features.rows(to), &pairs, &mut steps);
        }
        steps
    }

    fn all_pairs(&self, from: &[f32], to: &[f32]) -> Vec<f32> {
        let (width, chunk) = (self.width(), CHUNK * self.width());
        let columns = to.len() / width;
        let mut all = vec![0.0; from.len() / width * columns];
        for (first_column, to) in to.chunks(chunk).enumerate().map(|(number, to)| (number * CHUNK, to)) {
            let (to_rows, m) = (self.features.rows(to), to.len() / width);
            for (first_row, from) in
                from.chunks(chunk).enumerate().map(|(number, from)| (number * CHUNK, from))
            {
                let (from_rows, n) = (self.features.rows(from), from.len() / width);
                let block = self.block((&from_rows, n), (&to_rows, m));
                for (row, values) in block.chunks_exact(m).enumerate() {
                    all[(first_row + row) * columns + first_column..][..m].copy_from_slice(values);
                }
            }
        }
        all
    }

    /// Returns the distances of all pairs of `n` and `m` rows.
    fn block(&self, (from, n): (&FeatureRows, usize), (to, m): (&FeatureRows, usize)) -> Vec<f32> {
        if let Student::Mrn(metric) = &self.student {
            let features = |rows: &FeatureRows, n: usize| {
                tensor((0..n).flat_map(|row| rows.start(row)).copied().collect(), n, &self.device)
            };
            let (x, y) = metric.encode(features(from, n), features(to, m));
            return numbers(metric.head.all_pairs(x, y) * self.about.unit_steps);
        }
        let mut steps = Vec::with_capacity(n * m);
        for row in 0..n {
            let pairs: Vec<(usize, usize)> = (0..m).map(|column| (row, column)).collect();
            self.append_steps(from, to, &pairs, &mut steps);
        }
        steps
    }
}

impl TemporalDistance for DistilledDistance {
    fn width(&self) -> usize {
        self.about.columns.width
    }

    fn discount(&self) -> Discount {
        Discount::new(DISCOUNT).expect("it is between 0 and 1")
    }

    fn paired_nats(&self, from: &[f32], to: &[f32]) -> Vec<f32> {
        self.check_paired(from, to).unwrap_or_else(ShapeError::panic);
        let unit = self.discount().nats_per_step() as f32;
        self.paired(from, to).into_iter().map(|steps| steps * unit).collect()
    }

    fn all_pairs_nats(&self, from: &[f32], to: &[f32]) -> Vec<f32> {
        self.check_all_pairs(from, to).unwrap_or_else(ShapeError::panic);
        let unit = self.discount().nats_per_step() as f32;
        self.all_pairs(from, to).into_iter().map(|steps| steps * unit).collect()
    }

    fn paired_steps(&self, from: &[f32], to: &[f32]) -> Result<Vec<f64>, ShapeError> {
        self.check_paired(from, to)?;
        Ok(self.paired(from, to).into_iter().map(f64::from).collect())
    }

    fn all_pairs_steps(&self, from: &[f32], to: &[f32]) -> Result<Vec<f64>, ShapeError> {
        self.check_all_pairs(from, to)?;
        Ok(self.all_pairs(from, to).into_iter().map(f64::from).collect())
    }
}

fn numbers<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().try_into_vec().expect("single precision")
}
