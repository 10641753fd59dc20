//! The largest probability of reaching a goal within a number of steps.

use super::{
    mdp::{Row, TabularMdp},
    reverse::Predecessors,
};

/// The largest probability with which any policy that knows the time reaches a goal within `steps`
/// actions, from every state.
///
/// ```text
/// p_0(s) = [s is a goal],    p_t(s) = max_a sum_s' P(s'|s,a) p_{t-1}(s')    for s that is no goal
/// ```
///
/// Exact up to rounding: `steps` sweeps over the table, fewer when nothing changes any more.
///
/// # Panics
/// If a goal is no state.
pub fn reach_within(mdp: &TabularMdp, goals: &[usize], steps: usize) -> Vec<f64> {
    let mut probability = vec![0.0; mdp.n_states()];
    for &goal in goals {
        probability[goal] = 1.0;
    }
    let before = Predecessors::new(mdp);
    let mut grown: Vec<usize> = goals.to_vec();
    let mut is_open = vec![false; mdp.n_states()];
    for _ in 0..steps {
        // States whose probability may still grow: predecessors of one whose probability just did, and itself, where
        // it may stay.
        let mut open = Vec::new();
        let may_grow = |state: usize| before.of(state).iter().map(|&from| from as usize).chain([state]);
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
    fn who_has_no_time_gambles() {
        // `0 -> 1 -> 2`; at 0, the other action gambles: a half to be there at once, a half to be lost in 3.
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
