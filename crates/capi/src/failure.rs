//! Errors as codes with a message for each thread. No panic leaves this crate.

use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

use hyperslab::{Error, RequestError};
use hyperslab_io::report;

use crate::codes::{
    HS_ERROR_ARGUMENT, HS_ERROR_CHUNK, HS_ERROR_EXISTS, HS_ERROR_FORMAT, HS_ERROR_HANDLE, HS_ERROR_INTERNAL,
    HS_ERROR_IO, HS_ERROR_LOCKED, HS_ERROR_NOT_FOUND, HS_ERROR_RECOVERY, HS_ERROR_REQUEST,
    HS_ERROR_UNSUPPORTED, HS_OK,
};

/// Why a call failed.
#[derive(Debug)]
pub(crate) struct Failure {
    code: i32,
    message: String,
}

impl Failure {
    /// An argument of the call is invalid.
    pub(crate) fn argument(what: &str, why: impl std::fmt::Display) -> Self {
        Self { code: HS_ERROR_ARGUMENT, message: format!("{what}: {why}") }
    }

    /// A handle is invalid.
    pub(crate) fn handle(message: String) -> Self {
        Self { code: HS_ERROR_HANDLE, message }
    }

    /// The call asks for what is not there.
    pub(crate) fn not_found(message: String) -> Self {
        Self { code: HS_ERROR_NOT_FOUND, message }
    }

    /// The call asks for what cannot be.
    pub(crate) fn request(message: String) -> Self {
        Self { code: HS_ERROR_REQUEST, message }
    }

    /// The same failure at the file with this path.
    pub(crate) fn of_file(mut self, path: &str) -> Self {
        self.message = format!("{path}: {}", self.message);
        self
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self { code: code_of(&error), message: error.to_string() }
    }
}

impl From<RequestError> for Failure {
    fn from(error: RequestError) -> Self {
        Error::from(error).into()
    }
}

/// Returns the code of a kind of error.
fn code_of(error: &Error) -> i32 {
    match error.root() {
        Error::Format(_) => HS_ERROR_FORMAT,
        Error::Chunk { .. } | Error::Encode { .. } | Error::Filter { .. } => HS_ERROR_CHUNK,
        Error::Request(request) => match request {
            RequestError::NoSuchObject { .. }
            | RequestError::NoSuchFile { .. }
            | RequestError::NoSuchAttribute { .. } => HS_ERROR_NOT_FOUND,
            RequestError::Exists { .. } => HS_ERROR_EXISTS,
            RequestError::AlreadyOpen { .. } => HS_ERROR_LOCKED,
            // The caller closed the file by another handle, or deleted the object.
            RequestError::Closed | RequestError::Deleted { .. } => HS_ERROR_HANDLE,
            RequestError::Argument { .. } | RequestError::LongAttribute { .. } => HS_ERROR_ARGUMENT,
            _ => HS_ERROR_REQUEST,
        },
        Error::Io { cause, .. } => match cause.kind() {
            io::ErrorKind::NotFound => HS_ERROR_NOT_FOUND,
            io::ErrorKind::AlreadyExists => HS_ERROR_EXISTS,
            io::ErrorKind::WouldBlock => HS_ERROR_LOCKED,
            _ => HS_ERROR_IO,
        },
        Error::Unsupported { .. } => HS_ERROR_UNSUPPORTED,
        Error::NeedsRecovery { .. } | Error::Poisoned => HS_ERROR_RECOVERY,
        _ => HS_ERROR_INTERNAL,
    }
}

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

/// Returns the message of the last call that failed on this thread.
pub(crate) fn last() -> *const c_char {
    // At the end of a thread there may be no message any more.
    LAST.try_with(|last| last.borrow().as_ptr()).unwrap_or(c"".as_ptr())
}

fn keep(message: &str) {
    let text = CString::new(message.replace('\0', "\u{fffd}")).unwrap_or_default();
    // Without a place for the message, the code says what there is to say.
    let _ = LAST.try_with(|last| last.replace(text));
}

/// Runs a call: its failure becomes a code and a message, and a panic becomes [`HS_ERROR_INTERNAL`].
pub(crate) fn guard(call: impl FnOnce() -> Result<(), Failure>) -> i32 {
    report::to_stderr();
    // What the call changed is behind locks and transactions of the engine, which undo a step that panics.
    let failure = match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(())) => return HS_OK,
        Ok(Err(failure)) => failure,
        Err(panic) => {
            let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
            let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
            let message = format!("hyperslab failed, which is a defect: please report it ({text})");
            Failure { code: HS_ERROR_INTERNAL, message }
        }
    };
    keep(&failure.message);
    failure.code
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text() -> String {
        LAST.with(|last| last.borrow().to_string_lossy().into_owned())
    }

    #[test]
    fn a_panic_becomes_a_code() {
        assert_eq!(guard(|| panic!("seven {}", 7)), HS_ERROR_INTERNAL);
        assert!(text().contains("seven 7"));
    }

    #[test]
    fn each_thread_has_its_message() {
        let failing = |message: &'static str| guard(move || Err(Failure::request(message.to_owned())));
        assert_eq!(failing("one\0two"), HS_ERROR_REQUEST);
        std::thread::spawn(move || {
            assert_eq!(text(), "");
            failing("other");
            assert_eq!(text(), "other");
        })
        .join()
        .unwrap();
        assert_eq!(guard(|| Ok(())), HS_OK);
        assert_eq!(text(), "one\u{fffd}two");
    }

    #[test]
    fn errors_keep_their_kind() {
        let missing = Error::from(RequestError::NoSuchObject { name: "a".to_owned() }).at("/b");
        assert_eq!(code_of(&missing), HS_ERROR_NOT_FOUND);
        let io = |kind: io::ErrorKind| Error::io("open", 0, 0)(kind.into());
        assert_eq!(code_of(&io(io::ErrorKind::AlreadyExists)), HS_ERROR_EXISTS);
        assert_eq!(code_of(&io(io::ErrorKind::NotFound)), HS_ERROR_NOT_FOUND);
        assert_eq!(code_of(&io(io::ErrorKind::WouldBlock)), HS_ERROR_LOCKED);
        assert_eq!(code_of(&io(io::ErrorKind::StorageFull)), HS_ERROR_IO);
        assert_eq!(code_of(&Error::Poisoned), HS_ERROR_RECOVERY);
        assert_eq!(code_of(&RequestError::ReadOnly.into()), HS_ERROR_REQUEST);
        assert_eq!(code_of(&RequestError::Closed.into()), HS_ERROR_HANDLE);
    }
}
