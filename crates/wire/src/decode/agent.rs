//! Requests of agents, into the same unvalidated parameters that the JSON bindings fill.

use gateway_domain::{
    Error,
    request::{Scalar, params},
};

use super::{
    message::{artifact_at, message_at},
    whole,
};
use crate::pb::agent as pb;

/// The moves, and ReportProgress.
///
/// # Errors
/// InvalidParams with every fault of form.
pub fn report(request: pb::ReportRequest) -> Result<params::AgentMove, Error> {
    whole(|faults, at| {
        let at = at.field("statusMessage");
        let status_message = request
            .status_message
            .and_then(|message| message_at(message, faults, &at));
        Some(params::AgentMove {
            id: Scalar::from_text(request.id),
            status_message,
        })
    })
}

/// UpdateArtifact.
///
/// # Errors
/// InvalidParams with every fault of form.
pub fn update_artifact(request: pb::UpdateArtifactRequest) -> Result<params::UpdateArtifact, Error> {
    whole(|faults, at| {
        let at = at.field("artifact");
        Some(params::UpdateArtifact {
            id: Scalar::from_text(request.id),
            artifact: request
                .artifact
                .and_then(|artifact| artifact_at(artifact, faults, &at)),
            append: Scalar::from_bool(request.append),
            last_chunk: Scalar::from_bool(request.last_chunk),
        })
    })
}

/// AllTasks.
pub fn all_tasks(request: pb::AllTasksRequest) -> params::Page {
    page(request.page_size, request.page_token)
}

/// AllPushNotificationConfigs.
pub fn all_configs(request: pb::AllPushNotificationConfigsRequest) -> params::Page {
    page(request.page_size, request.page_token)
}

fn page(size: Option<i32>, token: String) -> params::Page {
    params::Page {
        page_size: Scalar::from_integer(size),
        page_token: Scalar::from_text(token),
    }
}
