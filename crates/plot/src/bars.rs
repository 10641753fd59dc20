//! Ranked horizontal bars.

use crate::{
    export::{Figure, MARGIN, NOTE_SIZE, header_height, titled},
    lettering, palette, scale,
    shapes::{haloed_text, line, rectangle, text},
};
use svg::node::element::Group;

const ROW_HEIGHT: f64 = 26.0;
const BAR_WIDTH: f64 = 340.0;
const NAME_SIZE: f64 = 12.0;
const REMARK_SIZE: f64 = 11.0;
const LEGEND_ROW: f64 = 20.0;
const SWATCH: f64 = 12.0;
/// Length of the caps of an interval.
const CAP: f64 = 8.0;

/// A bar of a [`BarChart`].
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// The label to the left of the bar.
    pub name: String,
    /// The length on the axis.
    pub length: f64,
    /// The confidence interval of the length, drawn as whiskers.
    pub interval: Option<(f64, f64)>,
    /// The fill.
    pub color: BarColor,
    /// The label behind the bar.
    pub remark: String,
}

/// The fill of a bar.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum BarColor {
    /// A share, from dark purple at 0 to yellow at 1.
    Shade(f64),
    /// A category: one of seven colors that color-blind readers can distinguish.
    Category(usize),
    /// Gray: a bound or a baseline for comparison.
    Reference,
}

impl BarColor {
    fn fill(self) -> String {
        match self {
            Self::Shade(share) => palette::near_to_far(1.0 - share),
            Self::Category(number) => palette::LINES[number % palette::LINES.len()].to_owned(),
            Self::Reference => palette::STONE.to_owned(),
        }
    }
}

/// A chart of bars, drawn in the order given.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BarChart {
    /// The title.
    pub title: String,
    /// The quantity on the axis, with its unit.
    pub axis: String,
    /// How to read the chart, and what it leaves out.
    pub note: String,
    /// The meaning of colors; empty if the note explains them.
    pub legend: Vec<(BarColor, String)>,
    /// The bars, from top to bottom.
    pub bars: Vec<Bar>,
}

impl BarChart {
    /// Draws the chart.
    pub fn draw(&self) -> Figure {
        let widest = |label: fn(&Bar) -> &String, size: f64| {
            self.bars.iter().map(|bar| lettering::width(label(bar), size)).fold(0.0, f64::max)
        };
        let left = 24.0 + widest(|bar| &bar.name, NAME_SIZE);
        let width = (left + BAR_WIDTH + 24.0 + widest(|bar| &bar.remark, REMARK_SIZE))
            .max(2.0 * MARGIN + lettering::width(&self.title, 15.0))
            .ceil();
        let header_height = header_height(&self.note, width);
        let (legend, legend_height) = self.legend(header_height, width);
        let top = header_height + legend_height + 4.0;
        let bottom = top + ROW_HEIGHT * self.bars.len() as f64;
        let ends = self.bars.iter().flat_map(|bar| [bar.length, bar.interval.map_or(0.0, |(_, high)| high)]);
        let longest_bar = ends.filter(|length| length.is_finite()).fold(1e-9, f64::max);
        let interval = scale::round_interval(longest_bar, 6, 1e-6);
        // The axis ends at a tick.
        let extent = (longest_bar / interval).ceil() * interval;
        let place = |value: f64| left + BAR_WIDTH * value / extent;
        let mut document = titled(width, bottom + 44.0, &self.title, &self.note).add(legend);
        for tick in std::iter::once(0.0).chain(scale::multiples(interval, extent * 1.0001)) {
            let x = place(tick);
            let number = text(&scale::label(tick), (x, bottom + 18.0), 11.0, "middle");
            document = document.add(line((x, top - 4.0), (x, bottom + 4.0), palette::WALL)).add(number);
        }
        for (k, bar) in self.bars.iter().enumerate() {
            let y = top + ROW_HEIGHT * k as f64;
            let length = (BAR_WIDTH * bar.length / extent).max(1.5);
            let shape = rectangle(left, y + 4.0, length, ROW_HEIGHT - 8.0).set("rx", 2);
            let mut end = left + length;
            document = document
                .add(text(&bar.name, (left - 8.0, y + 17.0), NAME_SIZE, "end"))
                .add(shape.set("fill", bar.color.fill()));
            if let Some((low, high)) = bar.interval {
                let (low, high, middle) = (place(low), place(high), y + ROW_HEIGHT / 2.0);
                document = document.add(line((low, middle), (high, middle), palette::INK));
                for x in [low, high] {
                    let cap = line((x, middle - CAP / 2.0), (x, middle + CAP / 2.0), palette::INK);
                    document = document.add(cap);
                }
                end = end.max(high);
            }
            // The halo keeps gridlines from crossing the letters.
            document = document.add(haloed_text(&bar.remark, (end + 8.0, y + 17.0), REMARK_SIZE));
        }
        let axis = text(&self.axis, (left + BAR_WIDTH / 2.0, bottom + 36.0), 12.0, "middle");
        Figure::new(&document.add(axis))
    }

    /// Draws swatches with their meaning below `top`, and returns their height.
    fn legend(&self, top: f64, width: f64) -> (Group, f64) {
        let mut group = Group::new();
        let (mut x, mut rows) = (MARGIN, if self.legend.is_empty() { 0.0 } else { 1.0 });
        for (color, name) in &self.legend {
            let entry = SWATCH + 6.0 + lettering::width(name, NOTE_SIZE);
            if x > MARGIN && x + entry > width - MARGIN {
                (x, rows) = (MARGIN, rows + 1.0);
            }
            let y = top + LEGEND_ROW * (rows - 1.0);
            let swatch = rectangle(x, y, SWATCH, SWATCH).set("rx", 2).set("fill", color.fill());
            let name = text(name, (x + SWATCH + 6.0, y + 10.0), NOTE_SIZE, "start");
            group = group.add(swatch).add(name);
            x += entry + 18.0;
        }
        (group, LEGEND_ROW * rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart() -> BarChart {
        let bar = |name: &str, length: f64, interval, color| Bar {
            name: name.into(),
            length,
            interval,
            color,
            remark: format!("{length} %"),
        };
        BarChart {
            title: "Success".into(),
            axis: "success rate (%)".into(),
            note: "Whiskers: intervals.".into(),
            legend: vec![
                (BarColor::Category(0), "policy alone".into()),
                (BarColor::Reference, "baseline".into()),
            ],
            bars: vec![
                bar("cmd1", 80.0, Some((70.0, 95.0)), BarColor::Category(0)),
                bar("straight line", 20.0, None, BarColor::Reference),
            ],
        }
    }

    #[test]
    fn bars_have_a_legend_and_whiskers() {
        let svg = chart().draw().svg().to_owned();
        for part in ["policy alone", "baseline", "Whiskers: intervals.", palette::LINES[0], palette::STONE] {
            assert!(svg.contains(part), "{part}: {svg}");
        }
        // The axis leaves room for the upper end of an interval.
        assert!(svg.contains("\n100\n"), "{svg}");
        assert_eq!(svg.matches(&format!("stroke=\"{}\"", palette::INK)).count(), 3, "a whisker, two caps");
        let without = BarChart { bars: chart().bars[1..].to_vec(), ..chart() };
        assert!(!without.draw().svg().contains(&format!("stroke=\"{}\"", palette::INK)));
    }

    #[test]
    fn gridlines_do_not_cross_labels() {
        let svg = chart().draw().svg().to_owned();
        let label = svg.split("<text").find(|part| part.contains("80 %")).unwrap();
        assert!(label.contains("paint-order=\"stroke\"") && label.contains(palette::PAPER), "{label}");
    }

    #[test]
    fn an_empty_chart_is_drawn() {
        assert!(BarChart::default().draw().png().is_ok());
    }
}
