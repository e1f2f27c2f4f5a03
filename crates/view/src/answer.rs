//! Answers: JSON and bytes within a limit, and refusals with a message.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::body::Body;
use axum::http::{HeaderValue, Response, StatusCode, header};
use hyperslab::{Error, RequestError};

/// A request that is not answered. H5Web shows the message.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    pub(crate) message: String,
}

pub(crate) type Answered<T> = Result<T, Refusal>;

impl Refusal {
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into() }
    }

    /// Returns the refusal of a request whose arguments are wrong.
    pub(crate) fn argument(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, message)
    }

    /// Returns the refusal of an answer that would be larger than `most` bytes.
    pub(crate) fn too_large(most: u64) -> Self {
        let most = most >> 20;
        Self::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            format!("the answer has more than {most} MiB: select fewer elements, or use `hyperslab dump`"),
        )
    }

    pub(crate) fn into_response(self) -> Response<Body> {
        let body = serde_json::json!({ "message": self.message }).to_string();
        let mut response = Response::new(Body::from(body));
        *response.status_mut() = self.status;
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        response
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        let status = match error.root() {
            Error::Request(RequestError::NoSuchObject { .. } | RequestError::NoSuchAttribute { .. }) => {
                StatusCode::NOT_FOUND
            }
            Error::Request(_) => StatusCode::UNPROCESSABLE_ENTITY,
            Error::Unsupported { .. } => StatusCode::NOT_IMPLEMENTED,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self::new(status, error.to_string())
    }
}

impl From<RequestError> for Refusal {
    fn from(error: RequestError) -> Self {
        Error::from(error).into()
    }
}

/// The reader of an answer has gone, so the work for it ends.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cancelled(Arc<AtomicBool>);

impl Cancelled {
    pub(crate) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns an error if the reader has gone.
    pub(crate) fn check(&self) -> Answered<()> {
        if self.0.load(Ordering::Relaxed) {
            // The reader does not receive this.
            return Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, "cancelled"));
        }
        Ok(())
    }
}

/// The bytes of an answer, of which there are at most `most`.
#[derive(Debug)]
pub(crate) struct Limited {
    bytes: Vec<u8>,
    most: u64,
}

impl Limited {
    pub(crate) fn new(most: u64) -> Self {
        Self { bytes: Vec::new(), most }
    }

    pub(crate) fn push(&mut self, text: &[u8]) -> Answered<()> {
        if (self.bytes.len() + text.len()) as u64 > self.most {
            return Err(Refusal::too_large(self.most));
        }
        // A vector grows by doubling, which may be twice the limit.
        if self.bytes.capacity() - self.bytes.len() < text.len() {
            let most = usize::try_from(self.most).unwrap_or(usize::MAX);
            let room = (2 * self.bytes.capacity()).clamp(self.bytes.len() + text.len(), most.max(1));
            self.bytes.reserve_exact(room - self.bytes.len());
        }
        self.bytes.extend_from_slice(text);
        Ok(())
    }

    /// Appends a value as JSON.
    pub(crate) fn json(&mut self, value: &impl JsonText) -> Answered<()> {
        let most = self.most;
        value.write(&mut AnswerSink(self)).map_err(|_| Refusal::too_large(most))
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// What serde writes as JSON: a value or a text.
pub(crate) trait JsonText {
    fn write(&self, to: &mut dyn Write) -> io::Result<()>;
}

impl JsonText for serde_json::Value {
    fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        Ok(serde_json::to_writer(to, self)?)
    }
}

impl JsonText for &str {
    fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        Ok(serde_json::to_writer(to, self)?)
    }
}

struct AnswerSink<'l>(&'l mut Limited);

impl Write for AnswerSink<'_> {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.0.push(text).map_err(|_| io::ErrorKind::FileTooLarge)?;
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_never_takes_more_memory_than_its_limit() {
        let mut answer = Limited::new(1000);
        while answer.push(b"0123456").is_ok() {
            assert!(answer.bytes.capacity() <= 1000);
        }
        assert_eq!(answer.into_bytes().len(), 994);
    }
}
