//! One connection, from its first byte to its last.

use std::{
    convert::Infallible,
    hash::{BuildHasher, RandomState},
    sync::Arc,
    time::Duration,
};

use axum::body::Body;
use http::Request;
use hyper::{body::Incoming, service::service_fn};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::conn::auto::Builder,
};
use tokio::time::timeout;
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tower::{Service, ServiceExt};

use super::{
    accept::Wire,
    answer::Answer,
    arrival::Arrival,
    guard::{Guard, Midway, PREFACE},
    streams::Streams,
};
use crate::{Response, Settings};

/// Heads up to so many bytes are read, so that those beyond `header_bytes` can be refused in the binding's own form;
/// larger ones, and HTTP/1 heads of more than 100 fields, are refused by the protocol's means alone. HTTP/1 reads in
/// pieces of up to this size, so that it may see the end of a head up to twice as large.
const READABLE_HEAD: usize = 64 << 10;

/// How much of one request's body an HTTP/2 peer may send ahead of its reader.
const STREAM_WINDOW: u32 = 1 << 20;

/// The same for all requests of a connection together.
const CONNECTION_WINDOW: u32 = 4 << 20;

/// How much of one answer is taken from its body ahead of an HTTP/2 peer.
const SEND_AHEAD: usize = 64 << 10;

/// What all connections of a listener share.
pub(super) struct Connections {
    /// For a peer that has not yet said which protocol it speaks.
    either: Builder<Streams>,
    http1: Builder<Streams>,
    http2: Builder<Streams>,
    settings: Arc<Settings>,
    shutdown: CancellationToken,
}

impl Connections {
    pub(super) fn new(
        settings: &Arc<Settings>,
        tasks: &TaskTracker,
        shutdown: &CancellationToken,
        end: &CancellationToken,
    ) -> Self {
        let streams = Streams {
            tasks: tasks.clone(),
            end: end.clone(),
            write_stall: settings.write_stall,
        };
        let either = builder(settings, streams);
        Self {
            http1: either.clone().http1_only(),
            http2: either.clone().http2_only(),
            either,
            settings: settings.clone(),
            shutdown: shutdown.clone(),
        }
    }

    /// Serves a connection until its peer leaves, it has grown old, or the listener drains; in the latter cases what
    /// runs on it comes to its end first.
    pub(super) async fn run<I, S>(self: Arc<Self>, io: I, service: S)
    where
        I: Wire,
        S: Service<Request<Body>, Response = Response, Error = Infallible> + Clone + Send + 'static,
        S::Future: Send + 'static,
    {
        let mut asked_to_close = std::pin::pin!(self.asked_to_close());
        let builder = tokio::select! {
            looked = timeout(self.settings.head_timeout, self.builder_for(&io)) => match looked {
                Ok(builder) => builder,
                Err(_) => return tracing::debug!("the peer did not begin in time"),
            },
            () = asked_to_close.as_mut() => return,
        };
        let midway = Midway::default();
        let io = TokioIo::new(Guard::new(io, midway.clone(), &self.settings));
        let service = service_fn(move |request| answer(service.clone(), request, midway.clone()));
        let mut connection = std::pin::pin!(builder.serve_connection(io, service));
        let served = tokio::select! {
            served = connection.as_mut() => served,
            () = asked_to_close => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if let Err(error) = served {
            tracing::debug!(error, "a connection broke");
        }
    }

    /// The builder for what the peer speaks. Telling by what has been read costs an HTTP/1 connection a second buffer
    /// for its whole life, since the bytes read come back in a piece of their own that is no whole head.
    async fn builder_for(&self, io: &impl Wire) -> &Builder<Streams> {
        let mut first = [0; PREFACE.len()];
        let seen = io.look(&mut first).await.unwrap_or_default();
        match &first[..seen] {
            PREFACE => &self.http2,
            first if PREFACE.starts_with(first) => &self.either,
            _ => &self.http1,
        }
    }

    async fn asked_to_close(&self) {
        let age = around(self.settings.connection_age);
        tokio::select! {
            () = tokio::time::sleep(age) => {}
            () = self.shutdown.cancelled() => {}
        }
    }
}

async fn answer<S>(
    service: S,
    request: Request<Incoming>,
    midway: Midway,
) -> Result<http::Response<Answer>, Infallible>
where
    S: Service<Request<Body>, Response = Response, Error = Infallible>,
{
    let request = request.map(|body| Body::new(Arrival::new(body, midway)));
    Ok(service.oneshot(request).await?.map(Answer::new))
}

fn builder(settings: &Settings, streams: Streams) -> Builder<Streams> {
    let mut builder = Builder::new(streams);
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(settings.head_timeout)
        .max_buf_size(READABLE_HEAD);
    builder
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(settings.keep_alive)
        .keep_alive_timeout(settings.keep_alive)
        .max_concurrent_streams(settings.concurrent_streams)
        .max_header_list_size(READABLE_HEAD as u32)
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_send_buf_size(SEND_AHEAD);
    builder
}

/// A time within a tenth of this one, so that connections that came together don't leave together.
fn around(time: Duration) -> Duration {
    let random = RandomState::new().hash_one(()) >> 32;
    let share = 0.9 + 0.2 * (random as f64 / f64::from(u32::MAX));
    time.mul_f64(share)
}
