//! Trains on arrays in memory, then queries the distance and the policy.

use isochrone::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // 30 episodes along lines in the plane, each with 51 states and 50 actions of width 2.
    let slopes = (0..30).map(|number| number as f32 / 15.0 - 1.0);
    let walk = |slope: f32| (0..=50).flat_map(|step| [step as f32, slope * step as f32]).collect::<Vec<_>>();
    let data = Dataset::from_arrays(2, 2, slopes.map(|slope| (walk(slope), [1.0, slope].repeat(50))))?;

    let training = Training::new(Algorithm::Cmd1).preset(Preset::Small).steps(200).set("critic.width", 32);
    let model = training.discount(0.9).fit(&data)?;

    let distance = model.distance()?;
    println!("ahead:  {:.1} steps", distance.steps(&[10.0, 0.0], &[20.0, 0.0])?);
    println!("behind: {:.1} steps", distance.steps(&[20.0, 0.0], &[10.0, 0.0])?);
    println!("action: {:?}", model.policy()?.action(&[10.0, 0.0], &[20.0, 5.0])?);
    Ok(())
}
