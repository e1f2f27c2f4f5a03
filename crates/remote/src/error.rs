//! Errors of servers, as errors of a medium that say what to do.

use std::io;

use object_store::Error;

use crate::address::scrubbed;

/// Returns the error of the medium for an error of the store.
pub(crate) fn of_store(error: &Error) -> io::Error {
    match error {
        Error::NotFound { .. } => io::Error::new(
            io::ErrorKind::NotFound,
            "the server has no such file; check the URL, and that the bucket exists",
        ),
        Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => io::Error::new(
            io::ErrorKind::PermissionDenied,
            "the server denies access; check the credentials in the environment or in storage_options \
             (skip_signature for public buckets)",
        ),
        Error::Precondition { .. } => changed(),
        other => {
            let text = scrubbed(&with_sources(other));
            let kind =
                if text.contains("timed out") { io::ErrorKind::TimedOut } else { io::ErrorKind::Other };
            io::Error::new(kind, format!("{text}{}", advice(&text)))
        }
    }
}

/// Returns the error for a file that another program has replaced.
pub(crate) fn changed() -> io::Error {
    io::Error::other("the file was changed on the server while it was open; close it and open it again")
}

/// Returns the error for a server that always sends the whole file.
pub(crate) fn without_ranges(len: u64) -> io::Error {
    io::Error::new(
        io::ErrorKind::Unsupported,
        format!("the server does not serve ranges of the file of {len} bytes; download it and open the copy"),
    )
}

/// Puts the name of the file in front of an error.
pub(crate) fn named(name: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{name}: {error}"))
}

/// Returns the message of an error and of the errors that caused it, unless a message has it already.
fn with_sources(error: &Error) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        let message = cause.to_string();
        if !text.contains(&message) {
            text = format!("{text}: {message}");
        }
        source = cause.source();
    }
    text
}

/// Returns what to do about an error of which the library tells less.
fn advice(text: &str) -> &'static str {
    if text.contains("incorrectly configured region") {
        "; set aws_region in storage_options, or AWS_REGION"
    } else if text.contains("169.254.169.254") || text.contains("metadata.google.internal") {
        "; there are no credentials: set them in the environment or in storage_options, or skip_signature for a \
         public bucket"
    } else if text.contains("URL scheme is not allowed") || text.contains("scheme is not http") {
        "; set allow_http in storage_options"
    } else {
        ""
    }
}
