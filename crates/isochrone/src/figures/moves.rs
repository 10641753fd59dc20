use isochrone_core::rng;
use isochrone_data::Trajectories;
use isochrone_eval::plan::Moves;

/// Recorded moves at random, with replacement, the same for the same seed; all of them if as many or more are asked for.
pub fn draw_moves(data: &Trajectories, n: usize, seed: u64) -> Moves {
    let (index, widths) = (data.index(), [data.spec().observation.width, data.spec().action.width]);
    let mut random = rng::stream(seed, 0);
    let mut moves = Moves::default();
    let there_are = index.n_transitions();
    let has_all = n as u64 >= there_are;
    for number in 0..there_are.min(n as u64) {
        let transition = if has_all { number } else { rng::below(&mut random, there_are as usize) as u64 };
        let (episode, row) = index.row_of_transition(transition);
        let view = data.episode(episode);
        let [observation, action] = widths;
        moves.states.extend(&view.observations[row * observation..][..observation]);
        moves.next.extend(&view.observations[(row + 1) * observation..][..observation]);
        moves.actions.extend(&view.actions[row * action..][..action]);
    }
    moves
}
