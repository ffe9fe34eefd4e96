//! The official Rust SDK against a running gateway: each operation over each binding, one JSON line a cell.
//!
//! Called with the base URL. A cell that is as the specification has it is observed as `pass`, any other by what went
//! wrong. Whether that is a fault is not judged here; the exit code says only whether all cells were reported.

mod calls;
mod cells;

use std::{error::Error, sync::Arc, time::Duration};

use a2a::{TRANSPORT_PROTOCOL_GRPC, TRANSPORT_PROTOCOL_HTTP_JSON, TRANSPORT_PROTOCOL_JSONRPC};
use a2a_client::{A2AClientFactory, agent_card::AgentCardResolver};
use a2a_grpc::GrpcTransportFactory;
use serde_json::json;

use calls::{Calls, Observed};

const BINDINGS: [&str; 3] = [
    TRANSPORT_PROTOCOL_JSONRPC,
    TRANSPORT_PROTOCOL_HTTP_JSON,
    TRANSPORT_PROTOCOL_GRPC,
];
const CELL_LIMIT: Duration = Duration::from_secs(20);

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let base = std::env::args().nth(1).ok_or("called as `sdk-client BASE_URL`")?;
    let card = AgentCardResolver::new(None).resolve(&base).await?;
    for binding in BINDINGS {
        let factory = A2AClientFactory::builder()
            .register(Arc::new(GrpcTransportFactory::new()))
            .preferred_bindings(vec![binding.to_owned()])
            .build();
        let (client, interface) = factory.create_from_card_with_interface(&card).await?;
        if interface.protocol_binding != binding {
            return Err(format!(
                "{} was chosen where {binding} was preferred",
                interface.protocol_binding
            )
            .into());
        }
        let calls = Calls::new(&base, client, card.clone());
        for operation in cells::OPERATIONS {
            let ended = tokio::time::timeout(CELL_LIMIT, cells::run(operation, &calls)).await;
            let observed = match ended {
                Ok(Ok(())) => "pass".to_owned(),
                Ok(Err(Observed(what))) => what,
                Err(_) => format!("not so: an end within {CELL_LIMIT:?}"),
            };
            println!(
                "{}",
                json!({"operation": operation, "binding": binding, "observed": observed})
            );
        }
    }
    Ok(())
}
