//! The connections to one server, as long as they live: for commands, for news, and for confirmations where those are
//! waited for. When one of them ends, all are given up, and others are made.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use gateway_domain::ports::StoreError;
use redis::{Cmd, PushInfo, RedisResult, ScriptInvocation, Value, aio::SendError};
use tokio::sync::Notify;

use super::{
    address::Address,
    dial::{Dialer, Hello, Wire, hello},
    fault::Fault,
    gate::{Closed, Gate, Unconfirmed},
};
use crate::{
    Durability,
    keys::{Bucket, Layout},
    news::Ears,
};

/// Tells the connections of a server from those that came before.
static SERIAL: AtomicU64 = AtomicU64::new(1);

/// The connections to a server.
pub(crate) struct Node {
    /// Of these connections and no others.
    pub(crate) serial: u64,
    pub(super) address: Address,
    commands: Wire,
    news: Wire,
    gate: Option<Gate>,
    broken: Arc<AtomicBool>,
}

/// What a server is asked.
#[derive(Clone, Copy)]
pub(super) enum Request<'a> {
    Script(&'a ScriptInvocation<'a>),
    Command(&'a Cmd),
    /// Over the connection that has the subscriptions.
    News(&'a Cmd),
}

/// What all nodes have in common.
pub(super) struct Making {
    pub(super) dialer: Dialer,
    pub(super) durability: Durability,
    pub(super) layout: Layout,
    pub(super) ears: Arc<Ears>,
    /// Told when connections end.
    pub(super) changed: Arc<Notify>,
}

impl Making {
    /// Connects to a server and asks it what it is.
    pub(super) async fn node(&self, address: &Address) -> Result<(Node, Hello), StoreError> {
        let broken = Arc::new(AtomicBool::new(false));
        let ended = || {
            let (broken, changed) = (broken.clone(), self.changed.clone());
            move || {
                broken.store(true, Ordering::Relaxed);
                changed.notify_one();
            }
        };
        let gate = (self.durability != Durability::Async).then(Closed::new);
        let ears = self.ears.clone();
        let news_gate = gate.as_ref().map(Closed::news);
        let pushed = move |push: PushInfo| {
            ears.hear(news_gate.as_ref(), &push);
            Ok::<(), SendError>(())
        };
        let mut commands = self.dialer.dial(address, None, ended()).await?;
        let hello = hello(&mut commands.connection).await;
        let hello = hello.map_err(|error| Fault::Redis(error).at(&address.to_string()))?;
        let news = self.dialer.dial(address, Some(Arc::new(pushed)), ended()).await?;
        let gate = match gate {
            None => None,
            Some(gate) => {
                let wire = self.dialer.dial(address, None, ended()).await?;
                Some(gate.open(wire, self.durability, self.layout.clone(), self.ears.clone()))
            }
        };
        let node = Node {
            serial: SERIAL.fetch_add(1, Ordering::Relaxed),
            address: address.clone(),
            commands,
            news,
            gate,
            broken,
        };
        Ok((node, hello))
    }
}

impl Node {
    /// Asks the server; and has what it then holds confirmed where `settled` names a bucket of it.
    pub(super) async fn ask(&self, request: Request<'_>, settled: Option<Bucket>) -> Result<Value, Fault> {
        let answer = self.answer(request).await.map_err(Fault::Redis)?;
        if let Some(bucket) = settled {
            self.settle(bucket).await.map_err(Fault::Unconfirmed)?;
        }
        Ok(answer)
    }

    async fn answer(&self, request: Request<'_>) -> RedisResult<Value> {
        let mut commands = self.commands.connection.clone();
        match request {
            Request::Script(script) => script.invoke_async(&mut commands).await,
            Request::Command(command) => command.query_async(&mut commands).await,
            Request::News(command) => command.query_async(&mut self.news.connection.clone()).await,
        }
    }

    /// Waits until what the server holds is confirmed, where that is waited for.
    pub(super) async fn settle(&self, bucket: Bucket) -> Result<(), Unconfirmed> {
        match &self.gate {
            Some(gate) => gate.pass(bucket).await,
            None => Ok(()),
        }
    }

    /// Whether a connection has ended.
    pub(super) fn is_broken(&self) -> bool {
        self.broken.load(Ordering::Relaxed)
    }

    /// Gives the connections up.
    pub(super) fn lose(&self) {
        self.broken.store(true, Ordering::Relaxed);
    }
}
