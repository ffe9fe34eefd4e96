//! Compiles `proto/` without protoc: Rust code for the packages of this project, and the descriptors of everything,
//! Google's error details included, so that a client with reflection can read them.

use std::{env, error::Error, fs, path::PathBuf};

/// The packages that get Rust code, and the one whose Rust types prost brings.
const PACKAGES: [&str; 4] = ["lf.a2a.v1", "a2a.v1", "gateway.agent.v1", "google.protobuf"];

/// The files that nothing imports; the others follow from them.
const FILES: [&str; 5] = [
    "lf/a2a/v1/a2a.proto",
    "a2a/v1/a2a.proto",
    "gateway/agent/v1/agent.proto",
    "google/rpc/error_details.proto",
    "google/rpc/status.proto",
];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=../../proto");
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let mut compiler = protox::Compiler::new(["../../proto"])?;
    compiler.include_imports(true).open_files(FILES)?;
    // Encoded by the compiler itself: going through prost's types would lose the options, routes among them.
    fs::write(out.join("descriptors.bin"), compiler.encode_file_descriptor_set())?;

    // Comments become documentation; the packages of others become no code.
    let mut files = compiler.include_source_info(true).file_descriptor_set();
    files.file.retain(|file| PACKAGES.contains(&file.package()));
    tonic_prost_build::configure()
        .bytes(".")
        .btree_map(".")
        .build_transport(false)
        // Clients are for tests; the binding itself works from the operation table.
        .build_server(false)
        .include_file("mod.rs")
        .compile_fds(files)?;
    Ok(())
}
