//! MuJoCo models (MJCF), generated from a map.

use super::layout::{Layout, MazeCell};
use std::fmt::Write as _;

/// Half the height of a wall, in meters.
const HALF_HEIGHT: f64 = 1.0;

/// The direction in which the ankle of each leg bends: the legs are mirrored, not rotated.
pub const ANKLE_SIGNS: [f64; 4] = [1.0, -1.0, -1.0, 1.0];

/// The directions of the four legs, counterclockwise.
pub(super) const LEGS: [(f64, f64); 4] = [(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)];

/// The legs in the order of their motors, hip before ankle. This is the benchmark's order, which
/// its datasets use.
pub const MOTORS: [usize; 4] = [3, 0, 1, 2];

/// The ankle axes, perpendicular to the legs. Opposite legs have the same axis, so their angles
/// have opposite signs.
pub(super) const ANKLE_AXES: [[f64; 3]; 4] =
    [[-1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0], [1.0, 1.0, 0.0]];

/// Returns the model of a ball with two slide joints.
pub fn point_model(layout: &Layout) -> String {
    let body = r#"    <body name="torso">
      <joint name="x" type="slide" axis="1 0 0"/>
      <joint name="y" type="slide" axis="0 1 0"/>
      <geom name="ball" type="sphere" size="0.7" pos="0 0 0.7"/>
    </body>
"#;
    let defaults = r#"    <joint limited="false" armature="0" damping="0"/>
    <geom condim="3" conaffinity="0" margin="0" friction="1 0.5 0.5" density="100"/>
"#;
    model("point", defaults, body, "", layout)
}

/// Returns the model of a torso with four legs of two joints each, and eight motors.
///
/// The contact margin is half that of the benchmarks: since MuJoCo 3.5 the margins of two geoms are
/// added, whereas earlier versions, for which the benchmarks were defined, used the larger one.
pub fn ant_model(layout: &Layout) -> String {
    let mut body = String::from(
        r#"    <body name="torso" pos="0 0 0.75">
      <joint name="root" type="free" limited="false" armature="0" damping="0"/>
      <geom name="torso" type="sphere" size="0.25"/>
"#,
    );
    for (leg, (x, y)) in LEGS.into_iter().enumerate() {
        let (number, sign) = (leg + 1, ANKLE_SIGNS[leg]);
        let (upper, lower) = (format!("{} {} 0", 0.2 * x, 0.2 * y), format!("{} {} 0", 0.4 * x, 0.4 * y));
        let axis = ANKLE_AXES[leg].map(|part| part.to_string()).join(" ");
        let range = if sign > 0.0 { "30 70" } else { "-70 -30" };
        write!(
            body,
            r#"      <body name="leg_{number}">
        <geom name="shoulder_{number}" type="capsule" size="0.08" fromto="0 0 0 {upper}"/>
        <body name="thigh_{number}" pos="{upper}">
          <joint name="hip_{number}" type="hinge" axis="0 0 1" range="-30 30"/>
          <geom name="thigh_{number}" type="capsule" size="0.08" fromto="0 0 0 {upper}"/>
          <body name="shin_{number}" pos="{upper}">
            <joint name="ankle_{number}" type="hinge" axis="{axis}" range="{range}"/>
            <geom name="shin_{number}" type="capsule" size="0.08" fromto="0 0 0 {lower}"/>
          </body>
        </body>
      </body>
"#
        )
        .expect("a string accepts every write");
    }
    body.push_str("    </body>\n");
    let mut motors = String::from("  <actuator>\n");
    for leg in MOTORS.map(|leg| leg + 1) {
        for joint in ["hip", "ankle"] {
            writeln!(
                motors,
                r#"    <motor joint="{joint}_{leg}" gear="30" ctrllimited="true" ctrlrange="-1 1"/>"#
            )
            .expect("a string accepts every write");
        }
    }
    motors.push_str("  </actuator>\n");
    let defaults = r#"    <joint limited="true" armature="1" damping="1"/>
    <geom condim="3" conaffinity="0" margin="0.005" friction="1 0.5 0.5" solref="0.02 1" solimp="0.8 0.8 0.01" density="5"/>
"#;
    model("ant", defaults, &body, &motors, layout)
}

fn model(name: &str, defaults: &str, body: &str, motors: &str, layout: &Layout) -> String {
    let (rows, columns) = (layout.rows() as f64, layout.columns() as f64);
    let mut walls = String::new();
    for cell @ MazeCell(row, column) in layout.walls() {
        let [x, y] = cell.center();
        writeln!(
            walls,
            r#"    <geom name="wall_{row}_{column}" type="box" pos="{x} {y} {HALF_HEIGHT}" size="2 2 {HALF_HEIGHT}" contype="1" conaffinity="1"/>"#
        )
        .expect("a string accepts every write");
    }
    let (middle_x, middle_y) = (2.0 * (columns - 3.0), 2.0 * (rows - 3.0));
    let (half_x, half_y) = (2.0 * columns, 2.0 * rows);
    format!(
        r#"<mujoco model="{name}">
  <compiler inertiafromgeom="true" angle="degree"/>
  <option timestep="0.02" integrator="RK4"/>
  <default>
{defaults}  </default>
  <worldbody>
    <geom name="floor" type="plane" pos="{middle_x} {middle_y} 0" size="{half_x} {half_y} 0.2" conaffinity="1"/>
{body}{walls}  </worldbody>
{motors}</mujoco>
"#
    )
}
