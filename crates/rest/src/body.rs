//! Requests whose parameters stand in the body, the fields of the path merged into them.

use gateway_domain::{
    Error, Operation, Request, TaskId,
    principal::Actor,
    request::{Scalar, from_json, params, read_json},
};
use serde::de::DeserializeOwned;

use crate::fields::{Fields, disagreement};

/// Reads a request with a body; an empty one is as good as `{}`. A field that the path has may be left out of the
/// body, or be the same there.
///
/// # Errors
/// ParseError, and InvalidParams naming the field.
pub(crate) fn request(operation: Operation, fields: &Fields, body: &[u8]) -> Result<Request, Error> {
    let body = if body.is_empty() { b"{}" } else { body };
    Ok(match operation {
        Operation::CancelTask => {
            let params = with_id(body, fields, |params: &mut params::CancelTask| &mut params.id)?;
            Request::CancelTask(params.validate()?)
        }
        Operation::SubscribeToTask => {
            let params = with_id(body, fields, |params: &mut params::SubscribeToTask| {
                &mut params.id
            })?;
            Request::SubscribeToTask(params.validate()?)
        }
        Operation::CreateTaskPushNotificationConfig => {
            let mut params: params::CreateConfig = read_json(body)?;
            merge_task_id(fields, &mut params.config.task_id)?;
            Request::CreateTaskPushNotificationConfig(params.validate()?)
        }
        Operation::UpdateArtifact => {
            let params = with_id(body, fields, |params: &mut params::UpdateArtifact| &mut params.id)?;
            Request::AgentCommand(params.validate()?)
        }
        report if report.actor() == Actor::Agent => {
            let params = with_id(body, fields, |params: &mut params::AgentMove| &mut params.id)?;
            Request::AgentCommand(params.validate(report)?)
        }
        // What is left has no field in its path.
        other => from_json(other, body)?,
    })
}

fn with_id<T: DeserializeOwned>(
    body: &[u8],
    fields: &Fields,
    id: impl FnOnce(&mut T) -> &mut Scalar,
) -> Result<T, Error> {
    let mut params = read_json(body)?;
    merge_id(fields, id(&mut params))?;
    Ok(params)
}

fn merge_id(fields: &Fields, id: &mut Scalar) -> Result<(), Error> {
    match (fields.in_path("id"), &*id) {
        (Some(path), Scalar::Text(body)) if !body.is_empty() && body != path => {
            Err(disagreement("id", path, "body", body))
        }
        (Some(path), Scalar::Absent | Scalar::Text(_)) => {
            *id = Scalar::Text(path.to_owned());
            Ok(())
        }
        // A number, say, is refused together with the other bad fields.
        _ => Ok(()),
    }
}

fn merge_task_id(fields: &Fields, task_id: &mut Option<TaskId>) -> Result<(), Error> {
    match (fields.in_path("taskId"), &*task_id) {
        (Some(path), Some(body)) if body.as_str() != path => {
            Err(disagreement("taskId", path, "body", body.as_str()))
        }
        (Some(path), _) => {
            *task_id = Some(TaskId::new(path));
            Ok(())
        }
        (None, _) => Ok(()),
    }
}
