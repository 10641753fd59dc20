//! Distances between states, as each kind of critic knows them.

use crate::{
    learner::TensorDistance,
    parts::{Embedding, Rows, Values, nats_of_value},
};
use burn::tensor::Tensor;
use isochrone_core::Discount;
use isochrone_nn::module::{Actor, Metric};
use std::ops::Range;

/// Of a quasimetric that is in nats.
pub struct MetricDistance {
    /// Of rows.
    pub metric: Metric,
    /// What it is shown.
    pub rows: Rows,
}

impl TensorDistance for MetricDistance {
    fn paired(&self, from: Tensor<2>, to: Tensor<2>) -> Tensor<1> {
        self.metric.rowwise(self.rows.states(from), self.rows.states(to))
    }

    fn all_pairs(&self, from: Tensor<2>, to: Tensor<2>) -> Tensor<2> {
        self.metric.all_pairs(self.rows.states(from), self.rows.states(to))
    }
}

/// Of a quasimetric between states that is in steps.
pub struct StepMetricDistance {
    /// Of states.
    pub metric: Metric,
    /// What a step is worth.
    pub discount: Discount,
}

impl TensorDistance for StepMetricDistance {
    fn paired(&self, from: Tensor<2>, to: Tensor<2>) -> Tensor<1> {
        self.metric.rowwise(from, to) * self.discount.nats_per_step()
    }

    fn all_pairs(&self, from: Tensor<2>, to: Tensor<2>) -> Tensor<2> {
        self.metric.all_pairs(from, to) * self.discount.nats_per_step()
    }
}

/// Of a contrastive critic: `d(s, g) = f(g, g) - f(s, g)`. Zero from a state to itself, but nothing makes it positive or keeps the triangle inequality.
pub struct ContrastDistance {
    /// Averaged.
    pub members: Vec<Embedding>,
    /// What it is shown.
    pub rows: Rows,
}

impl TensorDistance for ContrastDistance {
    fn paired(&self, from: Tensor<2>, to: Tensor<2>) -> Tensor<1> {
        let sum = self.members.iter().map(|member| {
            let there = member.rowwise(self.rows.states(to.clone()), to.clone());
            there - member.rowwise(self.rows.states(from.clone()), to.clone())
        });
        sum.reduce(|sum, next| sum + next).expect("there is at least one") / self.members.len() as f32
    }

    fn all_pairs(&self, from: Tensor<2>, to: Tensor<2>) -> Tensor<2> {
        let [m, _] = to.dims();
        let sum = self.members.iter().map(|member| {
            let (phi, psi) =
                (member.phi.forward(self.rows.states(from.clone())), member.psi.forward(to.clone()));
            let scale = (phi.dims()[1] as f32).sqrt();
            let there = member.rowwise(self.rows.states(to.clone()), to.clone());
            there.reshape([1, m]) - phi.matmul(psi.transpose()) / scale
        });
        sum.reduce(|sum, next| sum + next).expect("there is at least one") / self.members.len() as f32
    }
}

/// Of a value of states and goals.
pub struct ValueDistance {
    /// `V(s, g)`, or `Q(s, a, g)` if there is an actor that says what is done.
    pub values: Values,
    /// For `Q`: who acts, and what it is told of the goal.
    pub actor: Option<(Actor, Range<usize>)>,
    /// What a step is worth.
    pub discount: Discount,
}

impl TensorDistance for ValueDistance {
    fn paired(&self, from: Tensor<2>, to: Tensor<2>) -> Tensor<1> {
        let parts = match &self.actor {
            None => vec![from, to],
            Some((actor, goal)) => {
                let told = to.clone().narrow(1, goal.start, goal.len());
                let actions = actor.forward(from.clone(), told).mode();
                vec![from, actions, to]
            }
        };
        nats_of_value(self.values.least(parts), self.discount)
    }

    fn all_pairs(&self, from: Tensor<2>, to: Tensor<2>) -> Tensor<2> {
        let ([n, _], [m, _]) = (from.dims(), to.dims());
        let columns = (0..m).map(|column| {
            let goal = to.clone().narrow(0, column, 1).repeat_dim(0, n);
            self.paired(from.clone(), goal).reshape([n, 1])
        });
        Tensor::cat(columns.collect(), 1)
    }
}
