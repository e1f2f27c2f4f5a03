//! The requests, and the work for each of them.

use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderValue, Response, StatusCode, header};
use axum::middleware;
use axum::routing::get;
use bytes::Bytes;
use serde_json::{Value, json};

use crate::answer::{Answered, Cancelled, Limited, Refusal};
use crate::data::Reading;
use crate::files::Seen;
use crate::guard::guard;
use crate::limits::MOST_JSON;
use crate::query::Query;
use crate::request::{Asked, Shared};
use crate::{entity, page, stats};

/// Writes an answer in JSON.
type Writer = fn(&Asked<'_>, &mut Limited) -> Answered<()>;

pub(crate) fn router(shared: Arc<Shared>) -> Router {
    let json = |writer: Writer| {
        get(move |State(shared): State<Arc<Shared>>, RawQuery(query): RawQuery| async move {
            let answer = written(&shared, Query::new(query.as_deref()), writer).await;
            answer.map_or_else(Refusal::into_response, |bytes| of_type("application/json", bytes))
        })
    };
    Router::new()
        .route("/once/{code}", get(once))
        .route("/{secret}/", get(|| async { page::file("") }))
        .route("/{secret}/files", get(files))
        .route("/{secret}/meta", json(entity::meta))
        .route("/{secret}/attr", json(entity::attr))
        .route("/{secret}/paths", json(entity::paths))
        .route("/{secret}/stats", json(stats::stats))
        .route("/{secret}/data", get(data))
        .route(
            "/{secret}/{name}",
            get(|Path((_, name)): Path<(String, String)>| async move { page::file(&name) }),
        )
        .fallback(|| async { Refusal::new(StatusCode::NOT_FOUND, "there is no such page").into_response() })
        .layer(middleware::from_fn_with_state(Arc::clone(&shared), guard))
        .with_state(shared)
}

fn of_type(kind: &'static str, bytes: Bytes) -> Response<Body> {
    let mut response = Response::new(Body::from(bytes));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

/// Leads the browser that was started to the page.
async fn once(State(shared): State<Arc<Shared>>, Path(code): Path<String>) -> Response<Body> {
    let until = if shared.code.is(&code) { shared.code_until.lock().take() } else { None };
    if until.is_none_or(|until| Instant::now() > until) {
        let why = "this address led to the page once: use the address that `hyperslab view` printed";
        return Refusal::new(StatusCode::FORBIDDEN, why).into_response();
    }
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    if let Ok(place) = HeaderValue::from_str(&format!("/{}/", shared.secret.text())) {
        response.headers_mut().insert(header::LOCATION, place);
    }
    response
}

/// Answers with the names of the files and their versions. A file that is gone has no version.
async fn files(State(shared): State<Arc<Shared>>) -> Response<Body> {
    let versions = move || -> Value {
        let files = shared.files.iter();
        files.map(|file| json!({ "name": file.name(), "version": file.version().ok() })).collect()
    };
    match tokio::task::spawn_blocking(versions).await {
        Ok(found) => of_type("application/json", found.to_string().into()),
        Err(_) => unexpected().into_response(),
    }
}

async fn written(shared: &Arc<Shared>, query: Query, writer: Writer) -> Answered<Bytes> {
    // The name is checked before any memory is taken.
    shared.served(query.file()?)?;
    let memory = shared.limits.json().await;
    let answer = blocking(shared, query, None, move |asked| {
        let mut out = Limited::new(MOST_JSON);
        writer(asked, &mut out)?;
        Ok(memory.hold(out.into_bytes()))
    });
    Ok(answer.await?.0)
}

async fn data(State(shared): State<Arc<Shared>>, RawQuery(query): RawQuery) -> Response<Body> {
    let query = Query::new(query.as_deref());
    let answer = async {
        let (reading, seen) =
            blocking(&shared, query.clone(), None, |asked| Reading::of(asked.file, asked.name, asked.query))
                .await?;
        let headers = reading.headers();
        let memory = match reading.memory()? {
            Some(bytes) => shared.limits.numbers(bytes).await,
            None => shared.limits.json().await,
        };
        // The share of the memory goes where the memory is used, which may be after the reader has gone.
        let read = move |asked: &Asked<'_>| Ok(memory.hold(reading.run(asked.cancelled)?));
        let (bytes, _) = blocking(&shared, query, Some(seen), read).await?;
        Ok((headers, bytes))
    };
    let ((kind, saved), bytes) = match answer.await {
        Ok(answer) => answer,
        Err(refusal) => return Refusal::into_response(refusal),
    };
    let mut response = Response::new(Body::from(bytes));
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    if let Some(saved) = saved {
        response.headers_mut().insert(header::CONTENT_DISPOSITION, saved);
    }
    response
}

/// Runs `work` on a thread that may wait for the medium, once fewer than the most reads are in progress. If
/// the request is dropped, the work is told. `seen` is the file as earlier work of the request saw it.
async fn blocking<T: Send + 'static>(
    shared: &Arc<Shared>,
    query: Query,
    seen: Option<Seen>,
    work: impl FnOnce(&Asked<'_>) -> Answered<T> + Send + 'static,
) -> Answered<(T, Seen)> {
    let place = shared.limits.read().await;
    let cancelled = Cancelled::default();
    let _end = CancelOnDrop(cancelled.clone());
    let shared = Arc::clone(shared);
    let done = tokio::task::spawn_blocking(move || {
        let _place = place;
        let served = shared.served(query.file()?)?;
        let seen = seen.map_or_else(|| served.file(), Ok)?;
        let asked = Asked { file: &seen.file, name: served.name(), query: &query, cancelled: &cancelled };
        let done = work(&asked);
        // Of a file that has changed meanwhile, parts of both states may have been read.
        served.check(&seen)?;
        Ok((done?, seen))
    });
    done.await.unwrap_or_else(|_| Err(unexpected()))
}

/// Returns the refusal after a panic.
fn unexpected() -> Refusal {
    Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "the server failed: `hyperslab view` has printed why")
}

struct CancelOnDrop(Cancelled);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.set();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    use hyperslab::File;
    use parking_lot::Mutex;

    use super::*;
    use crate::files::Served;
    use crate::limits::Limits;
    use crate::secret::Secret;

    const LONG: Duration = Duration::from_secs(20);

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn the_work_ends_when_the_reader_of_the_answer_goes() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.h5");
        File::create(&path).unwrap().close().unwrap();
        let shared = Arc::new(Shared {
            secret: Secret::new().unwrap(),
            code: Secret::new().unwrap(),
            code_until: Mutex::default(),
            files: Served::all(&[path.into()], None).unwrap(),
            limits: Limits::default(),
        });
        let (begins, begun) = mpsc::channel();
        let (ends, ended) = mpsc::channel();
        let request = tokio::spawn(async move {
            let query = Query::new(Some("file=a.h5"));
            let work = move |asked: &Asked<'_>| {
                begins.send(()).unwrap();
                let start = Instant::now();
                while asked.cancelled.check().is_ok() && start.elapsed() < LONG {
                    thread::yield_now();
                }
                ends.send(asked.cancelled.check().is_err()).unwrap();
                Ok(())
            };
            blocking(&shared, query, None, work).await
        });
        begun.recv_timeout(LONG).unwrap();
        assert_eq!(ended.try_recv(), Err(mpsc::TryRecvError::Empty));
        request.abort();
        assert!(ended.recv_timeout(2 * LONG).unwrap(), "the work was not told");
    }
}
