//! The quasimetrics as functions that XLA calls directly: no Python between, no copies of inputs.
//!
//! The structs are those of `xla/ffi/api/c_api.h`. Their layout is the same in the versions 0.1 to
//! 0.5 of the interface, except for fields behind those that are read here.
//!
//! All functions accept any number of leading batch axes, which `jax.vmap` adds. They check types
//! and shapes, return errors as `XLA_FFI_Error`, and never unwind into the caller.

use crate::{
    kernel::{Loss, is_small, pair_form},
    pool::compute_detached,
};
use isochrone::nn::kernel::{self, Objective, PairForm, Pairs};
use pyo3::prelude::*;
use rayon::prelude::*;
use std::{
    ffi::{CString, c_char, c_int, c_void},
    mem::offset_of,
    panic::{AssertUnwindSafe, catch_unwind},
    ptr::null_mut,
};

/// `XLA_FFI_InternalExtension`
#[repr(C)]
struct Extension {
    size: usize,
    kind: c_int,
    next: *mut Self,
}

/// `XLA_FFI_Api_Version`
#[repr(C)]
struct Version {
    size: usize,
    extension: *mut Extension,
    major: c_int,
    minor: c_int,
}

/// `XLA_FFI_Metadata`, without the type of a state.
#[repr(C)]
struct Metadata {
    size: usize,
    version: Version,
    traits: u32,
}

/// `XLA_FFI_Metadata_Extension`
#[repr(C)]
struct MetadataExtension {
    base: Extension,
    metadata: *mut Metadata,
}

/// `XLA_FFI_Error_Create_Args`
#[repr(C)]
struct ErrorArguments {
    size: usize,
    extension: *mut Extension,
    message: *const c_char,
    code: c_int,
}

/// The first fields of `XLA_FFI_Api`.
#[repr(C)]
struct Api {
    size: usize,
    extension: *mut Extension,
    version: Version,
    internal: *const c_void,
    create_error: Option<unsafe extern "C" fn(*mut ErrorArguments) -> *mut c_void>,
}

/// `XLA_FFI_Args` and `XLA_FFI_Rets`
#[repr(C)]
struct Buffers {
    size: usize,
    extension: *mut Extension,
    count: i64,
    kinds: *mut c_int,
    buffers: *mut *mut Buffer,
}

/// `XLA_FFI_Buffer`
#[repr(C)]
struct Buffer {
    size: usize,
    extension: *mut Extension,
    dtype: c_int,
    data: *mut c_void,
    rank: i64,
    dims: *mut i64,
}

/// `XLA_FFI_Attrs`
#[repr(C)]
struct Attributes {
    size: usize,
    extension: *mut Extension,
    count: i64,
    kinds: *mut c_int,
    names: *mut *mut ByteSpan,
    values: *mut *mut c_void,
}

/// `XLA_FFI_ByteSpan`
#[repr(C)]
struct ByteSpan {
    start: *const u8,
    length: usize,
}

/// `XLA_FFI_Scalar`
#[repr(C)]
struct Scalar {
    dtype: c_int,
    value: *const c_void,
}

/// `XLA_FFI_CallFrame`, without the result of an asynchronous call.
#[repr(C)]
struct CallFrame {
    size: usize,
    extension: *mut Extension,
    api: *const Api,
    context: *mut c_void,
    stage: c_int,
    arguments: Buffers,
    results: Buffers,
    attributes: Attributes,
}

const EXTENSION_METADATA: c_int = 1;
const STAGE_EXECUTE: c_int = 3;
const KIND_BUFFER: c_int = 1;
const ATTRIBUTE_SCALAR: c_int = 3;
const ATTRIBUTE_STRING: c_int = 4;
const DTYPE_S64: c_int = 5;
const DTYPE_F32: c_int = 11;
const ERROR_INVALID_ARGUMENT: c_int = 3;
const ERROR_INTERNAL: c_int = 13;

/// The versions of the interface, `0.minor`, in which the structs have this layout.
const MINOR_VERSIONS: std::ops::RangeInclusive<c_int> = 1..=5;

type Checked<T> = Result<T, String>;

/// An array of XLA.
struct Operand<'a> {
    name: &'static str,
    dims: Vec<usize>,
    numbers: &'a [f32],
}

/// A result to be written.
struct Output<'a> {
    name: &'static str,
    dims: Vec<usize>,
    numbers: &'a mut [f32],
}

/// A call whose arrays and attributes have been read.
struct Call<'a> {
    arguments: Vec<Operand<'a>>,
    results: Vec<Output<'a>>,
    frame: &'a CallFrame,
}

/// Returns the shape and the first number of a buffer of XLA, if it contains `f32`.
#[expect(unsafe_code, reason = "structs of C")]
unsafe fn buffer_of(buffers: &Buffers, index: usize, name: &str) -> Checked<(Vec<usize>, usize, *mut f32)> {
    // SAFETY: the caller passes buffers of a call in progress, with `count` entries.
    let (kind, buffer) = unsafe { (*buffers.kinds.add(index), &**buffers.buffers.add(index)) };
    if kind != KIND_BUFFER || buffer.size < size_of::<Buffer>() {
        return Err(format!("{name} is not an array"));
    }
    if buffer.dtype != DTYPE_F32 {
        return Err(format!("{name} is not an array of float32"));
    }
    let rank = usize::try_from(buffer.rank).map_err(|_| format!("{name} has rank {}", buffer.rank))?;
    let dims = (0..rank).map(|axis| {
        // SAFETY: there are `rank` dimensions.
        usize::try_from(unsafe { *buffer.dims.add(axis) }).ok()
    });
    let dims: Vec<usize> = dims.collect::<Option<_>>().ok_or_else(|| format!("{name} has no size"))?;
    let count = dims.iter().try_fold(1usize, |product, &dim| product.checked_mul(dim));
    let count = count.ok_or_else(|| format!("{name} is too large"))?;
    // An empty array may have no memory.
    let empty = count == 0 || buffer.data.is_null();
    match (empty, count) {
        (false, _) => Ok((dims, count, buffer.data.cast())),
        (true, 0) => Ok((dims, 0, std::ptr::NonNull::dangling().as_ptr())),
        (true, _) => Err(format!("{name} has no memory")),
    }
}

impl<'a> Call<'a> {
    /// # Safety
    /// The frame must be that of a call in progress.
    #[expect(unsafe_code, reason = "structs of C")]
    unsafe fn new(
        frame: &'a CallFrame,
        arguments: &[&'static str],
        results: &[&'static str],
    ) -> Checked<Self> {
        let counts = (frame.arguments.count, frame.results.count);
        if counts != (arguments.len() as i64, results.len() as i64) {
            return Err(format!("{counts:?} arguments and results instead of {arguments:?}, {results:?}"));
        }
        let arguments = arguments.iter().enumerate().map(|(index, &name)| {
            // SAFETY: XLA keeps the arguments alive and unchanged during the call.
            unsafe {
                let (dims, count, data) = buffer_of(&frame.arguments, index, name)?;
                Ok(Operand { name, dims, numbers: std::slice::from_raw_parts(data, count) })
            }
        });
        let results = results.iter().enumerate().map(|(index, &name)| {
            // SAFETY: results overlap neither each other nor arguments, since no aliases were
            // declared.
            unsafe {
                let (dims, count, data) = buffer_of(&frame.results, index, name)?;
                Ok(Output { name, dims, numbers: std::slice::from_raw_parts_mut(data, count) })
            }
        });
        Ok(Self {
            arguments: arguments.collect::<Checked<_>>()?,
            results: results.collect::<Checked<_>>()?,
            frame,
        })
    }

    /// Returns the kind and the value of an attribute.
    #[expect(unsafe_code, reason = "structs of C")]
    fn attribute(&self, name: &str) -> Checked<(c_int, *const c_void)> {
        let attributes = &self.frame.attributes;
        (0..usize::try_from(attributes.count).unwrap_or(0))
            .find_map(|index| {
                // SAFETY: there are `count` attributes, whose names are not necessarily terminated.
                unsafe {
                    let span = &**attributes.names.add(index);
                    let found = std::slice::from_raw_parts(span.start, span.length) == name.as_bytes();
                    found
                        .then(|| (*attributes.kinds.add(index), (*attributes.values.add(index)).cast_const()))
                }
            })
            .ok_or_else(|| format!("attribute '{name}' is missing"))
    }

    #[expect(unsafe_code, reason = "structs of C")]
    fn text(&self, name: &str) -> Checked<&'a str> {
        let (kind, value) = self.attribute(name)?;
        if kind != ATTRIBUTE_STRING {
            return Err(format!("attribute '{name}' is not a string"));
        }
        // SAFETY: the value of a string is a span of bytes that lives as long as the call.
        let bytes = unsafe {
            let span = &*value.cast::<ByteSpan>();
            std::slice::from_raw_parts(span.start, span.length)
        };
        std::str::from_utf8(bytes).map_err(|_| format!("attribute '{name}' is not UTF-8"))
    }

    #[expect(unsafe_code, reason = "structs of C")]
    fn scalar<T: Copy>(&self, name: &str, dtype: c_int) -> Checked<T> {
        let (kind, value) = self.attribute(name)?;
        // SAFETY: a scalar has a type and points to a number of that type; callers pass the type of
        // `T`.
        unsafe {
            let scalar = value.cast::<Scalar>();
            if kind != ATTRIBUTE_SCALAR || (*scalar).dtype != dtype {
                return Err(format!("attribute '{name}' has another type"));
            }
            Ok((*scalar).value.cast::<T>().read_unaligned())
        }
    }

    fn integer(&self, name: &str) -> Checked<usize> {
        let value: i64 = self.scalar(name, DTYPE_S64)?;
        usize::try_from(value).map_err(|_| format!("attribute '{name}' is {value}"))
    }

    fn form(&self, width: usize) -> Checked<PairForm> {
        let sizes = [self.integer("a")?, self.integer("b")?, self.integer("c")?];
        pair_form(self.text("kind")?, sizes, width)
    }

    fn loss(&self, width: usize) -> Checked<Loss> {
        Ok(Loss {
            form: self.form(width)?,
            slope: self.scalar("slope", DTYPE_F32)?,
            objective: Objective::InfoNce {
                forward: self.integer("forward")? != 0,
                backward: self.integer("backward")? != 0,
                penalty: self.scalar("penalty", DTYPE_F32)?,
            },
        })
    }

    /// Returns the batch axes and the shape of `x`, whose last `own` axes belong to one problem.
    fn shape_of_x<const OWN: usize>(&self) -> Checked<(Vec<usize>, [usize; OWN])> {
        let Operand { name, dims, .. } = &self.arguments[0];
        let at = dims.len().checked_sub(OWN).ok_or_else(|| format!("{name} has shape {dims:?}"))?;
        let (batch, own) = dims.split_at(at);
        Ok((batch.to_vec(), own.try_into().expect("of this length")))
    }

    /// Checks that arguments and results are `[batch.., own..]`, in order.
    fn expect(&self, batch: &[usize], arguments: &[&[usize]], results: &[&[usize]]) -> Checked<()> {
        let found = self.arguments.iter().map(|operand| (operand.name, &operand.dims)).zip(arguments);
        let found = found.chain(self.results.iter().map(|output| (output.name, &output.dims)).zip(results));
        for ((name, dims), own) in found {
            if !dims.iter().eq(batch.iter().chain(*own)) {
                return Err(format!("{name} has shape {dims:?} instead of {batch:?} + {own:?}"));
            }
        }
        Ok(())
    }

    /// Sets all results to zero: what is left to do if an axis is empty.
    fn write_zeros(self) {
        self.results.into_iter().for_each(|output| output.numbers.fill(0.0));
    }

    fn arguments<const N: usize>(&self) -> [&'a [f32]; N] {
        std::array::from_fn(|index| self.arguments[index].numbers)
    }

    fn into_results<const N: usize>(self) -> [&'a mut [f32]; N] {
        let mut results = self.results.into_iter();
        std::array::from_fn(|_| results.next().expect("counted before").numbers)
    }
}

/// `x [.., n, width], y [.., m, width], mix [..]` to `values [.., n, m]`.
fn all_pairs(call: Call<'_>) -> Checked<()> {
    let (batch, [n, width]) = call.shape_of_x()?;
    let m = second_to_last(&call.arguments[1].dims);
    call.expect(&batch, &[&[n, width], &[m, width], &[]], &[&[n, m]])?;
    let form = call.form(width)?;
    if batch.contains(&0) || n == 0 || m == 0 {
        call.write_zeros();
        return Ok(());
    }
    let [x, y, mix] = call.arguments();
    let [values] = call.into_results();
    compute_detached(is_small(values.len(), width), || {
        let rows = x.par_chunks(n * width).zip(y.par_chunks(m * width));
        rows.zip(mix).zip(values.par_chunks_mut(n * m)).for_each(|(((x, y), &mix), values)| {
            Pairs::new(form, x, y, mix).forward(0..n, values, None);
        });
    });
    Ok(())
}

/// `x, y, mix` as above and `gradient [.., n, m]` to the gradients of `x`, `y` and `mix`.
fn all_pairs_backward(call: Call<'_>) -> Checked<()> {
    let (batch, [n, width]) = call.shape_of_x()?;
    let m = second_to_last(&call.arguments[1].dims);
    let inputs: [&[usize]; 3] = [&[n, width], &[m, width], &[]];
    call.expect(&batch, &[inputs[0], inputs[1], inputs[2], &[n, m]], &inputs)?;
    let form = call.form(width)?;
    if batch.contains(&0) || n == 0 || m == 0 {
        call.write_zeros();
        return Ok(());
    }
    let [x, y, mix, gradient] = call.arguments();
    let [dx, dy, dmix] = call.into_results();
    compute_detached(is_small(gradient.len(), width), || {
        let rows = x.par_chunks(n * width).zip(y.par_chunks(m * width)).zip(mix);
        let outs = dx.par_chunks_mut(n * width).zip(dy.par_chunks_mut(m * width)).zip(dmix);
        rows.zip(gradient.par_chunks(n * m)).zip(outs).for_each(
            |((((x, y), &mix), gradient), ((dx, dy), dmix))| {
                let found = kernel::all_pairs_backward(&Pairs::new(form, x, y, mix), gradient, None);
                dx.copy_from_slice(&found.dx);
                dy.copy_from_slice(&found.dy);
                *dmix = found.dmix as f32;
            },
        );
    });
    Ok(())
}

/// `x [.., n, width], y [.., n, width], mix [..]` to `values [.., n]`.
fn paired(call: Call<'_>) -> Checked<()> {
    let (batch, [n, width]) = call.shape_of_x()?;
    call.expect(&batch, &[&[n, width], &[n, width], &[]], &[&[n]])?;
    let form = call.form(width)?;
    if batch.contains(&0) || n == 0 {
        return Ok(());
    }
    let [x, y, mix] = call.arguments();
    let [values] = call.into_results();
    compute_detached(is_small(values.len(), width), || {
        let rows = x.par_chunks(n * width).zip(y.par_chunks(n * width));
        rows.zip(mix).zip(values.par_chunks_mut(n)).for_each(|(((x, y), &mix), values)| {
            values.copy_from_slice(&kernel::rowwise(form, x, y, mix));
        });
    });
    Ok(())
}

/// `x, y, mix` as above and `gradient [.., n]` to the gradients of `x`, `y` and `mix`.
fn paired_backward(call: Call<'_>) -> Checked<()> {
    let (batch, [n, width]) = call.shape_of_x()?;
    let inputs: [&[usize]; 3] = [&[n, width], &[n, width], &[]];
    call.expect(&batch, &[inputs[0], inputs[1], inputs[2], &[n]], &inputs)?;
    let form = call.form(width)?;
    if batch.contains(&0) || n == 0 {
        call.write_zeros();
        return Ok(());
    }
    let [x, y, mix, gradient] = call.arguments();
    let [dx, dy, dmix] = call.into_results();
    compute_detached(is_small(gradient.len(), width), || {
        let rows = x.par_chunks(n * width).zip(y.par_chunks(n * width)).zip(mix);
        let outs = dx.par_chunks_mut(n * width).zip(dy.par_chunks_mut(n * width)).zip(dmix);
        rows.zip(gradient.par_chunks(n)).zip(outs).for_each(
            |((((x, y), &mix), gradient), ((dx, dy), dmix))| {
                let found = kernel::rowwise_backward(form, x, y, mix, gradient);
                dx.copy_from_slice(&found.dx);
                dy.copy_from_slice(&found.dy);
                *dmix = found.dmix as f32;
            },
        );
    });
    Ok(())
}

/// Returns whether there is nothing to compute. One problem without rows has no loss.
fn has_no_losses(batch: &[usize], n: usize) -> Checked<bool> {
    match (batch.contains(&0), n) {
        (true, _) => Ok(true),
        (false, 0) => Err("x has no rows".into()),
        (false, _) => Ok(false),
    }
}

/// `x [.., n, width], y [.., n, width], potential [.., n], mix [..]` to `loss [..]`.
fn infonce(call: Call<'_>) -> Checked<()> {
    let (batch, [n, width]) = call.shape_of_x()?;
    call.expect(&batch, &[&[n, width], &[n, width], &[n], &[]], &[&[]])?;
    let loss = call.loss(width)?;
    if has_no_losses(&batch, n)? {
        return Ok(());
    }
    let [x, y, potential, mix] = call.arguments();
    let [losses] = call.into_results();
    compute_detached(is_small(losses.len() * n * n, width), || {
        let rows = x.par_chunks(n * width).zip(y.par_chunks(n * width)).zip(potential.par_chunks(n));
        rows.zip(mix).zip(losses).for_each(|((((x, y), potential), &mix), out)| {
            *out = loss.value(x, y, potential, mix);
        });
    });
    Ok(())
}

/// As [`infonce`], and the gradients of `x`, `y`, `potential` and `mix`.
fn infonce_gradients(call: Call<'_>) -> Checked<()> {
    let (batch, [n, width]) = call.shape_of_x()?;
    let inputs: [&[usize]; 4] = [&[n, width], &[n, width], &[n], &[]];
    call.expect(&batch, &inputs, &[&[], inputs[0], inputs[1], inputs[2], inputs[3]])?;
    let loss = call.loss(width)?;
    if has_no_losses(&batch, n)? {
        return Ok(());
    }
    let [x, y, potential, mix] = call.arguments();
    let [losses, dx, dy, dpotential, dmix] = call.into_results();
    compute_detached(is_small(losses.len() * n * n, width), || {
        let rows = x.par_chunks(n * width).zip(y.par_chunks(n * width)).zip(potential.par_chunks(n)).zip(mix);
        let outs = dx.par_chunks_mut(n * width).zip(dy.par_chunks_mut(n * width));
        let outs = outs.zip(dpotential.par_chunks_mut(n)).zip(dmix).zip(losses);
        rows.zip(outs).for_each(|((((x, y), potential), &mix), ((((dx, dy), dpotential), dmix), out))| {
            let (value, found, of_potential) = loss.with_gradients(x, y, potential, mix);
            *out = value;
            dx.copy_from_slice(&found.dx);
            dy.copy_from_slice(&found.dy);
            dpotential.copy_from_slice(&of_potential);
            *dmix = found.dmix as f32;
        });
    });
    Ok(())
}

/// Returns the number of rows, or 0 for a shape that will be refused.
fn second_to_last(dims: &[usize]) -> usize {
    dims.len().checked_sub(2).map_or(0, |at| dims[at])
}

/// A function of this file, and the names of its arrays.
struct Handler {
    name: &'static str,
    arguments: &'static [&'static str],
    results: &'static [&'static str],
    run: fn(Call<'_>) -> Checked<()>,
}

type Entry = extern "C" fn(*mut CallFrame) -> *mut c_void;

macro_rules! handlers {
    ($($name:ident($($argument:literal),*) -> ($($result:literal),*);)*) => {
        /// The names and the functions that XLA calls.
        const ENTRIES: &[(&str, Entry)] = &[$({
            const HANDLER: Handler = Handler {
                name: concat!("isochrone_", stringify!($name)),
                arguments: &[$($argument),*],
                results: &[$($result),*],
                run: $name,
            };
            extern "C" fn entry(frame: *mut CallFrame) -> *mut c_void {
                answer(frame, &HANDLER)
            }
            (HANDLER.name, entry)
        }),*];
    };
}

handlers! {
    all_pairs("x", "y", "mix") -> ("values");
    all_pairs_backward("x", "y", "mix", "gradient") -> ("dx", "dy", "dmix");
    paired("x", "y", "mix") -> ("values");
    paired_backward("x", "y", "mix", "gradient") -> ("dx", "dy", "dmix");
    infonce("x", "y", "potential", "mix") -> ("loss");
    infonce_gradients("x", "y", "potential", "mix") -> ("loss", "dx", "dy", "dpotential", "dmix");
}

/// Answers a call of XLA: a query for metadata, or a computation. Returns null or an error.
#[expect(unsafe_code, reason = "structs of C")]
fn answer(frame: *mut CallFrame, handler: &Handler) -> *mut c_void {
    // SAFETY: XLA passes a frame that lives as long as the call. Its first fields are in every
    // version.
    let Some(frame) = (unsafe { frame.as_ref() }) else { return null_mut() };
    // SAFETY: an extension pointer is null or valid.
    if let Some(extension) = unsafe { frame.extension.as_ref() }
        && extension.kind == EXTENSION_METADATA
    {
        // SAFETY: its kind determines its type.
        unsafe { describe(frame, frame.extension.cast()) };
        return null_mut();
    }
    if frame.stage != STAGE_EXECUTE {
        return null_mut();
    }
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        if frame.size < size_of::<CallFrame>() {
            return Err("this version of XLA is not supported".to_owned());
        }
        // SAFETY: the call is in progress, and its arguments are initialized in this stage.
        let call = unsafe { Call::new(frame, handler.arguments, handler.results) }?;
        (handler.run)(call)
    }));
    let (code, problem) = match outcome {
        Ok(Ok(())) => return null_mut(),
        Ok(Err(problem)) => (ERROR_INVALID_ARGUMENT, problem),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("unknown error");
            (ERROR_INTERNAL, text.to_owned())
        }
    };
    // SAFETY: the interface is that of the runtime that called.
    unsafe { error(frame.api, code, &format!("{}: {problem}", handler.name)) }
}

/// Writes the version of the interface that this file is written against.
///
/// # Safety
/// The pointers must be those of a query for metadata.
#[expect(unsafe_code, reason = "structs of C")]
unsafe fn describe(frame: &CallFrame, extension: *mut MetadataExtension) {
    // SAFETY: as promised by the caller; the runtime's interface may be missing in a query.
    unsafe {
        let Some(metadata) = (*extension).metadata.as_mut() else { return };
        let runtime = frame.api.as_ref().map_or(*MINOR_VERSIONS.start(), |api| api.version.minor);
        // A runtime accepts its own version and those of at least a year before.
        let minor = runtime.clamp(*MINOR_VERSIONS.start(), *MINOR_VERSIONS.end());
        (metadata.version.major, metadata.version.minor, metadata.traits) = (0, minor, 0);
    }
}

/// Returns an error of XLA, which owns it.
///
/// # Safety
/// `api` must be null or the interface of the runtime.
#[expect(unsafe_code, reason = "structs of C")]
unsafe fn error(api: *const Api, code: c_int, message: &str) -> *mut c_void {
    let message = CString::new(message.replace('\0', " ")).unwrap_or_default();
    let mut arguments = ErrorArguments {
        // The size that C computes ends with the last field, without padding.
        size: offset_of!(ErrorArguments, code) + size_of::<c_int>(),
        extension: null_mut(),
        message: message.as_ptr(),
        code,
    };
    // SAFETY: as promised by the caller. The runtime copies the message.
    unsafe {
        match api.as_ref().and_then(|api| api.create_error) {
            Some(create) => create(&mut arguments),
            // Every runtime has it. Without it, the caller would use results that were not written.
            None => std::process::abort(),
        }
    }
}

/// Returns the names and addresses of the functions that XLA calls.
#[pyfunction]
pub fn xla_targets() -> Vec<(&'static str, usize)> {
    ENTRIES.iter().map(|&(name, entry)| (name, entry as usize)).collect()
}
