//! A well-formed call and an ill-formed one of every operation, for tests that go over all of them.

use gateway_domain::Operation;
use serde_json::{Value, json};

/// Parameters that pass validation. Those that name a task name `task`.
pub fn valid(operation: Operation, task: &str) -> Value {
    match operation {
        Operation::SendMessage | Operation::SendStreamingMessage => message("say hi"),
        Operation::GetTask | Operation::CancelTask | Operation::SubscribeToTask => json!({ "id": task }),
        Operation::ListTasks
        | Operation::GetExtendedAgentCard
        | Operation::AllTasks
        | Operation::AllPushNotificationConfigs => json!({}),
        Operation::CreateTaskPushNotificationConfig => {
            json!({ "taskId": task, "id": "c1", "url": "https://hooks.example.com/one" })
        }
        Operation::GetTaskPushNotificationConfig | Operation::DeleteTaskPushNotificationConfig => {
            json!({ "taskId": task, "id": "c1" })
        }
        Operation::ListTaskPushNotificationConfigs => json!({ "taskId": task }),
        Operation::StartWorking
        | Operation::ReportProgress
        | Operation::RequireInput
        | Operation::RequireAuth
        | Operation::CompleteTask
        | Operation::FailTask
        | Operation::RejectTask => json!({ "id": task }),
        Operation::UpdateArtifact => json!({
            "id": task,
            "artifact": { "artifactId": "a", "parts": [{ "text": "x" }] },
            "append": false,
            "lastChunk": false,
        }),
    }
}

/// Parameters with a field at fault, and the field.
pub fn invalid(operation: Operation) -> (Value, &'static str) {
    // No id holds control characters, and no tenant does.
    let bad = "a\u{7}";
    match operation {
        Operation::SendMessage | Operation::SendStreamingMessage => (json!({}), "message"),
        Operation::GetTask
        | Operation::CancelTask
        | Operation::SubscribeToTask
        | Operation::StartWorking
        | Operation::ReportProgress
        | Operation::RequireInput
        | Operation::RequireAuth
        | Operation::CompleteTask
        | Operation::FailTask
        | Operation::RejectTask
        | Operation::UpdateArtifact => {
            let mut params = valid(operation, bad);
            params["id"] = json!(bad);
            (params, "id")
        }
        Operation::CreateTaskPushNotificationConfig
        | Operation::GetTaskPushNotificationConfig
        | Operation::ListTaskPushNotificationConfigs
        | Operation::DeleteTaskPushNotificationConfig => (valid(operation, bad), "taskId"),
        Operation::ListTasks | Operation::AllTasks | Operation::AllPushNotificationConfigs => {
            (json!({ "pageSize": -1 }), "pageSize")
        }
        Operation::GetExtendedAgentCard => (json!({ "tenant": bad }), "tenant"),
    }
}

/// The parameters of a send of this text.
pub fn message(text: &str) -> Value {
    json!({ "message": { "messageId": "m-1", "role": "ROLE_USER", "parts": [{ "text": text }] } })
}

/// The same into a task.
pub fn further(task: &str, text: &str) -> Value {
    let mut params = message(text);
    params["message"]["taskId"] = json!(task);
    params
}

/// The same, answered at once.
pub fn at_once(text: &str) -> Value {
    let mut params = message(text);
    params["configuration"] = json!({ "returnImmediately": true });
    params
}
