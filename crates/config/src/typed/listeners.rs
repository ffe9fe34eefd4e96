//! Where the gateway listens, and what it says about that to clients.

use std::net::SocketAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::text::Address;

/// Every listener.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Listeners {
    /// Clients, on every binding that has no listener of its own: gRPC, JSON-RPC at /rpc and /{tenant}/rpc,
    /// HTTP+JSON at the root.
    pub client: ClientListener,
    /// Clients, gRPC only.
    pub grpc: ClientListener,
    /// Clients, JSON-RPC only.
    pub jsonrpc: ClientListener,
    /// Clients, HTTP+JSON only.
    pub rest: ClientListener,
    /// Agents: the commands that move tasks on. Whoever reaches it may command any task.
    pub agent: Listener,
    /// Operators: /livez, /readyz and /metrics, and DELETE of tasks, contexts and tenants. Whoever reaches it may do that.
    pub admin: Listener,
}

impl Default for Listeners {
    fn default() -> Self {
        Self {
            client: ClientListener::at(local(8080)),
            grpc: ClientListener::at(Address::Off),
            jsonrpc: ClientListener::at(Address::Off),
            rest: ClientListener::at(Address::Off),
            agent: Listener { address: local(8081) },
            admin: Listener { address: local(9090) },
        }
    }
}

fn local(port: u16) -> Address {
    Address::At(SocketAddr::from(([127, 0, 0, 1], port)))
}

/// A listener for clients.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClientListener {
    /// IP address and port, or `off`.
    pub address: Address,
    /// The protocol versions that are served, the preferred one first.
    pub versions: Vec<Version>,
    /// The protocol version of a request that names none. The specification says 0.3 (§3.6.2).
    pub assumed_version: Version,
}

impl ClientListener {
    fn at(address: Address) -> Self {
        Self {
            address,
            versions: vec![Version::V1_0, Version::V0_3],
            assumed_version: Version::V0_3,
        }
    }
}

/// Another listener.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Listener {
    /// IP address and port, or `off`.
    pub address: Address,
}

/// A version of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Version {
    /// 0.3
    #[serde(rename = "0.3")]
    V0_3,
    /// 1.0
    #[serde(rename = "1.0")]
    V1_0,
}

/// The addresses that the agent card shows.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PublicUrls {
    /// Where clients send JSON-RPC. Without it the listener's own address, which is of use on one machine only.
    #[schemars(example = &"https://a2a.example.com/rpc")]
    pub jsonrpc: Option<String>,
    /// Where the paths of HTTP+JSON begin, without a slash at the end. Without it the listener's own address.
    #[schemars(example = &"https://a2a.example.com")]
    pub rest: Option<String>,
    /// Where clients send gRPC, shown exactly as it is written here, since clients differ in the form they want.
    /// Without it the listener's own address.
    #[schemars(example = &"a2a.example.com:443")]
    pub grpc: Option<String>,
}
