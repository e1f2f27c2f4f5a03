//! Where plug-ins are: folders that are searched when a filter is needed, and what was loaded from them.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};

use hyperslab_filters::FilterId;
use hyperslab_filters::added::{self, Added, Source};

use crate::error::PluginError;
use crate::system::{self, Plugin};

/// A filter that was loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Loaded {
    /// The number of the filter.
    pub id: u16,
    /// The name that the plug-in gives it.
    pub name: String,
}

/// What is loaded, and what may be.
#[derive(Debug, Default)]
struct PlugIns {
    plugins: BTreeMap<u16, Arc<Plugin>>,
    /// Folders, with their libraries that were not opened yet, in the order in which they are tried.
    waiting: VecDeque<Folder>,
    /// All libraries that were opened, with the filter if there is one.
    opened: BTreeMap<PathBuf, Option<Loaded>>,
}

static PLACES: Mutex<PlugIns> =
    Mutex::new(PlugIns { plugins: BTreeMap::new(), waiting: VecDeque::new(), opened: BTreeMap::new() });
static OFF: AtomicBool = AtomicBool::new(false);

fn places() -> MutexGuard<'static, PlugIns> {
    PLACES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Loads nothing from now on. Filters that are loaded stay.
pub fn switch_off() {
    OFF.store(true, Ordering::Release);
}

/// Returns whether nothing is loaded: after [`switch_off`], or if the variable `HDF5_PLUGIN_PRELOAD` is `::`,
/// by which libhdf5 is told the same.
pub fn are_off() -> bool {
    OFF.load(Ordering::Acquire) || std::env::var_os("HDF5_PLUGIN_PRELOAD").is_some_and(|value| value == "::")
}

/// Loads the plug-in in a file, or all plug-ins in a folder. Returns their filters. In a folder, libraries
/// that are no filters are passed over.
///
/// # Errors
///
/// `Off`, or `Load` if the file cannot be read or is no filter, or if the folder cannot be read.
pub fn load(path: &Path) -> Result<Vec<Loaded>, PluginError> {
    if are_off() {
        return Err(PluginError::Off);
    }
    let found = std::fs::metadata(path).map_err(|error| PluginError::load(path, error.to_string()))?;
    let path = path.canonicalize().map_err(|error| PluginError::load(path, error.to_string()))?;
    offer();
    let mut places = places();
    if !found.is_dir() {
        let loaded = places.open(&path)?.ok_or_else(|| PluginError::load(&path, "it is not a filter"))?;
        return Ok(vec![loaded]);
    }
    // A library that is no filter is passed over, as libhdf5 does.
    let loaded = libraries(&path)?.iter().filter_map(|file| places.open(file).ok().flatten()).collect();
    Ok(loaded)
}

/// Adds a folder whose libraries are opened, one after another, when a filter is needed that neither
/// hyperslab nor a loaded plug-in has. A folder that does not exist has no libraries.
pub fn search(folder: &Path) {
    add(folder, VecDeque::push_back);
}

/// Does the same as [`search`], before other folders.
pub fn search_first(folder: &Path) {
    add(folder, VecDeque::push_front);
}

/// Searches a folder no longer. Filters of the folder that are loaded stay.
pub fn search_no_more(folder: &Path) {
    if let Ok(folder) = folder.canonicalize() {
        places().waiting.retain(|(waiting, _)| *waiting != folder);
    }
}

/// The libraries of a folder.
type Folder = (PathBuf, VecDeque<PathBuf>);

fn add(folder: &Path, push: fn(&mut VecDeque<Folder>, Folder)) {
    let Ok(folder) = folder.canonicalize() else { return };
    let Ok(files) = libraries(&folder) else { return };
    offer();
    let mut places = places();
    places.waiting.retain(|(waiting, _)| *waiting != folder);
    let files = files.into_iter().filter(|file| !places.opened.contains_key(file)).collect();
    push(&mut places.waiting, (folder, files));
}

/// Adds the folders of the variable `HDF5_PLUGIN_PATH`. Without it there are none: libhdf5's default folder
/// is not searched, since no person has asked for it.
pub fn search_environment() {
    let path = std::env::var_os("HDF5_PLUGIN_PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .filter(|folder| !folder.as_os_str().is_empty())
        .for_each(|folder| search(&folder));
}

/// Returns the libraries of a folder in the order of their names. A library with several names is one.
fn libraries(folder: &Path) -> Result<Vec<PathBuf>, PluginError> {
    let failed = |error: std::io::Error| PluginError::load(folder, error.to_string());
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        // `libx.so` and `libx.so.1`.
        if name.ends_with(".so") || name.contains(".so.") {
            files.push(path);
        }
    }
    files.sort();
    let mut libraries = Vec::new();
    for file in files {
        let file = file.canonicalize().unwrap_or(file);
        if !libraries.contains(&file) {
            libraries.push(file);
        }
    }
    Ok(libraries)
}

/// Makes the loaded filters known to registries.
fn offer() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| added::add_source(Arc::new(Plugins)));
}

impl PlugIns {
    /// Opens a library, unless it is open, and keeps its filter, unless there is one with its number.
    fn open(&mut self, file: &Path) -> Result<Option<Loaded>, PluginError> {
        if let Some(Some(loaded)) = self.opened.get(file) {
            return Ok(Some(loaded.clone()));
        }
        let plugin = system::open(file);
        let loaded = match &plugin {
            Ok(Some(plugin)) => Some(Loaded { id: plugin.id(), name: plugin.name().to_owned() }),
            _ => None,
        };
        self.opened.insert(file.to_owned(), loaded.clone());
        if let Some(plugin) = plugin? {
            self.plugins.entry(plugin.id()).or_insert(plugin);
        }
        Ok(loaded)
    }
}

/// The plug-ins, for registries.
#[derive(Debug)]
struct Plugins;

impl Source for Plugins {
    fn find(&self, id: FilterId) -> Option<Arc<dyn Added>> {
        let mut places = places();
        loop {
            if let Some(plugin) = places.plugins.get(&id.0) {
                return Some(Plugin::added(plugin));
            }
            if are_off() {
                return None;
            }
            let Some(file) = places.waiting.front_mut()?.1.pop_front() else {
                places.waiting.pop_front();
                continue;
            };
            // A library that cannot be opened may be for another system: another may have the filter.
            if !places.opened.contains_key(&file) {
                let _ = places.open(&file);
            }
        }
    }
}
