//! Data parts: in 0.3 they hold objects only. Any other value travels inside of one, and the part's metadata says so.
//!
//! The form is that of the official SDKs of 1.0: a member `value` in the data, a mark in the metadata. Metadata that has
//! the mark already keeps it beside the value, so that every value and all metadata come back as they were; only empty
//! metadata beside a value that had to be wrapped come back as none.

use gateway_domain::json::Object;
use serde_json::Value;

/// In the metadata: the value is inside of the object. In the data: what the metadata had of that name.
const MARK: &str = "data_part_compat";
/// In the data: the value.
const VALUE: &str = "value";

/// The object and the metadata in which 0.3 carries a value; nothing where it can carry both as they are.
pub fn wrapped(value: &Value, metadata: Option<&Object>) -> Option<(Object, Object)> {
    let former = metadata.and_then(|metadata| metadata.get(MARK));
    if value.is_object() && former.is_none() {
        return None;
    }
    let mut data = Object::from_iter([(VALUE.to_owned(), value.clone())]);
    if let Some(former) = former {
        data.insert(MARK.to_owned(), former.clone());
    }
    let mut metadata = metadata.cloned().unwrap_or_default();
    metadata.insert(MARK.to_owned(), Value::Bool(true));
    Some((data, metadata))
}

/// The value and the metadata that 0.3 carried in this way, or as they are.
pub fn unwrapped(mut data: Object, metadata: Option<Object>) -> (Value, Option<Object>) {
    let mut metadata = match metadata {
        Some(metadata) if is_wrapped(&data, &metadata) => metadata,
        metadata => return (Value::Object(data), metadata),
    };
    metadata.remove(MARK);
    metadata.extend(data.remove_entry(MARK));
    let value = data.remove(VALUE).unwrap_or_default();
    (value, Some(metadata).filter(|metadata| !metadata.is_empty()))
}

fn is_wrapped(data: &Object, metadata: &Object) -> bool {
    let marked = metadata.get(MARK) == Some(&Value::Bool(true));
    marked && data.contains_key(VALUE) && data.keys().all(|name| name == VALUE || name == MARK)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{MARK, unwrapped, wrapped};

    #[test]
    fn every_value_and_all_metadata_come_back() {
        let values = [
            json!(null),
            json!([1]),
            json!("x"),
            json!({}),
            json!({ "value": 1 }),
            json!({ "value": 1, MARK: 2 }),
        ];
        let metadata = [
            None,
            Some(json!({ "a": 1 })),
            Some(json!({ MARK: true })),
            Some(json!({ MARK: null, "b": 2 })),
        ];
        for value in &values {
            for metadata in &metadata {
                let metadata = metadata.as_ref().and_then(Value::as_object);
                let back = match wrapped(value, metadata) {
                    Some((data, metadata)) => unwrapped(data, Some(metadata)),
                    None => unwrapped(value.as_object().unwrap().clone(), metadata.cloned()),
                };
                assert_eq!((&back.0, back.1.as_ref()), (value, metadata));
            }
        }
    }

    #[test]
    fn objects_stand_as_they_are() {
        assert_eq!(wrapped(&json!({ "value": 1 }), None), None);
        let object = json!({ "a": 1 }).as_object().cloned().unwrap();
        assert_eq!(wrapped(&json!({}), Some(&object)), None);
    }

    #[test]
    fn what_only_looks_wrapped_stays_as_it_is() {
        let object = |value: Value| value.as_object().cloned().unwrap();
        for (data, metadata) in [
            (json!({ "value": 1 }), json!({ "a": 1 })),
            (json!({ "value": 1 }), json!({ MARK: "yes" })),
            (json!({ "value": 1, "more": 2 }), json!({ MARK: true })),
            (json!({ "more": 2 }), json!({ MARK: true })),
        ] {
            let read = unwrapped(object(data.clone()), Some(object(metadata.clone())));
            assert_eq!(read, (data, Some(object(metadata))));
        }
    }
}
