//! A send that its client repeats has the result of the first one, whichever replica has that one, and whether or not
//! it has ended.
//!
//! Nothing is asked before a send is stored: the step that stores it says whether such a send is remembered. A
//! repetition that would be refused is looked up before it is, since the first one came in another situation.

use std::{future::pending, sync::Arc, time::Duration};

use tokio::{
    sync::oneshot,
    time::{sleep, timeout},
};

use super::{Context, Inner, Service, send::Begun};
use crate::{
    Error, ErrorKind, Message, MessageId, Outcome, Scope, TaskId, Timestamp,
    ports::{StoreError, StoredTask},
    repeats::{ContentDigest, FirstSend, SendClaim, SendKey},
    request::SendMessage,
};

/// How often a repetition that waits for a task looks whether the first send still stands.
const LOOK: Duration = Duration::from_secs(1);

/// That a send repeats one that an earlier call stored.
pub(super) struct Joined {
    claim: Arc<SendClaim>,
    /// How long the first one is remembered.
    until: Timestamp,
}

/// What came of a send before anybody waits for its task.
#[expect(
    clippy::large_enum_variant,
    reason = "there is one for each call, taken apart at once; a box would cost more than its size"
)]
pub(super) enum Start {
    /// It is stored, by this call or by an earlier one.
    Begun(Begun),
    /// An earlier one was answered with a message.
    Answered(Arc<Message>),
}

/// Why a send was not stored.
pub(super) enum Stop {
    /// It is refused.
    Refused(Error),
    /// It was stored before.
    Repeated(FirstSend),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        Self::Refused(error.into())
    }
}

impl Stop {
    /// For steps that claim no send, and so cannot be a repetition of one.
    pub(super) fn into_error(self) -> Error {
        match self {
            Self::Refused(error) => error,
            Self::Repeated(_) => Error::internal("a step that claimed no send was taken for a repeated one"),
        }
    }
}

impl Service {
    /// Stores a send, or finds the first one that it repeats.
    pub(super) async fn begin_or_join(
        &self,
        context: &Context,
        request: SendMessage,
        scope: Scope,
        claim: Arc<SendClaim>,
    ) -> Result<Start, Error> {
        loop {
            // Again where the first send was refused meanwhile: then this one is the first.
            let (again, of) = (request.clone(), scope.clone());
            let first = match self.store_send(context, again, of, Some(&claim)).await {
                Ok(begun) => return Ok(Start::Begun(begun)),
                Err(Stop::Repeated(first)) => first,
                Err(Stop::Refused(error)) => self.0.first_send(&claim).await?.ok_or(error)?,
            };
            if first.content != claim.content {
                let text = "was sent before with another content; a new message needs an id of its own";
                return Err(Error::invalid("message.messageId", text));
            }
            let at_once = request.configuration.return_immediately;
            if let Some(start) = self.0.join(first, &claim, at_once).await? {
                return Ok(start);
            }
        }
    }
}

impl Inner {
    /// The claim of a send that is to be remembered.
    pub(super) fn claim(&self, request: &SendMessage, scope: &Scope) -> Option<Arc<SendClaim>> {
        let repeats = &self.limits().repeats;
        if !repeats.cover(scope) {
            return None;
        }
        let message = &request.message;
        let key = SendKey {
            scope: scope.clone(),
            message: message.message_id.clone(),
            task: message.task_id.clone(),
            context: message.context_id.clone(),
        };
        let now = self.parts.clock.now();
        Some(Arc::new(SendClaim::new(
            key,
            ContentDigest::of(message),
            now,
            repeats,
        )))
    }

    async fn first_send(&self, claim: &SendClaim) -> Result<Option<FirstSend>, Error> {
        let now = self.parts.clock.now();
        Ok(self.store().first_send(&claim.key, now).await?)
    }

    /// What a first send came to; nothing where it was refused.
    async fn join(
        &self,
        first: FirstSend,
        claim: &Arc<SendClaim>,
        at_once: bool,
    ) -> Result<Option<Start>, Error> {
        if let Some(answer) = first.answer {
            return Ok(Some(Start::Answered(answer)));
        }
        if let Some(begun) = self.join_task(&first, claim, at_once).await? {
            return Ok(Some(Start::Begun(begun)));
        }
        match self.first_send(claim).await? {
            Some(now) if now.task == first.task => match now.answer {
                Some(answer) => Ok(Some(Start::Answered(answer))),
                // It was there and is not kept any more.
                None => Err(Error::task_not_found()),
            },
            _ => Ok(None),
        }
    }

    /// The task of a first send, once clients may see it; nothing where it is gone.
    async fn join_task(
        &self,
        first: &FirstSend,
        claim: &Arc<SendClaim>,
        at_once: bool,
    ) -> Result<Option<Begun>, Error> {
        let id = &first.task;
        let Some(mut pulse) = self.store().follow(id).await? else {
            return Ok(None);
        };
        if !at_once {
            let shown = timeout(self.limits().accept_window, pulse.wait_for(|pulse| !pulse.hidden)).await;
            if matches!(shown, Ok(Err(_))) {
                return Ok(None);
            }
        }
        match self.show(id).await {
            Err(error) if error.kind() == ErrorKind::TaskNotFound => return Ok(None),
            shown => shown?,
        }
        let Some(StoredTask { head, task }) = self.store().read(id).await? else {
            return Ok(None);
        };
        let created = first.cursor.revision == 1;
        Ok(Some(Begun {
            task: id.clone(),
            outcome: if created {
                Outcome::TaskCreated
            } else {
                Outcome::Continued
            },
            revision: first.cursor.revision,
            snapshot: task,
            cursor: head.cursor,
            // Nobody will report: whatever the agent answered is in the task by now.
            handed: oneshot::channel().1,
            pulse,
            joined: Some(Joined {
                claim: claim.clone(),
                until: first.until,
            }),
        }))
    }

    /// Waits until the send that a repetition waits for is forgotten: the agent has refused its message, and nothing
    /// in the task will tell.
    pub(super) async fn until_forgotten(&self, Joined { claim, until }: &Joined) -> Error {
        loop {
            sleep(LOOK).await;
            // One whose time is over was not refused.
            if until.since(self.parts.clock.now()) <= LOOK {
                return pending().await;
            }
            if matches!(self.first_send(claim).await, Ok(None)) {
                let cause = "the first send of a repeated message was refused while the repetition waited";
                return Error::unavailable(cause);
            }
        }
    }

    /// A message that was refused after it was stored may be sent again.
    pub(super) async fn forget_send(&self, task: &TaskId, message: MessageId) {
        let forgotten = async {
            let Some(head) = self.store().head(task).await? else {
                return Ok(());
            };
            if !self.limits().repeats.cover(&head.scope) {
                return Ok(());
            }
            let key = SendKey {
                scope: head.scope.clone(),
                message,
                task: Some(task.clone()),
                context: None,
            };
            self.store().forget_send(&key).await
        };
        if let Err(error) = forgotten.await {
            tracing::warn!(%task, cause = error.cause, "a refused send is still remembered");
        }
    }
}
