//! Free data. Doubles that are whole numbers become integers again where a double holds them exactly, so that every
//! binding shows the same number.

use gateway_domain::json::{MAX_DEPTH, Object};
use prost_types::{Struct, Value as Pb, value::Kind};
use serde_json::{Number, Value};

use super::{At, Faults};

/// Reads a free object.
pub(crate) fn object(object: Struct, faults: &mut Faults, at: &At<'_>) -> Option<Object> {
    members(object, MAX_DEPTH, faults, at)
}

/// Reads a free value.
pub(crate) fn value(value: Pb, faults: &mut Faults, at: &At<'_>) -> Option<Value> {
    nested(value, MAX_DEPTH, faults, at)
}

/// Reads a value with `left` levels to go. Faults are noted at the field that holds the whole value: a path into
/// data would have names of the caller's choosing.
fn nested(value: Pb, left: usize, faults: &mut Faults, at: &At<'_>) -> Option<Value> {
    match value.kind {
        None => faults.add(at, "must be a JSON value; one that is null says so"),
        Some(Kind::NullValue(_)) => Some(Value::Null),
        Some(Kind::BoolValue(flag)) => Some(Value::Bool(flag)),
        Some(Kind::NumberValue(double)) => number(double).map(Value::Number).or_else(|| {
            faults.add(
                at,
                "must not hold NaN or an infinite number, which JSON does not have",
            )
        }),
        Some(Kind::StringValue(text)) => Some(Value::String(text)),
        Some(Kind::ListValue(list)) => {
            let left = deeper(left, faults, at)?;
            let items = list.values.into_iter().map(|item| nested(item, left, faults, at));
            items.collect::<Option<_>>().map(Value::Array)
        }
        Some(Kind::StructValue(object)) => members(object, left, faults, at).map(Value::Object),
    }
}

fn members(object: Struct, left: usize, faults: &mut Faults, at: &At<'_>) -> Option<Object> {
    let left = deeper(left, faults, at)?;
    let members = object
        .fields
        .into_iter()
        .map(|(name, member)| Some((name, nested(member, left, faults, at)?)));
    members.collect()
}

fn deeper(left: usize, faults: &mut Faults, at: &At<'_>) -> Option<usize> {
    left.checked_sub(1)
        .or_else(|| faults.add(at, format!("must not nest deeper than {MAX_DEPTH} levels")))
}

/// The number that JSON writes for a double, if it has one.
fn number(double: f64) -> Option<Number> {
    /// 2^53: up to here every integer is a double of its own.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let negative_zero = double == 0.0 && double.is_sign_negative();
    if double.fract() == 0.0 && double.abs() <= EXACT && !negative_zero {
        #[allow(clippy::cast_possible_truncation, reason = "whole and in range")]
        let integer = double as i64;
        Some(integer.into())
    } else {
        Number::from_f64(double)
    }
}

#[cfg(test)]
mod tests {
    use prost_types::{ListValue, Value as Pb, value::Kind};
    use serde_json::{Value, json};

    use super::super::whole;

    fn read(kind: Kind) -> Result<Value, gateway_domain::Error> {
        whole(|faults, at| super::value(Pb { kind: Some(kind) }, faults, &at.field("data")))
    }

    fn nested(levels: usize) -> Kind {
        (0..levels).fold(Kind::NullValue(0), |inner, _| {
            Kind::ListValue(ListValue {
                values: vec![Pb { kind: Some(inner) }],
            })
        })
    }

    #[test]
    fn whole_doubles_are_integers_as_far_as_a_double_is_exact() {
        for (double, expected) in [
            (1.0, "1"),
            (-3.0, "-3"),
            (0.0, "0"),
            (-0.0, "-0.0"),
            (1.5, "1.5"),
            (9_007_199_254_740_992.0, "9007199254740992"),
            (-9_007_199_254_740_992.0, "-9007199254740992"),
            (9_007_199_254_740_994.0, "9007199254740994.0"),
            (1e300, "1e+300"),
        ] {
            assert_eq!(read(Kind::NumberValue(double)).unwrap().to_string(), expected);
        }
    }

    #[test]
    fn numbers_that_json_does_not_have_are_refused() {
        for double in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let error = read(Kind::NumberValue(double)).unwrap_err();
            assert_eq!(error.violations()[0].field, "data");
        }
    }

    #[test]
    fn values_nest_up_to_the_bound_and_no_deeper() {
        assert!(read(nested(32)).is_ok());
        let error = read(nested(33)).unwrap_err();
        assert_eq!(
            error.violations()[0].description,
            "must not nest deeper than 32 levels"
        );
    }

    #[test]
    fn an_object_counts_as_the_first_level() {
        let object = |levels| prost_types::Struct {
            fields: [(
                "a".to_owned(),
                Pb {
                    kind: Some(nested(levels)),
                },
            )]
            .into(),
        };
        assert!(whole(|faults, at| super::object(object(31), faults, at)).is_ok());
        assert!(whole(|faults, at| super::object(object(32), faults, at)).is_err());
    }

    #[test]
    fn null_is_a_value_and_nothing_at_all_is_none() {
        assert_eq!(read(Kind::NullValue(0)).unwrap(), json!(null));
        assert!(whole(|faults, at| super::value(Pb { kind: None }, faults, at)).is_err());
    }
}
