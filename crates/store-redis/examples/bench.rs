//! What the store costs over Redis itself: commits in a second against the very same scripts sent bare, and whether a
//! commit gets dearer as its task grows.
//!
//! For a quiet machine with two cores, built for release: `cargo xtask bench-redis`. It promises nothing of a disk or a
//! network: Redis is on this machine and keeps nothing.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a tool for a terminal, which ends where it cannot go on"
)]

use std::{
    io::{BufRead, BufReader, Write},
    net::TcpStream,
    process::{Command, ExitCode},
    time::{Duration, Instant},
};

use futures::future;
use gateway_domain::{
    Limits, TaskId,
    decide::{self, Stamp},
    ports::{Change, Origin, Store, TaskHead},
    request::AgentAction,
};
use gateway_store_redis::{RedisStore, Settings};
use gateway_testkit::{
    build::{artifact, moment, new_task},
    redis::Server,
};
use redis::{Client, Cmd, Value, aio::MultiplexedConnection};

/// Tasks, each with one commit under way.
const IN_FLIGHT: usize = 50;
/// Commits of each of them in a round.
const COMMITS: usize = 400;
/// Rounds, of which the median counts.
const ROUNDS: usize = 5;
/// Commits in a second, as a part of those sent bare.
const LEAST_RATE: f64 = 0.75;
/// The cost of a late commit, over that of an early one.
const MOST_GROWTH: f64 = 1.3;
/// Chunks of the growing task, and how many are measured at either end.
const CHUNKS: usize = 10_000;
const MEASURED: usize = 1_000;
/// Where the first measure begins.
const EARLY: usize = 100;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let server = Server::start(&[
        "--port",
        "{port}",
        "--bind",
        "127.0.0.1",
        "--save",
        "",
        "--appendonly",
        "no",
        "--dir",
        "{folder}",
    ]);
    pin(&server);
    let good = [rate(&server).await, growth(&server).await];
    if good.into_iter().all(|good| good) {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Redis gets the first core to itself.
fn pin(server: &Server) {
    let told = server.say("INFO server");
    let id = told.lines().find_map(|line| line.strip_prefix("process_id:"));
    let pinned = Command::new("taskset").args(["-pc", "0", id.unwrap()]).output();
    if !pinned.is_ok_and(|pinned| pinned.status.success()) {
        println!("Redis shares its core with this program: taskset is missing or there is one core only");
    }
}

async fn open(server: &Server) -> RedisStore {
    server.say("FLUSHALL");
    let settings = Settings {
        url: url(server),
        ..Settings::default()
    };
    RedisStore::open(settings).await.unwrap()
}

fn url(server: &Server) -> String {
    format!("redis://127.0.0.1:{}", server.port())
}

fn stamp(mark: usize) -> Stamp {
    Stamp {
        now: moment(0),
        mark: u32::try_from(mark).unwrap(),
    }
}

fn step(head: &TaskHead, number: usize) -> Change {
    let action = AgentAction::UpdateArtifact {
        artifact: artifact("answer", &format!("chunk number {number} of a text that goes on")),
        append: true,
        last_chunk: false,
    };
    decide::act(head, action, &Limits::default(), stamp(number)).unwrap()
}

/// A new task, and the steps that follow, decided beforehand: only the store is measured.
async fn prepared(store: &RedisStore, name: &str, steps: usize) -> Vec<Change> {
    let id = store.name_task(TaskId::new(name), Origin::default());
    let creation = decide::create(new_task(id), &Limits::default(), stamp(0)).unwrap();
    let mut head = creation.head.clone();
    store.create(creation).await.unwrap();
    let mut changes = Vec::with_capacity(steps);
    for number in 1..=steps {
        let change = step(&head, number);
        head = change.head.clone();
        changes.push(change);
    }
    changes
}

async fn commit_all(store: &RedisStore, tasks: Vec<Vec<Change>>) -> Duration {
    let begun = Instant::now();
    let each = tasks.into_iter().map(|changes| async move {
        for change in changes {
            store.commit(change).await.unwrap();
        }
    });
    future::join_all(each).await;
    begun.elapsed()
}

async fn all_prepared(store: &RedisStore) -> Vec<Vec<Change>> {
    let mut tasks = Vec::new();
    for number in 0..IN_FLIGHT {
        tasks.push(prepared(store, &format!("task-{number:02}"), COMMITS).await);
    }
    tasks
}

// === commits in a second ===

async fn rate(server: &Server) -> bool {
    let recorded = record(server).await;
    let mut ratios = Vec::new();
    for round in 1..=ROUNDS {
        let store = open(server).await;
        let tasks = all_prepared(&store).await;
        let took = commit_all(&store, tasks).await;
        drop(store);
        let bare = replay(server, &recorded).await;
        let per_second = |took: Duration| (IN_FLIGHT * COMMITS) as f64 / took.as_secs_f64();
        let (own, bare) = (per_second(took), per_second(bare));
        println!(
            "round {round}: {own:.0} commits/s, {bare:.0} of the same scripts sent bare, ratio {:.2}",
            own / bare
        );
        ratios.push(own / bare);
    }
    ratios.sort_by(f64::total_cmp);
    judge(
        "commits/s over bare scripts",
        ratios[ROUNDS / 2],
        ratios[ROUNDS / 2] >= LEAST_RATE,
    )
}

/// Commands as the server heard them: what comes before the commits, and the commits of each task.
struct Recorded {
    before: Vec<Cmd>,
    commits: Vec<Vec<Cmd>>,
}

async fn record(server: &Server) -> Recorded {
    let store = open(server).await;
    let lines = monitor(server);
    let tasks = all_prepared(&store).await;
    server.say("ECHO the-commits");
    commit_all(&store, tasks).await;
    server.say("ECHO the-end");
    let (mut before, mut commits) = (Vec::new(), vec![Vec::new(); IN_FLIGHT]);
    let mut begun = false;
    for line in lines.lines().map(Result::unwrap) {
        if line.contains("the-end") {
            break;
        }
        begun |= line.contains("the-commits");
        let words = words(&line);
        if words.first().is_none_or(|name| name != b"EVALSHA") || line.contains(" lua]") {
            continue;
        }
        let of_task = (0..IN_FLIGHT).find(|number| words.iter().any(|word| ends_with_name(word, *number)));
        match of_task {
            Some(number) if begun => commits[number].push(command(&words)),
            _ => before.push(command(&words)),
        }
    }
    Recorded { before, commits }
}

/// Whether a word is the id of a task.
fn ends_with_name(word: &[u8], number: usize) -> bool {
    word.len() < 20 && word.ends_with(format!("-task-{number:02}").as_bytes())
}

fn monitor(server: &Server) -> BufReader<TcpStream> {
    let mut connection = TcpStream::connect(("127.0.0.1", server.port())).unwrap();
    connection.write_all(b"MONITOR\r\n").unwrap();
    let mut lines = BufReader::with_capacity(64 << 20, connection);
    lines.read_line(&mut String::new()).unwrap();
    lines
}

/// Reads the quoted words of a line of MONITOR.
fn words(line: &str) -> Vec<Vec<u8>> {
    let (mut words, mut bytes) = (Vec::new(), line.bytes());
    while bytes.by_ref().any(|byte| byte == b'"') {
        let mut word = Vec::new();
        while let Some(byte) = bytes.next() {
            match byte {
                b'"' => break,
                b'\\' => match bytes.next().unwrap() {
                    b'n' => word.push(b'\n'),
                    b'r' => word.push(b'\r'),
                    b't' => word.push(b'\t'),
                    b'a' => word.push(7),
                    b'b' => word.push(8),
                    b'x' => {
                        let digits = [bytes.next().unwrap(), bytes.next().unwrap()];
                        let digits = std::str::from_utf8(&digits).unwrap().to_owned();
                        word.push(u8::from_str_radix(&digits, 16).unwrap());
                    }
                    other => word.push(other),
                },
                other => word.push(other),
            }
        }
        words.push(word);
    }
    words
}

fn command(words: &[Vec<u8>]) -> Cmd {
    let mut command = Cmd::new();
    for word in words {
        command.arg(word.as_slice());
    }
    command
}

async fn replay(server: &Server, recorded: &Recorded) -> Duration {
    server.say("FLUSHALL");
    let client = Client::open(url(server)).unwrap();
    let connection = client.get_multiplexed_async_connection().await.unwrap();
    for command in &recorded.before {
        send(&mut connection.clone(), command).await;
    }
    let begun = Instant::now();
    let each = recorded.commits.iter().map(|commands| {
        let mut connection = connection.clone();
        async move {
            for command in commands {
                send(&mut connection, command).await;
            }
        }
    });
    future::join_all(each).await;
    begun.elapsed()
}

async fn send(connection: &mut MultiplexedConnection, command: &Cmd) {
    let answer: Value = command.query_async(connection).await.unwrap();
    let refused =
        |value: &Value| matches!(value, Value::BulkString(text) if text == b"CONFLICT" || text == b"GONE");
    let refused = matches!(&answer, Value::Array(values) if values.first().is_some_and(refused));
    assert!(!refused, "what is replayed must do what it did: {answer:?}");
}

// === growth ===

async fn growth(server: &Server) -> bool {
    let store = open(server).await;
    let mut changes = prepared(&store, "grows", CHUNKS).await.into_iter();
    let mut take = |count| changes.by_ref().take(count).collect::<Vec<_>>();
    commit_all(&store, vec![take(EARLY)]).await;
    let early = measured(server, &store, take(MEASURED)).await;
    commit_all(&store, vec![take(CHUNKS - EARLY - 2 * MEASURED)]).await;
    let late = measured(server, &store, take(MEASURED)).await;
    println!(
        "a commit: {:.1} us and {:.1} us of Redis's core after {EARLY} chunks, {:.1} us and {:.1} us after {}",
        early.0,
        early.1,
        late.0,
        late.1,
        CHUNKS - MEASURED
    );
    let time = judge(
        "time of a late commit over an early one",
        late.0 / early.0,
        late.0 / early.0 <= MOST_GROWTH,
    );
    let cpu = judge(
        "the same of Redis's core",
        late.1 / early.1,
        late.1 / early.1 <= MOST_GROWTH,
    );
    time && cpu
}

/// Microseconds of a commit: of time, and of Redis's core.
async fn measured(server: &Server, store: &RedisStore, changes: Vec<Change>) -> (f64, f64) {
    let (count, before) = (changes.len() as f64, cpu(server));
    let took = commit_all(store, vec![changes]).await;
    (
        took.as_secs_f64() * 1e6 / count,
        (cpu(server) - before) * 1e6 / count,
    )
}

fn cpu(server: &Server) -> f64 {
    let told = server.say("INFO cpu");
    let of = |name: &str| {
        let line = told.lines().find_map(|line| line.strip_prefix(name));
        line.map_or(0.0, |seconds| seconds.trim().parse().unwrap())
    };
    of("used_cpu_user:") + of("used_cpu_sys:")
}

fn judge(what: &str, figure: f64, good: bool) -> bool {
    println!("{what}: {figure:.2}  {}", if good { "ok" } else { "FAILED" });
    good
}
