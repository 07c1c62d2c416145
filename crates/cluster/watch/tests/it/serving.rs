//! Tests of the answers of the server, over real connections to this machine.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use evenhand_watch::{Clock, Stop, WatchError, server};
use serde_json::Value;

use crate::common::{CLUSTER, Watch, script, settings};

/// The server of a watch that has run some rounds.
struct Served {
    address: SocketAddr,
    stop: Stop,
    thread: Option<std::thread::JoinHandle<()>>,
    watch: Watch,
    folder: tempfile::TempDir,
}

impl Served {
    fn new(rounds: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("snap.json"), CLUSTER).unwrap();
        let history: PathBuf = folder.path().join("history.sqlite");
        let mut watch = Watch::new(settings(script(folder.path(), "cat snap.json")), Some(history));
        watch.settings.is_shown = true;
        if rounds > 0 {
            watch.run(rounds);
        }
        let listener = server::listen("127.0.0.1:0".parse().unwrap(), false).unwrap();
        let address = listener.local_addr().unwrap();
        let stop = Stop::default();
        let clock = Arc::clone(&watch.clock) as Arc<dyn Clock>;
        let thread = server::serve(listener, Arc::clone(&watch.board), clock, stop.clone()).unwrap();
        Self { address, stop, thread: Some(thread), watch, folder }
    }

    /// Sends bytes, and returns the head and the body of the answer.
    fn send(&self, bytes: &str) -> (String, String) {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream.write_all(bytes.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        (head.to_lowercase(), body.to_owned())
    }

    fn ask(&self, method: &str, path: &str, host: &str) -> (String, String) {
        self.send(&format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\n\r\n"))
    }

    #[track_caller]
    fn get(&self, path: &str, status: u16, kind: &str) -> String {
        let (head, body) = self.ask("GET", path, &self.address.to_string());
        assert!(head.starts_with(&format!("http/1.1 {status} ")), "{path}: {head}");
        assert!(head.contains(&format!("content-type: {kind}")), "{path}: {head}");
        assert!(head.contains("x-content-type-options: nosniff") && head.contains("cache-control: no-store"));
        body
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop.stop();
        self.thread.take().unwrap().join().unwrap();
    }
}

#[test]
fn every_address_returns_its_document() {
    let mut served = Served::new(3);
    let page = served.get("/", 200, "text/html");
    assert!(
        page.contains("research uses 8 of its fair share of 20")
            && page.contains("as of 2026-01-01 00:02:00 UTC")
    );
    assert!(!page.contains("card notice"));
    let verdict: Value = serde_json::from_str(&served.get("/verdict.json", 200, "application/json")).unwrap();
    assert_eq!((&verdict["kind"], &verdict["fair"]), (&"cluster-verdict".into(), &false.into()));
    let status: Value = serde_json::from_str(&served.get("/healthz", 200, "application/json")).unwrap();
    assert_eq!((&status["healthy"], &status["rounds"]), (&true.into(), &3.into()));
    let history = served.get("/history?hours=1", 200, "text/html");
    assert!(history.contains("Usage against fair share") && history.contains("3 rounds gave a verdict"));
    served.get("/history?hours=0", 400, "text/plain");
    served.get("/history?hours=x", 400, "text/plain");
    assert!(served.get("/etc/passwd", 404, "text/plain").contains("/metrics"));

    let metrics = served.get("/metrics", 200, "application/openmetrics-text; version=1.0.0");
    assert!(metrics.ends_with("# EOF\n"));
    for line in [
        "evenhand_up 1.0",
        "evenhand_rounds_total 3.0",
        "evenhand_queue_held{queue=\"research\",resource=\"gpu\"} 8.0",
        "evenhand_queue_due{queue=\"research\",resource=\"gpu\"} 20.0",
        "evenhand_queue_short_by_a_task{queue=\"research\"} 1.0",
        "# UNIT evenhand_snapshot_age_seconds seconds",
        "# TYPE evenhand_failures counter",
        "evenhand_failures_total{reason=\"timeout\"} 0.0",
    ] {
        assert!(metrics.lines().any(|of| of == line), "{line}: {metrics}");
    }
    let declared = |mark: &str| -> Vec<&str> {
        metrics.lines().filter_map(|line| line.strip_prefix(mark)?.split(' ').next()).collect()
    };
    assert_eq!(declared("# HELP "), declared("# TYPE "));

    // After a failed round the page states that its verdict is old.
    fs::remove_file(served.folder.path().join("snap.json")).unwrap();
    served.watch.run(1);
    let page = served.get("/", 200, "text/html");
    assert!(page.contains("The latest round gave no verdict"), "{}", &page[..2_000]);
    let status: Value = serde_json::from_str(&served.get("/healthz", 200, "application/json")).unwrap();
    assert!(status["failure"].as_str().unwrap().contains("exit status"));
    // If no round ends for a long time, the watch is not healthy.
    served.watch.clock.sleep(Duration::from_secs(3_600), &Stop::default());
    served.get("/healthz", 503, "application/json");
}

#[test]
fn addresses_report_that_no_verdict_exists_yet() {
    let served = Served::new(0);
    for path in ["/", "/verdict.json"] {
        assert!(served.get(path, 503, "text/plain").contains("the first round has not ended"));
    }
    assert!(served.get("/metrics", 200, "application/openmetrics-text").contains("evenhand_up 0.0"));
    assert!(!served.get("/metrics", 200, "application/openmetrics-text").contains("evenhand_queue"));
    served.get("/history", 500, "text/plain");
}

#[test]
fn other_requests_are_refused() {
    let served = Served::new(1);
    let here = served.address.to_string();
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "TRACE"] {
        let (head, _) = served.ask(method, "/", &here);
        assert!(head.starts_with("http/1.1 405") && head.contains("allow: get, head"), "{head}");
    }
    let (head, body) = served.ask("HEAD", "/metrics", &here);
    assert!(
        head.starts_with("http/1.1 200") && head.contains("content-length: ") && body.is_empty(),
        "{head}"
    );
    // A page of another site may use a host name that points to this machine. Such host names are refused.
    for host in ["evil.example", "evil.example:9464", "127.0.0.1.evil.example", "localhost.evil"] {
        assert!(served.ask("GET", "/", host).0.starts_with("http/1.1 421"), "{host}");
    }
    for host in ["localhost", "localhost:9464", "127.0.0.1", "[::1]:9464", "LOCALHOST:1"] {
        assert!(served.ask("GET", "/", host).0.starts_with("http/1.1 200"), "{host}");
    }
    // Bytes that are not a request are refused, and so is a head that is too large.
    assert!(served.send("\u{16}\u{3}\u{1}\r\n\r\n").0.starts_with("http/1.1 400"));
    let large = format!("GET / HTTP/1.1\r\nHost: {here}\r\nx: {}\r\n\r\n", "y".repeat(100_000));
    let mut stream = TcpStream::connect(served.address).unwrap();
    // The server may close the connection before the client has sent all bytes.
    let _ = stream.write_all(large.as_bytes());
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    assert!(!String::from_utf8_lossy(&answer).starts_with("HTTP/1.1 200"));
    served.get("/metrics", 200, "application/openmetrics-text");
}

/// Connections without a request do not block other clients.
#[test]
fn idle_connections_do_not_block_other_clients() {
    let served = Served::new(1);
    let idle: Vec<TcpStream> = (0..30).map(|_| TcpStream::connect(served.address).unwrap()).collect();
    served.get("/metrics", 200, "application/openmetrics-text");
    drop(idle);
}

#[test]
fn the_server_listens_only_locally_by_default() {
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0", "[::ffff:192.0.2.1]:0"] {
        let refused = server::listen(address.parse().unwrap(), false).unwrap_err();
        assert!(matches!(refused, WatchError::NotLoopback(_)), "{address}");
        assert!(refused.to_string().contains("--insecure"), "{refused}");
    }
    assert!(server::listen("127.0.0.1:0".parse().unwrap(), false).is_ok());
    assert!(server::listen("0.0.0.0:0".parse().unwrap(), true).is_ok());
    // Another server already uses the port.
    let taken = server::listen("127.0.0.1:0".parse().unwrap(), false).unwrap();
    let refused = server::listen(taken.local_addr().unwrap(), false).unwrap_err();
    assert!(matches!(refused, WatchError::Listen { .. }), "{refused}");
}
