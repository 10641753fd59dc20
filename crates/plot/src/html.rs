//! A page that needs nothing but itself: text, tables and pictures in one HTML file.

use crate::Figure;
use std::fmt::Write as _;

/// A page in the making.
#[derive(Debug, Clone)]
pub struct Page {
    title: String,
    body: String,
}

const STYLE: &str = "body{font-family:'DejaVu Sans',Verdana,sans-serif;max-width:1320px;margin:2em auto;padding:0 1em;color:#1a1a1a;line-height:1.45}\
table{border-collapse:collapse;margin:1em 0}th,td{padding:.3em .8em;border-bottom:1px solid #ddd;text-align:right}\
th{border-bottom:2px solid #1a1a1a}th:first-child,td:first-child{text-align:left}figure{margin:1.5em 0;overflow-x:auto}\
figcaption{color:#444;font-size:.9em}code,pre{font-size:.9em}pre{background:#f4f4f4;padding:.8em;overflow-x:auto}";

impl Page {
    /// An empty page.
    pub fn new(title: &str) -> Self {
        Self { title: title.to_owned(), body: String::new() }
    }

    /// Adds a heading.
    pub fn heading(&mut self, text: &str) -> &mut Self {
        self.add(&format!("<h2>{}</h2>", escaped(text)))
    }

    /// Adds a paragraph.
    pub fn paragraph(&mut self, text: &str) -> &mut Self {
        self.add(&format!("<p>{}</p>", escaped(text)))
    }

    /// Adds text as it is, such as a command or a configuration.
    pub fn code(&mut self, text: &str) -> &mut Self {
        self.add(&format!("<pre>{}</pre>", escaped(text)))
    }

    /// Adds a table.
    pub fn table(&mut self, columns: &[String], rows: &[Vec<String>]) -> &mut Self {
        let row = |cells: &[String], tag: &str| {
            let cells: String =
                cells.iter().map(|cell| format!("<{tag}>{}</{tag}>", escaped(cell))).collect();
            format!("<tr>{cells}</tr>\n")
        };
        let body: String = rows.iter().map(|cells| row(cells, "td")).collect();
        self.add(&format!("<table>\n{}{body}</table>", row(columns, "th")))
    }

    /// Adds a figure with its caption.
    pub fn figure(&mut self, figure: &Figure, caption: &str) -> &mut Self {
        self.add(&format!("<figure>\n{}<figcaption>{}</figcaption></figure>", figure.svg(), escaped(caption)))
    }

    fn add(&mut self, html: &str) -> &mut Self {
        let _ = writeln!(self.body, "{html}");
        self
    }

    /// The whole file.
    pub fn html(&self) -> String {
        let title = escaped(&self.title);
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>{title}</title><style>{STYLE}</style></head>\n<body>\n<h1>{title}</h1>\n{}</body>\n</html>\n",
            self.body
        )
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PlaneChart;

    #[test]
    fn a_page_needs_nothing_else() {
        let mut page = Page::new("a < b");
        page.heading("h").paragraph("x & \"y\"").code("isochrone <run>");
        page.table(&["name".into()], &[vec!["<script>".into()]]).figure(&PlaneChart::default().draw(), "c");
        let html = page.html();
        assert!(html.contains("<title>a &lt; b</title>") && html.contains("&lt;script&gt;"));
        assert!(html.contains("<svg") && !html.contains("<script") && !html.contains("href=\"http"));
    }
}
