//! The backward pass.

use super::{
    super::matrix::{Matrix, Threads, multiply_into_on, multiply_on},
    Layer, Mlp, Plan, TASK_ROWS,
    forward::{LayerTape, MlpTape},
    map_tasks,
    rows::{ColumnSums, backward},
};
use pulp::Arch;
use rayon::prelude::*;

/// The gradients of a scalar with respect to the inputs and the parameters.
pub struct MlpGradients {
    /// `[n, inputs]`, if it was requested.
    pub x: Option<Vec<f32>>,
    /// Those of every layer, if they were requested.
    pub layers: Option<Vec<LayerGradients>>,
}

/// The gradients with respect to the parameters of a layer.
pub struct LayerGradients {
    /// `[inputs, outputs]`
    pub weight: Vec<f32>,
    /// `[outputs]`
    pub bias: Vec<f32>,
    /// Gain and shift of a layer normalization, each `[outputs]`.
    pub norm: Option<[Vec<f32>; 2]>,
}

/// The number of rows of a weight gradient per task.
const WEIGHT_ROWS: usize = 64;

/// The gradients of a block of rows.
struct BlockGradients {
    /// Those of `x w + b` of all layers but the last.
    hidden: Vec<Vec<f32>>,
    /// The sums over rows of every layer.
    sums: Vec<ColumnSums>,
}

impl Mlp<'_> {
    /// Returns the gradients with respect to the inputs, if `of_x`, and to the parameters, if
    /// `of_parameters`, given the gradient `[n, outputs]` of the outputs, which is overwritten.
    ///
    /// `x` and `tape` are those of [`forward`](Self::forward).
    pub fn backward(
        &self,
        x: &[f32],
        tape: &MlpTape,
        gradient: &mut [f32],
        of_x: bool,
        of_parameters: bool,
    ) -> MlpGradients {
        let plan = self.plan(x.len() / self.inputs());
        let arch = isochrone_core::vector_arch();
        let mut dx = vec![0.0; if of_x { x.len() } else { 0 }];
        let mut dx_blocks = dx.chunks_mut(plan.block_rows * self.inputs());
        let blocks = tape.blocks.iter().zip(gradient.chunks_mut(plan.block_rows * self.outputs()));
        let tasks = blocks.map(|(tape, gradient)| (tape, gradient, dx_blocks.next().unwrap_or_default()));
        let blocks = map_tasks(tasks.collect(), plan.blocks_in_parallel, |(tape, gradient, dx)| {
            self.backward_block(arch, tape, gradient, dx, plan.inside)
        });
        let layers = of_parameters.then(|| self.parameter_gradients(x, tape, gradient, &blocks, plan));
        MlpGradients { x: of_x.then_some(dx), layers }
    }

    /// Takes the gradient of a block of rows back through all layers. That of the last layer is
    /// converted in place; `dx` is empty if it is not needed.
    fn backward_block(
        &self,
        arch: Arch,
        tape: &[LayerTape],
        gradient: &mut [f32],
        dx: &mut [f32],
        threads: Threads,
    ) -> BlockGradients {
        let mut hidden: Vec<Vec<f32>> = Vec::with_capacity(self.0.len() - 1);
        let mut sums = Vec::with_capacity(self.0.len());
        for (index, layer) in self.0.iter().enumerate().rev() {
            let dz = hidden.last_mut().map_or(&mut *gradient, |hidden| &mut hidden[..]);
            sums.push(backward_rows(arch, layer, dz, &tape[index], threads));
            let (dz, weight) = (Matrix::new(dz, layer.outputs()), Matrix::new(layer.weight, layer.outputs()));
            if index > 0 {
                let before = multiply_on(threads, dz, weight.transposed());
                hidden.push(before);
            } else if !dx.is_empty() {
                multiply_into_on(threads, dz, weight.transposed(), dx, false);
            }
        }
        hidden.reverse();
        sums.reverse();
        BlockGradients { hidden, sums }
    }

    /// Adds up the gradients of the parameters over all blocks, in their order; `last` is that of
    /// the last layer.
    fn parameter_gradients(
        &self,
        x: &[f32],
        tape: &MlpTape,
        last: &[f32],
        blocks: &[BlockGradients],
        plan: Plan,
    ) -> Vec<LayerGradients> {
        let inputs = |block: usize, index: usize| match index {
            0 => part(x, block, plan.block_rows * self.inputs()),
            _ => &tape.blocks[block][index - 1].y[..],
        };
        let gradient = |block: usize, index: usize| match blocks[block].hidden.get(index) {
            Some(hidden) => &hidden[..],
            None => part(last, block, plan.block_rows * self.outputs()),
        };
        let weights = match blocks {
            [_] => self.weight_gradients(plan.inside, |index| (inputs(0, index), gradient(0, index))),
            _ => self.weight_gradients_of_blocks(blocks.len(), inputs, gradient),
        };
        let layers = self.0.iter().zip(weights).enumerate().map(|(index, (layer, weight))| {
            let mut sums = ColumnSums::zero(layer);
            blocks.iter().for_each(|block| sums.add(&block.sums[index]));
            LayerGradients { weight, bias: sums.bias, norm: sums.norm }
        });
        layers.collect()
    }
}

impl Mlp<'_> {
    /// Returns the gradients of the weights of one block; `rows(index)` are the inputs of layer
    /// `index` and the gradient of its `x w + b`.
    fn weight_gradients<'a>(
        &self,
        threads: Threads,
        rows: impl Fn(usize) -> (&'a [f32], &'a [f32]),
    ) -> Vec<Vec<f32>> {
        let weights = self.0.iter().enumerate().map(|(index, layer)| {
            let (x, dz) = rows(index);
            let (x, dz) = (Matrix::new(x, layer.inputs()), Matrix::new(dz, layer.outputs()));
            multiply_on(threads, x.transposed(), dz)
        });
        weights.collect()
    }

    /// Returns the gradients of the weights, summed over blocks in their order; tasks are parts of
    /// layers.
    fn weight_gradients_of_blocks<'a>(
        &self,
        blocks: usize,
        inputs: impl Fn(usize, usize) -> &'a [f32] + Sync,
        gradient: impl Fn(usize, usize) -> &'a [f32] + Sync,
    ) -> Vec<Vec<f32>> {
        let mut weights: Vec<Vec<f32>> = self.0.iter().map(|layer| vec![0.0; layer.weight.len()]).collect();
        let mut tasks = Vec::new();
        for (index, (layer, weight)) in self.0.iter().zip(&mut weights).enumerate() {
            let parts = weight.chunks_mut(WEIGHT_ROWS * layer.outputs()).enumerate();
            tasks.extend(parts.map(|(part, weight)| (index, part * WEIGHT_ROWS, weight)));
        }
        map_tasks(tasks, true, |(index, first, weight)| {
            let layer = &self.0[index];
            let columns = first..first + weight.len() / layer.outputs();
            for block in 0..blocks {
                let x = Matrix::new(inputs(block, index), layer.inputs());
                let dz = Matrix::new(gradient(block, index), layer.outputs());
                let x = x.columns(columns.clone()).transposed();
                multiply_into_on(Threads::One, x, dz, weight, block > 0);
            }
        });
        weights
    }
}

/// Returns part `index` of parts of `length` elements, of which the last may be shorter; an empty
/// slice has empty parts.
fn part(values: &[f32], index: usize, length: usize) -> &[f32] {
    &values[(index * length).min(values.len())..((index + 1) * length).min(values.len())]
}

/// Converts the gradient of the outputs of a layer to that of `x w + b` in place.
fn backward_rows(
    arch: Arch,
    layer: &Layer,
    gradient: &mut [f32],
    LayerTape { y, z, inverse }: &LayerTape,
    threads: Threads,
) -> ColumnSums {
    let mut total = ColumnSums::zero(layer);
    if threads == Threads::One {
        backward(arch, layer, gradient, [y, z, inverse], &mut total);
        return total;
    }
    let length = TASK_ROWS * layer.outputs();
    let tasks = gradient.par_chunks_mut(length).enumerate().map(|(task, gradient)| {
        let mut sums = ColumnSums::zero(layer);
        let saved = [part(y, task, length), part(z, task, length), part(inverse, task, TASK_ROWS)];
        backward(arch, layer, gradient, saved, &mut sums);
        sums
    });
    tasks.collect::<Vec<_>>().iter().for_each(|sums| total.add(sums));
    total
}
