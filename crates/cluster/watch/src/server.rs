//! The server: metrics, the page of the latest verdict, JSON, and the health of the watch. The server changes
//! nothing.
//!
//! One thread serves HTTP/1.1. The server answers GET and HEAD, closes every connection after its answer, and
//! ends connections that take too long. On a loopback address it refuses host names other than `localhost`.
//! Otherwise a page of another site could read the verdict through a host name that points to this machine.

use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use evenhand_report::html;
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HOST, HeaderValue};
use hyper::service::service_fn;
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};

use crate::board::Board;
use crate::clock::Clock;
use crate::error::WatchError;
use crate::history::over_time;
use crate::stop::Stop;

/// The largest number of simultaneous connections. Further connections are closed without an answer.
const MOST_CONNECTIONS: usize = 64;
/// The time limit for receiving the head of a request, followed by the time limit for a whole connection.
const HEAD_TIME: Duration = Duration::from_secs(10);
const CONNECTION_TIME: Duration = Duration::from_secs(60);
/// The time between two checks whether the watch is asked to stop.
const BETWEEN_LOOKS: Duration = Duration::from_millis(200);
/// The largest size of the head of a request in bytes, followed by its largest number of lines.
const MOST_HEAD: usize = 16 << 10;
const MOST_HEADERS: usize = 64;
/// The default number of hours that the page of the history shows, followed by the largest number that a
/// request may ask for.
const HOURS: u64 = 24;
const MOST_HOURS: u64 = 24 * 366;

const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const HTML: &str = "text/html; charset=utf-8";
const JSON: &str = "application/json";
const TEXT: &str = "text/plain; charset=utf-8";

/// Listens on an address.
///
/// # Errors
/// [`WatchError::NotLoopback`] if the address can be reached from other machines and `insecure` is not set, and
/// [`WatchError::Listen`] if the system refuses the address.
pub fn listen(address: SocketAddr, insecure: bool) -> Result<TcpListener, WatchError> {
    if !insecure && !is_loopback(address.ip()) {
        return Err(WatchError::NotLoopback(address.to_string()));
    }
    let failed = |source| WatchError::Listen { address: address.to_string(), source };
    let listener = TcpListener::bind(address).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    Ok(listener)
}

fn is_loopback(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_loopback(),
        IpAddr::V6(address) => {
            address.is_loopback() || address.to_ipv4_mapped().is_some_and(|address| address.is_loopback())
        }
    }
}

/// The data that all connections share.
#[derive(Debug)]
struct Shared {
    board: Arc<Board>,
    clock: Arc<dyn Clock>,
    /// True if only programs on this machine can reach the server.
    is_local: bool,
    /// The latest page of the history: the number of rounds, the number of hours, and the page.
    page: Mutex<Option<(u64, u64, Bytes)>>,
}

/// Serves requests on a new thread until the watch is asked to stop.
///
/// # Errors
/// [`WatchError::Thread`] if the thread or its runtime cannot be started.
pub fn serve(
    listener: TcpListener,
    board: Arc<Board>,
    clock: Arc<dyn Clock>,
    stop: Stop,
) -> Result<JoinHandle<()>, WatchError> {
    let is_local = listener.local_addr().is_ok_and(|address| is_loopback(address.ip()));
    let shared = Arc::new(Shared { board, clock, is_local, page: Mutex::new(None) });
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .max_blocking_threads(2)
        .build()
        .map_err(WatchError::Thread)?;
    let run = move || {
        runtime.block_on(accept(listener, &shared, &stop));
        // The shutdown does not wait for a thread that still creates a page.
        runtime.shutdown_background();
    };
    std::thread::Builder::new().name("server".to_owned()).spawn(run).map_err(WatchError::Thread)
}

async fn accept(listener: TcpListener, shared: &Arc<Shared>, stop: &Stop) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    let open = Arc::new(AtomicUsize::new(0));
    while !stop.is_stopped() {
        let stream = match tokio::time::timeout(BETWEEN_LOOKS, listener.accept()).await {
            Ok(Ok((stream, _))) => stream,
            // The process has no free file descriptor, or the client has already closed the connection.
            Ok(Err(_)) => {
                tokio::time::sleep(BETWEEN_LOOKS).await;
                continue;
            }
            Err(_) => continue,
        };
        if open.fetch_add(1, Ordering::Relaxed) >= MOST_CONNECTIONS {
            open.fetch_sub(1, Ordering::Relaxed);
            continue;
        }
        let (shared, open) = (Arc::clone(shared), Arc::clone(&open));
        tokio::spawn(async move {
            let service = service_fn(|request| {
                let shared = Arc::clone(&shared);
                async move { Ok::<_, Infallible>(answer(&shared, &request).await) }
            });
            let connection = hyper::server::conn::http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEAD_TIME)
                .keep_alive(false)
                .max_buf_size(MOST_HEAD)
                .max_headers(MOST_HEADERS)
                .serve_connection(TokioIo::new(stream), service);
            // A client that closes its connection early is not an error of the server.
            let _ended = tokio::time::timeout(CONNECTION_TIME, connection).await;
            open.fetch_sub(1, Ordering::Relaxed);
        });
    }
}

type Answer = Response<Full<Bytes>>;

fn plain(status: StatusCode, kind: &'static str, body: impl Into<Bytes>) -> Answer {
    let mut answer = Response::new(Full::new(body.into()));
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert("x-content-type-options", HeaderValue::from_static("nosniff"));
    headers.insert("x-frame-options", HeaderValue::from_static("DENY"));
    headers.insert("referrer-policy", HeaderValue::from_static("no-referrer"));
    answer
}

async fn answer(shared: &Arc<Shared>, request: &Request<Incoming>) -> Answer {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let mut answer = plain(StatusCode::METHOD_NOT_ALLOWED, TEXT, "this server answers GET and HEAD\n");
        answer.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        return answer;
    }
    if shared.is_local && !is_this_machine(request.headers()) {
        let why = "the Host of this request is neither localhost nor an address: ask for http://127.0.0.1/, or let the proxy set Host\n";
        return plain(StatusCode::MISDIRECTED_REQUEST, TEXT, why);
    }
    let now = shared.clock.now();
    let board = &shared.board;
    match request.uri().path() {
        "/metrics" => plain(StatusCode::OK, OPENMETRICS, board.metrics(now)),
        "/healthz" => {
            let status = if board.is_healthy(now) { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
            plain(status, JSON, format!("{:#}\n", board.status(now)))
        }
        "/" => match board.state().judged {
            Some(judged) => {
                let notice = board.notice(now);
                let page = if notice.is_empty() {
                    judged.page.as_bytes().to_vec()
                } else {
                    html::with_notice(&judged.page, &notice).into_bytes()
                };
                plain(StatusCode::OK, HTML, page)
            }
            None => no_verdict(board),
        },
        "/verdict.json" => match board.state().judged {
            Some(judged) => {
                let mut answer = plain(StatusCode::OK, JSON, judged.document.as_bytes().to_vec());
                let age = now.saturating_sub(judged.time).max(0) / 1000;
                answer.headers_mut().insert("age", HeaderValue::from(age));
                answer
            }
            None => no_verdict(board),
        },
        "/history" => {
            let asked = request.uri().query().and_then(|query| query.strip_prefix("hours="));
            let hours = asked.map_or(Some(HOURS), |text| text.parse().ok());
            match hours.filter(|hours| (1..=MOST_HOURS).contains(hours)) {
                Some(hours) => history(Arc::clone(shared), hours, now).await,
                None => plain(
                    StatusCode::BAD_REQUEST,
                    TEXT,
                    format!("expected /history or /history?hours=N with N from 1 to {MOST_HOURS}\n"),
                ),
            }
        }
        _ => {
            plain(StatusCode::NOT_FOUND, TEXT, "expected /, /verdict.json, /history, /metrics or /healthz\n")
        }
    }
}

/// Returns `true` if the host of a request is `localhost` or an address.
fn is_this_machine(headers: &HeaderMap) -> bool {
    let Some(host) = headers.get(HOST) else { return true };
    let Ok(host) = host.to_str() else { return false };
    let without_port = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) && !name.ends_with(':') => name,
        _ => host,
    };
    let address = without_port.trim_start_matches('[').trim_end_matches(']');
    without_port.eq_ignore_ascii_case("localhost") || address.parse::<IpAddr>().is_ok()
}

fn no_verdict(board: &Board) -> Answer {
    let state = board.state();
    let why = state.failure.unwrap_or_else(|| "the first round has not ended".to_owned());
    plain(StatusCode::SERVICE_UNAVAILABLE, TEXT, format!("there is no verdict yet: {why}\n"))
}

/// Returns the page of the history. The page is created on another thread. It is created again only after a new round
/// or for another number of hours.
async fn history(shared: Arc<Shared>, hours: u64, now: i64) -> Answer {
    let Some(file) = shared.board.history.clone() else {
        return plain(StatusCode::NOT_FOUND, TEXT, "there is no history: start with --history FILE\n");
    };
    let made = tokio::task::spawn_blocking(move || {
        // While one request creates the page, other requests wait for the page.
        let mut page = shared.page.lock().unwrap_or_else(PoisonError::into_inner);
        let rounds = shared.board.state().rounds;
        match &*page {
            Some((of_rounds, of_hours, text)) if (*of_rounds, *of_hours) == (rounds, hours) => {
                Ok(text.clone())
            }
            _ => {
                let since = now.saturating_sub(i64::try_from(hours * 3_600_000).unwrap_or(i64::MAX));
                let read = over_time(&file, Some(since))?;
                let text = Bytes::from(html::over_time(&read));
                *page = Some((rounds, hours, text.clone()));
                Ok::<_, WatchError>(text)
            }
        }
    });
    match made.await {
        Ok(Ok(page)) => plain(StatusCode::OK, HTML, page),
        Ok(Err(error)) => plain(StatusCode::INTERNAL_SERVER_ERROR, TEXT, format!("{error}\n")),
        Err(_) => plain(StatusCode::INTERNAL_SERVER_ERROR, TEXT, "the page could not be made\n"),
    }
}
