//! Three replicas of the program with one Redis behind a balancer, as callers and agents see them: whatever was answered
//! is so for everybody, streams pass event by event, and many writers get along.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test: what must not be absent fails it, and its counts are for people"
)]

mod away;
mod compose;
mod parted;
mod reads;
mod streams;
mod writers;

use gateway_domain::Operation;
use gateway_tests::client::{Answer, Ask, Driver};
use serde_json::Value;

/// A call by nobody in particular, which is how the program is called out of the box.
fn ask(operation: Operation, params: Value) -> Ask {
    let mut ask = Ask::new(operation, params);
    ask.caller = None;
    ask
}

/// Makes a call that has to be answered with a result.
async fn call(driver: &dyn Driver, operation: Operation, params: Value) -> Value {
    match driver.call(&ask(operation, params.clone())).await {
        Answer::Reply(reply) => reply.json,
        other => panic!(
            "{} of {params} over {}: {other:?}",
            operation.name(),
            driver.binding().name()
        ),
    }
}
