//! The command line.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

/// A gateway for A2A: it owns the tasks, and serves them over gRPC, JSON-RPC and HTTP+JSON.
#[derive(Debug, Parser)]
#[command(name = "a2a-gateway", version, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Start the gateway. Without a file it runs on this machine with a demo agent.
    Run {
        /// The settings.
        #[arg(long, value_name = "FILE", env = "A2A_GATEWAY_CONFIG")]
        config: Option<PathBuf>,
    },
    /// Check the settings, those of the environment included, without starting.
    Check {
        /// The settings.
        #[arg(long, value_name = "FILE", env = "A2A_GATEWAY_CONFIG")]
        config: Option<PathBuf>,
    },
    /// Print every setting with its comment and default.
    SampleConfig,
    /// Print the OpenAPI description of the HTTP+JSON binding.
    #[command(name = "openapi")]
    OpenApi,
}
