//! How much an encoded protobuf message would take once it is decoded, found out without decoding it.
//!
//! A message of two bytes on the wire takes a hundred in memory and more, so the bound on bodies alone is none on what
//! they become. What is no protobuf at all is not judged here: the decoder stops at the same place and says what is
//! wrong.

use std::{collections::HashMap, sync::LazyLock};

use gateway_domain::{
    Error, Operation,
    json::{MAX_VALUE_BYTES, OBJECT_BYTES, too_many_values},
};
use prost::{
    Message,
    encoding::{WireType, decode_key, decode_varint},
};
use prost_types::{
    DescriptorProto, FileDescriptorSet,
    field_descriptor_proto::{Label, Type},
};

use crate::{operations, pb};

/// Judges the encoded request of an operation before it is decoded.
///
/// # Errors
/// PayloadTooLarge where its values would take more than [`MAX_VALUE_BYTES`], texts and bytes not counted.
pub fn check(operation: Operation, bytes: &[u8]) -> Result<(), Error> {
    weigh(SHAPES.inputs[operation as usize], bytes)
}

/// The same for a request of version 0.3; what that version does not have weighs nothing.
///
/// # Errors
/// As [`check`].
pub fn check_0_3(operation: Operation, bytes: &[u8]) -> Result<(), Error> {
    let place = operations::TABLE_0_3
        .iter()
        .position(|row| row.operation == operation);
    place.map_or(Ok(()), |place| weigh(SHAPES.inputs_0_3[place], bytes))
}

fn weigh(shape: usize, bytes: &[u8]) -> Result<(), Error> {
    let mut scale = Scale {
        room: MAX_VALUE_BYTES,
    };
    match scale.message(shape, bytes, RECURSION) {
        Err(Stop::TooMuch) => Err(too_many_values()),
        Ok(()) | Err(Stop::Broken) => Ok(()),
    }
}

/// How deep the decoder follows messages.
const RECURSION: usize = 100;

/// What one message takes, with the room that lists grow into. Of requests, none that may stand in a list is larger.
const MESSAGE_BYTES: usize = 2 * size_of::<pb::v1::Part>();
/// The same for free values, of which there may be most.
const VALUE_BYTES: usize = 2 * size_of::<prost_types::Value>();
/// What one text takes besides its bytes, with the same room.
const TEXT_BYTES: usize = 2 * size_of::<String>();

/// Why weighing ended early.
enum Stop {
    /// The bytes are no message.
    Broken,
    /// There is no room for what is to come.
    TooMuch,
}

/// What may still be taken.
struct Scale {
    room: usize,
}

impl Scale {
    fn message(&mut self, shape: usize, mut bytes: &[u8], depth: usize) -> Result<(), Stop> {
        let depth = depth.checked_sub(1).ok_or(Stop::Broken)?;
        let shape = &SHAPES.all[shape];
        let mut members = false;
        while !bytes.is_empty() {
            let (tag, wire_type) = decode_key(&mut bytes).map_err(|_| Stop::Broken)?;
            let length = match wire_type {
                WireType::Varint => {
                    decode_varint(&mut bytes).map_err(|_| Stop::Broken)?;
                    continue;
                }
                WireType::ThirtyTwoBit => 4,
                WireType::SixtyFourBit => 8,
                WireType::LengthDelimited => decode_varint(&mut bytes).map_err(|_| Stop::Broken)?,
                // What stands in a group belongs to nobody. Taking it for fields of this message weighs too much at
                // worst.
                WireType::StartGroup | WireType::EndGroup => continue,
            };
            let length = usize::try_from(length).map_err(|_| Stop::Broken)?;
            let (field, rest) = bytes.split_at_checked(length).ok_or(Stop::Broken)?;
            bytes = rest;
            match shape.field(tag) {
                Some(Field::Message(inner)) => {
                    if shape.is_map_of(*inner) && !std::mem::replace(&mut members, true) {
                        self.take(OBJECT_BYTES)?;
                    }
                    self.take(SHAPES.all[*inner].bytes)?;
                    self.message(*inner, field, depth)?;
                }
                Some(Field::Text) => self.take(TEXT_BYTES)?,
                None => {}
            }
        }
        Ok(())
    }

    fn take(&mut self, bytes: usize) -> Result<(), Stop> {
        self.room = self.room.checked_sub(bytes).ok_or(Stop::TooMuch)?;
        Ok(())
    }
}

/// The messages of `proto/`, as far as it matters here.
struct Shapes {
    all: Vec<Shape>,
    /// The request of each operation, in the order of the operation table.
    inputs: Vec<usize>,
    /// The same of version 0.3.
    inputs_0_3: Vec<usize>,
}

struct Shape {
    /// What one takes.
    bytes: usize,
    /// By their numbers. There are few, so that looking through them is the fastest way to find one.
    fields: Vec<(u32, Field)>,
    /// It is no message of its own, but an entry of a map.
    is_entry: bool,
}

#[derive(Clone, Copy)]
enum Field {
    /// A message of that shape.
    Message(usize),
    /// Texts or bytes of which there may be many.
    Text,
}

impl Shape {
    fn field(&self, tag: u32) -> Option<&Field> {
        let found = self.fields.iter().find(|(number, _)| *number == tag);
        found.map(|(_, field)| field)
    }

    fn is_map_of(&self, inner: usize) -> bool {
        !self.is_entry && SHAPES.all[inner].is_entry
    }
}

static SHAPES: LazyLock<Shapes> = LazyLock::new(|| {
    let files = FileDescriptorSet::decode(pb::DESCRIPTORS).expect("the compiler wrote the descriptors");
    Shapes::of(&files)
});

impl Shapes {
    fn of(files: &FileDescriptorSet) -> Self {
        let mut named = Vec::new();
        for file in &files.file {
            for message in &file.message_type {
                collect(&format!(".{}", file.package()), message, &mut named);
            }
        }
        let places = named
            .iter()
            .enumerate()
            .map(|(place, (name, _))| (name.as_str(), place));
        let places: HashMap<_, _> = places.collect();
        let services = files.file.iter().flat_map(|file| {
            let services = file.service.iter();
            services.map(|service| (format!("{}.{}", file.package(), service.name()), service))
        });
        let input = |row: &operations::Row| {
            let (_, service) = services.clone().find(|(name, _)| name == row.grpc_service)?;
            let method = service
                .method
                .iter()
                .find(|method| method.name() == row.grpc_method)?;
            places.get(method.input_type()).copied()
        };
        let input =
            |row| input(row).expect("a test holds that the operation table names methods of the protos");
        Self {
            inputs: operations::TABLE.iter().map(input).collect(),
            inputs_0_3: operations::TABLE_0_3.iter().map(input).collect(),
            all: named
                .iter()
                .map(|(name, message)| shape(name, message, &places))
                .collect(),
        }
    }
}

/// A message and those inside it, by their full names.
fn collect<'a>(outer: &str, message: &'a DescriptorProto, named: &mut Vec<(String, &'a DescriptorProto)>) {
    let name = format!("{outer}.{}", message.name());
    for inner in &message.nested_type {
        collect(&name, inner, named);
    }
    named.push((name, message));
}

fn shape(name: &str, message: &DescriptorProto, places: &HashMap<&str, usize>) -> Shape {
    let field = |field: &prost_types::FieldDescriptorProto| {
        let tag = u32::try_from(field.number()).ok()?;
        let kind = match field.r#type() {
            Type::Message => Field::Message(*places.get(field.type_name())?),
            Type::String | Type::Bytes if field.label() == Label::Repeated => Field::Text,
            _ => return None,
        };
        Some((tag, kind))
    };
    let options = message.options.as_ref();
    let is_entry = options.is_some_and(|options| options.map_entry());
    Shape {
        bytes: match name {
            // An object is weighed with its first member, a list is in its value but for what it grows into.
            ".google.protobuf.Struct" => 0,
            ".google.protobuf.ListValue" | ".google.protobuf.Value" => VALUE_BYTES,
            _ if is_entry => VALUE_BYTES,
            _ => MESSAGE_BYTES,
        },
        fields: message.field.iter().filter_map(field).collect(),
        is_entry,
    }
}

#[cfg(test)]
mod tests {
    use gateway_domain::{ErrorKind, Operation};
    use prost::Message as _;
    use prost_types::{ListValue, Struct, Value, value::Kind};

    use super::{
        MAX_VALUE_BYTES, MESSAGE_BYTES, OBJECT_BYTES, SHAPES, TEXT_BYTES, VALUE_BYTES, check, check_0_3,
    };
    use crate::{
        operations::{TABLE, TABLE_0_3},
        pb::{v0_3, v1},
    };

    fn send(message: v1::Message) -> Vec<u8> {
        let request = v1::SendMessageRequest {
            message: Some(message),
            ..Default::default()
        };
        request.encode_to_vec()
    }

    fn data(value: Value) -> Vec<u8> {
        let part = v1::Part {
            content: Some(v1::part::Content::Data(value)),
            ..Default::default()
        };
        send(v1::Message {
            parts: vec![part],
            ..Default::default()
        })
    }

    fn list(item: Kind, count: usize) -> Value {
        let item = Value { kind: Some(item) };
        let values = vec![item; count];
        Value {
            kind: Some(Kind::ListValue(ListValue { values })),
        }
    }

    fn refusal(bytes: &[u8]) -> Option<ErrorKind> {
        check(Operation::SendMessage, bytes)
            .err()
            .map(|error| error.kind())
    }

    #[test]
    fn the_request_of_every_operation_is_known() {
        assert_eq!(SHAPES.inputs.len(), TABLE.len());
        for row in &TABLE {
            check(row.operation, &[]).unwrap();
        }
        assert_eq!(SHAPES.inputs_0_3.len(), TABLE_0_3.len());
        for row in &TABLE_0_3 {
            check_0_3(row.operation, &[]).unwrap();
        }
    }

    #[test]
    fn messages_of_0_3_are_bounded_as_well() {
        let parts = |count| {
            let request = v0_3::SendMessageRequest {
                request: Some(v0_3::Message {
                    content: vec![v0_3::Part::default(); count],
                    ..Default::default()
                }),
                ..Default::default()
            };
            let judged = check_0_3(Operation::SendMessage, &request.encode_to_vec());
            judged.err().map(|error| error.kind())
        };
        let most = MAX_VALUE_BYTES / MESSAGE_BYTES;
        assert_eq!(parts(most - 1), None);
        assert_eq!(parts(most), Some(ErrorKind::PayloadTooLarge));
    }

    #[test]
    fn messages_are_bounded_by_what_they_take_and_not_by_their_bytes() {
        let parts = |count| {
            send(v1::Message {
                parts: vec![v1::Part::default(); count],
                ..Default::default()
            })
        };
        let most = MAX_VALUE_BYTES / MESSAGE_BYTES;
        assert_eq!(refusal(&parts(most - 1)), None);
        assert_eq!(refusal(&parts(most)), Some(ErrorKind::PayloadTooLarge));
        let values = |count| refusal(&data(list(Kind::NullValue(0), count)));
        assert_eq!(
            values(MAX_VALUE_BYTES / VALUE_BYTES),
            Some(ErrorKind::PayloadTooLarge)
        );
        assert_eq!(values(most), None);
    }

    #[test]
    fn texts_that_repeat_are_bounded_as_well() {
        let extensions = |count| {
            send(v1::Message {
                extensions: vec![String::new(); count],
                ..Default::default()
            })
        };
        assert_eq!(refusal(&extensions(100)), None);
        let too_many = MAX_VALUE_BYTES / TEXT_BYTES + 1;
        assert_eq!(refusal(&extensions(too_many)), Some(ErrorKind::PayloadTooLarge));
    }

    #[test]
    fn objects_weigh_more_than_lists() {
        let fields = [(String::new(), Value::default())].into();
        let objects = list(
            Kind::StructValue(Struct { fields }),
            MAX_VALUE_BYTES / OBJECT_BYTES,
        );
        assert_eq!(refusal(&data(objects)), Some(ErrorKind::PayloadTooLarge));
        let lists = list(
            Kind::ListValue(ListValue::default()),
            MAX_VALUE_BYTES / OBJECT_BYTES,
        );
        assert_eq!(refusal(&data(lists)), None);
    }

    #[test]
    fn large_texts_and_bytes_weigh_nothing_here() {
        let part = v1::Part {
            content: Some(v1::part::Content::Raw(vec![0x2a; 8 << 20].into())),
            ..Default::default()
        };
        let parts = vec![part];
        assert_eq!(
            refusal(&send(v1::Message {
                parts,
                ..Default::default()
            })),
            None
        );
    }

    #[test]
    fn what_hides_in_groups_or_before_a_fault_is_weighed() {
        let parts = [0x2a, 0].repeat(MAX_VALUE_BYTES / MESSAGE_BYTES);
        let length = u32::try_from(parts.len() + 1).unwrap();
        let mut bytes = vec![0x12];
        prost::encoding::encode_varint(length.into(), &mut bytes);
        // A group that nobody knows opens first, and the message's last byte is none.
        bytes.push(0x7b);
        bytes.extend(parts);
        bytes.push(0x07);
        assert_eq!(refusal(&bytes), Some(ErrorKind::PayloadTooLarge));
    }

    #[test]
    fn what_is_no_message_is_left_to_the_decoder() {
        for bytes in [&[0x12][..], &[0x12, 5, 1], &[0xff; 11], &[0x07, 0], &[0x80]] {
            assert_eq!(refusal(bytes), None, "{bytes:?}");
        }
        let mut nested = Vec::new();
        for _ in 0..2_000 {
            let mut outer = vec![0x12];
            prost::encoding::encode_varint(nested.len() as u64, &mut outer);
            outer.extend(&nested);
            nested = outer;
        }
        assert_eq!(refusal(&nested), None);
    }
}
