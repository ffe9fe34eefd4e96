//! The operation table: what each operation is called on each binding. Routers, clients and tests are built from it.
//!
//! Two tables, one for each version, in the same form. Matching a request against a [`Route`], percent-decoding included, is the binding's.

use gateway_domain::{Operation, Version, principal::Actor};

use Verb::{Delete, Get, Post};

/// What one operation is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// The operation.
    pub operation: Operation,
    /// The version whose names these are; an agent's are ours and of the one version that agents speak.
    pub version: Version,
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
    /// The path as the proto writes it, such as `/tasks/{id=*}:cancel`; variables are field names of the request. A
    /// variable with slashes in it, `{name=tasks/*}`, has one [`Segment::Variable`] for each of its stars.
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
/// Service of the clients' operations in version 0.3.
pub const CLIENT_SERVICE_0_3: &str = "a2a.v1.A2AService";
/// Service of the agents' operations.
pub const AGENT_SERVICE: &str = "gateway.agent.v1.AgentService";
/// Stands before a client's route where the tenant is in the path (§8.3.2).
pub const TENANT_PREFIX: &str = "/{tenant}";
/// Every path of version 0.3 begins with it, behind the tenant where there is one.
pub const PATH_0_3: &str = "v1";
/// Where the agent card is read (§8.2); no operation, and asked without a version.
pub const AGENT_CARD_PATH: &str = "/.well-known/agent-card.json";
/// Where clients of 0.3 look for the card that find none at [`AGENT_CARD_PATH`]; of old it was only here.
pub const AGENT_CARD_PATH_OF_OLD: &str = "/.well-known/agent.json";

/// A client's operation has one name everywhere.
macro_rules! client {
    ($operation:ident: $($route:expr),+) => {
        Row {
            operation: Operation::$operation,
            version: Version::V1_0,
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
            version: Version::V1_0,
            jsonrpc: $jsonrpc,
            grpc_service: AGENT_SERVICE,
            grpc_method: stringify!($operation),
            routes: &[$($route),+],
        }
    };
}

/// In version 0.3 a client's operation has another name on each binding.
macro_rules! client_0_3 {
    ($operation:ident $jsonrpc:literal $method:literal: $($route:expr),+) => {
        Row {
            operation: Operation::$operation,
            version: Version::V0_3,
            jsonrpc: $jsonrpc,
            grpc_service: CLIENT_SERVICE_0_3,
            grpc_method: $method,
            routes: &[$($route),+],
        }
    };
}

/// Every operation once, by its names of version 1.0.
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

/// The operations that version 0.3 has, in the order of [`TABLE`]. There is no list of tasks.
pub const TABLE_0_3: [Row; 10] = [
    client_0_3!(SendMessage "message/send" "SendMessage": post("/v1/message:send")),
    client_0_3!(SendStreamingMessage "message/stream" "SendStreamingMessage": post("/v1/message:stream")),
    client_0_3!(GetTask "tasks/get" "GetTask": get("/v1/{name=tasks/*}")),
    client_0_3!(CancelTask "tasks/cancel" "CancelTask": post("/v1/{name=tasks/*}:cancel")),
    // The proto has GET, the text of the specification POST: both are served.
    client_0_3!(SubscribeToTask "tasks/resubscribe" "TaskSubscription":
        get("/v1/{name=tasks/*}:subscribe"), post("/v1/{name=tasks/*}:subscribe")),
    client_0_3!(CreateTaskPushNotificationConfig "tasks/pushNotificationConfig/set" "CreateTaskPushNotificationConfig":
        post("/v1/{parent=tasks/*/pushNotificationConfigs}")),
    client_0_3!(GetTaskPushNotificationConfig "tasks/pushNotificationConfig/get" "GetTaskPushNotificationConfig":
        get("/v1/{name=tasks/*/pushNotificationConfigs/*}")),
    client_0_3!(ListTaskPushNotificationConfigs "tasks/pushNotificationConfig/list" "ListTaskPushNotificationConfig":
        get("/v1/{parent=tasks/*}/pushNotificationConfigs")),
    client_0_3!(DeleteTaskPushNotificationConfig "tasks/pushNotificationConfig/delete" "DeleteTaskPushNotificationConfig":
        delete("/v1/{name=tasks/*/pushNotificationConfigs/*}")),
    client_0_3!(GetExtendedAgentCard "agent/getAuthenticatedExtendedCard" "GetAgentCard": get("/v1/card")),
];

/// Every row of both versions, those of 1.0 first.
pub fn rows() -> impl Iterator<Item = &'static Row> + Clone {
    const ROWS: [&[Row]; 2] = [&TABLE, &TABLE_0_3];
    ROWS.into_iter().flatten()
}

/// The rows of a listener for `actor`.
pub fn rows_of(actor: Actor) -> impl Iterator<Item = &'static Row> + Clone {
    rows().filter(move |row| row.operation.actor() == actor)
}

/// The names of an operation in a version, where that version has it.
pub fn row_in(version: Version, operation: Operation) -> Option<&'static Row> {
    rows().find(|row| row.version == version && row.operation == operation)
}

/// The names of an operation in version 1.0.
pub fn row(operation: Operation) -> &'static Row {
    // `TABLE` names each operation at its own place, which a test holds.
    const ROWS: &[Row] = &TABLE;
    &ROWS[operation as usize]
}

/// The operation of a JSON-RPC method in any version, among those of a listener for `actor`.
pub fn by_jsonrpc(actor: Actor, method: &str) -> Option<&'static Row> {
    rows_of(actor).find(|row| row.jsonrpc == method)
}

/// The operation of a gRPC path in any version, among those of a listener for `actor`.
pub fn by_grpc(actor: Actor, path: &str) -> Option<&'static Row> {
    let (service, method) = path.strip_prefix('/')?.split_once('/')?;
    rows_of(actor).find(|row| row.grpc_service == service && row.grpc_method == method)
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
        let pieces = self.split().0.split('/').skip(1);
        pieces.scan("", |variable, piece| {
            let piece = match piece.strip_prefix('{').and_then(|piece| piece.split_once('=')) {
                Some((name, piece)) => {
                    *variable = name;
                    piece
                }
                None => piece,
            };
            Some(match piece.trim_end_matches('}') {
                "*" => Segment::Variable(variable),
                literal => Segment::Literal(literal),
            })
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

    use gateway_domain::{Operation, Version, principal::Actor};

    use super::{
        PATH_0_3, Route, Segment, TABLE, TABLE_0_3, by_grpc, by_jsonrpc, get, post, row, row_in, rows,
        rows_of,
    };

    #[test]
    fn every_operation_stands_once_and_at_its_own_place() {
        assert!(Operation::all().eq(TABLE.iter().map(|row| row.operation)));
        for operation in Operation::all() {
            assert_eq!(row(operation).operation, operation);
            assert_eq!(row_in(Version::V1_0, operation), Some(row(operation)));
        }
    }

    #[test]
    fn version_0_3_has_every_operation_of_clients_but_the_list_of_tasks() {
        let clients = Operation::CLIENT.into_iter();
        assert!(
            clients
                .filter(|operation| *operation != Operation::ListTasks)
                .eq(TABLE_0_3.iter().map(|row| row.operation))
        );
        assert_eq!(row_in(Version::V0_3, Operation::ListTasks), None);
        for row in rows() {
            assert_eq!(row_in(row.version, row.operation), Some(row));
            for route in row.routes {
                let begins = route.segments().next() == Some(Segment::Literal(PATH_0_3));
                assert_eq!(begins, row.version == Version::V0_3, "{}", route.path);
            }
        }
    }

    #[test]
    fn no_name_and_no_route_means_two_operations_on_one_listener() {
        for actor in [Actor::Client, Actor::Agent] {
            let rows = rows_of(actor);
            let methods: BTreeSet<_> = rows.clone().map(|row| row.jsonrpc).collect();
            assert_eq!(methods.len(), rows.clone().count());
            let paths: BTreeSet<_> = rows.clone().map(|row| row.grpc_path()).collect();
            assert_eq!(paths.len(), rows.clone().count());
            let form = |route: &Route| {
                let segments = route.segments().map(|segment| match segment {
                    Segment::Literal(literal) => literal,
                    Segment::Variable(_) => "*",
                });
                (
                    route.verb.name(),
                    segments.collect::<Vec<_>>(),
                    route.custom_verb(),
                )
            };
            let routes: Vec<_> = rows.flat_map(|row| row.routes).map(form).collect();
            assert_eq!(routes.iter().collect::<BTreeSet<_>>().len(), routes.len());
        }
    }

    #[test]
    fn a_listener_knows_the_methods_of_its_own_actor_only() {
        let found = |actor, method| by_jsonrpc(actor, method).map(|row| (row.version, row.operation));
        let get = Operation::GetTask;
        assert_eq!(found(Actor::Client, "GetTask"), Some((Version::V1_0, get)));
        assert_eq!(found(Actor::Client, "tasks/get"), Some((Version::V0_3, get)));
        let work = (Version::V1_0, Operation::StartWorking);
        assert_eq!(found(Actor::Agent, "tasks:work"), Some(work));
        for (actor, method) in [
            (Actor::Agent, "GetTask"),
            (Actor::Agent, "tasks/get"),
            (Actor::Client, "tasks:work"),
            (Actor::Client, "gettask"),
            (Actor::Client, "tasks/list"),
        ] {
            assert_eq!(found(actor, method), None, "{method}");
        }
    }

    #[test]
    fn a_grpc_path_means_an_operation_of_its_own_listener_only() {
        for row in rows() {
            for actor in [Actor::Client, Actor::Agent] {
                let expected = (row.operation.actor() == actor).then_some(row);
                assert_eq!(by_grpc(actor, &row.grpc_path()), expected, "{}", row.grpc_path());
            }
        }
        for path in [
            "",
            "/",
            "GetTask",
            "/lf.a2a.v1.A2AService",
            "/lf.a2a.v1.A2AService/",
            "/lf.a2a.v1.A2AService/gettask",
            "/lf.a2a.v1.A2AService/GetTask/",
            "/lf.a2a.v1.A2AService/TaskSubscription",
            "/a2a.v1.A2AService/ListTasks",
        ] {
            assert_eq!(by_grpc(Actor::Client, path), None, "{path}");
        }
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
        let route = get("/v1/{name=tasks/*/pushNotificationConfigs/*}");
        assert_eq!(
            route.segments().collect::<Vec<_>>(),
            [
                Segment::Literal("v1"),
                Segment::Literal("tasks"),
                Segment::Variable("name"),
                Segment::Literal("pushNotificationConfigs"),
                Segment::Variable("name"),
            ]
        );
        let route = post("/tasks/{id=*}:cancel");
        assert_eq!(route.segments().last(), Some(Segment::Variable("id")));
        assert_eq!(route.custom_verb(), Some("cancel"));
        let route = post("/message:send");
        assert!(route.segments().eq([Segment::Literal("message")]));
        assert_eq!(route.custom_verb(), Some("send"));
    }
}
