//! The bare arithmetic of one step: its matrix products alone, or together with the all-pairs
//! kernels and the traffic of Adam. Lower bounds on the time of any implementation with these
//! parts.

use super::{
    fused::{ACTION, OBSERVATION},
    size::Size,
};
use isochrone_nn::kernel::{
    AdamStep, Matrix, PairForm, Pairs, Tape, all_pairs, all_pairs_backward, multiply_into,
};

#[derive(Clone, Copy)]
enum Transposed {
    Neither,
    Left,
    Right,
}

/// One product with its operands and its output.
struct Product {
    a: Vec<f32>,
    a_columns: usize,
    b: Vec<f32>,
    b_columns: usize,
    out: Vec<f32>,
    transposed: Transposed,
}

/// All products of a step of batch size `n`.
pub struct Products {
    size: Size,
    products: Vec<Product>,
}

impl Products {
    pub fn new(size: Size, n: usize) -> Self {
        let mut products = Self { size, products: Vec::new() };
        let (rows, latent) = (OBSERVATION + ACTION, size.latent());
        products.network(2 * n, rows, latent, Pass::Train); // critic
        products.network(n, OBSERVATION, 1, Pass::Train); // potential
        products.network(n, 2 * OBSERVATION, 2 * ACTION, Pass::Train); // actor
        products.network(n, rows, latent, Pass::InputGradient); // frozen critic at the actor's actions
        products.network(n, rows, latent, Pass::Forward); // frozen critic at the goals
        products
    }

    fn network(&mut self, n: usize, inputs: usize, outputs: usize, pass: Pass) {
        let mut widths = vec![inputs];
        widths.extend(vec![self.size.width; self.size.depth]);
        widths.push(outputs);
        for (layer, w) in widths.windows(2).enumerate() {
            self.product(n, w[0], w[1], Transposed::Neither);
            if pass == Pass::Train {
                self.product(w[0], n, w[1], Transposed::Left);
            }
            if pass == Pass::InputGradient || (pass == Pass::Train && layer > 0) {
                self.product(n, w[1], w[0], Transposed::Right);
            }
        }
    }

    fn product(&mut self, rows: usize, inner: usize, columns: usize, transposed: Transposed) {
        let left = matches!(transposed, Transposed::Left);
        let right = matches!(transposed, Transposed::Right);
        self.products.push(Product {
            a: numbers(rows * inner),
            a_columns: if left { rows } else { inner },
            b: numbers(inner * columns),
            b_columns: if right { inner } else { columns },
            out: vec![0.0; rows * columns],
            transposed,
        });
    }

    /// Computes all products.
    pub fn run(&mut self) {
        for product in &mut self.products {
            let (a, b) =
                (Matrix::new(&product.a, product.a_columns), Matrix::new(&product.b, product.b_columns));
            let (a, b) = match product.transposed {
                Transposed::Neither => (a, b),
                Transposed::Left => (a.transposed(), b),
                Transposed::Right => (a, b.transposed()),
            };
            multiply_into(a, b, &mut product.out, false);
        }
    }

    /// The number of trained parameters, without those of normalizations.
    fn parameters(&self) -> usize {
        let gradients = self.products.iter().filter(|product| matches!(product.transposed, Transposed::Left));
        gradients.map(|product| product.out.len() + product.b_columns).sum()
    }
}

fn numbers(count: usize) -> Vec<f32> {
    (0..count).map(|i| (i % 17) as f32 / 17.0 - 0.5).collect()
}

/// Products, all-pairs kernels in both directions, and the traffic of Adam.
pub struct Arithmetic {
    products: Products,
    form: PairForm,
    /// Latent states and goals.
    latent: [Vec<f32>; 2],
    gradient: Vec<f32>,
    /// Parameters, gradient and moments.
    adam: [Vec<f32>; 4],
}

impl Arithmetic {
    pub fn new(size: Size, n: usize) -> Self {
        let products = Products::new(size, n);
        let half = size.latent() / 2;
        let form = PairForm::MaxL2 { components: 1, max_width: half, l2_width: half };
        let parameters = products.parameters();
        let latent = [0, 5].map(|skip| numbers(n * size.latent() + skip)[skip..].to_vec());
        let adam = [0.5, 0.1, 0.1, 0.1].map(|value| vec![value; parameters]);
        Self { products, form, latent, gradient: numbers(n * n), adam }
    }

    pub fn run(&mut self) {
        self.products.run();
        let [x, y] = &self.latent;
        let pairs = Pairs::new(self.form, x, y, 0.0);
        let mut tape = Tape::default();
        std::hint::black_box(all_pairs(&pairs, Some(&mut tape)));
        std::hint::black_box(all_pairs_backward(&pairs, &self.gradient, Some(&tape)));
        let [parameter, gradient, first, second] = &mut self.adam;
        let step = AdamStep { learning_rate: 3e-4, beta_1: 0.9, beta_2: 0.999, epsilon: 1e-8, time: 9 };
        step.apply(parameter, gradient, first, second);
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Pass {
    Forward,
    InputGradient,
    Train,
}

/// One kernel of a quasimetric: values of all pairs or of paired rows, forward or backward.
pub fn pair_kernel(name: &str, latent: usize, n: usize) -> Box<dyn FnMut()> {
    use isochrone_nn::kernel::{rowwise, rowwise_backward};
    let form = match name.starts_with("iqe") {
        true => PairForm::Interval { groups: latent / 8, group_width: 8 },
        false => PairForm::MaxL2 { components: 1, max_width: latent / 2, l2_width: latent / 2 },
    };
    let mut random = isochrone_core::rng::stream(1, 0);
    let mut draw = |count: usize| -> Vec<f32> {
        (0..count).map(|_| isochrone_core::rng::unit_f64(&mut random) as f32 - 0.5).collect()
    };
    let (x, y, gradient) = (draw(n * latent), draw(n * latent), draw(n * n));
    let is_backward = name.ends_with("backward");
    if name.contains("rows") {
        return Box::new(move || match is_backward {
            true => drop(std::hint::black_box(rowwise_backward(form, &x, &y, 0.5, &gradient[..n]))),
            false => drop(std::hint::black_box(rowwise(form, &x, &y, 0.5))),
        });
    }
    let mut tape = Tape::default();
    all_pairs(&Pairs::new(form, &x, &y, 0.5), Some(&mut tape));
    Box::new(move || {
        let pairs = Pairs::new(form, &x, &y, 0.5);
        match is_backward {
            true => drop(std::hint::black_box(all_pairs_backward(&pairs, &gradient, Some(&tape)))),
            false => drop(std::hint::black_box(all_pairs(&pairs, Some(&mut tape)))),
        }
    })
}
