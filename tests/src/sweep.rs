//! Every check against every operation over every binding: each must refuse, in the form of the binding, and a
//! refusal must leave everything as it was. Operations, bindings and checks are enumerated; there is no list to keep.

use gateway_domain::{Binding, ErrorKind, Operation, principal::Actor};
use serde_json::{Value, json};

use crate::{
    client::{Answer, Ask, LiveStream, Refusal},
    gateway::Gateway,
    ledger::Seen,
    profile::{OTHER_SIDE, Profile, REQUIRED_EXTENSION},
    samples,
};

/// What can refuse a call before the domain carries it out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Check {
    /// The edge: who calls.
    Authentication,
    /// A version that is not served.
    Version,
    /// Parameters that make no sense.
    Decode,
    /// A tenant that is not served.
    Tenant,
    /// A required extension that was not declared.
    Extensions,
    /// More streams than a caller may hold.
    Streams,
    /// A caller of the other side.
    Actor,
    /// A deadline that has passed.
    Deadline,
}

impl Check {
    /// Every check.
    pub const ALL: [Self; 8] = [
        Self::Authentication,
        Self::Version,
        Self::Decode,
        Self::Tenant,
        Self::Extensions,
        Self::Streams,
        Self::Actor,
        Self::Deadline,
    ];

    /// The name of its test.
    pub fn test_name(self) -> String {
        format!("{self:?}_refuses_every_operation_and_changes_nothing").to_lowercase()
    }

    /// Whether it stands in the way of an operation over a binding.
    pub fn applies(self, operation: Operation, binding: Binding) -> bool {
        let client = operation.actor() == Actor::Client;
        match self {
            Self::Authentication | Self::Decode | Self::Actor => true,
            // The agent side is ours: it has one version and knows no tenants.
            Self::Version | Self::Tenant => client,
            Self::Extensions => operation.requires_extensions(),
            Self::Streams => operation.is_streaming(),
            // Only gRPC has a place for it.
            Self::Deadline => binding == Binding::Grpc,
        }
    }

    /// The error that it refuses an operation with.
    pub fn error(self, operation: Operation) -> ErrorKind {
        match self {
            Self::Authentication => ErrorKind::Unauthenticated,
            Self::Version => ErrorKind::VersionNotSupported,
            Self::Decode => ErrorKind::InvalidParams,
            Self::Tenant if operation.names_a_task() => ErrorKind::TaskNotFound,
            Self::Tenant => ErrorKind::TenantNotServed,
            Self::Extensions => ErrorKind::ExtensionSupportRequired,
            Self::Streams => ErrorKind::ResourceExhausted,
            Self::Actor => ErrorKind::PermissionDenied,
            Self::Deadline => ErrorKind::DeadlineExceeded,
        }
    }

    /// Whether what happened inside shows that the check met this operation over this binding.
    pub fn is_shown_by(self, seen: &Seen, operation: Operation, binding: Binding) -> bool {
        seen.operation == Some(operation)
            && seen.binding == binding
            && seen.error == Some(self.error(operation))
    }

    fn profile(self) -> Profile {
        Profile::named(match self {
            Self::Tenant => "tenants",
            Self::Extensions => "extension",
            Self::Streams => "small",
            Self::Actor => "confused",
            Self::Authentication | Self::Version | Self::Decode | Self::Deadline => "plain",
        })
    }

    /// Spoils a good call.
    fn spoil(self, mut ask: Ask) -> Ask {
        match self {
            Self::Authentication => ask.caller = None,
            Self::Version => ask.version = Some("2.0".to_owned()),
            Self::Decode => ask.params = samples::invalid(ask.operation).0,
            Self::Tenant => ask.tenant = Some("umbrella".to_owned()),
            Self::Extensions => ask.extensions = vec!["https://ext.example.com/audit/v2".to_owned()],
            Self::Streams => {}
            Self::Actor => ask.caller = Some(OTHER_SIDE.to_owned()),
            Self::Deadline => ask.headers.push(("grpc-timeout".to_owned(), "1n".to_owned())),
        }
        ask
    }
}

/// Tries a check against everything that it stands in the way of.
///
/// # Errors
/// Every operation and binding where it did not refuse as it should.
pub async fn sweep(check: Check) -> Result<(), String> {
    let stage = Stage::new(check).await;
    let mut wrong = Vec::new();
    for operation in Operation::all() {
        for binding in Binding::ALL
            .into_iter()
            .filter(|binding| check.applies(operation, *binding))
        {
            if let Err(why) = stage.refuses(check, operation, binding).await {
                wrong.push(format!("{} over {}: {why}", operation.name(), binding.name()));
            }
        }
    }
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(wrong.join("\n"))
    }
}

/// A gateway with a task that waits for input and has a webhook.
struct Stage {
    gateway: Gateway,
    task: String,
    /// The one stream that the caller may hold where streams are few.
    held: Option<LiveStream>,
}

impl Stage {
    async fn new(check: Check) -> Self {
        let gateway = Gateway::start(check.profile()).await;
        let mut stage = Self {
            gateway,
            task: String::new(),
            held: None,
        };
        let made = stage.good(Operation::SendMessage, samples::message("ask")).await;
        stage.task = made.json()["task"]["id"].as_str().expect("a task").to_owned();
        let operation = Operation::CreateTaskPushNotificationConfig;
        stage
            .good(operation, samples::valid(operation, &stage.task))
            .await
            .reply();
        if check == Check::Streams {
            let params = json!({ "id": stage.task });
            let mut held = stage.good(Operation::SubscribeToTask, params).await.stream();
            held.event().await;
            stage.held = Some(held);
        }
        stage
    }

    fn ask(&self, operation: Operation, params: Value) -> Ask {
        let mut ask = Ask::new(operation, params);
        ask.extensions = vec![REQUIRED_EXTENSION.to_owned()];
        ask.with("x-request-id", &self.gateway.next_request_id())
    }

    async fn good(&self, operation: Operation, params: Value) -> Answer {
        self.gateway
            .client(Binding::JsonRpc)
            .call(&self.ask(operation, params))
            .await
    }

    async fn refuses(&self, check: Check, operation: Operation, binding: Binding) -> Result<(), String> {
        let before = self.everything().await;
        let ask = check.spoil(self.ask(operation, samples::valid(operation, &self.task)));
        let driver = match operation.actor() {
            Actor::Client => self.gateway.client(binding),
            Actor::Agent => self.gateway.agent(binding),
        };
        let refusal = match driver.call(&ask).await {
            Answer::Refusal(refusal) => refusal,
            answer => return Err(format!("{answer:?}")),
        };
        refusal.check(check.error(operation))?;
        look(check, operation, binding, &refusal)?;
        let after = self.everything().await;
        if before != after {
            return Err(format!(
                "it was refused and changed something:\n{before}\n{after}"
            ));
        }
        Ok(())
    }

    /// What a client can read of everything there is.
    async fn everything(&self) -> Value {
        let task = &self.task;
        json!([
            self.good(Operation::GetTask, samples::valid(Operation::GetTask, task))
                .await
                .json(),
            self.good(Operation::ListTasks, json!({})).await.json(),
            self.good(
                Operation::ListTaskPushNotificationConfigs,
                json!({ "taskId": task })
            )
            .await
            .json(),
        ])
    }
}

/// What a check says besides its error.
fn look(check: Check, operation: Operation, binding: Binding, refusal: &Refusal) -> Result<(), String> {
    let header = |name| refusal.headers.get(name).and_then(|value| value.to_str().ok());
    match check {
        Check::Authentication if binding != Binding::Grpc && header("www-authenticate") != Some("Bearer") => {
            Err(format!("WWW-Authenticate is {:?}", header("www-authenticate")))
        }
        Check::Version
            if refusal.metadata.get("supportedVersions").map(String::as_str) != Some("1.0, 0.3") =>
        {
            Err(format!(
                "the versions served are not named: {:?}",
                refusal.metadata
            ))
        }
        Check::Decode if !refusal.names(samples::invalid(operation).1) => {
            Err(format!("the field is not named: {:?}", refusal.violations))
        }
        Check::Streams if binding != Binding::Grpc && header("retry-after").is_none() => {
            Err("Retry-After is not there".to_owned())
        }
        _ => Ok(()),
    }
}
