//! The quasimetrics as operations with derivatives, for frameworks that have their own tape.

use crate::{errors::invalid, pool::compute};
use isochrone::nn::kernel::{
    self, Contrast, ForwardCache, LogSums, Objective, PairForm, PairGradients, Pairs,
};
use numpy::{
    PyArray1, PyArrayDyn, PyReadonlyArray1, PyReadonlyArray2, PyReadonlyArray3, PyUntypedArrayMethods as _,
};
use pyo3::prelude::*;
use rayon::prelude::*;
use std::sync::Mutex;

/// `("mrn", components, max width, L2 width)` or `("iqe", groups, group width, 0)`.
type Form = (String, usize, usize, usize);

/// The number of values times features up to which an operation runs on the calling thread.
const SMALL: usize = 1 << 14;

/// The largest tape that is stored for a backward pass; larger ones are recomputed in blocks.
const MAX_TAPE_BYTES: usize = 64 << 20;

/// Returns the form of rows of this width. The kernels panic on the values that this refuses.
pub fn pair_form(kind: &str, sizes: [usize; 3], width: usize) -> Result<PairForm, String> {
    let [a, b, c] = sizes;
    let (form, indices) = match kind {
        "mrn" => (PairForm::MaxL2 { components: a, max_width: b, l2_width: c }, b),
        "iqe" => (PairForm::Interval { groups: a, group_width: b }, a),
        _ => return Err(format!("'{kind}' is not a quasimetric: use 'mrn' or 'iqe'")),
    };
    let total = b.checked_add(if kind == "mrn" { c } else { 0 }).and_then(|part| part.checked_mul(a));
    if width == 0 || total != Some(width) {
        return Err(format!("rows of {width} numbers cannot be split into {a} parts of {b} + {c}"));
    }
    // The tape stores indices in 16 bits.
    match indices < usize::from(u16::MAX) {
        true => Ok(form),
        false => Err(format!("{indices} features or groups are more than {}", u16::MAX - 1)),
    }
}

fn form_of((kind, a, b, c): &Form, width: usize) -> PyResult<PairForm> {
    pair_form(kind, [*a, *b, *c], width)
        .map_err(|problem| invalid(&problem, "the parts of a row must add up to its width"))
}

/// Returns whether `values` pairs of rows of a width are too few for several threads.
pub fn is_small(values: usize, width: usize) -> bool {
    values.saturating_mul(width) < SMALL
}

/// Returns whether the tape of `n x m` pairs should be stored.
pub fn fits_tape(form: PairForm, n: usize, m: usize) -> bool {
    kernel::Tape::bytes(form, n, m) <= MAX_TAPE_BYTES
}

/// The data that a forward pass stores for its backward pass, per matrix of the batch.
#[pyclass(frozen, module = "isochrone._isochrone")]
pub struct PairTape {
    tapes: Vec<kernel::Tape>,
}

/// The gradients with respect to `x`, `y` and the mix.
type Gradients<'py> = (Bound<'py, PyArrayDyn<f32>>, Bound<'py, PyArrayDyn<f32>>, f64);

/// `batch` problems of `n` rows against `m` rows.
#[derive(Clone, Copy)]
struct Sizes {
    batch: usize,
    n: usize,
    m: usize,
    width: usize,
}

impl Sizes {
    fn of(x: &[usize], y: &[usize]) -> PyResult<Self> {
        let ([batch, n, width], [others, m, other_width]) = (x, y) else {
            unreachable!("both have three axes")
        };
        if batch != others || width != other_width {
            return Err(invalid(
                &format!("x and y have shapes {x:?} and {y:?}"),
                "pass (batch, n, width) and (batch, m, width)",
            ));
        }
        Ok(Self { batch: *batch, n: *n, m: *m, width: *width })
    }

    fn is_empty(self) -> bool {
        self.batch == 0 || self.n == 0 || self.m == 0
    }

    fn is_small(self) -> bool {
        is_small(self.batch.saturating_mul(self.n).saturating_mul(self.m), self.width)
    }

    fn x(self) -> [usize; 3] {
        [self.batch, self.n, self.width]
    }

    fn y(self) -> [usize; 3] {
        [self.batch, self.m, self.width]
    }

    fn values(self) -> [usize; 3] {
        [self.batch, self.n, self.m]
    }
}

fn array<'py>(py: Python<'py>, numbers: Vec<f32>, shape: &[usize]) -> PyResult<Bound<'py, PyArrayDyn<f32>>> {
    crate::arrays::array(py, numbers, shape)
}

/// Returns the values of all pairs, `(batch, n, m)`, and a tape if it is requested and not too
/// large.
#[pyfunction]
pub fn all_pairs<'py>(
    py: Python<'py>,
    x: PyReadonlyArray3<'py, f32>,
    y: PyReadonlyArray3<'py, f32>,
    form: Form,
    mix: f32,
    store_tape: bool,
) -> PyResult<(Bound<'py, PyArrayDyn<f32>>, Option<PairTape>)> {
    let sizes = Sizes::of(x.shape(), y.shape())?;
    let Sizes { batch, n, m, width } = sizes;
    let form = form_of(&form, width)?;
    if sizes.is_empty() {
        return Ok((array(py, Vec::new(), &sizes.values())?, None));
    }
    let (x, y) = (x.as_slice()?, y.as_slice()?);
    let mut tapes = vec![kernel::Tape::default(); if store_tape { batch } else { 0 }];
    let fits = kernel::Tape::bytes(form, n, m).saturating_mul(batch) <= MAX_TAPE_BYTES;
    tapes.truncate(if fits { batch } else { 0 });
    let values = compute(py, sizes.is_small(), || {
        let mut values = vec![0.0; batch * n * m];
        let matrices = x.par_chunks(n * width).zip(y.par_chunks(m * width)).zip(values.par_chunks_mut(n * m));
        match tapes.is_empty() {
            true => matrices.for_each(|((x, y), out)| Pairs::new(form, x, y, mix).forward(0..n, out, None)),
            false => matrices.zip(&mut tapes).for_each(|(((x, y), out), tape)| {
                Pairs::new(form, x, y, mix).forward(0..n, out, Some(tape));
            }),
        }
        values
    });
    let tape = (!tapes.is_empty()).then_some(PairTape { tapes });
    Ok((array(py, values, &sizes.values())?, tape))
}

/// Returns the gradients of `sum(gradient * values)` with respect to `x`, `y` and the mix.
#[pyfunction]
#[pyo3(signature = (x, y, form, mix, gradient, tape=None))]
pub fn all_pairs_backward<'py>(
    py: Python<'py>,
    x: PyReadonlyArray3<'py, f32>,
    y: PyReadonlyArray3<'py, f32>,
    form: Form,
    mix: f32,
    gradient: PyReadonlyArray3<'py, f32>,
    tape: Option<&Bound<'py, PairTape>>,
) -> PyResult<Gradients<'py>> {
    let sizes = Sizes::of(x.shape(), y.shape())?;
    let Sizes { batch, n, m, width } = sizes;
    let form = form_of(&form, width)?;
    let tapes = tape.map(|tape| &tape.get().tapes);
    if gradient.shape() != sizes.values() || tapes.is_some_and(|tapes| tapes.len() != batch) {
        let shape = gradient.shape();
        return Err(invalid(&format!("gradient has shape {shape:?}"), "pass the shape of the values"));
    }
    let (mut dx, mut dy) = (vec![0.0; batch * n * width], vec![0.0; batch * m * width]);
    let mut dmix = 0.0;
    if !sizes.is_empty() {
        let (x, y, gradient) = (x.as_slice()?, y.as_slice()?, gradient.as_slice()?);
        dmix = compute(py, sizes.is_small(), || {
            let outs = dx.par_chunks_mut(n * width).zip(dy.par_chunks_mut(m * width));
            let matrices = x.par_chunks(n * width).zip(y.par_chunks(m * width));
            let problems = matrices.zip(gradient.par_chunks(n * m)).zip(outs).enumerate();
            let dmix = problems.map(|(index, (((x, y), gradient), (dx, dy)))| {
                let pairs = Pairs::new(form, x, y, mix);
                let found = kernel::all_pairs_backward(&pairs, gradient, tapes.map(|tapes| &tapes[index]));
                dx.copy_from_slice(&found.dx);
                dy.copy_from_slice(&found.dy);
                found.dmix
            });
            dmix.collect::<Vec<f64>>().iter().sum()
        });
    }
    Ok((array(py, dx, &sizes.x())?, array(py, dy, &sizes.y())?, dmix))
}

fn same_rows(x: &[usize], y: &[usize]) -> PyResult<()> {
    match x == y {
        true => Ok(()),
        false => Err(invalid(&format!("x and y have shapes {x:?} and {y:?}"), "pass as many rows of both")),
    }
}

/// Returns the values of the pairs `(x[i], y[i])`.
#[pyfunction]
pub fn paired<'py>(
    py: Python<'py>,
    x: PyReadonlyArray2<'py, f32>,
    y: PyReadonlyArray2<'py, f32>,
    form: Form,
    mix: f32,
) -> PyResult<Bound<'py, PyArray1<f32>>> {
    let (n, width) = (x.shape()[0], x.shape()[1]);
    let form = form_of(&form, width)?;
    same_rows(x.shape(), y.shape())?;
    let (x, y) = (x.as_slice()?, y.as_slice()?);
    Ok(PyArray1::from_vec(py, compute(py, is_small(n, width), || kernel::rowwise(form, x, y, mix))))
}

/// Returns the gradients of `sum(gradient * values)` with respect to `x`, `y` and the mix.
#[pyfunction]
pub fn paired_backward<'py>(
    py: Python<'py>,
    x: PyReadonlyArray2<'py, f32>,
    y: PyReadonlyArray2<'py, f32>,
    form: Form,
    mix: f32,
    gradient: PyReadonlyArray1<'py, f32>,
) -> PyResult<Gradients<'py>> {
    let shape = [x.shape()[0], x.shape()[1]];
    let form = form_of(&form, shape[1])?;
    same_rows(x.shape(), y.shape())?;
    same_rows(&shape[..1], gradient.shape())?;
    let (x, y, gradient) = (x.as_slice()?, y.as_slice()?, gradient.as_slice()?);
    let small = is_small(shape[0], shape[1]);
    let found = compute(py, small, || kernel::rowwise_backward(form, x, y, mix, gradient));
    Ok((array(py, found.dx, &shape)?, array(py, found.dy, &shape)?, found.dmix))
}

/// A contrastive loss, without its rows.
#[derive(Clone, Copy)]
pub struct Loss {
    pub form: PairForm,
    /// The factor of a distance in a logit.
    pub slope: f32,
    pub objective: Objective,
}

impl Loss {
    /// Runs `work` on the problem of these rows.
    fn on<T>(
        self,
        x: &[f32],
        y: &[f32],
        potential: &[f32],
        mix: f32,
        work: impl FnOnce(Contrast<'_>) -> T,
    ) -> T {
        let pairs = Pairs::new(self.form, x, y, mix);
        work(Contrast {
            pairs: &pairs,
            potential,
            first_positive: 0,
            slope: self.slope,
            objective: self.objective,
        })
    }

    /// Returns the loss.
    pub fn value(self, x: &[f32], y: &[f32], potential: &[f32], mix: f32) -> f32 {
        self.on(x, y, potential, mix, |contrast| contrast.forward(None).0[0])
    }

    /// Returns the loss, and its gradients with respect to rows, mix and potential.
    pub fn with_gradients(
        self,
        x: &[f32],
        y: &[f32],
        potential: &[f32],
        mix: f32,
    ) -> (f32, PairGradients, Vec<f32>) {
        let mut cache = fits_tape(self.form, potential.len(), potential.len()).then(ForwardCache::acquire);
        let found = self.on(x, y, potential, mix, |contrast| {
            let (statistics, sums) = contrast.forward(cache.as_mut());
            let (rows, of_potential) = contrast.backward(&sums, cache.as_mut(), 1.0);
            (statistics[0], rows, of_potential)
        });
        if let Some(cache) = cache {
            cache.release();
        }
        found
    }
}

/// A contrastive loss between its forward and its backward pass.
#[pyclass(frozen, module = "isochrone._isochrone")]
pub struct InfoNceTape {
    loss: Loss,
    mix: f32,
    shape: [usize; 2],
    sums: LogSums,
    /// Taken by the first backward pass; a second one recomputes it.
    cache: Mutex<Option<ForwardCache>>,
}

impl Drop for InfoNceTape {
    fn drop(&mut self) {
        if let Some(cache) = self.cache.get_mut().ok().and_then(Option::take) {
            cache.release();
        }
    }
}

fn check_contrast(x: &[usize], y: &[usize], potential: &[usize]) -> PyResult<[usize; 2]> {
    same_rows(x, y)?;
    if potential != &x[..1] || x[0] == 0 {
        return Err(invalid(
            &format!("x has shape {x:?}, potential {potential:?}"),
            "pass at least one row, and one potential per row of y",
        ));
    }
    Ok([x[0], x[1]])
}

/// Returns the softmax cross-entropy of the logits `potential[j] + slope * d(x[i], y[j])`, whose
/// positives are on the diagonal, and a tape if it is requested.
///
/// `objective` is whether rows and columns are included, and the weight of the mean squared
/// log-sum-exps.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "called by one function of Python")]
pub fn infonce<'py>(
    py: Python<'py>,
    x: PyReadonlyArray2<'py, f32>,
    y: PyReadonlyArray2<'py, f32>,
    potential: PyReadonlyArray1<'py, f32>,
    form: Form,
    mix: f32,
    slope: f32,
    objective: (bool, bool, f32),
    store_tape: bool,
) -> PyResult<(f32, Option<InfoNceTape>)> {
    let shape = check_contrast(x.shape(), y.shape(), potential.shape())?;
    let [n, width] = shape;
    let (forward, backward, penalty) = objective;
    let objective = Objective::InfoNce { forward, backward, penalty };
    let loss = Loss { form: form_of(&form, width)?, slope, objective };
    let (x, y, potential) = (x.as_slice()?, y.as_slice()?, potential.as_slice()?);
    let small = is_small(n * n, width);
    if !store_tape {
        return Ok((compute(py, small, || loss.value(x, y, potential, mix)), None));
    }
    let mut cache = fits_tape(loss.form, n, n).then(ForwardCache::acquire);
    let (statistics, sums) =
        compute(py, small, || loss.on(x, y, potential, mix, |contrast| contrast.forward(cache.as_mut())));
    Ok((statistics[0], Some(InfoNceTape { loss, mix, shape, sums, cache: Mutex::new(cache) })))
}

#[pymethods]
impl InfoNceTape {
    /// Returns the gradients of `upstream * loss` with respect to `x`, `y` and the mix, and with
    /// respect to the potential. The arrays must be those of the forward pass.
    fn backward<'py>(
        &self,
        py: Python<'py>,
        x: PyReadonlyArray2<'py, f32>,
        y: PyReadonlyArray2<'py, f32>,
        potential: PyReadonlyArray1<'py, f32>,
        upstream: f32,
    ) -> PyResult<(Gradients<'py>, Bound<'py, PyArray1<f32>>)> {
        let shape = check_contrast(x.shape(), y.shape(), potential.shape())?;
        same_rows(&self.shape, &shape)?;
        let (x, y, potential) = (x.as_slice()?, y.as_slice()?, potential.as_slice()?);
        let mut cache = self.cache.lock().ok().and_then(|mut cache| cache.take());
        let (found, of_potential) = compute(py, is_small(shape[0] * shape[0], shape[1]), || {
            self.loss.on(x, y, potential, self.mix, |contrast| {
                contrast.backward(&self.sums, cache.as_mut(), upstream)
            })
        });
        if let Some(cache) = cache {
            cache.release();
        }
        let rows = (array(py, found.dx, &shape)?, array(py, found.dy, &shape)?, found.dmix);
        Ok((rows, PyArray1::from_vec(py, of_potential)))
    }
}
