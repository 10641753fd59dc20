//! Planning over dataset transitions with an exact distance, so that no training is needed.

use isochrone::prelude::*;

/// The distance along a one-way ring of 12 cells. A state is the number of a cell.
struct Ring;

impl TemporalDistance for Ring {
    fn width(&self) -> usize {
        1
    }

    fn discount(&self) -> Discount {
        Discount::new(0.9).expect("between 0 and 1")
    }

    fn paired_nats(&self, from: &[f32], to: &[f32]) -> Vec<f32> {
        let nats_per_step = self.discount().nats_per_step() as f32;
        from.iter().zip(to).map(|(from, to)| (to - from).rem_euclid(12.0) * nats_per_step).collect()
    }

    fn all_pairs_nats(&self, from: &[f32], to: &[f32]) -> Vec<f32> {
        from.iter().flat_map(|&from| self.paired_nats(&vec![from; to.len()], to)).collect()
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Four laps, one cell per step.
    let laps: Vec<f32> = (0..=48).map(|step| (step % 12) as f32).collect();
    let data = Dataset::from_arrays(1, 1, [(laps, vec![1.0; 48])])?;

    // The planner owns the distance. The distance of a trained model, `model.distance()?`, works as
    // well.
    let transitions = Transitions::sample(&data, 1000, 0);
    let planner = Planner::new(PlanMethod::Graph { max_edge_steps: 4.0 }, Ring, transitions)?;
    let path = planner.plan(&[9.0], &[7.0])?;
    println!("from 9 to 7 via {:?}: {:.1} steps", path.states, path.steps());
    assert!((path.steps() - 10.0).abs() < 1e-3, "around the ring, not backwards");
    Ok(())
}
