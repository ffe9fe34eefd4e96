//! The names of bad fields: the domain tells them by those of 1.0, callers of 0.3 know others.

use gateway_domain::{Error, Operation};

/// A vocabulary of 0.3.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Terms {
    /// The package `a2a.v1`: gRPC and HTTP+JSON.
    Proto,
    /// The objects told by their `kind`: JSON-RPC.
    Kind,
}

/// The configuration that comes with a message, by its name of 1.0.
const INLINE: &str = "configuration.taskPushNotificationConfig";

/// An error of an operation with its bad fields by the names of a vocabulary.
#[must_use]
pub fn terms(error: Error, operation: Operation, terms: Terms) -> Error {
    if error.violations().is_empty() {
        return error;
    }
    error.rename_fields(|field| match terms {
        Terms::Proto => proto(operation, field),
        Terms::Kind => kind(operation, field),
    })
}

fn proto(operation: Operation, field: &str) -> Option<String> {
    if let Some(rest) = field.strip_prefix("message.parts") {
        return Some(format!("message.content{}", of_part(rest)));
    }
    if let Some(rest) = field.strip_prefix(INLINE) {
        return Some(format!("configuration.pushNotification{}", of_config(rest)));
    }
    let name = match (operation, field) {
        (Operation::CreateTaskPushNotificationConfig, "taskId") => "parent",
        (Operation::CreateTaskPushNotificationConfig, "id") => "configId",
        (Operation::CreateTaskPushNotificationConfig, "url" | "token") => {
            return Some(format!("config.pushNotificationConfig.{field}"));
        }
        (Operation::CreateTaskPushNotificationConfig, _) => {
            let inner = field.starts_with("authentication.");
            return inner.then(|| format!("config.pushNotificationConfig.{}", of_config(field)));
        }
        (Operation::ListTaskPushNotificationConfigs, "taskId") => "parent",
        (_, "id" | "taskId") => "name",
        _ => return None,
    };
    Some(name.to_owned())
}

/// What stands behind a part's index.
fn of_part(rest: &str) -> String {
    rest.replace(".data", ".data.data")
}

/// A field of a configuration: it may have several schemes.
fn of_config(field: &str) -> String {
    field.replace("authentication.scheme", "authentication.schemes")
}

fn kind(operation: Operation, field: &str) -> Option<String> {
    if let Some(rest) = field.strip_prefix(INLINE) {
        return Some(format!("configuration.pushNotificationConfig{}", of_config(rest)));
    }
    match (operation, field) {
        (Operation::CreateTaskPushNotificationConfig, "id" | "url" | "token") => {
            Some(format!("pushNotificationConfig.{field}"))
        }
        (Operation::CreateTaskPushNotificationConfig, _) => {
            let inner = field.starts_with("authentication.");
            inner.then(|| format!("pushNotificationConfig.{}", of_config(field)))
        }
        (Operation::GetTaskPushNotificationConfig | Operation::DeleteTaskPushNotificationConfig, "id") => {
            Some("pushNotificationConfigId".to_owned())
        }
        (_, "taskId") => Some("id".to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use gateway_domain::{Error, Operation};

    use super::{Terms, terms};

    #[test]
    fn bad_fields_have_the_names_that_the_caller_knows() {
        use Operation::{
            CreateTaskPushNotificationConfig as Create, DeleteTaskPushNotificationConfig as Delete, GetTask,
            ListTaskPushNotificationConfigs as List, SendMessage as Send,
        };
        for (operation, field, proto, kind) in [
            (
                Send,
                "message.messageId",
                "message.messageId",
                "message.messageId",
            ),
            (Send, "message.parts[2]", "message.content[2]", "message.parts[2]"),
            (
                Send,
                "message.parts[2].data",
                "message.content[2].data.data",
                "message.parts[2].data",
            ),
            (
                Send,
                "configuration.taskPushNotificationConfig.authentication.scheme",
                "configuration.pushNotification.authentication.schemes",
                "configuration.pushNotificationConfig.authentication.schemes",
            ),
            (GetTask, "id", "name", "id"),
            (GetTask, "historyLength", "historyLength", "historyLength"),
            (Create, "taskId", "parent", "taskId"),
            (Create, "id", "configId", "pushNotificationConfig.id"),
            (
                Create,
                "url",
                "config.pushNotificationConfig.url",
                "pushNotificationConfig.url",
            ),
            (
                Create,
                "authentication.scheme",
                "config.pushNotificationConfig.authentication.schemes",
                "pushNotificationConfig.authentication.schemes",
            ),
            (List, "taskId", "parent", "id"),
            (List, "pageSize", "pageSize", "pageSize"),
            (Delete, "taskId", "name", "id"),
            (Delete, "id", "name", "pushNotificationConfigId"),
        ] {
            for (vocabulary, expected) in [(Terms::Proto, proto), (Terms::Kind, kind)] {
                let error = terms(Error::invalid(field, "is required"), operation, vocabulary);
                assert_eq!(error.violations()[0].field, expected, "{operation:?} {field}");
                let text = format!("invalid parameters: {expected} is required");
                assert_eq!(error.message(), text, "{operation:?} {field}");
            }
        }
    }

    #[test]
    fn an_error_about_no_field_stays_as_it_is() {
        let error = terms(Error::task_not_found(), Operation::GetTask, Terms::Proto);
        assert_eq!(error.message(), "task not found");
    }
}
