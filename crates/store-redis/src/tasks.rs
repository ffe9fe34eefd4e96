//! What changes tasks: creation, commit, discard. Each is one script; its arguments stand in the script's first lines.

use std::sync::atomic::Ordering::Relaxed;

use gateway_domain::{
    ArtifactId, Entry, Message, Role, TaskId,
    page::TaskPosition,
    ports::{Change, CommitError, CreateError, Creation, StoreError, TaskHead},
    push::StoredConfig,
};
use redis::ScriptInvocation;

use crate::{
    Inner, keys,
    keys::{context_part, scope_part, tenant_part},
    records::{self, write, write_config, write_content, write_entry, write_head, write_pulse},
    scripts,
};

impl Inner {
    pub(crate) async fn create(&self, creation: Creation) -> Result<(), CreateError> {
        let Creation {
            head,
            entry,
            task,
            config,
            live_limit,
        } = creation;
        let store = |cause: String| CreateError::Store(StoreError { cause });
        let bucket = self.layout.bucket_of(head.scope.tenant.as_ref());
        if self.layout.bucket(&head.id) != Some(bucket) {
            return Err(store(format!("the id {} was not named for its tenant", head.id)));
        }
        let mut script = scripts::CREATE.key(self.layout.stem(bucket));
        add_standing(&mut script, &head);
        let (meta, content) = write_entry(&entry);
        script
            .arg(write_content(task.metadata.as_ref()))
            .arg(scope_part(&head.scope))
            .arg(context_part(&head.context_id))
            .arg(tenant_part(head.scope.tenant.as_ref()))
            .arg(write_content(head.status.message.as_ref()))
            .arg(meta)
            .arg(content);
        add_config(&mut script, config.as_ref());
        script.arg(live_limit);
        for message in &task.history {
            script.arg(side(message)).arg(write(message));
        }
        let answer: String = self.link.run(&script).await.map_err(CreateError::Store)?;
        match answer.as_str() {
            "OK" => Ok(()),
            "LIMIT" => Err(CreateError::LiveLimit),
            _ => Err(store(format!("a task of the id {} is held already", head.id))),
        }
    }

    pub(crate) async fn commit(&self, change: Change) -> Result<(), CommitError> {
        let Change { head, entry, config } = change;
        let Some(bucket) = self.layout.bucket(&head.id) else {
            return Err(CommitError::Gone);
        };
        let mut script = scripts::COMMIT.key(self.layout.stem(bucket));
        add_standing(&mut script, &head);
        let (meta, content) = write_entry(&entry);
        script
            .arg(entry.cursor.revision.saturating_sub(1))
            .arg(entry.cursor.revision)
            .arg(u8::from(head.status.state.is_terminal()))
            .arg(head.status.timestamp.millis())
            .arg(meta)
            .arg(content);
        add_step(&mut script, &entry.entry, &head);
        let settings = &self.settings;
        script
            .arg(settings.log_entries)
            .arg(settings.log_bytes)
            .arg(settings.finished_per_tenant);
        add_config(&mut script, config.as_ref().map(|put| &put.config));
        script.arg(config.map_or(0, |put| put.most));
        let (answer, retired): (String, u64) = self.link.run(&script).await.map_err(CommitError::Store)?;
        match answer.as_str() {
            "OK" => {
                self.counts.over_count.fetch_add(retired, Relaxed);
                // Followers on this replica need not wait for the news to come round.
                self.followers.tell(&head.id, head.pulse());
                Ok(())
            }
            "CONFLICT" => Err(CommitError::Conflict),
            "CONFIG-LIMIT" => Err(CommitError::ConfigLimit),
            _ => Err(CommitError::Gone),
        }
    }

    pub(crate) async fn discard(&self, id: &TaskId) -> Result<bool, StoreError> {
        let Some(bucket) = self.layout.bucket(id) else {
            return Ok(false);
        };
        let mut script = scripts::DISCARD.key(self.layout.stem(bucket));
        script.arg(id.as_str());
        let discarded: bool = self.link.run_once(&script).await?;
        if discarded {
            self.followers.close(id);
        }
        Ok(discarded)
    }
}

/// Where a task stands: what creations and commits begin with alike.
fn add_standing(script: &mut ScriptInvocation<'_>, head: &TaskHead) {
    let place = keys::place(&TaskPosition {
        timestamp: head.status.timestamp,
        id: head.id.clone(),
    });
    script
        .arg(head.id.as_str())
        .arg(write_pulse(&head.pulse()))
        .arg(write_head(head))
        .arg(head.status.state.number())
        .arg(place)
        .arg(u8::from(head.hidden));
}

/// What a commit does to the content: what kind of step, how, and to which artifact.
fn add_step(script: &mut ScriptInvocation<'_>, entry: &Entry, head: &TaskHead) {
    let (what, how, which) = match entry {
        Entry::MessageTaken(message) => ("message", side(message), 0),
        Entry::StatusUpdated { displaced, .. } => ("status", records::keep_name(*displaced), 0),
        Entry::ArtifactUpdated(event) => {
            let held = |id: &ArtifactId| head.artifacts.iter().position(|artifact| artifact.id == *id);
            let how = if event.append { "append" } else { "replace" };
            (
                "artifact",
                how,
                held(&event.artifact.artifact_id).unwrap_or_default(),
            )
        }
        Entry::Created { .. } | Entry::Shown(_) => ("nothing", "", 0),
    };
    script.arg(what).arg(how).arg(which);
}

/// A configuration that comes with a step, if one does: its id and its record.
fn add_config(script: &mut ScriptInvocation<'_>, config: Option<&StoredConfig>) {
    let id = config.and_then(|config| config.config.id.as_ref());
    script
        .arg(id.map_or("", |id| id.as_str()))
        .arg(config.map(write_config).unwrap_or_default());
}

/// Whose part of the history a message belongs to.
fn side(message: &Message) -> &'static str {
    match message.role {
        Role::Agent => keys::AGENT,
        Role::User | Role::Unspecified => keys::CLIENT,
    }
}
