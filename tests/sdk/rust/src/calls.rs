//! The SDK's client with the few calls that all cells share; requests are written in canonical JSON.

use a2a::{
    A2AError, AgentCard, ListTasksRequest, ListTasksResponse, SendMessageRequest, SendMessageResponse,
    StreamResponse, SubscribeToTaskRequest, Task, TaskPushNotificationConfig, error_reason,
};
use a2a_client::{A2AClient, BoxStream, Transport};
use futures::TryStreamExt;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// What was seen in place of what the specification promises.
pub struct Observed(pub String);

impl From<A2AError> for Observed {
    fn from(error: A2AError) -> Self {
        Self(format!("{}: {}", error_reason(error.code), error.message))
    }
}

impl From<serde_json::Error> for Observed {
    fn from(error: serde_json::Error) -> Self {
        Self(format!("not so: a request that the SDK knows: {error}"))
    }
}

pub type Cell = Result<(), Observed>;
pub type Events = BoxStream<'static, Result<StreamResponse, A2AError>>;

/// Says what ought to have been so.
pub fn demand(condition: bool, what: &str) -> Cell {
    condition
        .then_some(())
        .ok_or_else(|| Observed(format!("not so: {what}")))
}

/// The call ended with the SDK's error of this code.
pub fn refused<T>(call: Result<T, A2AError>, code: i32) -> Cell {
    let wanted = error_reason(code);
    match call {
        Err(error) if error.code == code => Ok(()),
        Err(error) => demand(
            false,
            &format!(
                "{wanted} expected, got {}: {}",
                error_reason(error.code),
                error.message
            ),
        ),
        Ok(_) => demand(false, &format!("{wanted} expected, got an answer")),
    }
}

/// A request, from canonical JSON.
pub fn request<T: DeserializeOwned>(json: Value) -> Result<T, Observed> {
    Ok(serde_json::from_value(json)?)
}

pub struct Calls {
    pub client: A2AClient<Box<dyn Transport>>,
    pub card: AgentCard,
    /// The gateway itself, which knows no such path: nothing has to be delivered, and nothing leaves the machine.
    hook: String,
    messages: std::cell::Cell<u32>,
}

impl Calls {
    pub fn new(base: &str, client: A2AClient<Box<dyn Transport>>, card: AgentCard) -> Self {
        let messages = std::cell::Cell::new(0);
        Self {
            client,
            card,
            hook: format!("{base}/hook"),
            messages,
        }
    }

    /// A request to send; `more` is laid over the message.
    fn sending(&self, parts: Value, more: Value, now: bool) -> Result<SendMessageRequest, Observed> {
        let id = self.messages.get();
        self.messages.set(id + 1);
        let mut message = json!({"messageId": format!("message-{id}"), "role": "ROLE_USER", "parts": parts});
        for (name, value) in more.as_object().into_iter().flatten() {
            message[name] = value.clone();
        }
        request(json!({"message": message, "configuration": {"returnImmediately": now}}))
    }

    pub async fn send(
        &self,
        parts: Value,
        more: Value,
    ) -> Result<Result<SendMessageResponse, A2AError>, Observed> {
        Ok(self.client.send_message(&self.sending(parts, more, false)?).await)
    }

    pub async fn task_of(&self, parts: Value, more: Value, now: bool) -> Result<Task, Observed> {
        self.task_sent(&self.sending(parts, more, now)?).await
    }

    /// The task that a text makes, once the call returns.
    pub async fn task(&self, text: &str) -> Result<Task, Observed> {
        self.task_of(json!([{"text": text}]), json!({}), false).await
    }

    /// The same for a tenant.
    pub async fn task_of_tenant(&self, text: &str, tenant: &str) -> Result<Task, Observed> {
        let mut request = self.sending(json!([{"text": text}]), json!({}), false)?;
        request.tenant = Some(tenant.to_owned());
        self.task_sent(&request).await
    }

    async fn task_sent(&self, request: &SendMessageRequest) -> Result<Task, Observed> {
        match self.client.send_message(request).await? {
            SendMessageResponse::Task(task) => Ok(task),
            other => Err(Observed(format!("not so: the answer is a task: {other:?}"))),
        }
    }

    pub async fn stream(&self, text: &str) -> Result<Vec<StreamResponse>, Observed> {
        let request = self.sending(json!([{"text": text}]), json!({}), false)?;
        let events = self.client.send_streaming_message(&request).await?;
        Ok(events.try_collect().await?)
    }

    pub async fn list(&self, filters: Value) -> Result<ListTasksResponse, Observed> {
        Ok(self
            .client
            .list_tasks(&request::<ListTasksRequest>(filters)?)
            .await?)
    }

    pub async fn config(&self, task: &str, more: Value) -> Result<TaskPushNotificationConfig, A2AError> {
        let mut config = json!({"taskId": task, "url": self.hook});
        for (name, value) in more.as_object().into_iter().flatten() {
            config[name] = value.clone();
        }
        let config = serde_json::from_value(config).map_err(|error| A2AError::internal(error.to_string()))?;
        self.client.create_push_config(&config).await
    }

    pub async fn subscribe(&self, task: &str) -> Result<Events, A2AError> {
        let request = SubscribeToTaskRequest {
            id: task.to_owned(),
            tenant: None,
        };
        self.client.subscribe_to_task(&request).await
    }

    /// A subscription that is refused may say so when it is opened or as its first event.
    pub async fn subscribed(&self, task: &str) -> Result<Vec<StreamResponse>, A2AError> {
        self.subscribe(task).await?.try_collect().await
    }
}
