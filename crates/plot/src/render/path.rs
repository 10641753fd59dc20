//! The outlines of elements.

use super::style::{number, numbers};
use svg::node::Attributes;
use tiny_skia::{Path, PathBuilder, Rect, Transform};

/// The distance of the control points of a quarter of a circle of radius 1 from its corner.
const CORNER: f32 = 0.447_715_25;

/// Returns the outline of an element; `None` if it is empty. `size` is what percentages refer to.
pub fn of_element(name: &str, attributes: &Attributes, size: [f32; 2]) -> Result<Option<Path>, String> {
    let get = |name: &str| number(attributes, name);
    let text = |name: &str| attributes.get(name).map_or("", |value| &**value);
    let mut builder = PathBuilder::new();
    match name {
        "rect" => {
            let side = |name: &str, whole: f32| if text(name) == "100%" { Ok(whole) } else { get(name) };
            let (width, height) = (side("width", size[0])?, side("height", size[1])?);
            if let Some(rect) = Rect::from_xywh(get("x")?, get("y")?, width, height) {
                push_rectangle(&mut builder, rect, get("rx")?);
            }
        }
        "circle" => builder.push_circle(get("cx")?, get("cy")?, get("r")?),
        "line" => {
            builder.move_to(get("x1")?, get("y1")?);
            builder.line_to(get("x2")?, get("y2")?);
        }
        "polygon" => {
            for (k, corner) in numbers(text("points"))?.chunks_exact(2).enumerate() {
                if k == 0 {
                    builder.move_to(corner[0], corner[1]);
                } else {
                    builder.line_to(corner[0], corner[1]);
                }
            }
            builder.close();
        }
        "path" => push_data(&mut builder, text("d"))?,
        _ => return Err(format!("the element {name} is unknown")),
    }
    Ok(builder.finish())
}

fn push_rectangle(builder: &mut PathBuilder, rect: Rect, radius: f32) {
    let radius = radius.min(rect.width() / 2.0).min(rect.height() / 2.0);
    if radius <= 0.0 {
        builder.push_rect(rect);
        return;
    }
    let (left, top, right, bottom) = (rect.left(), rect.top(), rect.right(), rect.bottom());
    let near = CORNER * radius;
    builder.move_to(left + radius, top);
    builder.line_to(right - radius, top);
    builder.cubic_to(right - near, top, right, top + near, right, top + radius);
    builder.line_to(right, bottom - radius);
    builder.cubic_to(right, bottom - near, right - near, bottom, right - radius, bottom);
    builder.line_to(left + radius, bottom);
    builder.cubic_to(left + near, bottom, left, bottom - near, left, bottom - radius);
    builder.line_to(left, top + radius);
    builder.cubic_to(left, top + near, left + near, top, left + radius, top);
    builder.close();
}

/// Adds the data of a path, whose commands are `M`, `L`, `l` and `Z`.
fn push_data(builder: &mut PathBuilder, data: &str) -> Result<(), String> {
    let begins = data.match_indices(|letter: char| letter.is_ascii_alphabetic()).map(|(at, _)| at);
    let ends = begins.clone().skip(1).chain([data.len()]);
    let mut at = [0.0; 2];
    for (begin, end) in begins.zip(ends) {
        let command = &data[begin..=begin];
        let coordinates = numbers(&data[begin + 1..end])?;
        if !["M", "L", "l", "Z"].contains(&command) || !coordinates.len().is_multiple_of(2) {
            return Err(format!("the command {command} of a path is unknown or incomplete"));
        }
        for point in coordinates.chunks_exact(2) {
            at = match command {
                "l" => [at[0] + point[0], at[1] + point[1]],
                _ => [point[0], point[1]],
            };
            if command == "M" {
                builder.move_to(at[0], at[1]);
            } else {
                builder.line_to(at[0], at[1]);
            }
        }
        if command == "Z" {
            builder.close();
        }
    }
    Ok(())
}

/// Parses `translate(x y)` or `rotate(degrees x y)`.
pub fn transform(text: &str) -> Result<Transform, String> {
    let unknown = || format!("the transform {text} is unknown");
    let (name, arguments) =
        text.strip_suffix(')').and_then(|text| text.split_once('(')).ok_or_else(unknown)?;
    match (name, &numbers(arguments)?[..]) {
        ("translate", &[x, y]) => Ok(Transform::from_translate(x, y)),
        ("rotate", &[degrees, x, y]) => Ok(Transform::from_rotate_at(degrees, x, y)),
        _ => Err(unknown()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tiny_skia::{PathSegment, Point};

    fn corners(data: &str) -> Result<Vec<(f32, f32)>, String> {
        let mut builder = PathBuilder::new();
        push_data(&mut builder, data)?;
        let path = builder.finish().ok_or("empty")?;
        Ok(path.points().iter().map(|point| (point.x, point.y)).collect())
    }

    #[test]
    fn steps_are_relative_to_the_last_corner() {
        let expected = vec![(1.0, 2.0), (1.5, 0.0), (9.0, 9.0), (8.0, 9.5)];
        assert_eq!(corners("M1 2l0.5 -2M9 9L8,9.5"), Ok(expected));
        assert!(corners("M1 2C0 0 1 1 2 2").is_err());
        assert!(corners("M1 twoL3 4").is_err());
        let mut builder = PathBuilder::new();
        push_data(&mut builder, "M0 0L1 0L1 1Z").unwrap();
        assert_eq!(builder.finish().unwrap().segments().last(), Some(PathSegment::Close));
    }

    #[test]
    fn transforms_move_points() {
        let moved = |text: &str| {
            let mut point = Point::from_xy(2.0, 0.0);
            transform(text).unwrap().map_point(&mut point);
            (point.x.round(), point.y.round())
        };
        assert_eq!(moved("translate(3 -1)"), (5.0, -1.0));
        assert_eq!(moved("rotate(90 1 0)"), (1.0, 1.0));
        assert!(transform("scale(2)").is_err() && transform("rotate(9").is_err());
    }
}
