//! HTML reports: text, tables and figures in one self-contained file.

use crate::Figure;
use isochrone_core::is_control;
use std::fmt::Write as _;

/// A report under construction.
#[derive(Debug, Clone)]
pub struct Page {
    title: String,
    subtitle: String,
    headlines: Vec<String>,
    body: String,
    /// Whether the last element is a figure: consecutive figures share a grid.
    is_in_figures: bool,
}

/// A wider figure takes a row of its own.
const MAX_HALF_WIDTH: f64 = 760.0;

/// Figures shrink to the screen and stand side by side where there is space; wide tables and code
/// scroll. In dark mode, figures stay on white paper.
const STYLE: &str = "\
:root{color-scheme:light dark}*{box-sizing:border-box}\
body{font-family:'DejaVu Sans',Verdana,sans-serif;max-width:1500px;margin:0 auto;padding:1.5em;color:#1a1a1a;background:#fff;line-height:1.45}\
h1{margin:0 0 .2em}h2{margin:1.6em 0 .4em}p{max-width:60em}\
.subtitle{color:#555;margin:0 0 .8em}.headline{font-size:1.2em;margin:.3em 0}\
.table{overflow-x:auto}table{border-collapse:collapse;margin:1em 0}th,td{padding:.3em .8em;border-bottom:1px solid #ddd;text-align:right}\
th{border-bottom:2px solid currentColor}td{white-space:nowrap}th:first-child,td:first-child{text-align:left}\
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,480px),1fr));gap:1.5em;align-items:start;margin:1em 0}\
figure{margin:0;min-width:0}figure.wide{grid-column:1/-1}\
figure svg{display:block;max-width:100%;height:auto;margin:0 auto;border-radius:6px}\
figcaption{color:#444;font-size:.9em;max-width:60em;margin:.5em auto 0}\
code,pre{font-family:'DejaVu Sans Mono',monospace;font-size:.9em}pre{background:#f4f4f4;padding:.8em;overflow-x:auto}\
@media (max-width:800px){body{padding:1em .7em}th,td{padding:.25em .5em}}\
@media (prefers-color-scheme:dark){body{color:#e6e6e6;background:#161616}th,td{border-bottom-color:#3a3a3a}\
.subtitle,figcaption{color:#b0b0b0}pre{background:#242424}}";

impl Page {
    /// Creates an empty report.
    pub fn new(title: &str) -> Self {
        Self {
            title: title.to_owned(),
            subtitle: String::new(),
            headlines: Vec::new(),
            body: String::new(),
            is_in_figures: false,
        }
    }

    /// Sets the line below the title: the date and the data.
    pub fn subtitle(&mut self, text: &str) -> &mut Self {
        text.clone_into(&mut self.subtitle);
        self
    }

    /// Adds a result in one sentence to the top of the report.
    pub fn headline(&mut self, text: &str) -> &mut Self {
        self.headlines.push(text.to_owned());
        self
    }

    /// Adds a heading.
    pub fn heading(&mut self, text: &str) -> &mut Self {
        self.add(&format!("<h2>{}</h2>", escaped(text)))
    }

    /// Adds a paragraph; none if the text is empty. As in Markdown, `` `x` `` is code and `**x**`
    /// is bold.
    pub fn paragraph(&mut self, text: &str) -> &mut Self {
        if text.is_empty() {
            return self;
        }
        self.add(&format!("<p>{}</p>", inline(text)))
    }

    /// Adds preformatted text, such as a command or a configuration.
    pub fn code(&mut self, text: &str) -> &mut Self {
        self.add(&format!("<pre>{}</pre>", escaped(text)))
    }

    /// Adds a table.
    pub fn table(&mut self, columns: &[String], rows: &[Vec<String>]) -> &mut Self {
        let row = |cells: &[String], tag: &str| {
            let cells: String = cells.iter().map(|cell| format!("<{tag}>{}</{tag}>", inline(cell))).collect();
            format!("<tr>{cells}</tr>\n")
        };
        let body: String = rows.iter().map(|cells| row(cells, "td")).collect();
        self.add(&format!("<div class=\"table\"><table>\n{}{body}</table></div>", row(columns, "th")))
    }

    /// Adds a figure with its caption. Consecutive figures stand side by side where the screen has
    /// space.
    pub fn figure(&mut self, figure: &Figure, caption: &str) -> &mut Self {
        if !self.is_in_figures {
            self.body += "<div class=\"figures\">\n";
            self.is_in_figures = true;
        }
        let class = if figure.width() > MAX_HALF_WIDTH { " class=\"wide\"" } else { "" };
        let (svg, caption) = (figure.svg(), inline(caption));
        let _ = writeln!(self.body, "<figure{class}>\n{svg}<figcaption>{caption}</figcaption></figure>");
        self
    }

    fn add(&mut self, html: &str) -> &mut Self {
        if std::mem::take(&mut self.is_in_figures) {
            self.body += "</div>\n";
        }
        let _ = writeln!(self.body, "{html}");
        self
    }

    /// Returns the HTML file.
    pub fn html(&self) -> String {
        let title = escaped(&self.title);
        let mut head = format!("<h1>{title}</h1>\n");
        if !self.subtitle.is_empty() {
            let _ = writeln!(head, "<p class=\"subtitle\">{}</p>", escaped(&self.subtitle));
        }
        for headline in &self.headlines {
            let _ = writeln!(head, "<p class=\"headline\">{}</p>", inline(headline));
        }
        let end = if self.is_in_figures { "</div>\n" } else { "" };
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"><title>{title}</title><style>{STYLE}</style></head>\n<body>\n{head}{}{end}</body>\n</html>\n",
            self.body
        )
    }
}

/// The day of a time in seconds since 1970, UTC, as `YYYY-MM-DD`.
pub fn date(seconds_since_1970: u64) -> String {
    let time = i64::try_from(seconds_since_1970).ok().and_then(|s| jiff::Timestamp::from_second(s).ok());
    time.map_or_else(|| "unknown date".to_owned(), |time| time.strftime("%Y-%m-%d").to_string())
}

/// Escapes a text, except for code and bold type in Markdown.
fn inline(text: &str) -> String {
    let mut html = escaped(text);
    for (mark, tag) in [("**", "strong"), ("`", "code")] {
        let parts: Vec<&str> = html.split(mark).collect();
        if parts.len() % 2 == 1 {
            let part = |(k, part): (usize, &&str)| match k % 2 {
                0 => (*part).to_owned(),
                _ => format!("<{tag}>{part}</{tag}>"),
            };
            html = parts.iter().enumerate().map(part).collect();
        }
    }
    html
}

/// Escapes text for HTML. Control characters other than line ends and tabs become spaces.
pub fn escaped(text: &str) -> String {
    let is_kept = |c: char| !is_control(c) || c == '\n' || c == '\t';
    let text: String = text.chars().map(|c| if is_kept(c) { c } else { ' ' }).collect();
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BarChart, LineChart, Panel, PlaneChart, PlanePanel};

    #[test]
    fn a_report_is_self_contained() {
        let mut page = Page::new("a < b");
        page.heading("h").paragraph("x & \"y\"").code("isochrone <run>");
        page.table(&["name".into()], &[vec!["<script>".into()]]).figure(&PlaneChart::default().draw(), "c");
        let html = page.html();
        assert!(html.contains("<title>a &lt; b</title>") && html.contains("&lt;script&gt;"));
        assert!(html.contains("<svg") && !html.contains("<script") && !html.contains("href=\"http"));
    }

    #[test]
    fn the_title_is_followed_by_the_data_and_the_result() {
        let mut page = Page::new("Mazes");
        page.paragraph("text").subtitle("2026-01-31, on walks.csv").headline("cmd1 is best: 97 %");
        let html = page.html();
        let at = |part: &str| html.find(part).unwrap_or_else(|| panic!("{part}: {html}"));
        assert!(at("<h1>Mazes</h1>") < at("2026-01-31, on walks.csv"));
        assert!(at("2026-01-31, on walks.csv") < at("cmd1 is best: 97 %"));
        assert!(at("cmd1 is best: 97 %") < at("<p>text</p>"));
    }

    #[test]
    fn figures_fill_the_screen_and_fit_into_it() {
        let (narrow, wide) = (
            LineChart { panels: vec![Panel::default()], ..LineChart::default() }.draw(),
            PlaneChart { panels: vec![PlanePanel::default(); 3], ..PlaneChart::default() }.draw(),
        );
        assert!(narrow.width() < MAX_HALF_WIDTH && wide.width() > MAX_HALF_WIDTH, "{}", narrow.width());
        let mut page = Page::new("t");
        page.figure(&narrow, "a").figure(&narrow, "b").figure(&wide, "c").heading("h");
        page.figure(&BarChart::default().draw(), "d");
        let html = page.html();
        assert_eq!(html.matches("<div class=\"figures\">").count(), 2, "three figures share a grid");
        assert_eq!(html.matches("<figure class=\"wide\">").count(), 1);
        assert_eq!(html.matches("<div").count(), html.matches("</div>").count());
        for rule in
            ["max-width:100%;height:auto", "auto-fit", "name=\"viewport\"", "prefers-color-scheme:dark"]
        {
            assert!(html.contains(rule), "{rule}");
        }
    }

    #[test]
    fn code_and_bold_type_are_marked() {
        assert_eq!(inline("**a** `b < c`"), "<strong>a</strong> <code>b &lt; c</code>");
        assert_eq!(inline("2 ** 3 and a `"), "2 ** 3 and a `");
    }

    #[test]
    fn dates_are_days() {
        assert_eq!(
            [date(0), date(951_868_799), date(951_868_800)],
            ["1970-01-01", "2000-02-29", "2000-03-01"]
        );
    }
}
