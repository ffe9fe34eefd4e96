//! Settings as the parts want them.

use std::sync::Arc;

use gateway_config::{
    Secret, Settings,
    typed::{self, ErrorTable, RedisMode},
};
use gateway_domain::{ReplicaId, Tenant, work};
use gateway_edge::Budget;
use gateway_store_redis::{Durability, Mode};
use gateway_wire::errors::Edition;

/// The bounds of every listener; they share the budget for bodies.
pub(crate) fn edge(connections: &typed::Connections) -> Arc<gateway_edge::Settings> {
    Arc::new(gateway_edge::Settings {
        body_bytes: connections.body.0,
        header_bytes: connections.headers.0,
        held: Budget::new(connections.bodies_held.0),
        body_timeout: connections.body_timeout.0,
        head_timeout: connections.head_timeout.0,
        keep_alive: connections.keep_alive.0,
        connection_age: connections.age.0,
        write_stall: connections.write_stall.0,
        drain: connections.drain.0,
        connections: connections.most,
        concurrent_streams: connections.requests_per_connection,
    })
}

/// The bounds of gRPC, and by which table it tells errors. A task grows on its way into protobuf by less than half; the largest one must still go out.
pub(crate) fn grpc(settings: &Settings, edge: &Arc<gateway_edge::Settings>) -> gateway_grpc::Settings {
    let usual = gateway_grpc::Settings::default().reply_bytes;
    gateway_grpc::Settings {
        edge: edge.clone(),
        edition: match settings.error_table {
            ErrorTable::V1_0_1 => Edition::V1_0_1,
            ErrorTable::V1_0_0 => Edition::V1_0_0,
        },
        reply_bytes: usual.max(settings.limits.stored_bytes_per_task * 2),
    }
}

/// The bounds of the store.
pub(crate) fn memory(store: &typed::Store) -> gateway_store_memory::Settings {
    gateway_store_memory::Settings {
        log_entries: store.log_entries,
        log_bytes: store.log_bytes.0,
        finished_per_tenant: store.finished_per_tenant,
        finished_bytes: store.finished_bytes.0,
        finished_kept: store.finished_age.0,
    }
}

/// How a replica keeps its leases.
pub(crate) fn keeper(store: &typed::Store, replica: ReplicaId) -> work::Settings {
    work::Settings {
        lease: store.lease.0,
        losses: store.losses,
        ..work::Settings::of(replica)
    }
}

/// The deployment in Redis, and the bounds of what it keeps.
pub(crate) fn redis(settings: &Settings) -> gateway_store_redis::Settings {
    let (store, redis) = (&settings.store, &settings.store.redis);
    gateway_store_redis::Settings {
        url: redis.url.clone(),
        mode: redis_mode(settings),
        tls: gateway_store_redis::Tls {
            ca_file: redis.tls.ca_file.as_ref().map(Into::into),
            certificate_file: redis.tls.certificate_file.as_ref().map(Into::into),
            key_file: redis.tls.key_file.as_ref().map(Into::into),
            accept_any_certificate: redis.tls.accept_any_certificate,
        },
        durability: match redis.durability {
            typed::Durability::Async => Durability::Async,
            typed::Durability::Replica => Durability::Replica {
                replicas: redis.replicas,
            },
            typed::Durability::Disk => Durability::Disk,
        },
        user: redis.user.clone(),
        password: settings.redis_password.as_ref().map(text),
        prefix: redis.prefix.clone(),
        buckets: redis.buckets,
        spread: redis.spread.iter().flatten().map(spread).collect(),
        log_entries: store.log_entries,
        log_bytes: store.log_bytes.0,
        finished_per_tenant: store.finished_per_tenant,
        finished_kept: store.finished_age.0,
    }
}

fn spread(spread: &typed::RedisSpread) -> (Option<Tenant>, u16) {
    (spread.tenant.as_deref().map(Tenant::new), spread.parts)
}

fn redis_mode(settings: &Settings) -> Mode {
    let redis = &settings.store.redis;
    match redis.mode {
        RedisMode::Standalone => Mode::Standalone,
        RedisMode::Sentinel => Mode::Sentinel {
            master: redis.master.clone(),
            user: redis.sentinel_user.clone(),
            password: settings.redis_sentinel_password.as_ref().map(text),
        },
        RedisMode::Cluster => Mode::Cluster,
    }
}

fn text(secret: &Secret) -> String {
    String::from_utf8_lossy(secret.expose()).into_owned()
}

#[cfg(test)]
mod tests {
    use gateway_config::Typed;

    use gateway_domain::{ReplicaId, work};

    use super::{edge, keeper, memory, redis};

    #[test]
    fn the_defaults_of_the_settings_are_those_of_the_parts() {
        let typed = Typed::default();
        assert_eq!(memory(&typed.store), gateway_store_memory::Settings::default());
        let usual = work::Settings::of(ReplicaId::new("one"));
        assert_eq!(keeper(&typed.store, ReplicaId::new("one")), usual);
        let resolved = crate::settings::parse("").unwrap();
        // Its debug text leaves out most.
        assert!(redis(&resolved) == gateway_store_redis::Settings::default());
        let (settings, own) = (edge(&typed.connections), gateway_edge::Settings::default());
        // A budget is compared by what is free of it.
        assert_eq!(settings.held.free(), own.held.free());
        let without_budget = |settings: &gateway_edge::Settings| {
            let text = format!("{settings:?}");
            text.split_once("held").map_or(text.clone(), |(before, after)| {
                let after = after.split_once("body_timeout").map_or("", |(_, after)| after);
                format!("{before}{after}")
            })
        };
        assert_eq!(without_budget(&settings), without_budget(&own));
    }
}
