use isochrone_core::rng;
use isochrone_data::Trajectories;
use isochrone_eval::plan::Moves;

/// Recorded moves at random, with replacement; the same for the same seed.
pub fn draw_moves(data: &Trajectories, n: usize, seed: u64) -> Moves {
    let (index, widths) = (data.index(), [data.spec().observation.width, data.spec().action.width]);
    let mut random = rng::stream(seed, 0);
    let mut moves = Moves::default();
    for _ in 0..n {
        let transition = rng::below(&mut random, index.n_transitions() as usize) as u64;
        let (episode, state) = index.episode_of_transition(transition);
        let row = (state - index.states(episode).start) as usize;
        let view = data.episode(episode);
        let [observation, action] = widths;
        moves.states.extend(&view.observations[row * observation..][..observation]);
        moves.next.extend(&view.observations[(row + 1) * observation..][..observation]);
        moves.actions.extend(&view.actions[row * action..][..action]);
    }
    moves
}
