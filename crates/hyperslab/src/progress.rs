//! How long work tells what is done, and how its caller ends it.

use std::ops::ControlFlow;

/// A progress function. Its arguments are what is done and the total, in a unit that the work names. A break
/// ends the work, which returns an error. Several threads may call the function.
///
/// ```
/// use std::ops::ControlFlow;
///
/// let tell: hyperslab::Progress<'_> = &|done, total| {
///     println!("{done} of {total}");
///     ControlFlow::Continue(())
/// };
/// assert!(tell(1, 2).is_continue());
/// ```
pub type Progress<'a> = &'a (dyn Fn(u64, u64) -> ControlFlow<()> + Sync);

/// A [`Progress`] that does nothing.
pub fn silent(_done: u64, _total: u64) -> ControlFlow<()> {
    ControlFlow::Continue(())
}
