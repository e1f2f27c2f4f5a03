//! Which requests are answered: those with the secret, from this page or from no page at all (decision 0034).

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode, header};
use axum::middleware::Next;

use crate::answer::{Answered, Refusal};
use crate::request::{ONCE, Shared};

/// Answers a request if it is allowed, and says in every answer what a browser may do with it.
pub(crate) async fn guard(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response<Body> {
    let mut response = match check(&shared, &request) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    };
    for (name, value) in &HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

fn check(shared: &Shared, request: &Request) -> Answered<()> {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return Err(Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "the server only reads: use GET"));
    }
    let host = check_host(request.headers())?;
    check_origin(request, host)?;
    let mut parts = request.uri().path().split('/').skip(1);
    let first = parts.next().unwrap_or_default();
    let is_once = first == ONCE && parts.next().is_some_and(|code| !code.is_empty());
    if is_once || shared.secret.is(first) {
        return Ok(());
    }
    Err(Refusal::new(
        StatusCode::FORBIDDEN,
        "the address lacks its secret: use the whole address that `hyperslab view` printed",
    ))
}

/// Returns the host that the browser asked for. A name of another site can be made to lead to this machine,
/// and its pages could then read what the server answers. Ports may differ, because they can be forwarded.
fn check_host(headers: &HeaderMap) -> Answered<&str> {
    let mut hosts = headers.get_all(header::HOST).iter();
    let host = hosts.next().and_then(|host| host.to_str().ok()).filter(|_| hosts.next().is_none());
    let is_here = |host: &&str| {
        let (name, port) = host.rsplit_once(':').unwrap_or((host, "80"));
        matches!(name, "127.0.0.1" | "localhost") && port.parse::<u16>().is_ok()
    };
    host.filter(is_here).ok_or_else(|| {
        Refusal::new(StatusCode::MISDIRECTED_REQUEST, "the server answers only to 127.0.0.1 and localhost")
    })
}

/// Refuses requests of other pages. They may only lead a reader to the page.
fn check_origin(request: &Request, host: &str) -> Answered<()> {
    let headers = request.headers();
    let refused =
        || Refusal::new(StatusCode::FORBIDDEN, "the request is from another page: open the address itself");
    let mut origins = headers.get_all(header::ORIGIN).iter();
    let is_ours = |origin: &HeaderValue| origin.as_bytes().strip_prefix(b"http://") == Some(host.as_bytes());
    if !origins.all(is_ours) {
        return Err(refused());
    }
    let is_page = request.uri().path().ends_with('/') || request.uri().path().starts_with("/once/");
    let fetch = |name| headers.get(HeaderName::from_static(name)).map(HeaderValue::as_bytes);
    let is_visit =
        fetch("sec-fetch-mode") == Some(b"navigate") && fetch("sec-fetch-dest") == Some(b"document");
    match fetch("sec-fetch-site") {
        None | Some(b"same-origin" | b"none") => Ok(()),
        Some(_) if is_page && is_visit => Ok(()),
        Some(_) => Err(refused()),
    }
}

/// The headers of all answers. The library of arrays in the page compiles loops with `Function`, so
/// evaluation is allowed; scripts are only those of the page.
static HEADERS: [(HeaderName, &str); 7] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; \
         img-src 'self' data: blob:; font-src 'self'; connect-src 'self' blob:; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
];
