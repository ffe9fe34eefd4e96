//! Compares what the clients observed with what is wanted, and lays it out as a table. Nothing is run here.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
};

use serde::Deserialize;

/// What a client reports of a cell in which all is well.
const PASS: &str = "pass";

/// One operation of one SDK over one binding.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub(crate) struct Cell {
    sdk: String,
    operation: String,
    binding: String,
}

/// What was observed in a cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Observation {
    cell: Cell,
    observed: String,
}

/// A cell that is known not to pass, for a reason that is not the gateway's.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Deviation {
    #[serde(flatten)]
    pub(crate) cell: Cell,
    /// What is observed, whole; `*` stands for anything, for the parts that differ from run to run.
    observed: String,
    /// Why this is not the gateway's fault.
    why: String,
    /// Where the specification says so.
    section: String,
}

/// The file of deviations.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Pinned {
    #[serde(default, rename = "deviation")]
    pub(crate) deviations: Vec<Deviation>,
}

/// What came of a run.
pub(crate) struct Report {
    /// Operations as lines, bindings of each SDK as columns.
    pub(crate) table: String,
    /// Everything that is not as it is wanted or pinned.
    pub(crate) faults: Vec<String>,
}

impl Cell {
    pub(crate) fn of(sdk: &str, operation: &str, binding: &str) -> Self {
        Self {
            sdk: sdk.to_owned(),
            operation: operation.to_owned(),
            binding: binding.to_owned(),
        }
    }

    fn name(&self) -> String {
        format!("{} {} {}", self.sdk, self.operation, self.binding)
    }
}

/// Reads a line that a client printed.
pub(crate) fn observation(sdk: &str, line: &str) -> Observation {
    #[derive(Deserialize)]
    struct Line {
        operation: String,
        binding: String,
        observed: String,
    }
    let line: Line = serde_json::from_str(line)
        .unwrap_or_else(|error| panic!("the {sdk} client printed something else: {error}: {line}"));
    Observation {
        cell: Cell::of(sdk, &line.operation, &line.binding),
        observed: line.observed,
    }
}

/// Every cell has to pass, or to deviate exactly as it is pinned.
pub(crate) fn judge(cells: &BTreeSet<Cell>, observed: &[Observation], pinned: &[Deviation]) -> Report {
    let mut faults = wrong_pins(pinned);
    let mut verdicts: BTreeMap<&Cell, &str> = cells.iter().map(|cell| (cell, "missing")).collect();
    for Observation { cell, observed } in observed {
        let fault = match verdicts.get(cell) {
            None => Some("is no cell that is asked for".to_owned()),
            Some(&verdict) if verdict != "missing" => Some("was reported twice".to_owned()),
            Some(_) => {
                let pin = pinned.iter().find(|pin| pin.cell == *cell);
                let judged = settle(observed, pin);
                let verdict = match &judged {
                    Ok(verdict) => verdict,
                    Err(_) => "FAILED",
                };
                verdicts.insert(cell, verdict);
                judged.err()
            }
        };
        faults.extend(fault.map(|fault| format!("{}: {fault}", cell.name())));
    }
    let missing = verdicts.iter().filter(|(_, verdict)| **verdict == "missing");
    faults.extend(missing.map(|(cell, _)| format!("{}: was not reported", cell.name())));
    Report {
        table: table(&verdicts),
        faults,
    }
}

/// The word for the table, or what is wrong.
fn settle(observed: &str, pin: Option<&Deviation>) -> Result<&'static str, String> {
    match pin {
        None if observed == PASS => Ok("pass"),
        None => Err(observed.to_owned()),
        Some(_) if observed == PASS => Err("passes now: take its pin out of deviations.toml".to_owned()),
        Some(pin) if matches(&pin.observed, observed) => Ok("pinned"),
        Some(pin) => Err(format!(
            "was pinned as {:?}, and now is: {observed}",
            pin.observed
        )),
    }
}

/// Whether a text is the pattern, in which `*` stands for anything.
fn matches(pattern: &str, text: &str) -> bool {
    let Some((head, mut rest)) = pattern.split_once('*') else {
        return pattern == text;
    };
    let Some(mut text) = text.strip_prefix(head) else {
        return false;
    };
    while let Some((piece, further)) = rest.split_once('*') {
        let Some(at) = text.find(piece) else {
            return false;
        };
        (text, rest) = (&text[at + piece.len()..], further);
    }
    text.ends_with(rest)
}

fn wrong_pins(pinned: &[Deviation]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let mut faults = Vec::new();
    for pin in pinned {
        let mut fault = |text: &str| faults.push(format!("{}: {text}", pin.cell.name()));
        if !seen.insert(&pin.cell) {
            fault("is pinned twice");
        }
        if pin.why.is_empty() || !pin.section.starts_with('§') {
            fault("is pinned without a reason and the § that it rests on");
        }
    }
    faults
}

fn table(verdicts: &BTreeMap<&Cell, &str>) -> String {
    let columns: BTreeSet<_> = verdicts.keys().map(|cell| (&cell.sdk, &cell.binding)).collect();
    let operations: BTreeSet<_> = verdicts.keys().map(|cell| &cell.operation).collect();
    let mut text = String::new();
    let mut line = |first: &str, others: &mut dyn Iterator<Item = &str>| {
        // Writing to a text cannot fail.
        let _ = write!(text, "{first:<34}");
        for other in others {
            let _ = write!(text, "{other:<11}");
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
    };
    line("", &mut columns.iter().map(|(sdk, _)| sdk.as_str()));
    line("", &mut columns.iter().map(|(_, binding)| binding.as_str()));
    for operation in operations {
        let cells = columns
            .iter()
            .map(|(sdk, binding)| Cell::of(sdk, operation, binding));
        let words: Vec<_> = cells
            .map(|cell| verdicts.get(&cell).copied().unwrap_or(""))
            .collect();
        line(operation, &mut words.into_iter());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell() -> Cell {
        Cell::of("python", "GetTask", "GRPC")
    }

    fn observations(observed: &[&str]) -> Vec<Observation> {
        let one = |observed: &&str| Observation {
            cell: cell(),
            observed: (*observed).to_owned(),
        };
        observed.iter().map(one).collect()
    }

    fn pin(observed: &str) -> Deviation {
        Deviation {
            cell: cell(),
            observed: observed.to_owned(),
            why: "it counts from 1".to_owned(),
            section: "§3.1.3".to_owned(),
        }
    }

    fn faults(observed: &[&str], pinned: &[Deviation]) -> Vec<String> {
        judge(&BTreeSet::from([cell()]), &observations(observed), pinned).faults
    }

    #[test]
    fn a_cell_that_passes_or_deviates_as_it_is_pinned_is_fine() {
        assert_eq!(faults(&["pass"], &[]), [""; 0]);
        assert_eq!(faults(&["Error: no 7 here"], &[pin("Error: no * here")]), [""; 0]);
    }

    #[test]
    fn a_cell_that_fails_is_a_fault_with_what_was_observed() {
        assert_eq!(faults(&["Error: no"], &[]), ["python GetTask GRPC: Error: no"]);
    }

    #[test]
    fn a_pinned_deviation_that_changes_is_a_fault() {
        for (observed, word) in [
            ("pass", "passes now"),
            ("Error: other", "and now is: Error: other"),
        ] {
            let faults = faults(&[observed], &[pin("Error: no")]);
            assert!(faults.len() == 1 && faults[0].contains(word), "{faults:?}");
        }
    }

    #[test]
    fn a_cell_that_is_absent_twice_there_or_unknown_is_a_fault() {
        assert_eq!(faults(&[], &[]), ["python GetTask GRPC: was not reported"]);
        assert_eq!(
            faults(&["pass", "pass"], &[]),
            ["python GetTask GRPC: was reported twice"]
        );
        let report = judge(&BTreeSet::new(), &observations(&["pass"]), &[]);
        assert_eq!(
            report.faults,
            ["python GetTask GRPC: is no cell that is asked for"]
        );
    }

    #[test]
    fn a_pin_needs_a_reason_and_a_place_in_the_specification_and_stands_once() {
        let unfounded = Deviation {
            section: String::new(),
            ..pin("Error: no")
        };
        for (pins, word) in [
            (vec![unfounded], "without a reason"),
            (vec![pin("Error: no"), pin("Error: no")], "twice"),
        ] {
            let faults = faults(&["Error: no"], &pins);
            assert!(faults.len() == 1 && faults[0].contains(word), "{faults:?}");
        }
    }

    #[test]
    fn a_star_stands_for_anything_and_the_rest_for_itself() {
        for (pattern, text, same) in [
            ("a", "a", true),
            ("a", "ab", false),
            ("a*", "ab", true),
            ("*b", "ab", true),
            ("a*c*e", "abcde", true),
            ("a*c*e", "abde", false),
            ("a*b", "a", false),
        ] {
            assert_eq!(matches(pattern, text), same, "{pattern} {text}");
        }
    }

    #[test]
    fn the_table_has_a_line_for_each_operation_and_a_column_for_each_binding_of_an_sdk() {
        let cells = BTreeSet::from([cell(), Cell::of("rust", "GetTask", "JSONRPC")]);
        let report = judge(&cells, &observations(&["pass"]), &[]);
        let lines: Vec<_> = report
            .table
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>())
            .collect();
        assert_eq!(
            lines,
            [
                vec!["python", "rust"],
                vec!["GRPC", "JSONRPC"],
                vec!["GetTask", "pass", "missing"]
            ]
        );
    }
}
