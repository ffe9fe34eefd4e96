//! Parameters that stand in the path and the query (§11.5), and the requests that have all of theirs there.
//!
//! Query names are camelCase; the proto's names are read too, and names that an operation doesn't know are ignored.

use std::borrow::Cow;

use gateway_domain::{
    Error, Operation, Request,
    request::{Scalar, params},
};
use gateway_edge::query;

/// The parameters of a path and a query, decoded.
#[derive(Debug, Default)]
pub(crate) struct Fields {
    path: Vec<(&'static str, String)>,
    query: Vec<(String, String)>,
}

/// Reads a request whose parameters all stand in the path and the query.
///
/// # Errors
/// InvalidParams naming the field.
pub(crate) fn request(operation: Operation, fields: &Fields) -> Result<Request, Error> {
    let field = |name| fields.scalar(name);
    Ok(match operation {
        Operation::GetTask => {
            let params = params::GetTask {
                tenant: field("tenant")?,
                id: field("id")?,
                history_length: field("historyLength")?,
            };
            Request::GetTask(params.validate()?)
        }
        Operation::ListTasks => Request::ListTasks(list_tasks(fields)?.validate()?),
        Operation::SubscribeToTask => {
            let params = params::SubscribeToTask {
                tenant: field("tenant")?,
                id: field("id")?,
            };
            Request::SubscribeToTask(params.validate()?)
        }
        Operation::GetTaskPushNotificationConfig => {
            Request::GetTaskPushNotificationConfig(config_key(fields)?.validate()?.into())
        }
        Operation::DeleteTaskPushNotificationConfig => {
            Request::DeleteTaskPushNotificationConfig(config_key(fields)?.validate()?)
        }
        Operation::ListTaskPushNotificationConfigs => {
            let params = params::ListConfigs {
                tenant: field("tenant")?,
                task_id: field("taskId")?,
                page_size: field("pageSize")?,
                page_token: field("pageToken")?,
            };
            Request::ListTaskPushNotificationConfigs(params.validate()?)
        }
        Operation::GetExtendedAgentCard => {
            let params = params::GetExtendedAgentCard {
                tenant: field("tenant")?,
            };
            Request::GetExtendedAgentCard(params.validate()?)
        }
        Operation::AllTasks => Request::AllTasks(page(fields)?.validate()?),
        Operation::AllPushNotificationConfigs => {
            Request::AllPushNotificationConfigs(page(fields)?.validate()?)
        }
        other => {
            let cause = format_args!("{} has a route without a body that nobody reads", other.name());
            return Err(Error::internal(cause));
        }
    })
}

fn list_tasks(fields: &Fields) -> Result<params::ListTasks, Error> {
    Ok(params::ListTasks {
        tenant: fields.scalar("tenant")?,
        context_id: fields.scalar("contextId")?,
        status: fields.scalar("status")?,
        page_size: fields.scalar("pageSize")?,
        page_token: fields.scalar("pageToken")?,
        history_length: fields.scalar("historyLength")?,
        status_timestamp_after: fields.scalar("statusTimestampAfter")?,
        include_artifacts: fields.scalar("includeArtifacts")?,
    })
}

fn config_key(fields: &Fields) -> Result<params::ConfigKey, Error> {
    Ok(params::ConfigKey {
        tenant: fields.scalar("tenant")?,
        task_id: fields.scalar("taskId")?,
        id: fields.scalar("id")?,
    })
}

fn page(fields: &Fields) -> Result<params::Page, Error> {
    Ok(params::Page {
        page_size: fields.scalar("pageSize")?,
        page_token: fields.scalar("pageToken")?,
    })
}

impl Fields {
    /// The variables of a path, by their names in the proto.
    ///
    /// # Errors
    /// InvalidParams naming the field whose encoding is broken.
    pub(crate) fn of_path(variables: &[(&'static str, &str)]) -> Result<Self, Error> {
        let decode = |(name, segment): &(&'static str, &str)| Ok((*name, decoded(name, segment)?));
        Ok(Self {
            path: variables.iter().map(decode).collect::<Result<_, Error>>()?,
            query: Vec::new(),
        })
    }

    /// The same, with the parameters of a query.
    pub(crate) fn with_query(mut self, query: Option<&str>) -> Self {
        let owned = |(name, value): (Cow<'_, str>, Cow<'_, str>)| (name.into_owned(), value.into_owned());
        self.query = query::parameters(query).map(owned).collect();
        self
    }

    /// The ids in a path of 0.3, in their order: its variables are parts of names.
    pub(crate) fn ids(&self) -> Vec<String> {
        self.path.iter().map(|(_, id)| id.clone()).collect()
    }

    /// The value that the path gives to a field.
    pub(crate) fn in_path(&self, field: &str) -> Option<&str> {
        let mut variables = self.path.iter();
        variables
            .find(|(name, _)| names(name, field))
            .map(|(_, value)| value.as_str())
    }

    /// A field by its JSON name.
    pub(crate) fn scalar(&self, field: &'static str) -> Result<Scalar, Error> {
        let mut values = self.query.iter().filter(|(name, _)| names(name, field));
        let in_query = values.next().map(|(_, value)| value.as_str());
        if values.next().is_some() {
            return Err(Error::invalid(
                field,
                "is given more than once in the query; give it once",
            ));
        }
        let value = match (self.in_path(field), in_query) {
            (Some(path), Some(query)) if !query.is_empty() && query != path => {
                return Err(disagreement(field, path, "query", query));
            }
            (Some(value), _) | (None, Some(value)) => value,
            (None, None) => return Ok(Scalar::Absent),
        };
        Ok(Scalar::Query(value.to_owned()))
    }
}

/// The refusal of a field that is one thing in the path and another elsewhere.
pub(crate) fn disagreement(field: &'static str, in_path: &str, place: &str, there: &str) -> Error {
    let short = |text: &str| text.chars().take(80).collect::<String>();
    let text = format!(
        "is {:?} in the path and {:?} in the {place}; leave it out of the {place}",
        short(in_path),
        short(there)
    );
    Error::invalid(field, text)
}

/// A path segment without its percent-encoding. The field is named as the proto or as JSON does.
///
/// # Errors
/// InvalidParams naming the field.
pub(crate) fn decoded(field: &str, segment: &str) -> Result<String, Error> {
    query::segment(segment)
        .map(Cow::into_owned)
        .ok_or_else(|| Error::invalid(json_name(field), "must be percent-encoded UTF-8 in the path"))
}

/// Whether a text is the JSON name of a field, or its name in the proto.
fn names(text: &str, field: &str) -> bool {
    let snake = field.chars().flat_map(|letter| {
        let underscore = letter.is_ascii_uppercase().then_some('_');
        underscore.into_iter().chain([letter.to_ascii_lowercase()])
    });
    text == field || text.chars().eq(snake)
}

/// The JSON name of a proto field.
pub(crate) fn json_name(field: &str) -> String {
    let mut words = field.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |mut name, word| {
        let mut letters = word.chars();
        name.extend(letters.next().map(|letter| letter.to_ascii_uppercase()));
        name.push_str(letters.as_str());
        name
    })
}
