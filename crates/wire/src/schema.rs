//! JSON Schema of the protocol's messages, made from the compiled protos: the canonical form that is written and that
//! a careful client sends.
//!
//! Readers take more than that: proto names, numbers for enums, `null` for absence (§5.5). A schema that said so would
//! tell nobody what to write.

use std::sync::LazyLock;

use gateway_domain::{Role, ids::MAX_ID_BYTES, request::MAX_PAGE_SIZE};
use prost_reflect::{
    DescriptorPool, EnumDescriptor, FieldDescriptor, Kind, MessageDescriptor, Value as Reflected,
};
use serde_json::{Map, Value, json};

use crate::{operations::Row, pb};

/// A JSON object.
pub type Object = Map<String, Value>;

/// Where a document keeps schemas that others point to.
pub const COMPONENTS: &str = "#/components/schemas/";

/// The package whose messages have schemas.
const PACKAGE: &str = "lf.a2a.v1";

static POOL: LazyLock<DescriptorPool> =
    LazyLock::new(|| DescriptorPool::decode(pb::DESCRIPTORS).expect("the compiler wrote the descriptors"));

/// A field of a request.
#[derive(Debug, Clone)]
pub struct Field {
    /// Its name in JSON.
    pub name: String,
    /// What it holds.
    pub schema: Value,
    /// Whether a request without it is refused.
    pub required: bool,
}

/// The schemas of all messages and enums, by name, for [`COMPONENTS`].
pub fn all() -> Object {
    let messages = POOL
        .all_messages()
        .filter(|message| message.package_name() == PACKAGE && !message.is_map_entry());
    let messages = messages.map(|message| (message.name().to_owned(), of_message(&message)));
    let enums = POOL.all_enums().filter(|kind| kind.package_name() == PACKAGE);
    messages
        .chain(enums.map(|kind| (kind.name().to_owned(), of_enum(&kind))))
        .collect()
}

/// The fields of an operation's request, in the proto's order.
pub fn request_fields(row: &Row) -> Vec<Field> {
    let method = method(row);
    let input = method.input();
    input.fields().map(|field| of_request(&field)).collect()
}

/// The schema of what an operation answers with, or of each event where that is a stream.
pub fn reply(row: &Row) -> Value {
    reference(method(row).output().full_name())
}

fn method(row: &Row) -> prost_reflect::MethodDescriptor {
    let service = POOL.get_service_by_name(row.grpc_service);
    service
        .and_then(|service| service.methods().find(|method| method.name() == row.grpc_method))
        .expect("a test holds that the operation table names methods of the protos")
}

fn of_request(field: &FieldDescriptor) -> Field {
    let mut schema = of_field(field);
    // What agents say is no request of a client.
    if schema["$ref"] == format!("{COMPONENTS}Message") {
        let by_user = json!({ "properties": { "role": { "const": Role::User.name() } } });
        schema = json!({ "allOf": [schema, by_user] });
    }
    Field {
        name: field.json_name().to_owned(),
        schema,
        required: is_required(field),
    }
}

fn of_message(message: &MessageDescriptor) -> Value {
    let fields = message.fields();
    let properties: Object = fields
        .map(|field| (field.json_name().to_owned(), of_field(&field)))
        .collect();
    let required: Vec<_> = message
        .fields()
        .filter(is_required)
        .map(|field| field.json_name().to_owned())
        .collect();
    let mut schema = json!({ "type": "object", "properties": properties });
    if !required.is_empty() {
        schema["required"] = required.into();
    }
    if let Some(choice) = message.oneofs().find(|oneof| !oneof.is_synthetic()) {
        let one = choice
            .fields()
            .map(|field| json!({ "required": [field.json_name()] }));
        schema["oneOf"] = one.collect();
    }
    schema
}

/// The names that are sent; the one that stands for absence never is.
fn of_enum(kind: &EnumDescriptor) -> Value {
    let names: Vec<_> = kind
        .values()
        .filter(|value| value.number() != 0)
        .map(|value| value.name().to_owned())
        .collect();
    json!({ "type": "string", "enum": names })
}

fn of_field(field: &FieldDescriptor) -> Value {
    match field.kind() {
        Kind::Message(entry) if field.is_map() => {
            json!({ "type": "object", "additionalProperties": of_value(&entry.map_entry_value_field()) })
        }
        _ if field.is_list() => {
            let least = usize::from(is_required(field) && field.name() == "parts");
            let mut list = json!({ "type": "array", "items": of_value(field) });
            if least > 0 {
                list["minItems"] = least.into();
            }
            list
        }
        _ => of_value(field),
    }
}

/// A single value of a field.
fn of_value(field: &FieldDescriptor) -> Value {
    match field.kind() {
        Kind::Message(message) => reference(message.full_name()),
        Kind::Enum(kind) => json!({ "$ref": format!("{COMPONENTS}{}", kind.name()) }),
        Kind::Bool => json!({ "type": "boolean" }),
        Kind::Bytes => json!({ "type": "string", "contentEncoding": "base64", "pattern": BASE64 }),
        Kind::String => text(field),
        _ => count(field),
    }
}

/// The protocol counts in 32 bits, and never below nothing.
fn count(field: &FieldDescriptor) -> Value {
    let asks_for_a_page = field.name() == "page_size" && field.parent_message().name().ends_with("Request");
    let (least, most) = match asks_for_a_page {
        // Where nothing and absence are two things, a page of nothing is refused (§3.1.4).
        true => (u32::from(field.supports_presence()), MAX_PAGE_SIZE),
        false => (0, i32::MAX.unsigned_abs()),
    };
    json!({ "type": "integer", "format": "int32", "minimum": least, "maximum": most })
}

/// The standard alphabet, padded.
const BASE64: &str = "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$";

/// What ids hold; the bound on their length is one of bytes, which a schema has no word for.
const NO_CONTROL_CHARACTERS: &str = r"^[^\x00-\x1f\x7f-\x9f]*$";

fn text(field: &FieldDescriptor) -> Value {
    let name = field.name();
    let is_id = matches!(name, "id" | "tenant" | "reference_task_ids") || name.ends_with("_id");
    let mut schema = json!({ "type": "string" });
    if is_id {
        schema["maxLength"] = MAX_ID_BYTES.into();
        schema["pattern"] = NO_CONTROL_CHARACTERS.into();
    }
    // An empty text is an absent one; a token says by it that there is no next page.
    if (is_required(field) || field.is_list()) && (is_id || matches!(name, "url" | "scheme")) {
        schema["minLength"] = 1.into();
    }
    schema
}

fn reference(full_name: &str) -> Value {
    match full_name {
        "google.protobuf.Struct" | "google.protobuf.Empty" => json!({ "type": "object" }),
        "google.protobuf.Value" => json!({}),
        "google.protobuf.Timestamp" => json!({ "type": "string", "format": "date-time" }),
        ours => json!({ "$ref": format!("{COMPONENTS}{}", ours.rsplit('.').next().unwrap_or(ours)) }),
    }
}

fn is_required(field: &FieldDescriptor) -> bool {
    /// `google.api.field_behavior`, and its value REQUIRED.
    const BEHAVIOR: &str = "google.api.field_behavior";
    const REQUIRED: i32 = 2;
    let behavior = POOL.get_extension_by_name(BEHAVIOR);
    let options = field.options();
    behavior.is_some_and(|behavior| {
        let value = options.get_extension(&behavior);
        let listed = value.as_list();
        listed.is_some_and(|list| list.contains(&Reflected::EnumNumber(REQUIRED)))
    })
}

#[cfg(test)]
mod tests {
    use gateway_domain::Operation;
    use serde_json::json;

    use super::{all, reply, request_fields};
    use crate::operations::{TABLE, row};

    #[test]
    fn a_message_has_its_fields_by_their_json_names_with_what_they_require() {
        let schemas = all();
        let message = &schemas["Message"];
        assert_eq!(message["required"], json!(["messageId", "role", "parts"]));
        assert_eq!(
            message["properties"]["parts"],
            json!({ "type": "array", "minItems": 1, "items": { "$ref": "#/components/schemas/Part" } })
        );
        assert_eq!(message["properties"]["metadata"], json!({ "type": "object" }));
        assert_eq!(schemas["Role"]["enum"], json!(["ROLE_USER", "ROLE_AGENT"]));
    }

    #[test]
    fn of_a_choice_exactly_one_is_required() {
        let choices = json!([
            { "required": ["text"] },
            { "required": ["raw"] },
            { "required": ["url"] },
            { "required": ["data"] },
        ]);
        let schemas = all();
        assert_eq!(schemas["Part"]["oneOf"], choices);
        assert!(schemas["GetTaskRequest"].get("oneOf").is_none());
    }

    #[test]
    fn every_schema_that_is_pointed_to_is_there() {
        let schemas = all();
        let text = json!(schemas).to_string();
        let replies: Vec<_> = TABLE
            .iter()
            .filter(|row| Operation::CLIENT.contains(&row.operation))
            .map(reply)
            .collect();
        let text = format!("{text}{}", json!(replies));
        for target in text.split("#/components/schemas/").skip(1) {
            let name = target.split('"').next().unwrap();
            assert!(schemas.contains_key(name), "{name}");
        }
    }

    #[test]
    fn the_fields_of_a_request_are_those_of_its_message() {
        let fields = request_fields(row(Operation::GetTask));
        let names: Vec<_> = fields
            .iter()
            .map(|field| (field.name.as_str(), field.required))
            .collect();
        assert_eq!(names, [("tenant", false), ("id", true), ("historyLength", false)]);
    }
}
