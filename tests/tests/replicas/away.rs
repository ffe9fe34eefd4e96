//! Redis is gone: whatever is asked, over whichever binding, is refused as what it is, with an id to ask about and nothing
//! of the inside; the log has the rest.

use std::time::Duration;

use gateway_domain::{Actor, ErrorKind, Operation};
use gateway_testkit::redis::RedisServer;
use gateway_tests::{
    balancer::Kind,
    client::Refusal,
    cluster::{Cluster, Plan},
    raw::PATIENCE,
    samples,
};

use super::{ask, call};

#[tokio::test]
async fn while_redis_is_gone_every_operation_says_unavailable_and_nothing_of_the_inside() {
    let mut redis = RedisServer::start();
    let plan = Plan::behind(Kind::Nginx).on(&redis.url());
    // Each refusal is in the log, however many come at once.
    let cluster = Cluster::start(plan.set("LOGGING__REFUSALS_PER_SECOND", "10000"));
    let client = cluster.clients().all().next().unwrap();
    let task = call(&*client, Operation::SendMessage, samples::message("auth")).await;
    let task = task["task"]["id"].as_str().unwrap();
    redis.kill();
    // The card is the gateway's own.
    for operation in Operation::all().filter(|operation| *operation != Operation::GetExtendedAgentCard) {
        let drivers = match operation.actor() {
            Actor::Client => cluster.clients(),
            Actor::Agent => cluster.agents(),
        };
        for driver in drivers.all() {
            let id = format!(
                "{}.{}",
                operation.name(),
                driver.binding().name().replace('+', "-")
            );
            let asked = ask(operation, samples::valid(operation, task)).with("x-request-id", &id);
            let refusal = driver.call(&asked).await.refusal();
            refusal.assert(ErrorKind::Unavailable);
            assert_eq!(refusal.request_id.as_ref(), Some(&id));
            tells_nothing_of_the_inside(&refusal, &redis.url());
            // It comes over a pipe, some time after the answer.
            let said = async {
                while !cluster.said().contains(&id) {
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
            };
            let said = tokio::time::timeout(PATIENCE, said).await;
            assert!(said.is_ok(), "no word of {id} in the log");
        }
    }
}

fn tells_nothing_of_the_inside(refusal: &Refusal, url: &str) {
    let told = format!("{} {:?}", refusal.message, refusal.details);
    let path = url.strip_prefix("redis+unix://").unwrap();
    for inward in [path, "edis", "127.0.0.1", "::", "a2a:{", "src/", "os error"] {
        assert!(!told.contains(inward), "{inward} in {told}");
    }
}
