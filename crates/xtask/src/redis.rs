//! `redis-server`, which the tests of the store in Redis start for themselves: whether it is there and new enough, and
//! on a Debian its installation.

use std::path::Path;

use crate::{Finding, Verdict, bench, process, verdict};

/// The first release that has sharded channels, which the store's news go over.
const LEAST: u32 = 7;

const VERSION: &[&str] = &["redis-server", "--version"];

/// The package leaves no server running that tests could meet: they start their own, without a port.
const INSTALL: &[&[&str]] = &[
    &["apt-get", "update", "-qq"],
    &[
        "apt-get",
        "install",
        "-qq",
        "-y",
        "--no-install-recommends",
        "redis-server",
    ],
];

/// `cargo xtask redis`
pub(crate) fn run(root: &Path, _: &[String]) -> Verdict {
    verdict(provide(root).err().into_iter().collect())
}

/// Sees to it that it is there.
pub(crate) fn provide(root: &Path) -> Result<(), Finding> {
    let found = process::output(root, VERSION).or_else(|_| {
        println!("installing redis-server with apt-get, for the tests of the store in Redis");
        INSTALL
            .iter()
            .try_for_each(|command| process::run(root, command))?;
        process::output(root, VERSION)
    })?;
    judge(&found)
}

/// Reads `Redis server v=7.0.15 sha=…`, or `Valkey server v=8.1.1 …`.
fn judge(printed: &str) -> Result<(), Finding> {
    let version = printed
        .split_whitespace()
        .find_map(|word| word.strip_prefix("v="));
    let major = version.and_then(|version| version.split('.').next()?.parse::<u32>().ok());
    if major.is_some_and(|major| major >= LEAST) {
        return Ok(());
    }
    let text = format!("{LEAST}.0 or newer is needed, and this is {:?}", printed.trim());
    Err(Finding::of("redis-server", text))
}

/// `cargo xtask bench-redis`
pub(crate) fn run_bench(root: &Path, _: &[String]) -> Verdict {
    let ended = provide(root).and_then(|()| bench::measure_redis(root));
    verdict(ended.err().into_iter().collect())
}

/// The tests of the store against the server that the environment names.
const AGAINST: &[&str] = &[
    "cargo",
    "test",
    "--package",
    "gateway-store-redis",
    "--no-fail-fast",
];

/// `cargo xtask redis-with PROGRAM`
pub(crate) fn run_with(root: &Path, arguments: &[String]) -> Verdict {
    let [program] = arguments else {
        let text = "name the program of a server, for example: cargo xtask redis-with /usr/bin/valkey-server";
        return verdict(vec![Finding::of("redis-with", text)]);
    };
    let named = format!("REDIS_SERVER={program}");
    let ended = process::output(root, &[program, "--version"])
        .and_then(|printed| judge(&printed))
        .and_then(|()| process::run(root, &[&["env", &named], AGAINST].concat()));
    verdict(ended.err().into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::judge;

    #[test]
    fn a_server_that_is_too_old_or_says_nothing_of_its_version_is_refused() {
        for good in [
            "Redis server v=7.0.15 sha=00000000:0 bits=64",
            "Valkey server v=8.1.1 sha=0",
            "v=10.0",
        ] {
            assert_eq!(judge(good), Ok(()), "{good}");
        }
        for bad in ["Redis server v=6.2.14 sha=00000000:0", "", "Redis", "v=x"] {
            assert!(
                judge(bad).unwrap_err().to_string().contains("7.0 or newer"),
                "{bad}"
            );
        }
    }
}
