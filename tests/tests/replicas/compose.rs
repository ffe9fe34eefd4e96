//! The compose file names what is there: settings that the program knows, files beside it, ports of nginx's example.

use std::{fs, path::Path};

use gateway_tests::process;

#[test]
fn the_compose_file_gives_settings_that_the_program_takes_and_files_and_ports_that_are_there() {
    let deploy = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .join("deploy");
    let compose = fs::read_to_string(deploy.join("compose.yaml")).unwrap();
    let settings = compose
        .lines()
        .filter_map(|line| line.trim().strip_prefix("A2A_GATEWAY__"));
    let settings: Vec<_> = settings
        .map(|setting| setting.split_once(": ").unwrap())
        .map(|(name, value)| (name, value.trim_matches('"')))
        .collect();
    assert!(settings.len() > 3, "{settings:?}");
    let config = deploy.join("redis.toml");
    let checked = process::output(&["check", "--config", config.to_str().unwrap()], &settings);
    assert!(
        checked.status.success(),
        "{}",
        String::from_utf8_lossy(&checked.stderr)
    );

    let nginx = fs::read_to_string(deploy.join("nginx.conf")).unwrap();
    let mounted = compose
        .lines()
        .filter_map(|line| line.trim().strip_prefix("- ./")?.split(':').next());
    for file in mounted {
        assert!(deploy.join(file).exists(), "{file}");
    }
    for port in ["8080", "8082"] {
        assert!(nginx.contains(&format!("listen 0.0.0.0:{port};")), "{port}");
        assert!(compose.contains(&format!("\"{port}:{port}\"")), "{port}");
    }
    for replica in ["gateway-1", "gateway-2", "gateway-3"] {
        assert!(nginx.contains(&format!("server {replica}:8080 ")), "{replica}");
        assert!(compose.contains(&format!("  {replica}: *gateway")), "{replica}");
    }
}
