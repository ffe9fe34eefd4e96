//! The message of each operation, into a valid request.

use gateway_domain::{Error, ErrorKind, Operation, Request};
use gateway_wire::{decode, weight};
use prost::Message;

/// Reads and validates the message of an operation.
///
/// # Errors
/// ParseError where the bytes are not the operation's message or nest too deep, PayloadTooLarge where they would become
/// too many values, InvalidParams with every bad field.
pub(crate) fn read(operation: Operation, bytes: &[u8]) -> Result<Request, Error> {
    weight::check(operation, bytes)?;
    Ok(match operation {
        Operation::SendMessage => Request::SendMessage(decode::send_message(parse(bytes)?)?.validate()?),
        Operation::SendStreamingMessage => {
            Request::SendStreamingMessage(decode::send_message(parse(bytes)?)?.validate()?)
        }
        Operation::GetTask => Request::GetTask(decode::get_task(parse(bytes)?).validate()?),
        Operation::ListTasks => Request::ListTasks(decode::list_tasks(parse(bytes)?).validate()?),
        Operation::CancelTask => Request::CancelTask(decode::cancel_task(parse(bytes)?)?.validate()?),
        Operation::SubscribeToTask => {
            Request::SubscribeToTask(decode::subscribe_to_task(parse(bytes)?).validate()?)
        }
        Operation::CreateTaskPushNotificationConfig => {
            Request::CreateTaskPushNotificationConfig(decode::create_config(parse(bytes)?).validate()?)
        }
        Operation::GetTaskPushNotificationConfig => {
            Request::GetTaskPushNotificationConfig(decode::get_config(parse(bytes)?).validate()?.into())
        }
        Operation::ListTaskPushNotificationConfigs => {
            Request::ListTaskPushNotificationConfigs(decode::list_configs(parse(bytes)?).validate()?)
        }
        Operation::DeleteTaskPushNotificationConfig => {
            Request::DeleteTaskPushNotificationConfig(decode::delete_config(parse(bytes)?).validate()?)
        }
        Operation::GetExtendedAgentCard => {
            Request::GetExtendedAgentCard(decode::get_extended_agent_card(parse(bytes)?).validate()?)
        }
        Operation::UpdateArtifact => {
            Request::AgentCommand(decode::update_artifact(parse(bytes)?)?.validate()?)
        }
        Operation::AllTasks => Request::AllTasks(decode::all_tasks(parse(bytes)?).validate()?),
        Operation::AllPushNotificationConfigs => {
            Request::AllPushNotificationConfigs(decode::all_configs(parse(bytes)?).validate()?)
        }
        Operation::StartWorking
        | Operation::ReportProgress
        | Operation::RequireInput
        | Operation::RequireAuth
        | Operation::CompleteTask
        | Operation::FailTask
        | Operation::RejectTask => Request::AgentCommand(decode::report(parse(bytes)?)?.validate(operation)?),
    })
}

/// A message that cannot be read is its sender's fault, so it must not end as INTERNAL.
fn parse<M: Message + Default>(bytes: &[u8]) -> Result<M, Error> {
    M::decode(bytes).map_err(|error| {
        let text = format!("the message is not one of this method: {error}");
        Error::new(ErrorKind::ParseError, text)
    })
}
