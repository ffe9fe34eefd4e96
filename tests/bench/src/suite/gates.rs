//! What a suite's results must be: figures with a limit, alone or as ratios, each the median over the rounds.
//!
//! A ratio is taken inside a round, where both sides were measured a short while apart, and not of two medians.

use std::fmt;

use anyhow::{Result, ensure};
use serde::Deserialize;
use serde_json::Value;

use super::config::Config;

/// A figure with its limit.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gate {
    pub name: String,
    pub step: String,
    /// A field of the step's result.
    pub figure: String,
    #[serde(default = "gateway")]
    pub target: String,
    /// Divided by the same figure of another target or step, of the same round and binding.
    pub over: Option<Over>,
    /// The highest median that passes.
    pub most: Limit,
}

fn gateway() -> String {
    "gateway".into()
}

/// What a figure is divided by; what isn't named is the gate's own.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Over {
    pub target: Option<String>,
    pub step: Option<String>,
}

/// One limit, or one for each kind of binding.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(untagged)]
pub enum Limit {
    Same(f64),
    ByKind { http: f64, grpc: f64 },
}

impl Limit {
    fn of(self, binding: &str) -> f64 {
        match self {
            Limit::Same(most) => most,
            Limit::ByKind { grpc, .. } if binding == "grpc" => grpc,
            Limit::ByKind { http, .. } => http,
        }
    }
}

impl Gate {
    /// Refuses names that the file doesn't have: a gate that finds no results would pass nothing and prove nothing.
    pub fn check(&self, config: &Config) -> Result<()> {
        let over = self.over.as_ref();
        for step in [Some(&self.step), over.and_then(|over| over.step.as_ref())]
            .into_iter()
            .flatten()
        {
            ensure!(
                config.steps.iter().any(|known| known.name == *step),
                "gate {}: no step {step}",
                self.name
            );
        }
        for target in [Some(&self.target), over.and_then(|over| over.target.as_ref())]
            .into_iter()
            .flatten()
        {
            let known = config.targets.iter().any(|known| known.name == *target);
            ensure!(known, "gate {}: no target {target}", self.name);
        }
        Ok(())
    }
}

/// What one gate says about one binding.
#[derive(Debug, PartialEq)]
pub struct Verdict {
    pub gate: String,
    /// Empty where the figure belongs to no binding.
    pub binding: String,
    pub most: f64,
    /// One value a round, in order.
    pub values: Vec<f64>,
    /// What was wrong with a run that the gate needs; any such fault fails the gate.
    pub faults: Vec<String>,
}

impl Verdict {
    /// The middle value; of an even number the upper one of the middle two.
    pub fn median(&self) -> Option<f64> {
        let mut sorted = self.values.clone();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied()
    }

    pub fn passed(&self) -> bool {
        self.faults.is_empty() && self.median().is_some_and(|median| median <= self.most)
    }
}

/// What all gates say.
#[derive(Debug, Default)]
pub struct Verdicts(pub Vec<Verdict>);

impl Verdicts {
    pub fn passed(&self) -> bool {
        self.0.iter().all(Verdict::passed)
    }
}

/// Holds results against the gates. Gates whose step was not run at all say nothing.
pub fn judge(gates: &[Gate], results: &[Value]) -> Verdicts {
    let mut verdicts = Vec::new();
    for gate in gates {
        let own = || {
            results
                .iter()
                .filter(|line| line["step"] == *gate.step && line["target"] == *gate.target)
        };
        let mut bindings: Vec<&str> = own().map(binding).collect();
        bindings.sort_unstable();
        bindings.dedup();
        for name in bindings {
            let mut verdict = Verdict {
                gate: gate.name.clone(),
                binding: name.to_owned(),
                most: gate.most.of(name),
                values: Vec::new(),
                faults: Vec::new(),
            };
            for line in own().filter(|line| binding(line) == name) {
                match value(gate, line, results) {
                    Ok(value) => verdict.values.push(value),
                    Err(fault) => verdict.faults.push(format!("round {}: {fault}", line["round"])),
                }
            }
            verdicts.push(verdict);
        }
    }
    Verdicts(verdicts)
}

fn binding(line: &Value) -> &str {
    line["binding"].as_str().unwrap_or_default()
}

fn value(gate: &Gate, line: &Value, results: &[Value]) -> Result<f64, String> {
    let own = figure(gate, line)?;
    let Some(over) = &gate.over else {
        return Ok(own);
    };
    let (target, step) = (
        over.target.as_ref().unwrap_or(&gate.target),
        over.step.as_ref().unwrap_or(&gate.step),
    );
    let other = results.iter().find(|other| {
        other["step"] == **step
            && other["target"] == **target
            && ["round", "binding"]
                .iter()
                .all(|field| other[field] == line[field])
    });
    let other = figure(
        gate,
        other.ok_or_else(|| format!("{target} was not measured in {step}"))?,
    )?;
    if other <= 0.0 {
        return Err(format!("{target} used nothing in {step}"));
    }
    Ok(own / other)
}

/// The figure of one run that went well: every request and every stream of it.
fn figure(gate: &Gate, line: &Value) -> Result<f64, String> {
    let who = || {
        format!(
            "{} {}",
            line["target"].as_str().unwrap_or_default(),
            line["step"].as_str().unwrap_or_default()
        )
    };
    if let Some(failed) = line["failed"].as_str() {
        return Err(format!("{}: {failed}", who()));
    }
    let result = &line["result"];
    for errors in ["errors", "open_errors"] {
        if result[errors].as_u64().unwrap_or(0) > 0 {
            let first = result["first_error"].as_str().unwrap_or_default();
            return Err(format!(
                "{}: {} {errors}, the first: {first}",
                who(),
                result[errors]
            ));
        }
    }
    result[&gate.figure]
        .as_f64()
        .ok_or_else(|| format!("{}: no figure {}", who(), gate.figure))
}

impl fmt::Display for Verdicts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "| gate | binding | median | at most | rounds | |\n|---|---|---|---|---|---|"
        )?;
        for verdict in &self.0 {
            let median = verdict
                .median()
                .map_or_else(|| "–".into(), |median| format!("{median:.2}"));
            let rounds: Vec<String> = verdict.values.iter().map(|value| format!("{value:.2}")).collect();
            let outcome = if verdict.passed() { "ok" } else { "FAILED" };
            let Verdict {
                gate,
                binding,
                most,
                faults,
                ..
            } = verdict;
            let faults = faults.join("; ");
            writeln!(
                f,
                "| {gate} | {binding} | {median} | {most} | {} | {outcome} {faults} |",
                rounds.join(" ")
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn gate(over: Option<Over>) -> Gate {
        Gate {
            name: "sending".into(),
            step: "send".into(),
            figure: "cpu".into(),
            target: gateway(),
            over,
            most: Limit::ByKind { http: 2.0, grpc: 4.0 },
        }
    }

    fn by_floor() -> Gate {
        gate(Some(Over {
            target: Some("floor".into()),
            step: None,
        }))
    }

    fn line(round: u32, target: &str, binding: &str, cpu: f64) -> Value {
        json!({ "round": round, "target": target, "step": "send", "binding": binding, "result": { "cpu": cpu } })
    }

    #[test]
    fn the_median_of_the_rounds_is_held_against_the_limit_of_the_binding() {
        let rounds = [1.0, 9.0, 2.0];
        let results: Vec<_> = (1..)
            .zip(rounds)
            .map(|(round, cpu)| line(round, "gateway", "rest", cpu))
            .collect();
        let verdicts = judge(&[gate(None)], &results);
        assert_eq!(verdicts.0[0].median(), Some(2.0));
        assert!(verdicts.passed());
        let results = [line(1, "gateway", "rest", 2.1), line(1, "gateway", "grpc", 2.1)];
        let passed: Vec<_> = judge(&[gate(None)], &results)
            .0
            .iter()
            .map(Verdict::passed)
            .collect();
        assert_eq!(passed, [true, false], "gRPC, then HTTP+JSON");
    }

    #[test]
    fn a_ratio_is_taken_within_its_round_and_binding() {
        let results = [
            line(1, "floor", "rest", 1.0),
            line(1, "gateway", "rest", 1.5),
            line(1, "floor", "grpc", 50.0),
            line(2, "floor", "rest", 10.0),
            line(2, "gateway", "rest", 30.0),
        ];
        assert_eq!(judge(&[by_floor()], &results).0[0].values, [1.5, 3.0]);
    }

    #[test]
    fn a_run_that_failed_or_had_errors_or_has_no_counterpart_fails_its_gate() {
        let good = line(1, "floor", "rest", 1.0);
        let mut failed = line(1, "gateway", "rest", 1.0);
        failed["failed"] = json!("no answer");
        let mut errors = line(1, "gateway", "rest", 1.0);
        errors["result"]["errors"] = json!(3);
        for results in [
            vec![good.clone(), failed],
            vec![good, errors],
            vec![line(1, "gateway", "rest", 1.0)],
        ] {
            let verdicts = judge(&[by_floor()], &results);
            assert_eq!(verdicts.0[0].faults.len(), 1, "{results:?}");
            assert!(!verdicts.passed());
        }
    }

    #[test]
    fn a_gate_that_names_no_step_or_target_of_the_file_is_refused() {
        let file = |gate: &str| {
            format!(
                "[[target]]\nname = \"gateway\"\ncommand = [\"x\"]\n[[step]]\nname = \"send\"\nop = \"send\"\n\
                 [[gate]]\nname = \"g\"\nfigure = \"cpu\"\nmost = 1.0\n{gate}"
            )
        };
        for (gate, good) in [
            ("step = \"send\"", true),
            ("step = \"sent\"", false),
            ("step = \"send\"\nover = { target = \"floor\" }", false),
            ("step = \"send\"\nover = { step = \"get\" }", false),
        ] {
            let config: Config = toml::from_str(&file(gate)).unwrap();
            assert_eq!(config.gates[0].check(&config).is_ok(), good, "{gate}");
        }
    }
}
