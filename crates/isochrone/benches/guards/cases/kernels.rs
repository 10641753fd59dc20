//! The kernels of networks, quasimetrics and losses.

use super::{Call, Case, noise};
use isochrone::nn::kernel::{
    Activation, AdamStep, Contrast, ForwardCache, Layer, Mlp, Objective, PairForm, Pairs, Tape, all_pairs,
    all_pairs_backward, rowwise, rowwise_backward,
};
use std::hint::black_box;

/// The rows of all pairs on each side, and of a network's batch.
const ROWS: usize = 256;
/// The number of paired rows: enough that kernels, not calls, take most instructions.
const PAIRED_ROWS: usize = 1024;
const LATENT: usize = 64;
const MRN: PairForm = PairForm::MaxL2 { components: 1, max_width: LATENT / 2, l2_width: LATENT / 2 };
const IQE: PairForm = PairForm::Interval { groups: LATENT / 8, group_width: 8 };
/// The weight of the longest interval; other forms ignore it.
const MIX: f32 = 0.5;
/// From observation and action to the latent state, as in the small preset.
const WIDTHS: [usize; 4] = [37, 64, 64, LATENT];

pub fn all() -> Vec<Case> {
    let mut cases = Vec::new();
    for (name, form) in [("mrn", MRN), ("iqe", IQE)] {
        cases.push(Case::new(format!("{name}-pairs-forward"), move || pairs_forward(form)));
        cases.push(Case::new(format!("{name}-pairs-backward"), move || pairs_backward(form)));
        cases.push(Case::new(format!("{name}-rows-forward"), move || rows_forward(form)));
        cases.push(Case::new(format!("{name}-rows-backward"), move || rows_backward(form)));
        cases.push(Case::new(format!("{name}-infonce"), move || infonce(form)));
    }
    cases.push(Case::new("network-forward", network_forward));
    cases.push(Case::new("network-backward", network_backward));
    cases.push(Case::new("adam", adam));
    cases
}

fn latent_rows(rows: usize) -> (Vec<f32>, Vec<f32>) {
    (noise(0, rows * LATENT), noise(1, rows * LATENT))
}

fn pairs_forward(form: PairForm) -> Call {
    let ((x, y), mut tape) = (latent_rows(ROWS), Tape::default());
    Box::new(move || {
        black_box(all_pairs(&Pairs::new(form, &x, &y, MIX), Some(&mut tape)));
    })
}

fn pairs_backward(form: PairForm) -> Call {
    let ((x, y), gradient, mut tape) = (latent_rows(ROWS), noise(2, ROWS * ROWS), Tape::default());
    all_pairs(&Pairs::new(form, &x, &y, MIX), Some(&mut tape));
    Box::new(move || {
        black_box(all_pairs_backward(&Pairs::new(form, &x, &y, MIX), &gradient, Some(&tape)));
    })
}

fn rows_forward(form: PairForm) -> Call {
    let (x, y) = latent_rows(PAIRED_ROWS);
    Box::new(move || {
        black_box(rowwise(form, &x, &y, MIX));
    })
}

fn rows_backward(form: PairForm) -> Call {
    let ((x, y), gradient) = (latent_rows(PAIRED_ROWS), noise(2, PAIRED_ROWS));
    Box::new(move || {
        black_box(rowwise_backward(form, &x, &y, MIX, &gradient));
    })
}

/// Both passes of the symmetric loss over all pairs.
fn infonce(form: PairForm) -> Call {
    let ((x, y), potential, mut cache) = (latent_rows(ROWS), noise(2, ROWS), ForwardCache::default());
    let objective = Objective::InfoNce { forward: true, backward: true, penalty: 0.01 };
    Box::new(move || {
        let pairs = Pairs::new(form, &x, &y, MIX);
        let contrast =
            Contrast { pairs: &pairs, potential: &potential, first_positive: 0, slope: -1.0, objective };
        let (_, sums) = contrast.forward(Some(&mut cache));
        black_box(contrast.backward(&sums, Some(&mut cache), 1.0));
    })
}

/// The parameters of a layer: weight, bias, gain and shift.
struct Parameters([Vec<f32>; 4]);

impl Parameters {
    /// Draws the layers of [`WIDTHS`].
    fn draw() -> Vec<Self> {
        let sizes = WIDTHS.windows(2).zip(10..);
        let layer = |(width, stream): (&[usize], u64)| {
            let [inputs, outputs] = [width[0], width[1]];
            let weight = noise(stream, inputs * outputs);
            Self([weight, vec![0.1; outputs], vec![1.0; outputs], vec![0.0; outputs]])
        };
        sizes.map(layer).collect()
    }

    /// A layer with normalization and activation, as in the small preset.
    fn layer(&self) -> Layer<'_> {
        let [weight, bias, gain, shift] = &self.0;
        Layer { weight, bias, norm: Some([gain, shift]), activation: Activation::Gelu }
    }
}

fn network_forward() -> Call {
    let (x, parameters) = (noise(0, ROWS * WIDTHS[0]), Parameters::draw());
    Box::new(move || {
        let layers: Vec<Layer> = parameters.iter().map(Parameters::layer).collect();
        black_box(Mlp(&layers).forward(&x));
    })
}

/// The gradients with respect to inputs and parameters.
fn network_backward() -> Call {
    let (x, parameters) = (noise(0, ROWS * WIDTHS[0]), Parameters::draw());
    let upstream = noise(1, ROWS * LATENT);
    let layers: Vec<Layer> = parameters.iter().map(Parameters::layer).collect();
    let (_, tape) = Mlp(&layers).forward(&x);
    drop(layers);
    // The backward pass overwrites the gradient of the outputs.
    let mut gradient = upstream.clone();
    Box::new(move || {
        gradient.copy_from_slice(&upstream);
        let layers: Vec<Layer> = parameters.iter().map(Parameters::layer).collect();
        black_box(Mlp(&layers).backward(&x, &tape, &mut gradient, true, true));
    })
}

fn adam() -> Call {
    let numbers = 1 << 16;
    let [mut parameter, gradient, mut first] = [0, 1, 2].map(|stream| noise(stream, numbers));
    let mut second = vec![0.1; numbers];
    let step = AdamStep { learning_rate: 3e-4, beta_1: 0.9, beta_2: 0.999, epsilon: 1e-8, time: 9 };
    Box::new(move || step.apply(&mut parameter, &gradient, &mut first, &mut second))
}
