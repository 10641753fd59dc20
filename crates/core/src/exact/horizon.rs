//! The maximum probability of reaching a goal within a number of steps.

use super::{
    mdp::{Row, TabularMdp},
    reverse::Predecessors,
};

/// Returns, for every state, the maximum probability over time-dependent policies of reaching a
/// goal within `steps` actions.
///
/// ```text
/// p_0(s) = [s is a goal],    p_t(s) = max_a sum_s' P(s'|s,a) p_{t-1}(s')    for s not a goal
/// ```
///
/// Exact up to rounding. Takes `steps` sweeps over the table, or fewer if the values converge
/// earlier.
///
/// # Panics
/// If a goal is not a state.
pub fn reach_within(mdp: &TabularMdp, goals: &[usize], steps: usize) -> Vec<f64> {
    let mut probability = vec![0.0; mdp.n_states()];
    for &goal in goals {
        probability[goal] = 1.0;
    }
    let predecessors = Predecessors::new(mdp);
    let mut grown: Vec<usize> = goals.to_vec();
    let mut is_open = vec![false; mdp.n_states()];
    for _ in 0..steps {
        // Only predecessors of states whose probability just increased can increase next, and those
        // states themselves, if they have self-loops.
        let mut open = Vec::new();
        let may_grow = |state: usize| predecessors.of(state).iter().map(|&from| from as usize).chain([state]);
        for state in grown.drain(..).flat_map(may_grow) {
            if !is_open[state] && probability[state] < 1.0 {
                is_open[state] = true;
                open.push(state);
            }
        }
        let updated: Vec<(usize, f64)> = open
            .into_iter()
            .map(|state| {
                is_open[state] = false;
                let expected = |row: Row<'_>| row.iter().map(|(next, p)| p * probability[next]).sum::<f64>();
                (state, mdp.rows(state).map(expected).fold(0.0, f64::max))
            })
            .filter(|&(state, value)| value > probability[state])
            .collect();
        if updated.is_empty() {
            break;
        }
        for (state, value) in updated {
            probability[state] = value;
            grown.push(state);
        }
    }
    probability
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact::MdpBuilder;

    #[test]
    fn a_risky_action_is_optimal_when_the_safe_path_takes_too_long() {
        // `0 -> 1 -> 2`; the second action of 0 leads to 2 or to the dead end 3, with probability
        // 1/2 each.
        let mut builder = MdpBuilder::new(4);
        builder.transition(0, 0, 1, 1.0).transition(0, 1, 2, 0.5).transition(0, 1, 3, 0.5);
        builder.transition(1, 0, 2, 1.0).transition(2, 0, 2, 1.0).transition(3, 0, 3, 1.0);
        let mdp = builder.build().unwrap();
        assert_eq!(reach_within(&mdp, &[2], 0), [0.0, 0.0, 1.0, 0.0]);
        assert_eq!(reach_within(&mdp, &[2], 1), [0.5, 1.0, 1.0, 0.0]);
        assert_eq!(reach_within(&mdp, &[2], 2), [1.0, 1.0, 1.0, 0.0]);
        assert_eq!(reach_within(&mdp, &[2], 1000), [1.0, 1.0, 1.0, 0.0]);
    }
}
