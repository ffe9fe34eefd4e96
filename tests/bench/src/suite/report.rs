//! Results for people: a line each while a suite runs, a table at its end.

use std::fmt::Write as _;

use serde_json::Value;

/// Above this share of a core, used by others, times say little.
const BUSY: f64 = 0.1;

/// All results as one Markdown table.
pub fn markdown(results: &[Value]) -> String {
    let mut out = String::from(
        "| step | target | binding | throughput | p50 ms | p99 ms | p99.9 ms | server CPU | memory | errors | machine |\n\
         |---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for line in results {
        // Writing into a string cannot fail.
        let _ = writeln!(out, "| {} |", row(line).join(" | "));
    }
    out
}

/// One result as a line.
pub fn brief(line: &Value) -> String {
    row(line).join("  ")
}

fn row(line: &Value) -> Vec<String> {
    let text = |key: &str| line[key].as_str().unwrap_or("").to_string();
    let result = &line["result"];
    let mut out = vec![text("step"), text("target"), text("binding")];
    if let Some(failed) = line["failed"].as_str() {
        out.push(format!("failed: {failed}"));
        out.resize(11, String::new());
        return out;
    }
    out.extend(match line["op"].as_str() {
        Some("subscribe") => fanout(result),
        Some("growth") => growth(result),
        Some("startup") => startup(result),
        _ => load(result),
    });
    let others = result["others_cpu_util"].as_f64().unwrap_or(0.0);
    out.push(if others > BUSY {
        format!("busy with others: {others:.2}")
    } else {
        String::new()
    });
    out
}

fn cell(value: &Value, digits: usize) -> String {
    value
        .as_f64()
        .map_or_else(|| "–".into(), |number| format!("{number:.digits$}"))
}

fn load(result: &Value) -> [String; 7] {
    let latency = &result["latency_ms"];
    let full = result["client_cpu_util"].as_f64().unwrap_or(0.0) > 0.95;
    [
        format!(
            "{}/s{}",
            cell(&result["rps"], 0),
            if full { " (client full)" } else { "" }
        ),
        cell(&latency["p50"], 2),
        cell(&latency["p99"], 2),
        cell(&latency["p999"], 2),
        format!("{} µs a request", cell(&result["cpu_us_per_request"], 1)),
        format!("{} MiB", mib(&result["server"][0]["peak_rss_kib"])),
        result["errors"].to_string(),
    ]
}

fn fanout(result: &Value) -> [String; 7] {
    let delivery = &result["delivery_ms"];
    [
        format!(
            "{} of {} streams, open in {} ms",
            result["received"],
            result["streams"],
            cell(&result["open_all_ms"], 0)
        ),
        cell(&delivery["p50"], 2),
        cell(&delivery["p99"], 2),
        format!("last {}", cell(&delivery["max"], 2)),
        format!("{} µs an event", cell(&result["cpu_us_per_event"], 2)),
        format!("{} MiB/1k streams", cell(&result["idle_mib_per_1k_streams"], 1)),
        result["open_errors"].to_string(),
    ]
}

fn growth(result: &Value) -> [String; 7] {
    let none = String::new;
    let (early, late) = (cell(&result["early_cpu_us"], 2), cell(&result["late_cpu_us"], 2));
    let memory = format!("{} MiB", mib(&result["server"][0]["peak_rss_kib"]));
    [
        format!("{} streams", result["streams"]),
        none(),
        none(),
        none(),
        format!("{early} µs a chunk early, {late} late"),
        memory,
        none(),
    ]
}

fn startup(result: &Value) -> [String; 7] {
    let none = String::new;
    let memory = format!("{} MiB", mib(&result["rss_kib_after_first_replies"]));
    [
        format!("listening after {} ms", cell(&result["listen_ms"], 1)),
        none(),
        none(),
        none(),
        format!(
            "{} ms",
            cell(&Value::from(result["cpu_s"].as_f64().unwrap_or(0.0) * 1e3), 1)
        ),
        memory,
        none(),
    ]
}

fn mib(kib: &Value) -> u64 {
    kib.as_u64().unwrap_or(0) / 1024
}
