//! Notes when the program was built: the agent card is as old as that, unless its settings are newer.

use std::time::SystemTime;

/// A packager's word on the time of a build, in seconds since 1970, so that builds can be repeated bit for bit.
const SOURCE_DATE: &str = "SOURCE_DATE_EPOCH";

fn main() {
    println!("cargo::rerun-if-env-changed={SOURCE_DATE}");
    println!("cargo::rerun-if-changed=src");
    let now = || {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        since.map_or(0, |since| since.as_secs())
    };
    let given = std::env::var(SOURCE_DATE)
        .ok()
        .and_then(|seconds| seconds.parse().ok());
    println!("cargo::rustc-env=BUILD_SECONDS={}", given.unwrap_or_else(now));
}
