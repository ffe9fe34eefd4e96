//! SendMessage and SendStreamingMessage (§3.1.1, §3.1.2).

use std::sync::Arc;

use tokio::{
    sync::{oneshot, watch},
    time::timeout,
};

use super::{
    Answered, Context, Inner, Service,
    offers::Handed,
    reachable,
    repeats::{Joined, Start, Stop},
    replicas::asked_offer,
    stream::{self, Rules},
    webhooks::Placed,
};
use crate::{
    Cursor, Error, ErrorKind, Message, Outcome, Revision, Scope, SharedEvent, StreamResponse, TaskId,
    TaskSnapshot,
    decide::{self, NewTask},
    ports::{Change, CreateError, Creation, Granted, Offer, Origin, Pulse, StoredTask},
    repeats::SendClaim,
    reply::{Body, Sent, StreamItem},
    request::{INLINE_CONFIG, SendConfiguration, SendMessage},
    resume,
};

/// A message that has been stored and handed to the agent.
pub(super) struct Begun {
    pub(super) task: TaskId,
    pub(super) outcome: Outcome,
    /// The revision that the message made.
    pub(super) revision: Revision,
    /// The task with the message taken in, before the agent heard of it.
    pub(super) snapshot: TaskSnapshot,
    /// Where the snapshot stands in the log.
    pub(super) cursor: Cursor,
    /// What the agent makes of it.
    pub(super) handed: oneshot::Receiver<Result<Handed, Error>>,
    pub(super) pulse: watch::Receiver<Pulse>,
    /// Set where an earlier call stored the message.
    pub(super) joined: Option<Joined>,
}

impl Service {
    pub(super) async fn send_message(&self, context: &Context, request: SendMessage) -> Answered {
        let configuration = request.configuration.clone();
        let mut begun = match self.begin(context, request).await? {
            Start::Begun(begun) => begun,
            Start::Answered(message) => {
                return Ok((Outcome::DirectMessage, Body::Sent(Sent::Message(message))));
            }
        };
        if configuration.return_immediately {
            let task = begun.snapshot.with_history(configuration.history_length);
            return Ok((begun.outcome, Body::Sent(Sent::Task(task))));
        }
        let Some(joined) = begun.joined.take() else {
            return self.0.wait_for_answer(begun, &configuration).await;
        };
        tokio::select! {
            biased;
            answered = self.0.wait_for_answer(begun, &configuration) => answered,
            error = self.0.until_forgotten(&joined) => Err(error),
        }
    }

    pub(super) async fn send_streaming_message(&self, context: &Context, request: SendMessage) -> Answered {
        context.require_streaming()?;
        let rules = context.rules(request.configuration.version);
        match self.begin(context, request).await? {
            Start::Begun(begun) if begun.joined.is_some() => {
                let Begun {
                    snapshot,
                    cursor,
                    pulse,
                    ..
                } = begun;
                let events = stream::from_snapshot(&self.0, snapshot, cursor, pulse, rules);
                Ok((begun.outcome, Body::Stream(events)))
            }
            Start::Begun(begun) => self.stream_answer(begun, rules).await,
            Start::Answered(message) => Ok(one_event(message)),
        }
    }

    /// Decides, stores and hands over, in the order of decision.
    async fn begin(&self, context: &Context, request: SendMessage) -> Result<Start, Error> {
        if let Some(config) = &request.configuration.push {
            context.require_push()?;
            self.check_webhook(config, INLINE_CONFIG)?;
        }
        self.0.check_parts("message.parts", request.message.parts.len())?;
        let scope = context.scope(request.tenant.as_ref());
        if let Some(claim) = self.0.claim(&request, &scope) {
            return self.begin_or_join(context, request, scope, claim).await;
        }
        let begun = self.store_send(context, request, scope, None).await;
        begun.map(Start::Begun).map_err(Stop::into_error)
    }

    /// Decides from existence on. A send that claims to be the first one of its key may turn out to be another.
    pub(super) async fn store_send(
        &self,
        context: &Context,
        request: SendMessage,
        scope: Scope,
        claim: Option<&Arc<SendClaim>>,
    ) -> Result<Begun, Stop> {
        // Boxed: each future around them would be as large, and be copied when it is made.
        match request.message.task_id.clone() {
            Some(id) => Box::pin(self.continue_task(context, request, id, &scope, claim)).await,
            None => Box::pin(self.create_task(context, request, scope, claim)).await,
        }
    }

    async fn create_task(
        &self,
        context: &Context,
        request: SendMessage,
        scope: Scope,
        claim: Option<&Arc<SendClaim>>,
    ) -> Result<Begun, Stop> {
        let inner = &self.0;
        inner.check_references(&request.message, &scope).await?;
        if let Some(named) = &request.message.context_id
            && !context.agent.agent.accepts_context(named).await
        {
            let error = Error::new(
                ErrorKind::ContextNotAccepted,
                "the agent does not take this context",
            );
            return Err(error
                .at("message.contextId")
                .outcome(Outcome::ContextNotAccepted)
                .into());
        }
        context.agent.check_media_types(&request.message)?;
        self.directory().note_begun(scope.tenant.as_ref())?;
        let (mut creation, placed) = inner.new_task(&request, scope)?;
        creation.send = claim.cloned();
        if let Some(replicas) = &inner.replicas {
            creation.run = replicas.put(asked_offer(context, &request, 1, false));
        }
        let (id, cursor, snapshot) = (
            creation.head.id.clone(),
            creation.head.cursor,
            creation.task.clone(),
        );
        let granted = inner.store_new(creation).await?;
        if let Some(placed) = placed {
            placed.begin(Cursor::START, granted.webhook).await;
        }
        let pulse = inner.follow(&id).await?;
        let offer = offer(context, request, TaskSnapshot::clone(&snapshot), false);
        let handed = self.hand_over_granted(&context.agent, offer, granted.run);
        let snapshot = Arc::unwrap_or_clone(snapshot);
        Ok(Begun {
            task: id,
            outcome: Outcome::TaskCreated,
            revision: cursor.revision,
            snapshot,
            cursor,
            handed,
            pulse,
            joined: None,
        })
    }

    async fn continue_task(
        &self,
        context: &Context,
        request: SendMessage,
        id: TaskId,
        scope: &Scope,
        claim: Option<&Arc<SendClaim>>,
    ) -> Result<Begun, Stop> {
        let inner = &self.0;
        let head = inner
            .store()
            .head(&id)
            .await?
            .filter(|head| !head.hidden && head.scope == *scope);
        let head = head.ok_or_else(Error::task_not_found)?;
        inner.check_references(&request.message, scope).await?;
        decide::check_continuable(&head, request.message.context_id.as_ref())?;
        context.agent.check_media_types(&request.message)?;
        let pulse = inner.follow(&id).await?;
        let placed = inner.inline_config(&request, &id)?;
        let most = inner.limits().push_configs_per_task;
        let config = placed.as_ref().map(|placed| placed.put(most));
        let (head, granted) = inner
            .try_commit(head, None, |head| {
                let taken =
                    decide::take_message(head, request.message.clone(), inner.limits(), inner.stamp())?;
                let run = inner.replicas.as_ref().and_then(|replicas| {
                    replicas.put(asked_offer(context, &request, taken.head.client_messages, true))
                });
                Ok(Change {
                    config: config.clone(),
                    run,
                    send: claim.cloned(),
                    ..taken
                })
            })
            .await?;
        if let Some(placed) = placed {
            placed.begin(head.cursor, granted.webhook).await;
        }
        // Read before the agent hears of it, so that a stream's first event is the task as the message found it.
        let StoredTask { head: read, task } = inner.read(&id).await?;
        let offer = offer(context, request, task.clone(), true);
        let handed = self.hand_over_granted(&context.agent, offer, granted.run);
        Ok(Begun {
            task: id,
            outcome: Outcome::Continued,
            revision: head.cursor.revision,
            snapshot: task,
            cursor: read.cursor,
            handed,
            pulse,
            joined: None,
        })
    }

    async fn stream_answer(&self, mut begun: Begun, rules: Rules) -> Answered {
        let handed = async {
            match (&mut begun.handed).await {
                Ok(Ok(Handed::Taken)) | Err(_) => Ok(None),
                Ok(Ok(Handed::Message(message))) => Ok(Some(message)),
                Ok(Err(error)) => Err(error),
            }
        };
        // A task is streamed as soon as it is shown, or the accept window has passed for one that was shown before:
        // an agent that takes its time must not keep the first event from anybody.
        let mut pulse = begun.pulse.clone();
        let created = begun.outcome == Outcome::TaskCreated;
        let direct = tokio::select! {
            biased;
            direct = handed => direct?,
            // A channel that closes says nothing of why: the report on its way does.
            Ok(_) = pulse.wait_for(|pulse| !pulse.hidden), if created => None,
            () = tokio::time::sleep(self.limits().accept_window), if !created => None,
        };
        if let Some(message) = direct {
            return Ok(one_event(message));
        }
        let events = match begun.outcome {
            // From before its first entry: the entry that shows the task is the first event.
            Outcome::TaskCreated => stream::from_start(&self.0, begun.task, begun.pulse, rules).await?,
            _ => stream::from_snapshot(&self.0, begun.snapshot, begun.cursor, begun.pulse, rules),
        };
        Ok((begun.outcome, Body::Stream(events)))
    }
}

/// A direct answer as a stream: the message, and the end.
fn one_event(message: Arc<Message>) -> (Outcome, Body) {
    let event = SharedEvent::new(StreamResponse::Message(message));
    let only = futures::stream::iter([Ok(StreamItem { cursor: None, event })]);
    (Outcome::DirectMessage, Body::Stream(Box::pin(only)))
}

fn offer(context: &Context, request: SendMessage, task: TaskSnapshot, follow_up: bool) -> Offer {
    // The history's last message is this one with its ids filled in.
    let message = task
        .history
        .last()
        .cloned()
        .unwrap_or_else(|| Arc::new(request.message));
    Offer {
        task,
        message,
        metadata: request.metadata,
        accepted_output_modes: request.configuration.accepted_output_modes,
        extensions: for_agent(&context.requested_extensions),
        follow_up,
        attempt: 1,
    }
}

/// What the gateway does itself is none of the agent's business.
fn for_agent(requested: &[String]) -> Vec<String> {
    let own = |uri: &&String| *uri != resume::URI;
    requested.iter().filter(own).cloned().collect()
}

impl Inner {
    /// Tasks that a message speaks of must be there for its sender.
    async fn check_references(&self, message: &Message, scope: &Scope) -> Result<(), Error> {
        for id in &message.reference_task_ids {
            let head = self.store().head(id).await?.filter(|head| !head.hidden);
            let reached = head.is_some_and(|head| reachable(&head, scope).is_ok());
            if !reached {
                return Err(Error::task_not_found());
            }
        }
        Ok(())
    }

    fn new_task(&self, request: &SendMessage, scope: Scope) -> Result<(Creation, Option<Placed>), Error> {
        let ids = &self.parts.ids;
        let message = &request.message;
        let origin = Origin::of(
            scope.tenant.as_ref(),
            &message.message_id,
            message.context_id.as_ref(),
        );
        let id = self.store().name_task(ids.task_id(), origin);
        let placed = self.inline_config(request, &id)?;
        let new = NewTask {
            context_id: request
                .message
                .context_id
                .clone()
                .unwrap_or_else(|| ids.context_id()),
            scope,
            message: request.message.clone(),
            hidden: !request.configuration.return_immediately,
            config: placed.as_ref().map(|placed| placed.config.clone()),
            id,
        };
        let mut creation = decide::create(new, self.limits(), self.stamp())?;
        creation.delivery = placed.as_ref().and_then(Placed::terms);
        Ok((creation, placed))
    }

    /// The configuration that comes with a message, and a place for it.
    fn inline_config(&self, request: &SendMessage, task: &TaskId) -> Result<Option<Placed>, Error> {
        let Some(config) = &request.configuration.push else {
            return Ok(None);
        };
        if config.task_id.as_ref().is_some_and(|named| named != task) {
            let field = format!("{INLINE_CONFIG}taskId");
            return Err(Error::invalid(field, "must be absent or the task of the message"));
        }
        let stored = self.stored_config(config.clone(), task, request.tenant.as_ref());
        self.place(stored).map(Some)
    }

    async fn store_new(&self, creation: Creation) -> Result<Granted, Stop> {
        let limit = creation.live_limit;
        self.store().create(creation).await.map_err(|error| match error {
            CreateError::LiveLimit => {
                let text = format!("{limit} tasks are under way; finish or cancel some first");
                Error::new(ErrorKind::ResourceExhausted, text)
                    .outcome(Outcome::TaskLimit)
                    .into()
            }
            CreateError::Repeated(first) => Stop::Repeated(first),
            CreateError::Store(error) => error.into(),
        })
    }

    pub(super) async fn follow(&self, id: &TaskId) -> Result<watch::Receiver<Pulse>, Error> {
        self.store().follow(id).await?.ok_or_else(Error::task_not_found)
    }

    pub(super) async fn read(&self, id: &TaskId) -> Result<StoredTask, Error> {
        self.store().read(id).await?.ok_or_else(Error::task_not_found)
    }

    /// Waits until a status after the message is terminal or interrupted (§3.2.2), or the operator's maximum is
    /// reached: then the running task is the answer.
    async fn wait_for_answer(&self, mut begun: Begun, configuration: &SendConfiguration) -> Answered {
        let waits_end = self.waits_end.clone();
        let settled = async {
            // A task that the agent's answer leaves no need for is gone before its caller hears of the answer: a
            // channel that closes is no end of the wait while the report is on its way.
            let (mut handed, mut gone) = (false, false);
            while !(handed && gone) {
                tokio::select! {
                    biased;
                    answer = &mut begun.handed, if !handed => match answer {
                        Ok(Ok(Handed::Message(message))) => return Ok(Some(message)),
                        Ok(Err(error)) => return Err(error),
                        Ok(Ok(Handed::Taken)) | Err(_) => handed = true,
                    },
                    settled = begun.pulse.wait_for(|pulse| settles(pulse, begun.revision)), if !gone => {
                        match settled {
                            Ok(_) => return Ok(None),
                            Err(_) => gone = true,
                        }
                    }
                    // The caller can poll another server; this one is about to leave.
                    () = waits_end.cancelled() => return Ok(None),
                }
            }
            Err(Error::task_not_found())
        };
        let answer = match self.limits().blocking_wait {
            None => settled.await?,
            Some(most) => timeout(most, settled).await.unwrap_or(Ok(None))?,
        };
        if let Some(message) = answer {
            return Ok((Outcome::DirectMessage, Body::Sent(Sent::Message(message))));
        }
        // Nothing more is waited for: the store need not keep what tells of news.
        drop(begun.pulse);
        self.show(&begun.task).await?;
        let StoredTask { task, .. } = self.read(&begun.task).await?;
        Ok((
            begun.outcome,
            Body::Sent(Sent::Task(task.with_history(configuration.history_length))),
        ))
    }
}

/// Whether a status that came after a message ends the wait for its answer.
fn settles(pulse: &Pulse, message: Revision) -> bool {
    pulse.status_revision > message && (pulse.state.is_terminal() || pulse.state.is_interrupted())
}
