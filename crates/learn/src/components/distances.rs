//! Distances between states that are derived from critics.

use super::{CriticInput, Embedding, Values, latent_metric::HeadMetric, nats_of_value, onnx_nats_of_value};
use crate::{
    export::{Graph, Value},
    learner::TensorDistance,
};
use burn::tensor::Tensor;
use isochrone_core::{Discount, LatentMetric};
use isochrone_nn::{
    module::{Actor, Metric},
    op,
};
use std::{ops::Range, sync::Arc};

/// The distance of a quasimetric that is in nats.
pub struct MetricDistance {
    /// The quasimetric between critic inputs.
    pub metric: Metric,
    /// The layout of critic inputs.
    pub input: CriticInput,
}

impl TensorDistance for MetricDistance {
    fn paired(&self, from: Tensor<2>, to: Tensor<2>) -> Tensor<1> {
        self.metric.rowwise(self.input.states(from), self.input.states(to))
    }

    fn all_pairs(&self, from: Tensor<2>, to: Tensor<2>) -> Tensor<2> {
        self.metric.all_pairs(self.input.states(from), self.input.states(to))
    }

    fn embed(&self, rows: Tensor<2>) -> Option<Tensor<2>> {
        self.metric.is_quasimetric().then(|| latent(&self.metric, &self.input.states(rows)))
    }

    fn latent_metric(&self) -> Option<Arc<dyn LatentMetric>> {
        self.metric.is_quasimetric().then(|| Arc::new(HeadMetric::new(&self.metric, 1.0)) as _)
    }

    fn onnx(&self, graph: &mut Graph, from: &Value, to: &Value) -> Option<Value> {
        let (from, to) = (self.input.onnx_states(graph, from), self.input.onnx_states(graph, to));
        Some(graph.metric(&self.metric, &from, &to))
    }

    fn onnx_embedding(&self, graph: &mut Graph, rows: &Value) -> Option<(Value, usize)> {
        let rows = self.metric.is_quasimetric().then(|| self.input.onnx_states(graph, rows))?;
        Some(graph.embedding(&self.metric, &rows))
    }
}

/// The distance of a quasimetric that is in steps.
pub struct StepMetricDistance {
    /// The quasimetric between states.
    pub metric: Metric,
    /// The discount per step.
    pub discount: Discount,
}

impl TensorDistance for StepMetricDistance {
    fn paired(&self, from: Tensor<2>, to: Tensor<2>) -> Tensor<1> {
        self.metric.rowwise(from, to) * self.discount.nats_per_step()
    }

    fn all_pairs(&self, from: Tensor<2>, to: Tensor<2>) -> Tensor<2> {
        self.metric.all_pairs(from, to) * self.discount.nats_per_step()
    }

    fn embed(&self, rows: Tensor<2>) -> Option<Tensor<2>> {
        self.metric.is_quasimetric().then(|| latent(&self.metric, &rows))
    }

    fn latent_metric(&self) -> Option<Arc<dyn LatentMetric>> {
        let scale = self.discount.nats_per_step() as f32;
        self.metric.is_quasimetric().then(|| Arc::new(HeadMetric::new(&self.metric, scale)) as _)
    }

    fn onnx(&self, graph: &mut Graph, from: &Value, to: &Value) -> Option<Value> {
        let steps = graph.metric(&self.metric, from, to);
        let unit = graph.number(self.discount.nats_per_step());
        Some(graph.op("Mul", &[&steps, &unit]))
    }

    fn onnx_embedding(&self, graph: &mut Graph, rows: &Value) -> Option<(Value, usize)> {
        self.metric.is_quasimetric().then(|| graph.embedding(&self.metric, rows))
    }
}

/// Returns the latent rows of all members of a metric side by side, `[n, members * latent]`. The
/// distance is the maximum over members of the head on their part of the columns.
fn latent(metric: &Metric, rows: &Tensor<2>) -> Tensor<2> {
    Tensor::cat(metric.members().iter().map(|member| member.encoder.forward(rows.clone())).collect(), 1)
}

/// The distance of a contrastive critic: `d(s, g) = f(g, g) - f(s, g)`.
///
/// It is zero from a state to itself, but may be negative and may violate the triangle inequality.
pub struct ContrastiveDistance {
    /// The pairs of encoders, whose distances are averaged.
    pub members: Vec<Embedding>,
    /// The layout of critic inputs.
    pub input: CriticInput,
}

impl TensorDistance for ContrastiveDistance {
    fn paired(&self, from: Tensor<2>, to: Tensor<2>) -> Tensor<1> {
        let sum = self.members.iter().map(|member| {
            let at_goal = member.rowwise(self.input.states(to.clone()), to.clone());
            at_goal - member.rowwise(self.input.states(from.clone()), to.clone())
        });
        sum.reduce(|sum, next| sum + next).expect("there is at least one") / self.members.len() as f32
    }

    fn all_pairs(&self, from: Tensor<2>, to: Tensor<2>) -> Tensor<2> {
        let [m, _] = to.dims();
        let sum = self.members.iter().map(|member| {
            let (phi, psi) =
                (member.phi.forward(self.input.states(from.clone())), member.psi.forward(to.clone()));
            let scale = (phi.dims()[1] as f32).sqrt();
            let at_goal = member.rowwise(self.input.states(to.clone()), to.clone());
            at_goal.reshape([1, m]) - op::inner_products(phi, psi) / scale
        });
        sum.reduce(|sum, next| sum + next).expect("there is at least one") / self.members.len() as f32
    }

    fn onnx(&self, graph: &mut Graph, from: &Value, to: &Value) -> Option<Value> {
        let (from, at_goal) = (self.input.onnx_states(graph, from), self.input.onnx_states(graph, to));
        let distances: Vec<Value> = (self.members.iter())
            .map(|member| {
                let psi = graph.encoder(&member.psi, to);
                let (at_goal, at_state) =
                    (member.onnx(graph, &at_goal, &psi), member.onnx(graph, &from, &psi));
                graph.op("Sub", &[&at_goal, &at_state])
            })
            .collect();
        Some(graph.combined("Mean", &distances))
    }
}

/// The distance of a goal-conditioned value function.
pub struct ValueDistance {
    /// `V(s, g)`, or `Q(s, a, g)` with the action of `actor`.
    pub values: Values,
    /// For `Q`, the policy and the dimensions of a state that are its goal input.
    pub actor: Option<(Actor, Range<usize>)>,
    /// The discount per step.
    pub discount: Discount,
}

impl TensorDistance for ValueDistance {
    fn paired(&self, from: Tensor<2>, to: Tensor<2>) -> Tensor<1> {
        let parts = match &self.actor {
            None => vec![from, to],
            Some((actor, goal)) => {
                let goals = to.clone().narrow(1, goal.start, goal.len());
                let actions = actor.forward(from.clone(), goals).mode();
                vec![from, actions, to]
            }
        };
        nats_of_value(self.values.min(parts), self.discount)
    }

    fn all_pairs(&self, from: Tensor<2>, to: Tensor<2>) -> Tensor<2> {
        let ([n, _], [m, _]) = (from.dims(), to.dims());
        let columns = (0..m).map(|column| {
            let goal = to.clone().narrow(0, column, 1).repeat_dim(0, n);
            self.paired(from.clone(), goal).reshape([n, 1])
        });
        Tensor::cat(columns.collect(), 1)
    }

    fn onnx(&self, graph: &mut Graph, from: &Value, to: &Value) -> Option<Value> {
        let values = match &self.actor {
            None => self.values.onnx_min(graph, &[from, to]),
            Some((actor, goal)) => {
                let goals = graph.slice(to, 1, goal.clone());
                let actions = graph.policy_mode(actor, from, &goals);
                self.values.onnx_min(graph, &[from, &actions, to])
            }
        };
        Some(onnx_nats_of_value(graph, &values, self.discount))
    }
}
