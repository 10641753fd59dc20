//! Applies given actions in a maze environment, for `tests/python/ogbench_check.py`. Inputs and
//! outputs are double-precision NumPy files in one folder.

use isochrone_envs::maze::{MazeConfig, physics::MazeModel};
use std::{
    fs::File,
    io::{BufReader, BufWriter},
    path::Path,
};

fn read(folder: &Path, name: &str) -> Vec<f64> {
    let file = File::open(folder.join(name)).expect("the file exists");
    npyz::NpyFile::new(BufReader::new(file)).expect("a NumPy file").into_vec().expect("double precision")
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let (name, folder) = (arguments.next().expect("an environment"), arguments.next().expect("a folder"));
    let folder = Path::new(&folder);
    let config = MazeConfig::from_name(&name).unwrap_or_else(|| panic!("{name} is not a maze"));
    let (start, actions, exits) =
        (read(folder, "start.npy"), read(folder, "actions.npy"), read(folder, "exits.npy"));
    let mut environment = MazeModel::new(config).environment();
    let (positions, velocities) = start.split_at(config.body.positions());
    environment.reset_to(positions, velocities);
    let mut states: Vec<f64> = Vec::new();
    for (action, exit) in actions.chunks_exact(config.body.action_width()).zip(exits) {
        let action: Vec<f32> = action.iter().map(|&number| number as f32).collect();
        environment.step_to_exit(&action, (exit >= 0.0).then_some(exit as usize));
        states.extend(environment.simulation.positions());
        states.extend(environment.simulation.velocities());
    }
    use npyz::WriterBuilder as _;
    let mut writer = npyz::WriteOptions::new()
        .default_dtype()
        .shape(&[states.len() as u64])
        .writer(BufWriter::new(File::create(folder.join("states.npy")).expect("the folder is writable")))
        .begin_nd()
        .expect("a NumPy file");
    writer.extend(states).expect("room on the disk");
    writer.finish().expect("room on the disk");
}
