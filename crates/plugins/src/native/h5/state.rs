//! What a plug-in may ask about while it is called on this thread, and what it says.

use std::cell::RefCell;

use hyperslab_filters::Element;

/// The ids of the property list, of the datatype and of the dataspace. They fit into 32 bits, which ids had
/// before HDF5 1.10.
pub(in crate::system) const PROPERTIES: i64 = 0x0a00_0001;
pub(in crate::system) const DATATYPE: i64 = 0x0300_0000;
pub(in crate::system) const DATASPACE: i64 = 0x0400_0001;
/// The id of the class of property lists for new datasets.
pub(super) const PROPERTY_CLASS: i64 = 0x0900_0001;
/// Any other id, such as those of kinds of errors.
pub(super) const OTHER: i64 = 0x0b00_0001;

/// The most bytes of a text that a plug-in says.
const LONGEST: usize = 300;

/// A dataset that is being created.
#[derive(Debug)]
pub(in crate::system) struct Creation {
    /// The number of the filter.
    pub(in crate::system) id: u16,
    /// The name of the filter.
    pub(in crate::system) name: String,
    /// Its flags; bit 0: it is optional.
    pub(in crate::system) flags: u32,
    /// The client data, which the filter changes.
    pub(in crate::system) client_data: Vec<u32>,
    /// The shape of a chunk.
    pub(in crate::system) chunk: Vec<u64>,
    /// The datatype.
    pub(in crate::system) element: Element,
}

/// What belongs to one call of a plug-in.
#[derive(Debug, Default)]
pub(in crate::system) struct State {
    pub(in crate::system) creation: Option<Creation>,
    /// Datatypes that were made of that of the dataset, by their place after `DATATYPE`.
    pub(super) types: Vec<Element>,
    /// What the plug-in has said.
    errors: Vec<String>,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

/// Begins a call.
pub(in crate::system) fn begin(creation: Option<Creation>) {
    let types = creation.iter().map(|creation| creation.element.clone()).collect();
    STATE.with_borrow_mut(|state| *state = State { creation, types, errors: Vec::new() });
}

/// Ends a call.
pub(in crate::system) fn end() -> State {
    STATE.with_borrow_mut(std::mem::take)
}

/// Runs `f` with the state of the call.
pub(super) fn with<T>(f: impl FnOnce(&mut State) -> T) -> Option<T> {
    STATE.try_with(|state| Some(f(&mut *state.try_borrow_mut().ok()?))).ok().flatten()
}

/// Runs `f` with the dataset that is being created, if there is one.
pub(super) fn creation<T>(f: impl FnOnce(&mut Creation) -> T) -> Option<T> {
    with(|state| state.creation.as_mut().map(f)).flatten()
}

/// Keeps what the plug-in says.
pub(super) fn say(text: String) {
    with(|state| {
        if state.errors.len() < 4 && !text.is_empty() {
            state.errors.push(text);
        }
    });
}

impl State {
    /// Returns what the plug-in said, after a colon, or nothing.
    pub(in crate::system) fn said(&self) -> String {
        let mut said: String = self.errors.join("; ");
        let end = (0..=LONGEST.min(said.len())).rev().find(|&at| said.is_char_boundary(at)).unwrap_or(0);
        said.truncate(end);
        if said.is_empty() { said } else { format!(": {said}") }
    }
}
