//! The OpenAPI description of this binding as clients see it: made from the operation table, the protos and the error
//! table, so that it says what is served and nothing else.
//!
//! It shows the canonical form of messages. What the readers take besides, and what the agent's card decides (push
//! notifications, credentials), is not in it.

use std::collections::BTreeMap;

use gateway_domain::{ErrorKind, Operation, principal::Actor, resume};
use gateway_wire::{
    errors::{self, DOMAIN},
    operations::{Route, Row, Segment, TABLE, TENANT_PREFIX, Verb},
    params::{EXTENSIONS, LAST_EVENT_ID, VERSION, media_type},
    schema::{self, Field, Object},
};
use serde_json::{Value, json};

/// Where clients read it; asked without a version, as the agent card is.
pub const PATH: &str = "/openapi.json";

/// The document.
pub fn document() -> Value {
    json!({
        "openapi": "3.2.0",
        "info": {
            "title": "A2A Gateway, HTTP+JSON",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "The operations of the A2A protocol 1.0 over HTTP+JSON.",
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
        },
        "paths": paths(),
        "components": {
            "schemas": schemas(),
            "parameters": {
                "Version": version(),
                "Extensions": extensions(),
                "LastEventId": last_event_id(LAST_EVENT_ID.header, "header"),
                "LastEventIdInQuery": last_event_id(LAST_EVENT_ID.name, "query"),
            },
            "headers": headers(),
            "responses": refusals(),
        },
    })
}

fn rows() -> impl Iterator<Item = &'static Row> {
    TABLE.iter().filter(|row| row.operation.actor() == Actor::Client)
}

/// Every route twice: without a tenant, and behind one.
fn paths() -> Object {
    let mut paths = Object::new();
    for row in rows() {
        for (place, route) in row.routes.iter().enumerate() {
            for tenant in [false, true] {
                let prefix = if tenant { TENANT_PREFIX } else { "" };
                let path = format!("{prefix}{}", template(route));
                let verbs = paths.entry(path).or_insert_with(|| json!({}));
                verbs[route.verb.name().to_ascii_lowercase()] = operation(row, route, place, tenant);
            }
        }
    }
    paths
}

/// `/tasks/{task_id=*}` as OpenAPI writes it, with the JSON name of the field.
fn template(route: &Route) -> String {
    let segments = route.segments().map(|segment| match segment {
        Segment::Literal(text) => text.to_owned(),
        Segment::Variable(field) => format!("{{{}}}", crate::fields::json_name(field)),
    });
    let path: String = segments.map(|segment| format!("/{segment}")).collect();
    match route.custom_verb() {
        Some(verb) => format!("{path}:{verb}"),
        None => path,
    }
}

fn operation(row: &Row, route: &Route, place: usize, tenant: bool) -> Value {
    let in_path = variables(route);
    let (mut in_path, elsewhere): (Vec<_>, Vec<_>) = schema::request_fields(row)
        .into_iter()
        .partition(|field| in_path.contains(&field.name) || (tenant && field.name == "tenant"));
    // A path begins with the tenant, whatever place it has in the message.
    in_path.sort_by_key(|field| field.name != "tenant");
    let mut parameters: Vec<_> = in_path.iter().map(path_parameter).collect();
    let mut operation = json!({
        "operationId": operation_id(row, place, tenant),
        "tags": [row.operation.name()],
        "responses": responses(row, route, tenant),
    });
    if route.verb == Verb::Post {
        operation["requestBody"] = request_body(row, &elsewhere);
    } else {
        parameters.extend(elsewhere.iter().map(query_parameter));
    }
    let mut shared = vec!["Version", "Extensions"];
    if row.operation == Operation::SubscribeToTask {
        shared.extend(["LastEventId", "LastEventIdInQuery"]);
    }
    let shared = shared.into_iter();
    parameters.extend(shared.map(|name| json!({ "$ref": format!("#/components/parameters/{name}") })));
    operation["parameters"] = parameters.into();
    operation
}

/// Unique: an operation may have several routes.
fn operation_id(row: &Row, place: usize, tenant: bool) -> String {
    let further = match (place, row.routes.get(place)) {
        (1.., Some(route)) => format!("By{}", route.verb.name()),
        _ => String::new(),
    };
    let of_tenant = if tenant { "OfTenant" } else { "" };
    format!("{}{further}{of_tenant}", row.operation.name())
}

fn variables(route: &Route) -> Vec<String> {
    let variables = route.segments().filter_map(|segment| match segment {
        Segment::Variable(field) => Some(crate::fields::json_name(field)),
        Segment::Literal(_) => None,
    });
    variables.collect()
}

fn path_parameter(field: &Field) -> Value {
    let mut schema = field.schema.clone();
    // An empty segment is no segment.
    schema["minLength"] = 1.into();
    json!({ "name": field.name, "in": "path", "required": true, "schema": schema })
}

fn query_parameter(field: &Field) -> Value {
    json!({ "name": field.name, "in": "query", "required": field.required, "schema": field.schema })
}

/// What of the request is not in the path.
fn request_body(row: &Row, fields: &[Field]) -> Value {
    let properties: Object = fields
        .iter()
        .map(|field| (field.name.clone(), field.schema.clone()))
        .collect();
    let required: Vec<_> = fields
        .iter()
        .filter(|field| field.required)
        .map(|field| field.name.as_str())
        .collect();
    let mut schema = json!({ "type": "object", "properties": properties });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    let mut content = content(&schema);
    if let (Operation::SendMessage | Operation::SendStreamingMessage, Some(content)) =
        (row.operation, content.as_object_mut())
    {
        for media in content.values_mut() {
            media["example"] = json!({
                "message": { "messageId": "m-1", "role": "ROLE_USER", "parts": [{ "text": "say hello" }] },
            });
        }
    }
    json!({ "required": !required.is_empty(), "content": content })
}

/// The same under both media types.
fn content(schema: &Value) -> Value {
    json!({ media_type::A2A_JSON: { "schema": schema }, media_type::JSON: { "schema": schema } })
}

fn responses(row: &Row, route: &Route, tenant: bool) -> Value {
    let mut responses = Object::new();
    responses.insert("200".to_owned(), success(row, tenant));
    for (status, kinds) in statuses() {
        let posted = [ErrorKind::PayloadTooLarge, ErrorKind::UnsupportedMediaType];
        if route.verb == Verb::Post || !kinds.iter().all(|kind| posted.contains(kind)) {
            let refusal = json!({ "$ref": format!("#/components/responses/Refusal{status}") });
            responses.insert(status.to_string(), refusal);
        }
    }
    responses.into()
}

fn success(row: &Row, tenant: bool) -> Value {
    let reply = schema::reply(row);
    let headers = json!({
        "X-Request-Id": { "$ref": "#/components/headers/RequestId" },
        EXTENSIONS.name: { "$ref": "#/components/headers/Activated" },
    });
    if row.operation.is_streaming() {
        return json!({
            "description": "A stream of events.",
            "headers": headers,
            "content": { media_type::EVENT_STREAM: { "itemSchema": event(&reply) } },
        });
    }
    let mut success = json!({ "description": "Done.", "headers": headers, "content": content(&reply) });
    if row.operation == Operation::SendMessage {
        success["links"] = links(tenant).into();
    }
    success
}

/// An event of a stream. An error ends the stream: once it has begun there is no status left to tell it by.
fn event(reply: &Value) -> Value {
    let refusal = json!({ "$ref": format!("{}Error", schema::COMPONENTS) });
    json!({
        "type": "object",
        "required": ["data"],
        "properties": {
            "id": { "type": "string", "description": "Where the stream is after this event." },
            "data": {
                "type": "string",
                "contentMediaType": media_type::JSON,
                "contentSchema": { "anyOf": [reply, refusal] },
            },
        },
    })
}

/// What can be done with a task that a message began, in the same tenant.
fn links(tenant: bool) -> Object {
    let named = rows().filter(|row| row.operation.names_a_task());
    let links = named.filter_map(|row| {
        let [field] = &variables(row.routes.first()?)[..] else {
            return None;
        };
        let mut parameters = json!({ field: "$response.body#/task/id" });
        if tenant {
            parameters["tenant"] = "$request.path.tenant".into();
        }
        let id = operation_id(row, 0, tenant);
        let link = json!({ "operationId": id, "parameters": parameters });
        Some((id, link))
    });
    links.collect()
}

/// The statuses that an operation may be refused with, and what each of them may mean.
fn statuses() -> BTreeMap<u16, Vec<ErrorKind>> {
    let mut statuses = BTreeMap::<_, Vec<_>>::new();
    for row in errors::TABLE.iter().filter(|row| concerns_operations(row.kind)) {
        statuses.entry(row.http).or_default().push(row.kind);
    }
    statuses
}

/// Paths and verbs of no operation are refused otherwise, and conflicts of state are what agents meet.
fn concerns_operations(kind: ErrorKind) -> bool {
    !matches!(
        kind,
        ErrorKind::MethodNotFound | ErrorKind::MethodNotAllowed | ErrorKind::TaskStateConflict
    )
}

fn refusals() -> Object {
    let refusals = statuses().into_iter().map(|(status, kinds)| {
        let names: Vec<_> = kinds.iter().map(|kind| kind.name()).collect();
        let refusal = json!({
            "description": names.join(", "),
            "headers": {
                "X-Request-Id": { "$ref": "#/components/headers/RequestId" },
                "Retry-After": { "$ref": "#/components/headers/RetryAfter" },
            },
            "content": content(&json!({ "$ref": format!("{}Error", schema::COMPONENTS) })),
        });
        (format!("Refusal{status}"), refusal)
    });
    refusals.collect()
}

fn schemas() -> Object {
    let mut schemas = schema::all();
    schemas.insert("Error".to_owned(), error());
    schemas
}

/// The body of every refusal (§11.6).
fn error() -> Value {
    let table = || errors::TABLE.iter();
    let distinct = |names: Vec<&'static str>| {
        let mut names = names;
        names.sort_unstable();
        names.dedup();
        names
    };
    let named = |name: &str| format!("type.googleapis.com/google.rpc.{name}");
    json!({
        "type": "object",
        "required": ["error"],
        "properties": { "error": {
            "type": "object",
            "required": ["code", "status", "message", "details"],
            "properties": {
                "code": { "type": "integer", "description": "The HTTP status." },
                "status": { "type": "string", "enum": distinct(table().map(|row| row.grpc.name()).collect()) },
                "message": { "type": "string", "description": "What to change." },
                "details": { "type": "array", "items": { "oneOf": [
                    {
                        "type": "object",
                        "required": ["@type", "reason", "domain"],
                        "properties": {
                            "@type": { "const": named("ErrorInfo") },
                            "reason": {
                                "type": "string",
                                "enum": distinct(table().filter_map(|row| row.reason).collect()),
                            },
                            "domain": { "const": DOMAIN },
                            "metadata": { "type": "object", "additionalProperties": { "type": "string" } },
                        },
                    },
                    {
                        "type": "object",
                        "required": ["@type", "fieldViolations"],
                        "properties": {
                            "@type": { "const": named("BadRequest") },
                            "fieldViolations": { "type": "array", "items": {
                                "type": "object",
                                "required": ["field", "description"],
                                "properties": {
                                    "field": { "type": "string" },
                                    "description": { "type": "string" },
                                },
                            } },
                        },
                    },
                    {
                        "type": "object",
                        "required": ["@type", "requestId"],
                        "properties": {
                            "@type": { "const": named("RequestInfo") },
                            "requestId": { "type": "string" },
                        },
                    },
                ] } },
            },
        } },
    })
}

fn version() -> Value {
    json!({
        "name": VERSION.name,
        "in": "header",
        "required": true,
        "description": "Without it 0.3 is meant (§3.6.2). May stand in the query under the same name.",
        "schema": { "type": "string", "enum": [gateway_domain::Version::V1_0.name()] },
    })
}

fn extensions() -> Value {
    json!({
        "name": EXTENSIONS.name,
        "in": "header",
        "description": "URIs of the extensions that the caller declares, with commas between them.",
        "schema": { "type": "string" },
    })
}

fn last_event_id(name: &str, place: &str) -> Value {
    json!({
        "name": name,
        "in": place,
        "description": format!(
            "The id of the last event seen: where the extension {} is declared, the stream goes on after it. The header \
             has the last word.",
            resume::URI
        ),
        "schema": { "type": "string" },
    })
}

fn headers() -> Value {
    json!({
        "RequestId": {
            "description": "The id of the request, for whoever asks an operator about it.",
            "required": true,
            "schema": { "type": "string" },
        },
        "Activated": {
            "description": "The extensions that are active in this reply.",
            "schema": { "type": "string" },
        },
        "RetryAfter": {
            "description": "After how many seconds the same request may succeed.",
            "schema": { "type": "integer", "minimum": 1 },
        },
    })
}

#[cfg(test)]
mod tests;
