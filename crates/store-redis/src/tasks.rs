//! What changes tasks: creation, commit, discard. Each is one script; its arguments stand in the script's first lines.

use std::sync::{Arc, atomic::Ordering::Relaxed};

use gateway_domain::{
    ArtifactId, Entry, Message, ReplicaId, Role, TaskId,
    page::TaskPosition,
    ports::{
        Asked, Change, CommitError, CreateError, Creation, Granted, MOST_ASKED, RunGrant, RunPut, StoreError,
        TaskHead, Terms,
    },
    push::StoredConfig,
};
use redis::ScriptInvocation;

use crate::{
    Inner, keys,
    keys::{context_part, scope_part, tenant_part},
    records::{
        self, work::write_offer, write, write_config, write_content, write_entry, write_head, write_pulse,
    },
    scripts,
    sends::{add_no_claim, repeated, write_answer},
};

impl Inner {
    pub(crate) async fn create(&self, creation: Creation) -> Result<Granted, CreateError> {
        let Creation {
            head,
            entry,
            task,
            config,
            delivery,
            run,
            live_limit,
            send,
        } = creation;
        let store = |cause: String| CreateError::Store(StoreError { cause });
        let tenant = head.scope.tenant.as_ref();
        let named = self.layout.bucket(&head.id);
        let Some(bucket) = self
            .layout
            .buckets_of(tenant)
            .find(|bucket| named == Some(*bucket))
        else {
            return Err(store(format!("the id {} was not named for its tenant", head.id)));
        };
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
        script.arg(self.layout.share(tenant, live_limit));
        self.add_run(&mut script, run.as_deref());
        self.add_delivery(&mut script, delivery.as_ref());
        match &send {
            Some(claim) => self.add_claim(&mut script, claim, &head.id, head.cursor),
            None => add_no_claim(&mut script),
        }
        for message in &task.history {
            script.arg(side(message)).arg(write(message));
        }
        let answer: (Vec<u8>, ShownRun, u64) = self
            .link
            .write(bucket, &script)
            .await
            .map_err(CreateError::Store)?;
        let (answer, run, delivery) = answer;
        if let Some(first) = repeated(&answer) {
            return Err(first.map_or_else(CreateError::Store, CreateError::Repeated));
        }
        match answer.as_slice() {
            b"OK" => Ok(granted(run, delivery)),
            b"LIMIT" => Err(CreateError::LiveLimit),
            _ => Err(store(format!("a task of the id {} is held already", head.id))),
        }
    }

    pub(crate) async fn commit(&self, change: Change) -> Result<Granted, CommitError> {
        let Change {
            head,
            entry,
            config,
            run,
            owner,
            send,
        } = change;
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
        script.arg(settings.log_entries).arg(settings.log_bytes).arg(
            self.layout
                .share(head.scope.tenant.as_ref(), settings.finished_per_tenant),
        );
        add_config(&mut script, config.as_ref().map(|put| &put.config));
        script
            .arg(config.as_ref().map_or(0, |put| put.most))
            .arg(owner.map(|owner| owner.to_string()).unwrap_or_default());
        self.add_run(&mut script, run.as_deref());
        script.arg(MOST_ASKED);
        self.add_delivery(&mut script, config.as_ref().and_then(|put| put.delivery.as_ref()));
        if let Some(claim) = &send {
            self.add_claim(&mut script, claim, &head.id, head.cursor);
        }
        let answer: (Vec<u8>, u64, ShownRun, u64) = self
            .link
            .write(bucket, &script)
            .await
            .map_err(CommitError::Store)?;
        let (answer, retired, run, delivery) = answer;
        if let Some(first) = repeated(&answer) {
            return Err(first.map_or_else(CommitError::Store, CommitError::Repeated));
        }
        match answer.as_slice() {
            b"OK" => {
                self.counts.over_count.fetch_add(retired, Relaxed);
                // Followers on this replica need not wait for the news to come round.
                self.followers.tell(&head.id, head.pulse());
                Ok(granted(run, delivery))
            }
            b"CONFLICT" => Err(CommitError::Conflict),
            b"CONFIG-LIMIT" => Err(CommitError::ConfigLimit),
            b"SUPERSEDED" => Err(CommitError::Superseded),
            _ => Err(CommitError::Gone),
        }
    }

    pub(crate) async fn discard(
        &self,
        id: &TaskId,
        answer: Option<&Arc<Message>>,
    ) -> Result<bool, StoreError> {
        let Some(bucket) = self.layout.bucket(id) else {
            return Ok(false);
        };
        let mut script = scripts::DISCARD.key(self.layout.stem(bucket));
        script.arg(id.as_str());
        if let Some(answer) = answer {
            script.arg(write_answer(answer));
        }
        let discarded: bool = self.link.write_once(bucket, &script).await?;
        if discarded {
            self.snapshots.forget(id);
            self.followers.close(id);
        }
        Ok(discarded)
    }
}

/// A run as scripts show it: its grant where it was begun, the number of what was asked, who holds it.
type ShownRun = (u64, u64, String);

fn granted((epoch, number, holder): ShownRun, delivery: u64) -> Granted {
    let run = match (epoch, number) {
        (_, 0) => None,
        (0, number) => Some(RunGrant::Asked(Asked {
            number,
            holder: ReplicaId::new(holder),
        })),
        (epoch, number) => Some(RunGrant::Begun { epoch, number }),
    };
    Granted {
        run,
        webhook: Some(delivery).filter(|epoch| *epoch > 0),
    }
}

impl Inner {
    /// A message for the agent, if one comes with a step: its offer, and who holds the run until when if it has to be
    /// begun.
    fn add_run(&self, script: &mut ScriptInvocation<'_>, run: Option<&RunPut>) {
        match run {
            Some(RunPut { offer, terms }) => script
                .arg(write_offer(offer))
                .arg(terms.replica.as_str())
                .arg(self.in_redis_time(terms.due())),
            None => script.arg("").arg("").arg(0),
        };
    }

    /// Until when the delivery that a configuration brings is held, if it brings one; and what grants end with.
    pub(crate) fn add_delivery(&self, script: &mut ScriptInvocation<'_>, delivery: Option<&Terms>) {
        match delivery {
            Some(terms) => script.arg(self.in_redis_time(terms.due())),
            None => script.arg(""),
        };
        script.arg(self.salt);
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
