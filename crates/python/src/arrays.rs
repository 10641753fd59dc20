//! Rows of numbers from and to NumPy.

use crate::errors::invalid;
use numpy::{
    PyArray, PyArray1, PyArrayDyn, PyArrayMethods as _, PyReadonlyArrayDyn, PyUntypedArrayMethods as _,
    ndarray::{ArrayView, Dimension},
};
use pyo3::{intern, prelude::*, sync::PyOnceLock};
use std::borrow::Cow;

/// Rows of `f32`, `[..., width]`: the memory of the caller if it is C-contiguous float32, otherwise
/// one converted copy.
pub struct Rows<'py> {
    array: PyReadonlyArrayDyn<'py, f32>,
}

impl<'py> FromPyObject<'_, 'py> for Rows<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(array) = object.cast::<PyArrayDyn<f32>>()
            && array.is_c_contiguous()
            && array.ndim() > 0
        {
            return Ok(Self { array: array.try_readonly()? });
        }
        let array = converted(&object)?;
        Ok(Self { array: array.try_readonly()? })
    }
}

/// `numpy.ascontiguousarray(object, float32)`: lists, other types and layouts, tensors in main
/// memory. A tensor that requires gradients is detached first.
fn converted<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArrayDyn<f32>>> {
    static CONVERT: PyOnceLock<(Py<PyAny>, Py<PyAny>)> = PyOnceLock::new();
    let py = object.py();
    let (convert, float32) = CONVERT.get_or_try_init(py, || {
        let numpy = py.import(intern!(py, "numpy"))?;
        PyResult::Ok((numpy.getattr("ascontiguousarray")?.unbind(), numpy.getattr("float32")?.unbind()))
    })?;
    let requires_grad = object.getattr_opt(intern!(py, "requires_grad"))?;
    let detached = match requires_grad.is_some_and(|flag| flag.is_truthy().unwrap_or(false)) {
        true => object.call_method0(intern!(py, "detach"))?,
        false => object.clone(),
    };
    match convert.bind(py).call1((&detached, float32)) {
        Ok(array) => Ok(array.cast_into::<PyArrayDyn<f32>>()?),
        Err(error) => {
            let kind = object.get_type().name()?;
            let refused = invalid(
                &format!("{kind} cannot be converted to an array of float32: {error}"),
                "pass numbers of shape (..., width)",
            );
            refused.set_cause(py, Some(error));
            Err(refused)
        }
    }
}

impl Rows<'_> {
    /// All numbers, row by row.
    pub fn numbers(&self) -> &[f32] {
        self.array.as_slice().expect("contiguous")
    }

    /// All axes except the last.
    pub fn leading(&self) -> &[usize] {
        let shape = self.array.shape();
        &shape[..shape.len() - 1]
    }

    /// The number of rows.
    pub fn n(&self) -> usize {
        self.leading().iter().product()
    }

    /// The length of the last axis.
    pub fn width(&self) -> usize {
        self.array.shape()[self.array.ndim() - 1]
    }

    /// Returns the numbers if rows have this width and are not NaN.
    pub fn of_width(&self, width: usize, name: &str) -> PyResult<&[f32]> {
        if self.width() != width {
            let shape = self.array.shape();
            return Err(invalid(
                &format!("{name}: shape {shape:?}, but rows have {width} numbers"),
                "the last axis is an observation",
            ));
        }
        let numbers = self.numbers();
        match numbers.iter().position(|number| number.is_nan()) {
            None => Ok(numbers),
            Some(at) => Err(invalid(
                &format!("{name}: row {} is NaN in dimension {}", at / width, at % width),
                "remove or fill in missing values",
            )),
        }
    }

    /// Returns the numbers if there is exactly one row of this width.
    pub fn one_of_width(&self, width: usize, name: &str) -> PyResult<&[f32]> {
        match self.n() {
            1 => self.of_width(width, name),
            n => Err(invalid(&format!("{name}: {n} rows instead of one"), "pass a single observation")),
        }
    }
}

/// Returns one row, of which there are `n`, as often as needed; as many rows as needed unchanged.
pub fn repeated(rows: &[f32], n: usize, needed: usize) -> Cow<'_, [f32]> {
    if n == needed { rows.into() } else { rows.repeat(needed).into() }
}

/// Returns owned numbers as an array of a shape, without a copy.
pub fn array<'py, T: numpy::Element>(
    py: Python<'py>,
    numbers: Vec<T>,
    shape: &[usize],
) -> PyResult<Bound<'py, PyArrayDyn<T>>> {
    PyArray1::from_vec(py, numbers).reshape(shape)
}

/// Returns a read-only array in the memory of `owner`.
pub fn view<'py, T: numpy::Element, D: Dimension>(
    owner: Bound<'py, PyAny>,
    numbers: ArrayView<'_, T, D>,
) -> Bound<'py, PyArray<T, D>> {
    // SAFETY: the array keeps `owner` alive, whose columns never move or change.
    #[expect(unsafe_code, reason = "NumPy cannot know the lifetime")]
    let array = unsafe { PyArray::borrow_from_array(&numbers, owner) };
    array.readwrite().make_nonwriteable();
    array
}
