//! Which master of a cluster has what.

use std::{collections::BTreeSet, sync::Arc};

use gateway_domain::ports::StoreError;
use redis::Value;

use super::{address::Address, seat::Seat};

/// The part of a cluster that a key lies in, as its servers work it out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Slot(u16);

/// Slots of a cluster.
const SLOTS: u16 = 16_384;

impl Slot {
    /// The slot of a key: of what stands in its first braces, or of all of it.
    pub(crate) fn of(key: &str) -> Self {
        let tag = key.split_once('{').and_then(|(_, rest)| rest.split_once('}'));
        let hashed = tag
            .map(|(tag, _)| tag)
            .filter(|tag| !tag.is_empty())
            .unwrap_or(key);
        Self(crc16(hashed.as_bytes()) % SLOTS)
    }
}

/// CRC-16/XMODEM.
fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |sum, byte| {
        (0..8).fold(sum ^ (u16::from(*byte) << 8), |sum: u16, _| {
            (sum << 1) ^ (0x1021 * (sum >> 15))
        })
    })
}

/// The masters, and who has which slots.
pub(super) struct Map {
    pub(super) seats: Vec<Arc<Seat>>,
    /// Where they are; empty where that is found out otherwise.
    addresses: Vec<Address>,
    /// First and last slot and the place of their master, in order; empty where one server has everything.
    ranges: Vec<(u16, u16, usize)>,
}

/// Slots as a server of the cluster tells of them: first, last, master.
pub(super) type Ranges = Vec<(u16, u16, Address)>;

impl Map {
    /// One server has everything.
    pub(super) fn of_one(name: &str) -> Self {
        Self {
            seats: vec![Seat::new(name.to_owned())],
            addresses: Vec::new(),
            ranges: Vec::new(),
        }
    }

    /// Masters keep the places that they had on an earlier map.
    pub(super) fn of_cluster(ranges: &Ranges, before: Option<&Self>) -> Self {
        let addresses: BTreeSet<Address> = ranges.iter().map(|(.., address)| address.clone()).collect();
        let addresses: Vec<_> = addresses.into_iter().collect();
        let seats = addresses.iter().map(|address| {
            let name = address.to_string();
            let held = before.and_then(|map| map.seats.iter().find(|seat| seat.name == name));
            held.cloned().unwrap_or_else(|| Seat::new(name))
        });
        let seats = seats.collect();
        let place = |address: &Address| addresses.binary_search(address).unwrap_or_default();
        let mut ranges: Vec<_> = ranges
            .iter()
            .map(|(first, last, address)| (*first, *last, place(address)))
            .collect();
        ranges.sort_unstable();
        Self {
            seats,
            addresses,
            ranges,
        }
    }

    /// The place of the master that has a slot, if one does.
    pub(super) fn seat(&self, slot: Slot) -> Option<&Arc<Seat>> {
        if self.ranges.is_empty() {
            return self.seats.first();
        }
        let behind = self.ranges.partition_point(|(first, ..)| *first <= slot.0);
        let (_, last, place) = self.ranges[..behind].last()?;
        (slot.0 <= *last).then(|| &self.seats[*place])
    }

    /// Where a master of a cluster is.
    pub(super) fn address(&self, seat: &Seat) -> Option<Address> {
        let place = self.seats.iter().position(|held| held.name == seat.name)?;
        self.addresses.get(place).cloned()
    }

    /// Whether both say the same.
    pub(super) fn agrees_with(&self, other: &Self) -> bool {
        self.ranges == other.ranges && self.addresses == other.addresses
    }
}

/// What most of the servers that were asked say; of equally many the first.
pub(super) fn by_most(answers: Vec<Ranges>) -> Ranges {
    let mut votes: Vec<(Ranges, usize)> = Vec::new();
    for mut answer in answers {
        answer.sort();
        match votes.iter_mut().find(|(ranges, _)| *ranges == answer) {
            Some((_, count)) => *count += 1,
            None => votes.push((answer, 1)),
        }
    }
    let most = votes.into_iter().rev().max_by_key(|(_, count)| *count);
    most.map(|(ranges, _)| ranges).unwrap_or_default()
}

/// Reads the answer to CLUSTER SLOTS. A server that does not know its own name is where it was asked.
pub(super) fn read_slots(answer: &Value, asked: &Address) -> Result<Ranges, StoreError> {
    let unreadable = || StoreError::new("the answer of Redis to CLUSTER SLOTS cannot be read");
    let Value::Array(ranges) = answer else {
        return Err(unreadable());
    };
    let read = ranges
        .iter()
        .map(|range| read_range(range, asked).ok_or_else(unreadable));
    let read = read.collect::<Result<Ranges, _>>()?;
    if read.is_empty() {
        return Err(StoreError::new(format_args!(
            "the Redis Cluster at {asked} has no slots yet"
        )));
    }
    Ok(read)
}

fn read_range(range: &Value, asked: &Address) -> Option<(u16, u16, Address)> {
    let number = |value: &Value| match value {
        Value::Int(number) => u16::try_from(*number).ok(),
        _ => None,
    };
    let Value::Array(fields) = range else {
        return None;
    };
    let (Some(first), Some(last), Some(Value::Array(master))) = (
        fields.first().and_then(number),
        fields.get(1).and_then(number),
        fields.get(2),
    ) else {
        return None;
    };
    let port = master.get(1).and_then(number)?;
    let named = match master.first()? {
        Value::BulkString(host) => String::from_utf8(host.clone()).ok()?,
        Value::SimpleString(host) => host.clone(),
        _ => String::new(),
    };
    let host = match (named.as_str(), asked) {
        ("" | "?", Address::Tcp(host, _)) => host.clone(),
        ("" | "?", Address::Unix(_)) => return None,
        _ => named,
    };
    Some((first, last, Address::Tcp(host, port)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(port: u16) -> Address {
        Address::Tcp("host".to_owned(), port)
    }

    #[test]
    fn a_slot_comes_out_as_servers_work_it_out() {
        // The check value of the sum, then what CLUSTER KEYSLOT says.
        assert_eq!(crc16(b"123456789"), 0x31c3);
        for (key, slot) in [
            ("foo", 12_182),
            ("a2a:{00}:task:x", 13_254),
            ("{}x", 10_595),
            ("a{foo}{b}", 12_182),
        ] {
            assert_eq!(Slot::of(key), Slot(slot), "{key}");
        }
    }

    #[test]
    fn a_slot_leads_to_its_master_and_one_that_nobody_has_to_none() {
        let map = Map::of_cluster(&vec![(0, 9, at(1)), (20, 29, at(2)), (10, 14, at(2))], None);
        let name = |slot| map.seat(Slot(slot)).map(|seat| seat.name.as_str());
        for (slot, of) in [
            (0, Some("host:1")),
            (9, Some("host:1")),
            (10, Some("host:2")),
            (14, Some("host:2")),
            (15, None),
            (29, Some("host:2")),
            (30, None),
        ] {
            assert_eq!(name(slot), of, "{slot}");
        }
        let one = Map::of_one("the server");
        assert_eq!(one.seat(Slot(16_383)).unwrap().name, "the server");
    }

    #[test]
    fn masters_keep_their_places_from_map_to_map() {
        let before = Map::of_cluster(&vec![(0, 9, at(1)), (10, 19, at(2))], None);
        let after = Map::of_cluster(&vec![(0, 9, at(3)), (10, 19, at(2))], Some(&before));
        assert!(Arc::ptr_eq(
            before.seat(Slot(10)).unwrap(),
            after.seat(Slot(10)).unwrap()
        ));
        assert!(!after.agrees_with(&before) && after.agrees_with(&after));
    }

    #[test]
    fn what_most_servers_say_counts_and_of_equally_many_the_first() {
        let (old, new) = (vec![(0, 9, at(1))], vec![(0, 9, at(2))]);
        assert_eq!(by_most(vec![old.clone(), new.clone(), new.clone()]), new);
        assert_eq!(by_most(vec![old.clone(), new]), old);
        assert_eq!(by_most(vec![]), vec![]);
    }

    #[test]
    fn the_answer_of_a_server_is_read_and_a_missing_name_is_where_it_was_asked() {
        let master =
            |host: Value, port| Value::Array(vec![host, Value::Int(port), Value::SimpleString("id".into())]);
        let range = |first, last, master| Value::Array(vec![Value::Int(first), Value::Int(last), master]);
        let answer = Value::Array(vec![
            range(0, 5, master(Value::BulkString(b"other".to_vec()), 7)),
            range(6, 9, master(Value::Nil, 8)),
        ]);
        let read = read_slots(&answer, &at(1)).unwrap();
        assert_eq!(read, [(0, 5, Address::Tcp("other".into(), 7)), (6, 9, at(8))]);
        for broken in [
            Value::Nil,
            Value::Array(vec![]),
            Value::Array(vec![Value::Int(1)]),
        ] {
            assert!(read_slots(&broken, &at(1)).is_err(), "{broken:?}");
        }
    }
}
