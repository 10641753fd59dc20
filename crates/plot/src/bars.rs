//! Ranked horizontal bars.

use crate::{
    export::{Figure, paper, sheet},
    palette, scale,
    shapes::{line, rectangle, text},
};

const ROW_HEIGHT: f64 = 26.0;
const BAR_WIDTH: f64 = 340.0;
const TOP: f64 = 58.0;
/// Room for a character of a label.
const CHARACTER: f64 = 7.0;

/// One bar: a name, a length, a share that shades it, and a remark at its end.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// What it stands for.
    pub name: String,
    /// Its length on the axis.
    pub length: f64,
    /// From 0 (dark) to 1 (light).
    pub share: f64,
    /// Written behind the bar.
    pub remark: String,
}

/// A chart of bars, drawn in the order given.
#[derive(Debug, Clone, PartialEq)]
pub struct BarChart {
    /// What the chart shows.
    pub title: String,
    /// What the axis measures, with its unit.
    pub axis: String,
    /// What the shade means, or what is not shown.
    pub note: String,
    /// From top to bottom.
    pub bars: Vec<Bar>,
}

impl BarChart {
    /// Draws the chart.
    pub fn draw(&self) -> Figure {
        let longest =
            |of: fn(&Bar) -> &String| self.bars.iter().map(|bar| of(bar).chars().count()).max().unwrap_or(0);
        let left = 24.0 + CHARACTER * longest(|bar| &bar.name) as f64;
        let width = (left + BAR_WIDTH + 24.0 + 0.86 * CHARACTER * longest(|bar| &bar.remark) as f64)
            .max(32.0 + 8.6 * self.title.chars().count() as f64)
            .ceil();
        let bottom = TOP + ROW_HEIGHT * self.bars.len() as f64;
        let longest_bar =
            self.bars.iter().map(|bar| bar.length).filter(|length| length.is_finite()).fold(1e-9, f64::max);
        let interval = scale::round_interval(longest_bar, 6, 1e-6);
        // The axis ends at a tick.
        let extent = (longest_bar / interval).ceil() * interval;
        let place = |value: f64| left + BAR_WIDTH * value / extent;
        let mut document = sheet(width, bottom + 44.0)
            .add(paper())
            .add(text(&self.title, (16.0, 26.0), 15.0, "start"))
            .add(text(&self.note, (16.0, 44.0), 11.0, "start"));
        for tick in std::iter::once(0.0).chain(scale::multiples(interval, extent * 1.0001)) {
            let x = place(tick);
            let number = text(&scale::label(tick), (x, bottom + 18.0), 11.0, "middle");
            document = document.add(line((x, TOP - 4.0), (x, bottom + 4.0), palette::WALL)).add(number);
        }
        for (k, bar) in self.bars.iter().enumerate() {
            let y = TOP + ROW_HEIGHT * k as f64;
            let length = (BAR_WIDTH * bar.length / extent).max(1.5);
            let shape = rectangle(left, y + 4.0, length, ROW_HEIGHT - 8.0).set("rx", 2);
            document = document
                .add(text(&bar.name, (left - 8.0, y + 17.0), 12.0, "end"))
                .add(shape.set("fill", palette::near_to_far(1.0 - bar.share)))
                .add(text(&bar.remark, (left + length + 8.0, y + 17.0), 11.0, "start"));
        }
        let axis = text(&self.axis, (left + BAR_WIDTH / 2.0, bottom + 36.0), 12.0, "middle");
        Figure::new(&document.add(axis))
    }
}
