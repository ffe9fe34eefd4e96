//! Asks Sentinels where the master is. What most of them say counts: one that was cut off may name an old master.

use std::time::Duration;

use futures::{StreamExt, stream::FuturesUnordered};
use gateway_domain::ports::StoreError;
use redis::{RedisError, ServerErrorKind};
use tokio::time::timeout;

use super::{
    address::Address,
    dial::{Dialer, Wire},
};

/// How long a Sentinel may take.
const PATIENCE: Duration = Duration::from_millis(700);

/// The Sentinels of a deployment.
pub(super) struct Sentinels {
    master: String,
    dialer: Dialer,
    each: Vec<(Address, tokio::sync::Mutex<Option<Wire>>)>,
}

impl Sentinels {
    pub(super) fn new(master: &str, dialer: Dialer, addresses: &[Address]) -> Self {
        Self {
            master: master.to_owned(),
            dialer,
            each: addresses
                .iter()
                .map(|at| (at.clone(), Default::default()))
                .collect(),
        }
    }

    /// Where the master is, by more than half of the Sentinels or by most of those that answer.
    pub(super) async fn find(&self) -> Result<Address, StoreError> {
        let asked = self.each.iter().map(|(at, wire)| self.ask(at, wire));
        let mut answers: FuturesUnordered<_> = asked.collect();
        let (mut votes, mut last): (Vec<(Address, usize)>, _) = (Vec::new(), None);
        while let Some(answer) = answers.next().await {
            match answer {
                Ok(named) => {
                    let count = count(&mut votes, named.clone());
                    if count * 2 > self.each.len() {
                        return Ok(named);
                    }
                }
                Err(error) => last = Some(error),
            }
        }
        // Of equal counts the first that was named: none is better founded.
        let most = votes.into_iter().rev().max_by_key(|(_, count)| *count);
        most.map(|(named, _)| named)
            .ok_or_else(|| last.unwrap_or_else(|| StoreError::new("there is no Sentinel to ask")))
    }

    async fn ask(
        &self,
        at: &Address,
        wire: &tokio::sync::Mutex<Option<Wire>>,
    ) -> Result<Address, StoreError> {
        let mut wire = wire.lock().await;
        let answer = timeout(PATIENCE, self.ask_over(at, &mut wire)).await;
        let answer = answer.unwrap_or_else(|_| {
            Err(StoreError::new(format_args!(
                "no answer from the Sentinel at {at}"
            )))
        });
        if answer.is_err() {
            *wire = None;
        }
        answer
    }

    async fn ask_over(&self, at: &Address, wire: &mut Option<Wire>) -> Result<Address, StoreError> {
        let told = |error: RedisError| {
            let hint = if error.kind() == redis::ErrorKind::Server(ServerErrorKind::ResponseError) {
                " (is it a Sentinel?)"
            } else {
                ""
            };
            StoreError::new(format_args!("the Sentinel at {at}: {error}{hint}"))
        };
        // A connection that ended while nobody looked is not the Sentinel's fault: once more over a new one.
        for fresh in [false, true] {
            if wire.is_none() {
                *wire = Some(self.dialer.dial(at, None, || ()).await?);
            }
            let Some(connected) = wire.as_ref() else { break };
            let mut question = redis::cmd("SENTINEL");
            question.arg("GET-MASTER-ADDR-BY-NAME").arg(&self.master);
            let answer: Result<Option<(String, u16)>, _> =
                question.query_async(&mut connected.connection.clone()).await;
            match answer {
                Ok(Some((host, port))) => return Ok(Address::Tcp(host, port)),
                Ok(None) => {
                    return Err(StoreError::new(format_args!(
                        "the Sentinel at {at} knows of no master called {:?}",
                        self.master
                    )));
                }
                Err(error) if !fresh && error.is_unrecoverable_error() => *wire = None,
                Err(error) => return Err(told(error)),
            }
        }
        Err(StoreError::new(format_args!(
            "no connection to the Sentinel at {at}"
        )))
    }
}

fn count(votes: &mut Vec<(Address, usize)>, named: Address) -> usize {
    match votes.iter_mut().find(|(address, _)| *address == named) {
        Some((_, count)) => {
            *count += 1;
            *count
        }
        None => {
            votes.push((named, 1));
            1
        }
    }
}
