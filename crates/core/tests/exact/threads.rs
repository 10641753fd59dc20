//! Results do not depend on the number of threads.

use crate::{
    monte_carlo::estimate_hitting,
    support::{discount, random_mdp},
};
use isochrone_core::exact::ExactSolver;

fn with_threads<T: Send>(n: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap().install(work)
}

#[test]
fn results_are_bit_identical_for_any_number_of_threads() {
    for actions in [1, 3] {
        let mdp = random_mdp(5, 120, actions, 4);
        let solve = || ExactSolver::new(&mdp, discount(0.98)).all_pairs().unwrap();
        let one = with_threads(1, solve);
        for n in [2, 3, 5] {
            let several = with_threads(n, solve);
            let same = (0..120).all(|goal| {
                one.to_goal(goal).iter().zip(several.to_goal(goal)).all(|(a, b)| a.to_bits() == b.to_bits())
            });
            assert!(same, "{n} threads");
        }
    }
    let chain = random_mdp(6, 20, 1, 3);
    let simulate = || estimate_hitting(&chain, discount(0.9), 0, 7, 5_000, 3);
    assert_eq!(with_threads(1, simulate), with_threads(4, simulate));
}
