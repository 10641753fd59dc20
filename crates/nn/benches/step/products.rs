//! Only the matrix products of one step: a lower bound on the time of any implementation with this
//! matrix library.

use super::fused::{ACTION, OBSERVATION};
use isochrone_nn::kernel::{Matrix, multiply_into};

const WIDTH: usize = 512;

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
pub struct Products(Vec<Product>);

impl Products {
    pub fn new(n: usize) -> Self {
        let mut products = Self(Vec::new());
        products.network(2 * n, OBSERVATION + ACTION, WIDTH, Pass::Train); // critic
        products.network(n, OBSERVATION, 1, Pass::Train); // potential
        products.network(n, 2 * OBSERVATION, 2 * ACTION, Pass::Train); // actor
        products.network(n, OBSERVATION + ACTION, WIDTH, Pass::InputGradient); // frozen critic at the actor's actions
        products.network(n, OBSERVATION + ACTION, WIDTH, Pass::Forward); // frozen critic at the goals
        products
    }

    fn network(&mut self, n: usize, inputs: usize, outputs: usize, pass: Pass) {
        let widths = [inputs, WIDTH, WIDTH, WIDTH, WIDTH, outputs];
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
        let numbers = |count: usize| (0..count).map(|i| (i % 17) as f32 / 17.0 - 0.5).collect::<Vec<_>>();
        let left = matches!(transposed, Transposed::Left);
        let right = matches!(transposed, Transposed::Right);
        self.0.push(Product {
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
        for product in &mut self.0 {
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
}

#[derive(Clone, Copy, PartialEq)]
enum Pass {
    Forward,
    InputGradient,
    Train,
}
