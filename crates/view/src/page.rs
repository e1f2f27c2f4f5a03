//! The page, which `make web` bundles and the build script embeds.

use axum::body::Body;
use axum::http::{HeaderValue, Response, StatusCode, header};

include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// Whether this build has the page.
pub(crate) fn is_built() -> bool {
    !FILES.is_empty()
}

/// Returns a file of the page. The empty name is that of the page itself.
pub(crate) fn file(name: &str) -> Response<Body> {
    let wanted = if name.is_empty() { "index.html" } else { name };
    let found = FILES.iter().find(|(found, ..)| *found == wanted);
    let advice = if is_built() { "there is no such page" } else { MISSING };
    let (kind, content) =
        found.map_or(("text/plain; charset=utf-8", advice.as_bytes()), |(_, kind, content)| (kind, content));
    let mut response = Response::new(Body::from(content));
    if found.is_none() {
        *response.status_mut() = StatusCode::NOT_FOUND;
    }
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

/// The advice for a build without the page.
pub(crate) const MISSING: &str = "this build of hyperslab has no page to view files with: run `make web`, \
     which needs Node.js and npm, and build again; wheels have the page";
