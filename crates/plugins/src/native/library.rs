//! Opening a library, and the class of its filter.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::fs;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use hyperslab_filters::FilterId;
use hyperslab_filters::registry::registered_name;
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

use super::h5;
use super::image::Image;
use crate::error::PluginError;

/// `H5Z_func_t`: flags, client data, the length of the bytes, the length of the memory, and the memory.
pub(super) type Function =
    unsafe extern "C" fn(c_uint, usize, *const c_uint, usize, *mut usize, *mut *mut c_void) -> usize;
/// `H5Z_can_apply_func_t` and `H5Z_set_local_func_t`: a property list, a datatype, and a dataspace.
pub(super) type Callback = unsafe extern "C" fn(i64, i64, i64) -> c_int;

/// `H5Z_class2_t`.
#[repr(C)]
struct RawClass {
    version: c_int,
    id: c_int,
    encodes: c_uint,
    decodes: c_uint,
    name: *const c_char,
    can_apply: Option<Callback>,
    set_local: Option<Callback>,
    filter: Option<Function>,
}

/// The only version of the class.
const VERSION: c_int = 1;
/// `H5PL_TYPE_FILTER`.
const FILTER: c_int = 0;

/// The filter of a library, which stays loaded as long as the process runs.
#[derive(Debug)]
pub(super) struct Class {
    pub(super) id: u16,
    /// The name that the library gives, which may be a sentence.
    pub(super) name: String,
    /// The name for errors.
    pub(super) label: String,
    pub(super) encodes: bool,
    pub(super) decodes: bool,
    pub(super) can_apply: Option<Callback>,
    pub(super) set_local: Option<Callback>,
    pub(super) filter: Function,
}

/// Opens a library and returns its filter, or `None` if it is a plug-in of another kind.
pub(super) fn open(path: &Path) -> Result<Option<Class>, PluginError> {
    let failed = |why: String| PluginError::load(path, why);
    check_loader().map_err(failed)?;
    let bytes = fs::read(path).map_err(|error| failed(error.to_string()))?;
    let mut image = Image::new(bytes).map_err(|why| failed(why.to_owned()))?;
    image.bind(h5::address).map_err(|why| failed(why.to_owned()))?;
    image.drop_needed(|name| name.starts_with("libhdf5"));
    open_needed(path, &image);
    let (library, file) = load(path, &image).map_err(failed)?;
    let class = class_of(&library).map_err(failed);
    // Its functions may be called until the process ends.
    std::mem::forget(library);
    if let Ok(Some(_)) = class {
        // Debuggers look at the name.
        std::mem::forget(file);
    }
    class
}

/// Checks that the system takes absolute symbols as they are, which glibc does from version 2.28.
fn check_loader() -> Result<(), String> {
    // SAFETY: the function returns a text that stays.
    let version = unsafe { CStr::from_ptr(libc::gnu_get_libc_version()) }.to_string_lossy();
    let minor = version.strip_prefix("2.").and_then(|rest| rest.split('.').next()?.parse().ok());
    match minor {
        Some(0..=27) => Err(format!("plug-ins need glibc 2.28 or later; this is {version}")),
        _ => Ok(()),
    }
}

/// Opens the libraries beside a plug-in that it needs: the plug-in itself is loaded from memory, where the
/// system does not find its neighbours.
fn open_needed(path: &Path, image: &Image) {
    let folder = path.parent().unwrap_or(Path::new("/"));
    let folders: Vec<PathBuf> = image
        .run_path()
        .map(|run| run.replace("${ORIGIN}", "$ORIGIN").replace("$ORIGIN", &folder.to_string_lossy()).into())
        .collect();
    for name in image.needed().filter(|name| !name.starts_with("libhdf5")) {
        if let Some(file) = folders.iter().map(|folder| folder.join(name)).find(|file| file.is_file()) {
            // SAFETY: the program has asked for the plug-in, and so for what it needs. The library stays.
            if let Ok(library) = unsafe { Library::open(Some(file), RTLD_NOW | RTLD_LOCAL) } {
                std::mem::forget(library);
            }
        }
    }
}

/// Loads the bytes of a library from a file in memory. The copy is a library of its own, also if the process
/// has loaded the file itself, as `import hdf5plugin` does.
fn load(path: &Path, image: &Image) -> Result<(Library, fs::File), String> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let made = rustix::fs::memfd_create(name, rustix::fs::MemfdFlags::CLOEXEC);
    let mut file = fs::File::from(made.map_err(|error| format!("no memory for its copy: {error}"))?);
    file.write_all(image.bytes()).map_err(|error| format!("no memory for its copy: {error}"))?;
    let place = place(&file);
    // SAFETY: the program has asked for the plug-in: its code runs from here on. The library stays loaded.
    let library = unsafe { Library::open(Some(&place), RTLD_NOW | RTLD_LOCAL) };
    library.map(|library| (library, file)).map_err(|error| {
        let text = error.to_string();
        text.strip_prefix(&place).map_or(text.clone(), |rest| rest.trim_start_matches([':', ' ']).to_owned())
    })
}

/// Returns a name of an open file. The system takes a library of the same name for one that is loaded, so
/// each name is another one, also if the program closes all descriptors and they are used again.
fn place(file: &fs::File) -> String {
    static LOADED: AtomicU64 = AtomicU64::new(0);
    let number = LOADED.fetch_add(1, Ordering::Relaxed);
    // Parts of a path that lead nowhere else, as binary digits.
    let digits: String = (0..u64::BITS).map(|bit| if number >> bit & 1 == 0 { "/" } else { "./" }).collect();
    format!("/proc/self/fd/{digits}{}", file.as_raw_fd())
}

/// Asks a library for its filter.
fn class_of(library: &Library) -> Result<Option<Class>, String> {
    // SAFETY: the type of the function is that of plug-ins (H5PLextern.h).
    let kind = unsafe { library.get::<unsafe extern "C" fn() -> c_int>(b"H5PLget_plugin_type\0") };
    let kind = kind.map_err(|_| "it does not export H5PLget_plugin_type".to_owned())?;
    // SAFETY: the function has no arguments.
    if unsafe { kind() } != FILTER {
        return Ok(None);
    }
    // hdf5plugin's libraries look libhdf5's functions up, in the library that this function names.
    // SAFETY: the type of the function is that of hdf5plugin (hdf5_dl.c).
    if let Ok(init) = unsafe { library.get::<unsafe extern "C" fn(*const c_char) -> c_int>(b"init_filter\0") }
    {
        // SAFETY: the name is a text, which our `dlopen` knows.
        if unsafe { init(h5::SELF.as_ptr()) } < 0 {
            return Err("its function init_filter failed".to_owned());
        }
    }
    // SAFETY: the type of the function is that of plug-ins (H5PLextern.h).
    let info = unsafe { library.get::<unsafe extern "C" fn() -> *const RawClass>(b"H5PLget_plugin_info\0") };
    let info = info.map_err(|_| "it does not export H5PLget_plugin_info".to_owned())?;
    // SAFETY: the function has no arguments; what it returns is null, or points to a class that stays.
    let class = unsafe { info().as_ref() }.ok_or("H5PLget_plugin_info returned no filter")?;
    if class.version != VERSION {
        return Err(format!("the version of its class must be {VERSION}, not {}", class.version));
    }
    let id =
        u16::try_from(class.id).map_err(|_| format!("its number must be 0 to 65535, not {}", class.id))?;
    let filter = class.filter.ok_or("its class has no function")?;
    let name = if class.name.is_null() {
        String::new()
    } else {
        // SAFETY: the name of a class is a text that stays.
        unsafe { CStr::from_ptr(class.name) }.to_string_lossy().into_owned()
    };
    let label = registered_name(FilterId(id)).map_or_else(|| name.clone(), str::to_owned);
    Ok(Some(Class {
        id,
        name,
        label,
        encodes: class.encodes != 0,
        decodes: class.decodes != 0,
        can_apply: class.can_apply,
        set_local: class.set_local,
        filter,
    }))
}
