//! What each operation is held to. The same is asked in the clients of the other SDKs.

use a2a::{
    CancelTaskRequest, DeleteTaskPushNotificationConfigRequest, GetExtendedAgentCardRequest,
    GetTaskPushNotificationConfigRequest, GetTaskRequest, ListTaskPushNotificationConfigsRequest,
    PartContent, Role, SendMessageResponse, StreamResponse, Task, TaskState, error_code,
};
use futures::TryStreamExt;
use serde_json::json;

use crate::calls::{Calls, Cell, demand, refused, request};

pub const OPERATIONS: [&str; 11] = [
    "SendMessage",
    "SendStreamingMessage",
    "GetTask",
    "ListTasks",
    "CancelTask",
    "SubscribeToTask",
    "CreateTaskPushNotificationConfig",
    "GetTaskPushNotificationConfig",
    "ListTaskPushNotificationConfigs",
    "DeleteTaskPushNotificationConfig",
    "GetExtendedAgentCard",
];

pub async fn run(operation: &str, calls: &Calls) -> Cell {
    match operation {
        "SendMessage" => send_message(calls).await,
        "SendStreamingMessage" => send_streaming_message(calls).await,
        "GetTask" => get_task(calls).await,
        "ListTasks" => list_tasks(calls).await,
        "CancelTask" => cancel_task(calls).await,
        "SubscribeToTask" => subscribe_to_task(calls).await,
        "CreateTaskPushNotificationConfig" => create_config(calls).await,
        "GetTaskPushNotificationConfig" => get_config(calls).await,
        "ListTaskPushNotificationConfigs" => list_configs(calls).await,
        "DeleteTaskPushNotificationConfig" => delete_config(calls).await,
        _ => get_extended_agent_card(calls).await,
    }
}

/// The text of the first part of the first artifact.
fn artifact_text(task: &Task) -> Option<&str> {
    task.artifacts.as_ref()?.first()?.parts.first()?.as_text()
}

async fn send_message(calls: &Calls) -> Cell {
    // This SDK writes every number as a double.
    let data = json!({"list": [1.0, 2.5, null, true, "ü"], "map": {}});
    let parts = json!([
        {"text": "hello"},
        {"data": data},
        {"raw": "AAEC/w==", "filename": "bytes.bin", "mediaType": "application/octet-stream"},
        {"url": "https://example.com/picture.png", "mediaType": "image/png"},
    ]);
    let metadata = json!({"metadata": {"https://example.com/m": {"deep": [1]}}});
    let task = calls.task_of(parts, metadata, false).await?;
    demand(
        task.status.state == TaskState::Completed,
        "a blocking send waits for the end",
    )?;
    let echoed = task
        .artifacts
        .iter()
        .flatten()
        .next()
        .map(|artifact| artifact.parts.as_slice());
    let Some([text, structured, raw, url]) = echoed else {
        return demand(false, "four parts come back");
    };
    demand(
        text.as_text().is_some_and(|text| text.ends_with("hello")),
        "the text comes back",
    )?;
    demand(
        matches!(&structured.content, PartContent::Data(found) if *found == data),
        "the data come back",
    )?;
    demand(
        matches!(&raw.content, PartContent::Raw(bytes) if bytes[..] == [0, 1, 2, 255]),
        "the bytes come back",
    )?;
    demand(
        raw.filename.as_deref() == Some("bytes.bin"),
        "a file keeps its name",
    )?;
    demand(
        raw.media_type.as_deref() == Some("application/octet-stream"),
        "a file keeps its type",
    )?;
    let address = matches!(&url.content, PartContent::Url(url) if url == "https://example.com/picture.png");
    demand(address, "the address comes back")?;
    demand(task.status.timestamp.is_some(), "the status has a time")?;
    let more = calls
        .send(json!([{"text": "more"}]), json!({"taskId": task.id}))
        .await?;
    refused(more, error_code::UNSUPPORTED_OPERATION)?;

    let direct = calls.send(json!([{"text": "direct"}]), json!({})).await??;
    let agents = matches!(direct, SendMessageResponse::Message(message) if message.role == Role::Agent);
    demand(agents, "a message of the agent's can be the answer")?;

    let question = calls.task("ask").await?;
    demand(
        question.status.state == TaskState::InputRequired,
        "a blocking send returns at a question",
    )?;
    let place = json!({"taskId": question.id, "contextId": question.context_id});
    let answered = calls
        .task_of(json!([{"text": "forty-two"}]), place, false)
        .await?;
    let same = answered.id == question.id && answered.status.state == TaskState::Completed;
    demand(same, "an answer goes on with the task")?;

    let running = calls
        .task_of(json!([{"text": "work 2"}]), json!({}), true)
        .await?;
    demand(!running.status.state.is_terminal(), "one need not wait")
}

async fn send_streaming_message(calls: &Calls) -> Cell {
    let events = calls.stream("chunks 3 0").await?;
    demand(
        matches!(events.first(), Some(StreamResponse::Task(_))),
        "a stream begins with the task",
    )?;
    let chunks: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            StreamResponse::ArtifactUpdate(chunk) => Some((
                chunk.append.unwrap_or_default(),
                chunk.last_chunk.unwrap_or_default(),
            )),
            _ => None,
        })
        .collect();
    let wanted = [(false, false), (true, false), (true, true)];
    demand(
        chunks == wanted,
        "three chunks, the further ones appended, the last one marked",
    )?;
    demand(ends_completed(&events), "a stream ends with the end of the task")?;
    let direct = calls.stream("direct").await?;
    demand(
        matches!(&direct[..], [StreamResponse::Message(_)]),
        "a message is a whole stream",
    )
}

fn ends_completed(events: &[StreamResponse]) -> bool {
    let last = events.last();
    matches!(last, Some(StreamResponse::StatusUpdate(update)) if update.status.state == TaskState::Completed)
}

async fn get_task(calls: &Calls) -> Cell {
    let sent = calls.task("say hello").await?;
    let mut wanted = GetTaskRequest {
        id: sent.id.clone(),
        history_length: None,
        tenant: None,
    };
    let task = calls.client.get_task(&wanted).await?;
    demand(
        task.id == sent.id && task.context_id == sent.context_id,
        "the task is the one asked for",
    )?;
    demand(artifact_text(&task) == Some("hello"), "the artifact is there")?;
    let first = task.history.iter().flatten().next();
    demand(
        first.and_then(|message| message.text()) == Some("say hello"),
        "the history is there",
    )?;
    wanted.history_length = Some(0);
    let bare = calls.client.get_task(&wanted).await?;
    demand(
        bare.history.unwrap_or_default().is_empty(),
        "a history of length 0 is none",
    )?;
    wanted.id = "no-such-task".to_owned();
    refused(calls.client.get_task(&wanted).await, error_code::TASK_NOT_FOUND)?;

    let theirs = calls.task_of_tenant("say hello", "acme").await?;
    wanted.id.clone_from(&theirs.id);
    refused(calls.client.get_task(&wanted).await, error_code::TASK_NOT_FOUND)?;
    wanted.tenant = Some("acme".to_owned());
    let found = calls.client.get_task(&wanted).await?;
    demand(found.id == theirs.id, "a tenant's task is found by the tenant")
}

async fn list_tasks(calls: &Calls) -> Cell {
    let first = calls.task("say one").await?;
    let context = &first.context_id;
    let second = calls
        .task_of(json!([{"text": "say two"}]), json!({"contextId": context}), false)
        .await?;
    let both = calls.list(json!({"contextId": context})).await?;
    let ids: Vec<_> = both.tasks.iter().map(|task| &task.id).collect();
    demand(
        ids == [&second.id, &first.id],
        "the last changed task stands first",
    )?;
    demand(
        both.total_size == 2 && both.next_page_token.is_empty(),
        "all tasks are counted",
    )?;
    demand(
        both.tasks.iter().all(|task| artifact_text(task).is_none()),
        "artifacts are left out",
    )?;
    let page = calls
        .list(json!({"contextId": context, "pageSize": 1, "includeArtifacts": true}))
        .await?;
    demand(
        page.tasks.len() == 1 && !page.next_page_token.is_empty(),
        "a page has a next one",
    )?;
    demand(
        artifact_text(&page.tasks[0]) == Some("two"),
        "artifacts are there when asked for",
    )?;
    let next = json!({"contextId": context, "pageSize": 1, "pageToken": page.next_page_token});
    let rest = calls.list(next).await?;
    demand(
        rest.tasks.len() == 1 && rest.tasks[0].id == first.id,
        "the next page goes on",
    )?;
    let none = calls
        .list(json!({"contextId": context, "status": "TASK_STATE_FAILED"}))
        .await?;
    demand(none.tasks.is_empty() && none.total_size == 0, "a state selects")?;
    let later = json!({"contextId": context, "statusTimestampAfter": "2999-01-01T00:00:00Z"});
    demand(calls.list(later).await?.tasks.is_empty(), "a time selects")
}

async fn cancel_task(calls: &Calls) -> Cell {
    let task = calls
        .task_of(json!([{"text": "work 60"}]), json!({}), true)
        .await?;
    let wanted: CancelTaskRequest = request(json!({"id": task.id, "metadata": {"why": "enough"}}))?;
    let canceled = calls.client.cancel_task(&wanted).await?;
    let same = canceled.id == task.id && canceled.status.state == TaskState::Canceled;
    demand(same, "the task is canceled")?;
    refused(
        calls.client.cancel_task(&wanted).await,
        error_code::TASK_NOT_CANCELABLE,
    )?;
    let unknown = request(json!({"id": "no-such-task"}))?;
    refused(
        calls.client.cancel_task(&unknown).await,
        error_code::TASK_NOT_FOUND,
    )
}

async fn subscribe_to_task(calls: &Calls) -> Cell {
    let task = calls.task("ask").await?;
    let mut events = calls.subscribe(&task.id).await?;
    let Some(StreamResponse::Task(first)) = events.try_next().await? else {
        return demand(false, "a subscription begins with the task");
    };
    let as_it_is = first.id == task.id && first.status.state == TaskState::InputRequired;
    demand(as_it_is, "the task is as it stands")?;
    calls
        .task_of(json!([{"text": "forty-two"}]), json!({"taskId": task.id}), false)
        .await?;
    let rest: Vec<_> = events.try_collect().await?;
    let artifact = rest
        .iter()
        .any(|event| matches!(event, StreamResponse::ArtifactUpdate(_)));
    demand(artifact, "artifacts arrive")?;
    demand(
        ends_completed(&rest),
        "a subscription ends with the end of the task",
    )?;
    refused(
        calls.subscribed(&task.id).await,
        error_code::UNSUPPORTED_OPERATION,
    )?;
    refused(calls.subscribed("no-such-task").await, error_code::TASK_NOT_FOUND)
}

async fn create_config(calls: &Calls) -> Cell {
    let task = calls.task("ask").await?;
    let secrets = json!({"token": "token", "authentication": {"scheme": "Bearer", "credentials": "opaque"}});
    let config = calls.config(&task.id, secrets).await?;
    let identified = config.id.as_ref().is_some_and(|id| !id.is_empty()) && config.task_id == task.id;
    demand(identified, "the configuration gets an id")?;
    demand(config.token.as_deref() == Some("token"), "the token is kept")?;
    let credentials = config
        .authentication
        .and_then(|authentication| authentication.credentials);
    demand(credentials.as_deref() == Some("opaque"), "credentials are kept")?;
    let named = calls.config(&task.id, json!({"id": "mine"})).await?;
    demand(named.id.as_deref() == Some("mine"), "an id of one's own is kept")?;
    refused(
        calls.config("no-such-task", json!({})).await,
        error_code::TASK_NOT_FOUND,
    )?;
    let wrong = calls.config(&task.id, json!({"url": "not an address"})).await;
    refused(wrong, error_code::INVALID_PARAMS)
}

async fn get_config(calls: &Calls) -> Cell {
    let task = calls.task("ask").await?;
    let created = calls.config(&task.id, json!({"token": "token"})).await?;
    let id = created.id.clone().unwrap_or_default();
    let mut wanted = GetTaskPushNotificationConfigRequest {
        task_id: task.id,
        id,
        tenant: None,
    };
    let found = calls.client.get_push_config(&wanted).await?;
    demand(found == created, "what was created is found")?;
    wanted.id = "no-such-configuration".to_owned();
    refused(
        calls.client.get_push_config(&wanted).await,
        error_code::TASK_NOT_FOUND,
    )
}

async fn list_configs(calls: &Calls) -> Cell {
    let task = calls.task("ask").await?;
    let created = [
        calls.config(&task.id, json!({"id": "a"})).await?,
        calls.config(&task.id, json!({"id": "b"})).await?,
    ];
    let mut wanted: ListTaskPushNotificationConfigsRequest = request(json!({"taskId": task.id}))?;
    let listed = calls.client.list_push_configs(&wanted).await?;
    let all = listed.configs.len() == 2 && created.iter().all(|config| listed.configs.contains(config));
    demand(all, "all configurations are listed as they were created")?;
    wanted.page_size = Some(1);
    let page = calls.client.list_push_configs(&wanted).await?;
    let token = page.next_page_token.filter(|token| !token.is_empty());
    demand(
        page.configs.len() == 1 && token.is_some(),
        "a page has a next one",
    )?;
    wanted.page_token = token;
    let rest = calls.client.list_push_configs(&wanted).await?;
    demand(
        rest.configs.len() == 1 && rest.configs != page.configs,
        "the next page goes on",
    )
}

async fn delete_config(calls: &Calls) -> Cell {
    let task = calls.task("ask").await?;
    calls.config(&task.id, json!({"id": "a"})).await?;
    let all: ListTaskPushNotificationConfigsRequest = request(json!({"taskId": task.id}))?;
    let wanted = DeleteTaskPushNotificationConfigRequest {
        task_id: task.id,
        id: "a".to_owned(),
        tenant: None,
    };
    calls.client.delete_push_config(&wanted).await?;
    let left = calls.client.list_push_configs(&all).await?;
    demand(left.configs.is_empty(), "a deleted configuration is gone")?;
    Ok(calls.client.delete_push_config(&wanted).await?)
}

async fn get_extended_agent_card(calls: &Calls) -> Cell {
    let declared = calls.card.capabilities.extended_agent_card.unwrap_or_default();
    demand(declared, "the card declares an extended one")?;
    let wanted = GetExtendedAgentCardRequest { tenant: None };
    let card = calls.client.get_extended_agent_card(&wanted).await?;
    demand(
        card.name == calls.card.name,
        "the extended card is of the same agent",
    )?;
    demand(card.description != calls.card.description, "it describes more")?;
    demand(
        card.skills.len() == calls.card.skills.len() + 1,
        "it has more skills",
    )
}
