//! Figures that notebooks show.

use crate::errors::{OrRaise as _, invalid};
use isochrone::plot;
use pyo3::{prelude::*, types::PyBytes};
use std::path::PathBuf;

/// A figure: a notebook shows it, `save` writes it as SVG or PNG.
#[pyclass(frozen, module = "isochrone")]
pub struct Figure {
    pub figure: plot::Figure,
}

#[pymethods]
impl Figure {
    /// The figure as an SVG document.
    #[getter]
    fn svg(&self) -> &str {
        self.figure.svg()
    }

    /// The figure as the contents of a PNG file.
    fn png<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let png =
            py.detach(|| self.figure.png()).map_err(|error| invalid(&error.reason, "use `svg` instead"))?;
        Ok(PyBytes::new(py, &png))
    }

    /// Writes the figure to a .svg or .png file.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.figure.save(&path)).or_raise()
    }

    #[staticmethod]
    fn _from_svg(svg: String) -> Self {
        Self { figure: plot::Figure::from_svg(svg) }
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        Ok((py.get_type::<Self>().getattr("_from_svg")?, (self.figure.svg().to_owned(),)))
    }

    fn _repr_svg_(&self) -> &str {
        self.figure.svg()
    }

    fn __repr__(&self) -> String {
        format!("<isochrone.Figure: {} KiB of SVG>", self.figure.svg().len() / 1024)
    }
}
