//! The program of the README: a distance and a plan from a table of trajectories. Run it in the
//! root of the repository.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    use isochrone::prelude::*;
    let data = Dataset::load("examples/walks.csv", ReadOptions::default().observations(["x", "y"]))?;
    let model = Training::new(Algorithm::Cmd1).preset(Preset::Small).steps(1_000).fit(&data)?;
    let distance = model.distance()?;
    println!("{:.1} steps", distance.steps(&[2.0, 0.6], &[5.0, 5.5])?);
    let transitions = Transitions::sample(&data, 1_000, 0);
    let planner = Planner::new(PlanMethod::Graph { max_edge_steps: 10.0 }, distance, transitions)?;
    let path = planner.plan(&[2.0, 0.6], &[5.0, 5.5])?;
    println!("{} waypoints", path.states.len() / 2);
    Ok(())
}
