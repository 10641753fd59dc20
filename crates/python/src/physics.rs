//! The MuJoCo library, opened when it is needed: one wheel for those who have it and those who do
//! not.
//!
//! mujoco-rs calls twelve functions. They are defined here as jumps through slots that are filled
//! when the library is opened. The linker finds all of them, and does not record `libmujoco` as a
//! dependency of the module. Nothing may be called before [`open`] succeeded:
//! `isochrone::envs` calls the loader before every use.

use crate::errors::PhysicsError;
use isochrone::envs::maze::MujocoError;
use pyo3::prelude::*;
use std::{
    arch::naked_asm,
    ffi::{CStr, CString, c_char, c_int, c_void},
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, AtomicPtr, Ordering},
};

/// The only version that mujoco-rs 7.0.0 supports: the layout of its structs is that of this
/// version.
const VERSION: &CStr = c"3.17.0";

static IS_OPEN: AtomicBool = AtomicBool::new(false);

/// The target of a slot that was not filled. It cannot return an error to its caller, who expects a
/// function of MuJoCo.
extern "C" fn missing() -> ! {
    std::process::abort();
}

macro_rules! slots {
    ($($name:ident)*) => {
        mod slots {
            use super::*;
            $(
                #[expect(non_upper_case_globals, reason = "the names of MuJoCo")]
                pub static $name: AtomicPtr<c_void> = AtomicPtr::new(missing as *mut c_void);
            )*
        }
        $(
            /// # Safety
            /// As of the function of this name.
            #[allow(unsafe_code, reason = "defines a symbol of MuJoCo")]
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name() {
                #[cfg(target_arch = "x86_64")]
                naked_asm!("jmp qword ptr [rip + {slot}]", slot = sym slots::$name);
                #[cfg(target_arch = "aarch64")]
                naked_asm!(
                    "adrp x16, {slot}",
                    "ldr x16, [x16, :lo12:{slot}]",
                    "br x16",
                    slot = sym slots::$name
                );
            }
        )*
        const SLOTS: &[(&CStr, &AtomicPtr<c_void>)] = &[$((
            match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                Ok(name) => name,
                Err(_) => panic!("a name has no zero byte"),
            },
            &slots::$name,
        )),*];
    };
}

slots!(mj_addBufferVFS mj_defaultVFS mj_deleteData mj_deleteModel mj_deleteVFS mj_forward
       mj_loadXML mj_makeData mj_resetData mj_step mj_version mj_versionString);

#[expect(unsafe_code, reason = "the dynamic linker")]
unsafe extern "C" {
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dlerror() -> *const c_char;
}

/// `RTLD_NOW`: all symbols are resolved at once, so that a broken library fails here.
const NOW: c_int = 2;

/// Opens a library and fills the slots, if it is MuJoCo of the right version.
fn open(path: &Path) -> Result<(), String> {
    let name = CString::new(path.as_os_str().as_encoded_bytes())
        .map_err(|_| format!("{}: not a path; hint: remove the zero byte", path.display()))?;
    // SAFETY: the library is that of the user's Python environment, opened as `import mujoco` opens
    // it. All symbols are checked before one is stored.
    #[expect(unsafe_code, reason = "the dynamic linker")]
    unsafe {
        let library = dlopen(name.as_ptr(), NOW);
        if library.is_null() {
            let reason = CStr::from_ptr(dlerror()).to_string_lossy().into_owned();
            return Err(format!("{reason}; hint: install it with pip install mujoco==3.17.0"));
        }
        let symbols: Vec<*mut c_void> = SLOTS.iter().map(|(name, _)| dlsym(library, name.as_ptr())).collect();
        let version = dlsym(library, c"mj_versionString".as_ptr());
        // Our own module has the symbols too.
        if version.is_null()
            || std::ptr::fn_addr_eq(
                mj_versionString as unsafe extern "C" fn(),
                std::mem::transmute::<*mut c_void, unsafe extern "C" fn()>(version),
            )
        {
            return Err(format!("{}: not MuJoCo; hint: pip install mujoco==3.17.0", path.display()));
        }
        let version: extern "C" fn() -> *const c_char = std::mem::transmute(version);
        let version = CStr::from_ptr(version());
        if version != VERSION || symbols.iter().any(|symbol| symbol.is_null()) {
            return Err(format!(
                "{} is MuJoCo {}; hint: this version works with {}: pip install mujoco=={1}",
                path.display(),
                version.to_string_lossy(),
                VERSION.to_string_lossy()
            ));
        }
        for ((_, slot), symbol) in SLOTS.iter().zip(symbols) {
            slot.store(symbol, Ordering::Release);
        }
    }
    IS_OPEN.store(true, Ordering::Release);
    Ok(())
}

/// Opens MuJoCo where Python finds it; does nothing if it is open.
fn load() -> Result<(), MujocoError> {
    if IS_OPEN.load(Ordering::Acquire) {
        return Ok(());
    }
    let path = Python::attach(|py| -> PyResult<Option<PathBuf>> {
        py.import("isochrone._physics")?.call_method0("library")?.extract()
    });
    match path {
        Ok(Some(path)) => open(&path).map_err(MujocoError),
        Ok(None) => {
            Err(MujocoError("it is not installed; hint: pip install 'isochrone[physics]'".to_owned()))
        }
        Err(error) => Err(MujocoError(format!("{error}; hint: pip install 'isochrone[physics]'"))),
    }
}

/// Makes environments open MuJoCo when they need it.
pub fn install_loader() {
    isochrone::envs::maze::set_mujoco_loader(load);
}

/// Opens MuJoCo from a file.
#[pyfunction]
pub fn open_mujoco(path: PathBuf) -> PyResult<()> {
    open(&path).map_err(|problem| {
        let (problem, hint) = problem.split_once("; hint: ").unwrap_or((&problem, ""));
        let error = PhysicsError::new_err(problem.to_owned());
        Python::attach(|py| {
            let _ = error.value(py).call_method1("add_note", (format!("hint: {hint}"),));
        });
        error
    })
}
