//! From inputs that are right to inputs that are nearly right.

use fastrand::Rng;

/// Longer inputs are cut: what breaks a decoder breaks it in little.
const MOST_BYTES: usize = 16 << 10;
/// Changes to one input, at most.
const MOST_CHANGES: usize = 6;

/// Bytes that mean something to most notations: ends of ranges, quotes, brackets, halves of characters.
const BYTES: &[u8] = b"\x00\x01\x7f\x80\xff\"'\\{}[],:/%?&=-.0189eEnt \r\n\xc3\xed\xa0";

/// An input made of one of the corpus, or of two.
pub fn input(rng: &mut Rng, corpus: &[Vec<u8>], tokens: &[&[u8]]) -> Vec<u8> {
    let mut input = choice(rng, corpus).clone();
    for _ in 0..rng.usize(1..=MOST_CHANGES) {
        change(rng, &mut input, corpus, tokens);
        input.truncate(MOST_BYTES);
    }
    input
}

fn change(rng: &mut Rng, input: &mut Vec<u8>, corpus: &[Vec<u8>], tokens: &[&[u8]]) {
    let place = rng.usize(0..=input.len());
    match rng.u8(0..12) {
        0 => flip(rng, input),
        1 => overwrite(rng, input),
        2 => input.insert(place, *choice(rng, BYTES)),
        3 => input.truncate(place),
        4 => drop(input.drain(span(rng, input.len()))),
        5 => {
            let piece = input[span(rng, input.len())].to_vec();
            let times = if rng.u8(0..8) == 0 {
                rng.usize(1..200)
            } else {
                rng.usize(1..4)
            };
            insert(input, place, &piece.repeat(times));
        }
        6 => {
            let other = choice(rng, corpus);
            insert(input, place, &other[span(rng, other.len())]);
        }
        7 => {
            let other = choice(rng, corpus);
            input.truncate(place);
            input.extend_from_slice(&other[rng.usize(0..=other.len())..]);
        }
        8 | 9 if !tokens.is_empty() => insert(input, place, choice::<&[u8]>(rng, tokens)),
        10 if !tokens.is_empty() => {
            let token = *choice(rng, tokens);
            let span = span(rng, input.len());
            input.splice(span, token.iter().copied());
        }
        _ => number(rng, input),
    }
}

fn choice<'a, T>(rng: &mut Rng, of: &'a [T]) -> &'a T {
    &of[rng.usize(0..of.len())]
}

/// A short piece as a rule.
fn span(rng: &mut Rng, length: usize) -> std::ops::Range<usize> {
    let begin = rng.usize(0..=length);
    let most = if rng.bool() { 8 } else { length };
    let end = begin + rng.usize(0..=most.min(length - begin));
    begin..end
}

fn insert(input: &mut Vec<u8>, place: usize, piece: &[u8]) {
    input.splice(place..place, piece.iter().copied());
}

fn flip(rng: &mut Rng, input: &mut [u8]) {
    if !input.is_empty() {
        let place = rng.usize(0..input.len());
        input[place] ^= 1 << rng.u8(0..8);
    }
}

fn overwrite(rng: &mut Rng, input: &mut [u8]) {
    if !input.is_empty() {
        let place = rng.usize(0..input.len());
        input[place] = if rng.bool() {
            *choice(rng, BYTES)
        } else {
            rng.u8(..)
        };
    }
}

/// Puts a number in the place of a digit, or anywhere.
fn number(rng: &mut Rng, input: &mut Vec<u8>) {
    const NUMBERS: &[&str] = &[
        "-1",
        "0",
        "1e999",
        "-0.0",
        "2147483647",
        "2147483648",
        "-2147483649",
        "4294967296",
        "9007199254740993",
        "9223372036854775808",
        "18446744073709551616",
        "0.1e-400",
        "1E5",
        "01",
        "NaN",
        "Infinity",
    ];
    let digits: Vec<_> = (0..input.len())
        .filter(|place| input[*place].is_ascii_digit())
        .collect();
    let place = if digits.is_empty() {
        rng.usize(0..=input.len())
    } else {
        *choice(rng, &digits)
    };
    let end = (place + 1).min(input.len());
    let number = *choice(rng, NUMBERS);
    input.splice(place..end, number.bytes());
}
