//! What a server is asked once, at the start: whether it can keep what it is trusted with.

use std::collections::HashMap;

use gateway_domain::ports::StoreError;

use super::{
    Link,
    gate::Unconfirmed,
    node::{Node, Request},
    seat::Seat,
};
use crate::Durability;

/// A server that has less than this for all that is kept will soon refuse.
const LITTLE: u64 = 256 << 20;

impl Link {
    /// Looks at every master.
    ///
    /// # Errors
    /// One cannot be reached, or can never confirm what the durability asks for.
    pub(super) async fn inspect(&self) -> Result<(), StoreError> {
        let seats = self.map().seats.clone();
        for seat in &seats {
            let node = self.node(seat).await?;
            self.try_durability(seat, &node).await?;
            warn_of_memory(seat, &node).await;
        }
        Ok(())
    }

    async fn try_durability(&self, seat: &Seat, node: &Node) -> Result<(), StoreError> {
        let map = self.map();
        let here = |slot| map.seat(slot).is_some_and(|other| other.name == seat.name);
        let Some(bucket) = self.making.layout.all().find(|bucket| here(bucket.slot())) else {
            return Ok(());
        };
        let Err(unconfirmed) = node.settle(bucket).await else {
            return Ok(());
        };
        let refused = matches!(&unconfirmed, Unconfirmed::Server(error) if !error.is_timeout());
        if refused {
            let hint = match self.making.durability {
                Durability::Disk => {
                    "durability \"disk\" needs a server that can wait for its append-only file (Redis 7.2, Valkey) \
                     and appendonly yes"
                }
                Durability::Async | Durability::Replica { .. } => "its user must be allowed to WAIT",
            };
            return Err(StoreError::new(format_args!(
                "Redis at {}: {unconfirmed}: {hint}",
                seat.name
            )));
        }
        tracing::warn!(
            server = seat.name,
            cause = %unconfirmed,
            "nothing is acknowledged until Redis can have it confirmed"
        );
        Ok(())
    }
}

async fn warn_of_memory(seat: &Seat, node: &Node) {
    let mut command = redis::cmd("INFO");
    command.arg("memory");
    let told = node.ask(Request::Command(&command), None).await;
    let told = told
        .ok()
        .and_then(|told| redis::from_redis_value::<String>(told).ok());
    let Some(told) = told else {
        tracing::info!(
            server = seat.name,
            "how the memory of Redis is bounded is not known: its user lacks the right +info"
        );
        return;
    };
    for warning in warnings(&told) {
        tracing::warn!(server = seat.name, "{warning}");
    }
}

/// What is wrong with a server's memory, by its own account.
fn warnings(told: &str) -> Vec<String> {
    let fields: HashMap<&str, &str> = told
        .lines()
        .filter_map(|line| line.trim().split_once(':'))
        .collect();
    let number = |name: &str| {
        fields
            .get(name)
            .and_then(|value| value.parse::<u64>().ok())
            .unwrap_or(0)
    };
    let policy = fields.get("maxmemory_policy").copied().unwrap_or("noeviction");
    let mut warnings = Vec::new();
    if policy != "noeviction" {
        warnings.push(format!(
            "Redis drops keys by itself when it is full (maxmemory-policy {policy}), and tasks with them: set it to \
             noeviction"
        ));
    }
    let (bound, used) = (number("maxmemory"), number("used_memory"));
    let room = match (bound, number("total_system_memory")) {
        (0, 0) => return warnings,
        (0, machine) => machine,
        (bound, _) => bound,
    };
    if bound == 0 {
        warnings.push(
            "Redis has no maxmemory: what it does when the machine's memory is full is not up to it; set one, with \
             maxmemory-policy noeviction"
                .to_owned(),
        );
    }
    if room < LITTLE || used > room - room / 5 {
        warnings.push(format!(
            "Redis has little memory for what is kept: {} of {} MiB are used; it refuses writes when it is full",
            used >> 20,
            room >> 20
        ));
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::warnings;

    #[test]
    fn a_server_that_forgets_or_is_nearly_full_is_warned_of() {
        for (told, words) in [
            (
                "maxmemory:1073741824\r\nused_memory:1000\r\nmaxmemory_policy:noeviction\r\n",
                vec![],
            ),
            (
                "maxmemory:1073741824\r\nmaxmemory_policy:allkeys-lru\r\n",
                vec!["drops keys"],
            ),
            (
                "maxmemory:1073741824\r\nused_memory:1000000000\r\n",
                vec!["little memory"],
            ),
            (
                "maxmemory:1000000\r\nmaxmemory_policy:volatile-ttl",
                vec!["drops keys", "little memory"],
            ),
            (
                "maxmemory:0\r\ntotal_system_memory:8589934592\r\nused_memory:1\r\n",
                vec!["no maxmemory"],
            ),
            ("nothing that is known", vec![]),
        ] {
            let warned = warnings(told);
            assert_eq!(warned.len(), words.len(), "{told}: {warned:?}");
            assert!(
                warned
                    .iter()
                    .zip(words)
                    .all(|(warning, word)| warning.contains(word)),
                "{warned:?}"
            );
        }
    }
}
