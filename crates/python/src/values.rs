//! Plain values between Python, TOML and JSON.

use crate::errors::invalid;
use isochrone::learn::run::Record;
use pyo3::{
    IntoPyObjectExt as _,
    prelude::*,
    types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple},
};
use std::path::PathBuf;

/// Converts a setting to TOML.
fn to_toml(name: &str, value: &Bound<'_, PyAny>) -> PyResult<toml::Value> {
    if value.is_instance_of::<PyBool>() {
        return Ok(toml::Value::Boolean(value.extract()?));
    }
    if value.is_instance_of::<PyInt>() {
        return Ok(toml::Value::Integer(value.extract()?));
    }
    if value.is_instance_of::<PyFloat>() {
        return Ok(toml::Value::Float(value.extract()?));
    }
    if value.is_instance_of::<PyString>() {
        return Ok(toml::Value::String(value.extract()?));
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        let items: PyResult<Vec<_>> = value.try_iter()?.map(|item| to_toml(name, &item?)).collect();
        return Ok(toml::Value::Array(items?));
    }
    if let Ok(path) = value.extract::<PathBuf>() {
        return Ok(toml::Value::String(path.to_string_lossy().into_owned()));
    }
    // Numbers of NumPy.
    if let Ok(number) = value.extract::<i64>() {
        return Ok(toml::Value::Integer(number));
    }
    if let Ok(number) = value.extract::<f64>() {
        return Ok(toml::Value::Float(number));
    }
    Err(invalid(
        &format!("{name}: {} is not the value of a setting", value.repr()?),
        "use numbers, strings, booleans, or lists of them",
    ))
}

/// Returns settings by dotted names, from dotted names or nested dictionaries.
pub fn assignments(settings: &Bound<'_, PyDict>) -> PyResult<Vec<(String, toml::Value)>> {
    let mut all = Vec::new();
    flatten(settings, "", &mut all)?;
    Ok(all)
}

fn flatten(settings: &Bound<'_, PyDict>, outer: &str, all: &mut Vec<(String, toml::Value)>) -> PyResult<()> {
    for (name, value) in settings {
        let name: String = name.extract()?;
        let name = if outer.is_empty() { name } else { format!("{outer}.{name}") };
        match value.cast::<PyDict>() {
            Ok(inner) => flatten(inner, &name, all)?,
            Err(_) => all.push((name.clone(), to_toml(&name, &value)?)),
        }
    }
    Ok(())
}

/// Returns a record of metrics.
pub fn record_dict<'py>(py: Python<'py>, record: &Record) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("step", record.step)?;
    dict.set_item("seconds", record.seconds)?;
    for (name, value) in &record.values {
        dict.set_item(name, value)?;
    }
    Ok(dict)
}

/// Converts JSON to Python.
pub fn to_python<'py>(py: Python<'py>, value: &serde_json::Value) -> PyResult<Bound<'py, PyAny>> {
    use serde_json::Value;
    match value {
        Value::Null => Ok(py.None().into_bound(py)),
        Value::Bool(value) => value.into_bound_py_any(py),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(whole), _) => whole.into_bound_py_any(py),
            (_, Some(whole)) => whole.into_bound_py_any(py),
            _ => number.as_f64().into_bound_py_any(py),
        },
        Value::String(text) => text.into_bound_py_any(py),
        Value::Array(items) => {
            let items: PyResult<Vec<_>> = items.iter().map(|item| to_python(py, item)).collect();
            PyList::new(py, items?)?.into_bound_py_any(py)
        }
        Value::Object(entries) => {
            let dict = PyDict::new(py);
            for (name, value) in entries {
                dict.set_item(name, to_python(py, value)?)?;
            }
            dict.into_bound_py_any(py)
        }
    }
}
