//! Exact distances in a gridworld with slip, with a certified error bound.

use isochrone::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let grid = GridWorld::parse(
        "S..#....\n\
         .#...##.\n\
         .#.#...G\n\
         ...#.#..",
    )?;
    // One move in five slips sideways.
    let mdp = grid.to_mdp(0.2)?;
    let solver = ExactSolver::new(&mdp, Discount::new(0.99)?);

    let (start, goal) = (grid.state(0, 0).ok_or("a wall")?, grid.state(2, 7).ok_or("a wall")?);
    let to_goal = solver.to_goal(goal)?;
    println!(
        "{:.2} steps from start to goal, first action {:?}",
        to_goal.steps(start),
        to_goal.action(start)
    );
    println!("{:.2} steps back", solver.to_goal(start)?.steps(goal));
    println!("relative error below {:.1e}", to_goal.certificate().relative_error());
    assert!(to_goal.steps(start) > 9.0 && to_goal.certificate().relative_error() < 1e-9);
    Ok(())
}
