//! Fused operations against plain tensor operations on the CPU and, with the feature `wgpu`, on a
//! graphics processor.

use crate::numbers::{deviation, matrix, numbers};
use burn::tensor::{Device, Gradients, Tensor};
use isochrone_nn::{
    kernel::{Activation, Objective, PairForm},
    op::{self, ContrastSpec, chunked, chunked_contrast},
};

const FORMS: [PairForm; 6] = [
    PairForm::MaxL2 { components: 1, max_width: 16, l2_width: 16 },
    PairForm::MaxL2 { components: 4, max_width: 5, l2_width: 3 },
    PairForm::MaxL2 { components: 1, max_width: 21, l2_width: 0 },
    PairForm::MaxL2 { components: 1, max_width: 0, l2_width: 12 },
    PairForm::Interval { groups: 4, group_width: 8 },
    PairForm::InnerProduct { width: 10 },
];

const OBJECTIVES: [Objective; 5] = [
    Objective::InfoNce { forward: true, backward: true, penalty: 0.0 },
    Objective::InfoNce { forward: true, backward: true, penalty: 0.1 },
    Objective::InfoNce { forward: true, backward: false, penalty: 0.01 },
    Objective::InfoNce { forward: false, backward: true, penalty: 0.0 },
    Objective::BinaryNce,
];

/// A value and its gradients.
struct Outcome {
    value: Vec<f32>,
    gradients: Vec<Vec<f32>>,
}

impl Outcome {
    fn assert_equals(&self, expected: &Self, what: &str) {
        let forward = deviation(&self.value, &expected.value);
        assert!(forward < 1e-5, "{what}: forward off by {forward}");
        assert_eq!(self.gradients.len(), expected.gradients.len(), "{what}");
        for (index, (got, expected)) in self.gradients.iter().zip(&expected.gradients).enumerate() {
            let backward = deviation(got, expected);
            assert!(backward < 1e-4, "{what}: gradient {index} off by {backward}");
        }
    }
}

/// Returns leaves `x`, `y`, `mix`. Rows 1 and 2 of `x` coincide, as do rows 0 of `x` and `y`; the
/// features of row 3 of `x` are tied.
fn leaves(form: PairForm, n: usize, m: usize, device: &Device) -> (Tensor<2>, Tensor<2>, Tensor<1>) {
    let width = form.width();
    let x = matrix(1, [n, width], device);
    let x = x.clone().slice_assign([1..2, 0..width], x.slice([2..3, 0..width]));
    let x = x.slice_assign([3..4, 0..width], Tensor::ones([1, width], device) * 0.5);
    let y = matrix(2, [m, width], device).slice_assign([0..1, 0..width], x.clone().slice([0..1, 0..width]));
    let mix = Tensor::<1>::from_data([0.4f32], device);
    (x.detach().require_grad(), y.detach().require_grad(), mix.require_grad())
}

/// Returns the gradient of the mix, which is zero except for interval forms.
fn of_mix(form: PairForm, mix: Tensor<1>, gradients: &Gradients) -> Vec<f32> {
    let found = mix.grad(gradients).map(numbers).filter(|_| matches!(form, PairForm::Interval { .. }));
    found.unwrap_or_else(|| vec![0.0])
}

type PairOperation = fn(PairForm, Tensor<2>, Tensor<2>, Tensor<1>) -> Tensor<2>;

fn pairs(operation: PairOperation, form: PairForm, n: usize, m: usize, device: &Device) -> Outcome {
    let (x, y, mix) = leaves(form, n, m, device);
    let value = operation(form, x.clone(), y.clone(), mix.clone());
    let gradients = (value.clone() * matrix(3, [n, m], device)).sum().backward();
    let found = vec![
        numbers(x.grad(&gradients).unwrap()),
        numbers(y.grad(&gradients).unwrap()),
        of_mix(form, mix, &gradients),
    ];
    Outcome { value: numbers(value), gradients: found }
}

fn rows(
    operation: fn(PairForm, Tensor<2>, Tensor<2>, Tensor<1>) -> Tensor<1>,
    form: PairForm,
    n: usize,
    device: &Device,
) -> Outcome {
    let (x, y, mix) = leaves(form, n, n, device);
    let value = operation(form, x.clone(), y.clone(), mix);
    let gradients = (value.clone() * matrix(3, [n, 1], device).reshape([n])).sum().backward();
    Outcome {
        value: numbers(value),
        gradients: vec![numbers(x.grad(&gradients).unwrap()), numbers(y.grad(&gradients).unwrap())],
    }
}

type ContrastOperation = fn(ContrastSpec, Tensor<2>, Tensor<2>, Tensor<1>, Tensor<1>) -> Tensor<1>;

fn contrast(
    operation: ContrastOperation,
    form: PairForm,
    objective: Objective,
    n: usize,
    device: &Device,
) -> Outcome {
    let (x, y, mix) = leaves(form, n, n, device);
    let potential = matrix(4, [n, 1], device).reshape([n]).detach().require_grad();
    let spec = ContrastSpec { form, slope: form.logit_sign() * 2.0, objective };
    let statistics = operation(spec, x.clone(), y.clone(), potential.clone(), mix.clone());
    let gradients = statistics.clone().narrow(0, 0, 1).backward();
    let found = [x.grad(&gradients), y.grad(&gradients)].map(|gradient| numbers(gradient.unwrap())).to_vec();
    let of_potential = numbers(potential.grad(&gradients).unwrap());
    Outcome {
        value: numbers(statistics),
        gradients: [found, vec![of_potential, of_mix(form, mix, &gradients)]].concat(),
    }
}

#[test]
fn fused_pairs_equal_broadcast_pairs() {
    let device = Device::flex().autodiff();
    for form in FORMS {
        for (n, m) in [(5, 5), (37, 70), (129, 64)] {
            let what = format!("{form:?} {n}x{m}");
            let expected = pairs(chunked::differentiable, form, n, m, &device);
            pairs(op::all_pairs, form, n, m, &device).assert_equals(&expected, &what);
            rows(op::rowwise, form, n, &device)
                .assert_equals(&rows(chunked::rowwise, form, n, &device), &what);
        }
    }
}

#[test]
fn fused_contrast_equals_contrast_of_the_full_matrix() {
    let device = Device::flex().autodiff();
    for form in FORMS {
        for objective in OBJECTIVES {
            let expected = contrast(chunked_contrast::differentiable, form, objective, 67, &device);
            contrast(op::contrast, form, objective, 67, &device)
                .assert_equals(&expected, &format!("{form:?} {objective:?}"));
        }
    }
}

/// Compares the explicit gradients for other backends, over several chunks, with the kernels.
#[test]
fn chunks_equal_the_kernels() {
    let (n, m) = (300, 400);
    let tracked = Device::flex().autodiff();
    let plain = Device::flex();
    let shapes = [
        PairForm::MaxL2 { components: 4, max_width: 40, l2_width: 20 },
        PairForm::Interval { groups: 20, group_width: 8 },
        PairForm::InnerProduct { width: 160 },
    ];
    for form in shapes {
        assert!(n * m * form.width() > chunked::CHUNK_ELEMENTS, "more than one chunk");
        let expected = pairs(op::all_pairs, form, n, m, &tracked);
        let (x, y, mix) = leaves(form, n, m, &tracked);
        let (x, y, mix) = (x.inner(), y.inner(), mix.inner());
        let value = numbers(chunked::forward(form, x.clone(), y.clone(), mix.clone()));
        let (dx, dy, dmix) = chunked::backward(form, matrix(3, [n, m], &plain), x, y, mix);
        Outcome { value, gradients: vec![numbers(dx), numbers(dy), numbers(dmix)] }
            .assert_equals(&expected, &format!("{form:?}"));
    }
}

#[test]
fn contrast_in_chunks_equals_the_kernels() {
    let n = 1100; // more than one block of rows
    let form = PairForm::MaxL2 { components: 2, max_width: 2, l2_width: 2 };
    let tracked = Device::flex().autodiff();
    for objective in OBJECTIVES {
        let expected = contrast(op::contrast, form, objective, n, &tracked);
        let (x, y, mix) = leaves(form, n, n, &tracked);
        let (x, y, mix) = (x.inner(), y.inner(), mix.inner());
        let potential = matrix(4, [n, 1], &Device::flex()).reshape([n]);
        let spec = ContrastSpec { form, slope: -2.0, objective };
        let (statistics, row_sums, column_sums) =
            chunked_contrast::forward(spec, x.clone(), y.clone(), potential.clone(), mix.clone());
        let upstream = Tensor::<1>::from_data([1.0f32, 0.0, 0.0, 0.0, 0.0, 0.0], &Device::flex());
        let (dx, dy, dpotential, dmix) =
            chunked_contrast::backward(spec, upstream, x, y, potential, mix, row_sums, column_sums);
        Outcome {
            value: numbers(statistics),
            gradients: vec![numbers(dx), numbers(dy), numbers(dpotential), numbers(dmix)],
        }
        .assert_equals(&expected, &format!("{objective:?}"));
    }
}

/// Returns the outputs of a network with two hidden layers, the second one normalized, and the
/// gradients of input and parameters. Its widths are `inputs`, `hidden`, `hidden`, 7.
fn network(activation: Activation, [n, inputs, hidden]: [usize; 3], fused: bool, device: &Device) -> Outcome {
    let mut stream = 0;
    let mut leaf = |shape: [usize; 2]| {
        stream += 1;
        let scale = (shape[0] as f32).sqrt().recip();
        (matrix(stream, shape, device) * scale).detach().require_grad()
    };
    let x = leaf([n, inputs]);
    let weights = [(inputs, hidden), (hidden, hidden), (hidden, 7)].map(|(from, to)| leaf([from, to]));
    let vectors: Vec<Tensor<1>> = [hidden, hidden, hidden, hidden, 7]
        .map(|width| (leaf([width, 1]).reshape([width]) + 0.5).detach().require_grad())
        .to_vec();
    let [b1, b2, gain, shift, b3] = [0, 1, 2, 3, 4].map(|at| vectors[at].clone());
    let layer = |at: usize, bias: Tensor<1>, norm: Option<[Tensor<1>; 2]>, activation| op::Layer {
        weight: weights[at].clone(),
        bias,
        norm,
        activation,
    };
    let layers = vec![
        layer(0, b1, None, activation),
        layer(1, b2, Some([gain, shift]), activation),
        layer(2, b3, None, Activation::Identity),
    ];
    let value = if fused {
        op::mlp(x.clone(), layers)
    } else {
        layers.into_iter().fold(x.clone(), |x, layer| {
            let mut z = x.matmul(layer.weight) + layer.bias.unsqueeze();
            if let Some([gain, shift]) = layer.norm {
                let centered = z.clone() - z.mean_dim(1);
                let normal = centered.clone() / (centered.square().mean_dim(1) + 1e-5).sqrt();
                z = normal * gain.unsqueeze() + shift.unsqueeze();
            }
            activate(z, layer.activation)
        })
    };
    let gradients = (value.clone() * matrix(100, [n, 7], device)).sum().backward();
    let matrices = [&x].into_iter().chain(&weights).map(|leaf| numbers(leaf.grad(&gradients).unwrap()));
    let vectors = vectors.iter().map(|leaf| numbers(leaf.grad(&gradients).unwrap()));
    Outcome { value: numbers(value), gradients: matrices.chain(vectors).collect() }
}

/// A network that is computed by blocks of rows, with several blocks, and one that is computed
/// layer by layer.
const NETWORKS: [[usize; 3]; 3] = [[1, 3, 5], [150, 19, 33], [70, 40, 260]];

fn activate(z: Tensor<2>, activation: Activation) -> Tensor<2> {
    use burn::tensor::activation::{relu, silu};
    match activation {
        Activation::Identity => z,
        Activation::Relu => relu(z),
        Activation::Silu => silu(z),
        Activation::Gelu => {
            let inner =
                (z.clone() + z.clone().powi_scalar(3) * 0.044715) * (2.0 / std::f32::consts::PI).sqrt();
            z * (inner.tanh() + 1.0) * 0.5
        }
    }
}

#[test]
fn fused_layers_equal_plain_layers() {
    let device = Device::flex().autodiff();
    for activation in [Activation::Identity, Activation::Relu, Activation::Gelu, Activation::Silu] {
        for sizes in NETWORKS {
            let expected = network(activation, sizes, false, &device);
            let what = format!("{activation:?} {sizes:?}");
            network(activation, sizes, true, &device).assert_equals(&expected, &what);
        }
    }
}

/// Gradients of branches are views into the gradient of the concatenation; each branch must read
/// only its own rows.
#[test]
fn branches_of_a_concatenation_get_their_own_gradients() {
    let device = Device::flex().autodiff();
    let run = |separate: bool| {
        let leaf = |stream, shape| matrix(stream, shape, &device).require_grad();
        let (x, w) = (leaf(1, [80, 9]), leaf(2, [9, 12]));
        let vector = |stream| matrix(stream, [12, 1], &device).reshape([12]).detach().require_grad();
        let (b, gain, shift) = (vector(3), vector(4), vector(5));
        let layer = |x: Tensor<2>| {
            let norm = Some([gain.clone(), shift.clone()]);
            let layer = op::Layer { weight: w.clone(), bias: b.clone(), norm, activation: Activation::Gelu };
            op::mlp(x, vec![layer])
        };
        let value = if separate {
            let parts = [(0, 30), (30, 50)].map(|(start, count)| layer(x.clone().narrow(0, start, count)));
            Tensor::cat(parts.to_vec(), 0)
        } else {
            layer(x.clone())
        };
        let gradients = (value.clone() * matrix(6, [80, 12], &device)).sum().backward();
        let found = [x.grad(&gradients), w.grad(&gradients)].map(|gradient| numbers(gradient.unwrap()));
        let vectors = [&b, &gain, &shift].map(|leaf| numbers(leaf.grad(&gradients).unwrap()));
        Outcome { value: numbers(value), gradients: [found.to_vec(), vectors.to_vec()].concat() }
    };
    run(true).assert_equals(&run(false), "two branches");
}

#[test]
#[should_panic(expected = "x and y must have the same shape")]
fn rowwise_rejects_different_numbers_of_rows() {
    let device = Device::flex();
    let form = PairForm::InnerProduct { width: 4 };
    op::rowwise(form, matrix(1, [3, 4], &device), matrix(2, [1, 4], &device), Tensor::zeros([1], &device));
}

/// Run by `just test-gpu`.
#[cfg(feature = "wgpu")]
#[test]
fn a_graphics_processor_computes_the_same_results_as_the_cpu() {
    use burn::tensor::DeviceKind;
    let (cpu, gpu) = (Device::flex().autodiff(), Device::wgpu(DeviceKind::DefaultDevice).autodiff());
    for form in FORMS {
        let what = format!("{form:?} on wgpu");
        let (n, m) = (37, 70);
        pairs(op::all_pairs, form, n, m, &gpu).assert_equals(&pairs(op::all_pairs, form, n, m, &cpu), &what);
        rows(op::rowwise, form, n, &gpu).assert_equals(&rows(op::rowwise, form, n, &cpu), &what);
        for objective in OBJECTIVES {
            let expected = contrast(op::contrast, form, objective, n, &cpu);
            contrast(op::contrast, form, objective, n, &gpu).assert_equals(&expected, &what);
        }
    }
    for activation in [Activation::Relu, Activation::Gelu] {
        let expected = network(activation, NETWORKS[1], true, &cpu);
        network(activation, NETWORKS[1], true, &gpu)
            .assert_equals(&expected, &format!("{activation:?} on wgpu"));
    }
}
