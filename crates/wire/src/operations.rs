//! The operation table: what each operation is called on each binding. Routers, clients and tests are built from it.
//!
//! Names of version 1.0. Matching a request against a [`Route`], percent-decoding included, is the binding's.

use gateway_domain::{Operation, principal::Actor};

use Verb::{Delete, Get, Post};

/// What one operation is called.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// The operation.
    pub operation: Operation,
    /// The JSON-RPC method (§9.4); on the agent listener the wire name.
    pub jsonrpc: &'static str,
    /// The full name of the gRPC service (§10).
    pub grpc_service: &'static str,
    /// The gRPC method.
    pub grpc_method: &'static str,
    /// The routes of HTTP+JSON without a tenant (§11.3), the preferred one first. Those of clients exist a second
    /// time behind [`TENANT_PREFIX`].
    pub routes: &'static [Route],
}

/// One way to call an operation over HTTP+JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Route {
    /// The HTTP method.
    pub verb: Verb,
    /// The path as the proto writes it, such as `/tasks/{id=*}:cancel`; variables are field names of the request.
    pub path: &'static str,
}

/// The HTTP methods in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verb {
    /// What is not in the path is in the query.
    Get,
    /// What is not in the path is in the body.
    Post,
    /// What is not in the path is in the query.
    Delete,
}

/// Service of the clients' operations.
pub const CLIENT_SERVICE: &str = "lf.a2a.v1.A2AService";
/// Service of the agents' operations.
pub const AGENT_SERVICE: &str = "gateway.agent.v1.AgentService";
/// Stands before a client's route where the tenant is in the path (§8.3.2).
pub const TENANT_PREFIX: &str = "/{tenant}";
/// Where the agent card is read (§8.2); no operation, and asked without a version.
pub const AGENT_CARD_PATH: &str = "/.well-known/agent-card.json";

/// A client's operation has one name everywhere.
macro_rules! client {
    ($operation:ident: $($route:expr),+) => {
        Row {
            operation: Operation::$operation,
            jsonrpc: stringify!($operation),
            grpc_service: CLIENT_SERVICE,
            grpc_method: stringify!($operation),
            routes: &[$($route),+],
        }
    };
}

/// An agent's operation goes by its wire name in JSON-RPC.
macro_rules! agent {
    ($operation:ident $jsonrpc:literal: $($route:expr),+) => {
        Row {
            operation: Operation::$operation,
            jsonrpc: $jsonrpc,
            grpc_service: AGENT_SERVICE,
            grpc_method: stringify!($operation),
            routes: &[$($route),+],
        }
    };
}

/// Every operation once.
pub const TABLE: [Row; 21] = [
    client!(SendMessage: post("/message:send")),
    client!(SendStreamingMessage: post("/message:stream")),
    client!(GetTask: get("/tasks/{id=*}")),
    client!(ListTasks: get("/tasks")),
    client!(CancelTask: post("/tasks/{id=*}:cancel")),
    // The proto has GET, the text of §11.3.2 POST: both are served.
    client!(SubscribeToTask: get("/tasks/{id=*}:subscribe"), post("/tasks/{id=*}:subscribe")),
    client!(CreateTaskPushNotificationConfig: post("/tasks/{task_id=*}/pushNotificationConfigs")),
    client!(GetTaskPushNotificationConfig: get("/tasks/{task_id=*}/pushNotificationConfigs/{id=*}")),
    client!(ListTaskPushNotificationConfigs: get("/tasks/{task_id=*}/pushNotificationConfigs")),
    client!(DeleteTaskPushNotificationConfig: delete("/tasks/{task_id=*}/pushNotificationConfigs/{id=*}")),
    client!(GetExtendedAgentCard: get("/extendedAgentCard")),
    agent!(StartWorking "tasks:work": post("/tasks/{id=*}:work")),
    agent!(ReportProgress "tasks:report_progress": post("/tasks/{id=*}:report_progress")),
    agent!(RequireInput "tasks:require_input": post("/tasks/{id=*}:require_input")),
    agent!(RequireAuth "tasks:require_auth": post("/tasks/{id=*}:require_auth")),
    agent!(CompleteTask "tasks:complete": post("/tasks/{id=*}:complete")),
    agent!(FailTask "tasks:fail": post("/tasks/{id=*}:fail")),
    agent!(RejectTask "tasks:reject": post("/tasks/{id=*}:reject")),
    agent!(UpdateArtifact "tasks:update_artifact": post("/tasks/{id=*}:update_artifact")),
    agent!(AllTasks "allTasks": get("/allTasks")),
    agent!(AllPushNotificationConfigs "allPushNotificationConfigs": get("/allPushNotificationConfigs")),
];

/// The names of an operation.
pub fn row(operation: Operation) -> &'static Row {
    // `TABLE` names each operation at its own place, which a test holds.
    const ROWS: &[Row] = &TABLE;
    &ROWS[operation as usize]
}

/// The operation of a JSON-RPC method, among those of a listener for `actor`.
pub fn by_jsonrpc(actor: Actor, method: &str) -> Option<Operation> {
    TABLE
        .iter()
        .find(|row| row.operation.actor() == actor && row.jsonrpc == method)
        .map(|row| row.operation)
}

impl Row {
    /// The path of a gRPC call: `/lf.a2a.v1.A2AService/GetTask`.
    pub fn grpc_path(&self) -> String {
        format!("/{}/{}", self.grpc_service, self.grpc_method)
    }
}

/// One piece of a [`Route`]'s path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Segment {
    /// Stands as it is.
    Literal(&'static str),
    /// Stands for the request's field of that name; fills one segment.
    Variable(&'static str),
}

impl Route {
    /// What stands between the slashes, without the custom verb.
    pub fn segments(&self) -> impl Iterator<Item = Segment> {
        self.split()
            .0
            .split('/')
            .skip(1)
            .map(|segment| match segment.strip_prefix('{') {
                Some(variable) => Segment::Variable(variable.trim_end_matches("=*}")),
                None => Segment::Literal(segment),
            })
    }

    /// What follows the last segment after a colon: `cancel`.
    pub fn custom_verb(&self) -> Option<&'static str> {
        self.split().1
    }

    fn split(&self) -> (&'static str, Option<&'static str>) {
        self.path
            .rsplit_once(':')
            .map_or((self.path, None), |(path, verb)| (path, Some(verb)))
    }
}

impl Verb {
    /// The method's name in HTTP.
    pub fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Delete => "DELETE",
        }
    }
}

const fn get(path: &'static str) -> Route {
    Route { verb: Get, path }
}

const fn post(path: &'static str) -> Route {
    Route { verb: Post, path }
}

const fn delete(path: &'static str) -> Route {
    Route { verb: Delete, path }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use gateway_domain::{Operation, principal::Actor};

    use super::{Segment, TABLE, by_jsonrpc, get, post, row};

    #[test]
    fn every_operation_stands_once_and_at_its_own_place() {
        assert!(Operation::all().eq(TABLE.iter().map(|row| row.operation)));
        for operation in Operation::all() {
            assert_eq!(row(operation).operation, operation);
        }
    }

    #[test]
    fn no_name_and_no_route_means_two_operations_on_one_listener() {
        for actor in [Actor::Client, Actor::Agent] {
            let rows = || TABLE.iter().filter(|row| row.operation.actor() == actor);
            let methods: BTreeSet<_> = rows().map(|row| row.jsonrpc).collect();
            assert_eq!(methods.len(), rows().count());
            let routes: Vec<_> = rows()
                .flat_map(|row| row.routes)
                .map(|r| (r.verb.name(), r.path))
                .collect();
            assert_eq!(routes.iter().collect::<BTreeSet<_>>().len(), routes.len());
        }
    }

    #[test]
    fn a_listener_knows_the_methods_of_its_own_actor_only() {
        assert_eq!(by_jsonrpc(Actor::Client, "GetTask"), Some(Operation::GetTask));
        assert_eq!(by_jsonrpc(Actor::Agent, "GetTask"), None);
        assert_eq!(
            by_jsonrpc(Actor::Agent, "tasks:work"),
            Some(Operation::StartWorking)
        );
        assert_eq!(by_jsonrpc(Actor::Client, "tasks:work"), None);
        assert_eq!(by_jsonrpc(Actor::Client, "gettask"), None);
    }

    #[test]
    fn a_path_falls_into_segments_and_a_custom_verb() {
        let route = get("/tasks/{task_id=*}/pushNotificationConfigs/{id=*}");
        assert_eq!(
            route.segments().collect::<Vec<_>>(),
            [
                Segment::Literal("tasks"),
                Segment::Variable("task_id"),
                Segment::Literal("pushNotificationConfigs"),
                Segment::Variable("id"),
            ]
        );
        assert_eq!(route.custom_verb(), None);
        let route = post("/tasks/{id=*}:cancel");
        assert_eq!(route.segments().last(), Some(Segment::Variable("id")));
        assert_eq!(route.custom_verb(), Some("cancel"));
        let route = post("/message:send");
        assert!(route.segments().eq([Segment::Literal("message")]));
        assert_eq!(route.custom_verb(), Some("send"));
    }
}
