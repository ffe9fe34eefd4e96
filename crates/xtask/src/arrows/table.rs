//! Reads the table of crates out of the code map: `crate | layer | may depend on | …`, in any Markdown layout.

use std::collections::BTreeSet;

use super::MAP;
use crate::Finding;

/// The columns that are read; more may follow.
const COLUMNS: [&str; 3] = ["crate", "layer", "may depend on"];

/// How near a crate is to the outside; which layer may know which stands in the rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layer {
    Core,
    Wire,
    Binding,
    Adapter,
    Frame,
}

/// One crate as the table has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) name: String,
    pub(super) layer: Layer,
    /// Short names of crates of the workspace.
    pub(super) may: BTreeSet<String>,
    /// The line in the code map, counted from 1.
    pub(super) line: usize,
}

/// The rows of the one table that has the columns.
pub(super) fn rows(map: &str) -> Result<Vec<Row>, Finding> {
    let mut lines = map
        .lines()
        .enumerate()
        .map(|(index, line)| (index + 1, cells(line)));
    lines
        .find(|(_, cells)| cells.len() > COLUMNS.len() && cells[..3] == COLUMNS)
        .ok_or_else(|| {
            Finding::of(
                MAP,
                format!("has no table with the columns {}", COLUMNS.join(" | ")),
            )
        })?;
    lines
        .skip(1)
        .take_while(|(_, cells)| cells.len() >= COLUMNS.len())
        .map(|(line, cells)| row(line, &cells))
        .collect()
}

/// The cells of a line of a table, or nothing for any other line.
fn cells(line: &str) -> Vec<&str> {
    let inside = line
        .trim()
        .strip_prefix('|')
        .and_then(|line| line.strip_suffix('|'));
    inside
        .map(|inside| inside.split('|').map(str::trim).collect())
        .unwrap_or_default()
}

fn row(line: usize, cells: &[&str]) -> Result<Row, Finding> {
    let name = names(cells[0])
        .next()
        .ok_or_else(|| Finding::at(MAP, line, "write the crate's name in backticks"))?;
    let layer = layer(cells[1]).ok_or_else(|| {
        Finding::at(
            MAP,
            line,
            format!(
                "`{}` is no layer: core, wire, binding, adapter or frame",
                cells[1]
            ),
        )
    })?;
    Ok(Row {
        name: name.to_owned(),
        layer,
        may: names(cells[2]).map(str::to_owned).collect(),
        line,
    })
}

/// What stands in backticks.
fn names(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

fn layer(cell: &str) -> Option<Layer> {
    Some(match cell {
        "core" => Layer::Core,
        "wire" => Layer::Wire,
        "binding" => Layer::Binding,
        "adapter" => Layer::Adapter,
        "frame" => Layer::Frame,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAP: &str = "
# Map
| other | table |
|---|---|
| x | y |

| crate | layer | may depend on | knows |
|---|:--|---|---|
| `domain` | core | nothing | tasks |
| `rest` | binding | `domain`, `edge` | `not this` |

after
";

    #[test]
    fn rows_are_read_with_what_they_may_depend_on() {
        let rows = rows(MAP).unwrap();
        assert_eq!(
            rows.iter()
                .map(|row| (row.name.as_str(), row.line))
                .collect::<Vec<_>>(),
            [("domain", 9), ("rest", 10)]
        );
        assert_eq!(rows[0].may, BTreeSet::new());
        assert_eq!((rows[1].layer, rows[1].may.len()), (Layer::Binding, 2));
    }

    #[test]
    fn a_map_without_the_table_is_refused() {
        assert!(rows("| crate | knows |\n|---|---|\n| `domain` | tasks |\n").is_err());
    }

    #[test]
    fn a_row_with_an_unknown_layer_or_without_a_name_is_refused() {
        for (right, wrong) in [("core", "centre"), ("`domain`", "domain")] {
            let finding = rows(&MAP.replace(right, wrong)).unwrap_err();
            assert_eq!(finding.place(), "crates/README.md:9");
        }
    }
}
