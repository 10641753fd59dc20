//! The forward pass, and what it stores for the backward pass.

use super::{
    super::{
        Activation,
        matrix::{Matrix, Threads, multiply_into_on, multiply_on},
    },
    Layer, Mlp, TASK_ROWS, map_tasks,
    rows::{RowTape, finish},
};
use pulp::Arch;
use rayon::prelude::*;

/// The data that the forward pass stores for the backward pass, by blocks of rows.
#[derive(Clone, Debug)]
pub struct MlpTape {
    pub(super) blocks: Vec<Vec<LayerTape>>,
}

/// The stored rows of one layer; see [`RowTape`].
#[derive(Clone, Debug, Default)]
pub(super) struct LayerTape {
    /// The outputs. Those of the last layer are stored only if its derivative needs them.
    pub y: Vec<f32>,
    pub z: Vec<f32>,
    pub inverse: Vec<f32>,
}

impl LayerTape {
    /// Creates the buffers of a layer, except for the outputs.
    fn new(layer: &Layer, rows: usize) -> Self {
        let needs_z = layer.norm.is_some() || layer.keeps_preactivations();
        Self {
            y: Vec::new(),
            z: vec![0.0; if needs_z { rows * layer.outputs() } else { 0 }],
            inverse: vec![0.0; if layer.norm.is_some() { rows } else { 0 }],
        }
    }

    /// Converts the products `x w` in `y` to outputs.
    fn finish(&mut self, arch: Arch, layer: &Layer, y: &mut [f32], threads: Threads) {
        let (z, inverse) = (&mut self.z[..], &mut self.inverse[..]);
        if threads == Threads::One {
            return finish(arch, layer, RowTape { y, z, inverse });
        }
        // An empty buffer has no parts.
        let (mut z, mut inverse) = (z.chunks_mut(TASK_ROWS * layer.outputs()), inverse.chunks_mut(TASK_ROWS));
        let parts = y.chunks_mut(TASK_ROWS * layer.outputs()).map(|y| RowTape {
            y,
            z: z.next().unwrap_or_default(),
            inverse: inverse.next().unwrap_or_default(),
        });
        parts.collect::<Vec<_>>().into_par_iter().for_each(|rows| finish(arch, layer, rows));
    }
}

impl Mlp<'_> {
    /// Returns the outputs `[n, outputs]` of `x: [n, inputs]`, and the tape for
    /// [`backward`](Self::backward).
    ///
    /// # Panics
    /// If the length of `x` is not a multiple of the number of inputs.
    pub fn forward(&self, x: &[f32]) -> (Vec<f32>, MlpTape) {
        let (inputs, outputs) = (self.inputs(), self.outputs());
        assert!(x.len().is_multiple_of(inputs), "rows of {inputs} features");
        let plan = self.plan(x.len() / inputs);
        let mut out = vec![0.0; x.len() / inputs * outputs];
        let tasks = x.chunks(plan.block_rows * inputs).zip(out.chunks_mut(plan.block_rows * outputs));
        let arch = isochrone_core::vector_arch();
        let blocks = map_tasks(tasks.collect(), plan.blocks_in_parallel, |(x, out)| {
            self.forward_block(arch, x, out, plan.inside)
        });
        (out, MlpTape { blocks })
    }

    /// Takes a block of rows through all layers.
    fn forward_block(&self, arch: Arch, x: &[f32], out: &mut [f32], threads: Threads) -> Vec<LayerTape> {
        let rows = x.len() / self.inputs();
        let mut tapes: Vec<LayerTape> = Vec::with_capacity(self.0.len());
        for (index, layer) in self.0.iter().enumerate() {
            let x = Matrix::new(tapes.last().map_or(x, |before| &before.y), layer.inputs());
            let weight = Matrix::new(layer.weight, layer.outputs());
            let mut tape = LayerTape::new(layer, rows);
            if index + 1 < self.0.len() {
                let mut y = multiply_on(threads, x, weight);
                tape.finish(arch, layer, &mut y, threads);
                tape.y = y;
            } else {
                multiply_into_on(threads, x, weight, out, false);
                tape.finish(arch, layer, out, threads);
                if layer.norm.is_none() && layer.activation == Activation::Relu {
                    tape.y = out.to_vec();
                }
            }
            tapes.push(tape);
        }
        tapes
    }
}
