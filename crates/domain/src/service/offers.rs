//! Handing a message to its agent, and what becomes of the task by the agent's answer.
//!
//! A task that a send made stays hidden until the agent takes it, a client asks for it at once, or the accept window
//! closes. A direct message before that leaves no task.

use std::sync::Arc;

use tokio::sync::oneshot;

use super::{Inner, Service, agent_side::TaskDesk};
use crate::{
    Error, ErrorKind, Message, MessageId, Role, TaskId, decide,
    directory::ServedAgent,
    lifecycle::Move,
    ports::{AgentFault, Answer, Change, CommitError, Epoch, Offer, StoreError, StoredTask, TaskHead},
    request::{AgentAction, check_direct_message},
    work::Held,
};

/// What came of an offer, for the call that waits for it.
pub(super) enum Handed {
    /// It is task work now.
    Taken,
    /// The agent answered directly; there is no task.
    Message(Arc<Message>),
}

type Report = oneshot::Sender<Result<Handed, Error>>;

impl Service {
    /// Offers a message to an agent. The offer outlives the call: a client that leaves stops nothing. It is held, where
    /// runs are, until it is settled and the last desk has been dropped.
    pub(super) fn hand_over(
        &self,
        served: &ServedAgent,
        offer: Offer,
        held: Option<Held>,
    ) -> oneshot::Receiver<Result<Handed, Error>> {
        let (report, answer) = oneshot::channel();
        let (service, agent) = (self.clone(), served.agent.clone());
        // Boxed, since the runtime copies a future several times before and after its life.
        let settled = Box::pin(async move {
            let (task, follow_up) = (offer.task.id.clone(), offer.follow_up);
            let message = offer.message.message_id.clone();
            let desk = Arc::new(TaskDesk::new(&service, task.clone(), held.clone()));
            let window = tokio::time::sleep(service.limits().accept_window);
            let answer = agent.offer(offer, desk);
            tokio::pin!(window, answer);
            let answer = tokio::select! {
                biased;
                answer = &mut answer => answer,
                () = &mut window => {
                    service.0.show_or_log(&task).await;
                    answer.await
                }
            };
            let offered = Offered {
                task,
                message,
                follow_up,
                held,
                report,
            };
            service.0.settle(offered, answer).await;
        });
        self.0.offers.spawn(settled);
        answer
    }
}

/// An offer that was answered.
struct Offered {
    task: TaskId,
    message: MessageId,
    /// Whether the task had begun before the message.
    follow_up: bool,
    /// Under which it was made.
    held: Option<Held>,
    report: Report,
}

impl Offered {
    fn owner(&self) -> Option<Epoch> {
        self.held.as_ref().map(Held::epoch)
    }
}

const OUTSIDE_PROTOCOL: &str = "the agent's answer was outside the protocol";
const UNREACHABLE: &str = "the agent could not be reached";

impl Inner {
    async fn settle(&self, offered: Offered, answer: Result<Answer, AgentFault>) {
        match answer {
            Ok(Answer::Accepted) => {
                self.show_or_log(&offered.task).await;
                tell(offered.report, Ok(Handed::Taken));
            }
            Ok(Answer::Message(message)) => match spoken(message) {
                Ok(message) => self.settle_message(offered, message).await,
                Err(error) => self.settle_outside(offered, error.message()).await,
            },
            Err(AgentFault::Refused(error)) => self.settle_refusal(offered, error).await,
            Err(AgentFault::Unreachable(cause)) => {
                tracing::warn!(task = %offered.task, cause, "agent unreachable");
                self.settle_fault(offered, Error::unavailable(cause)).await;
            }
            Err(AgentFault::OutsideProtocol(cause)) => self.settle_outside(offered, &cause).await,
        }
    }

    /// A direct message leaves no task where nobody has seen one, and ends the one that somebody may have seen.
    async fn settle_message(&self, offered: Offered, mut message: Message) {
        let owner = offered.owner();
        let Offered { task, report, .. } = offered;
        let hidden = self.head(&task).await.ok().filter(|head| head.hidden);
        if let Some(head) = hidden {
            message.context_id = Some(head.context_id.clone());
            message.task_id = None;
            let answer = Arc::new(message);
            if self.discard_answered(&head, &answer).await {
                return tell(report, Ok(Handed::Message(answer)));
            }
            message = Arc::unwrap_or_clone(answer);
        }
        let late = |head: &_| decide::late_message(head, message.clone(), self.limits(), self.stamp());
        self.commit_or_fail(&task, owner, late).await;
        tell(report, Ok(Handed::Taken));
    }

    /// A refusal ends a task that the message began. One that had begun before stays as it is: only its client is
    /// told.
    async fn settle_refusal(&self, offered: Offered, error: Error) {
        let owner = offered.owner();
        let Offered {
            task,
            message,
            follow_up,
            report,
            ..
        } = offered;
        if follow_up {
            self.forget_send(&task, message).await;
            return tell(report, Err(error));
        }
        if self.discard(&task).await {
            return tell(report, Err(error));
        }
        let text = Message::agent_text(self.parts.ids.message_id(), error.message());
        let reject = AgentAction::Move(Move::Reject, Some(text));
        let decide = |head: &_| decide::act(head, reject.clone(), self.limits(), self.stamp());
        self.commit_or_fail(&task, owner, decide).await;
        tell(report, Ok(Handed::Taken));
    }

    async fn settle_fault(&self, offered: Offered, error: Error) {
        let owner = offered.owner();
        let Offered {
            task, report, held, ..
        } = offered;
        if self.discard(&task).await {
            return tell(report, Err(error));
        }
        // Let go only at the end: whoever writes for a run has to hold it.
        match &held {
            // Only here it cannot be reached, since this replica is about to leave.
            Some(held) if held.is_wanted_back() => held.give_back(),
            _ => self.fail_or_log(&task, owner, UNREACHABLE).await,
        }
        tell(report, Ok(Handed::Taken));
    }

    async fn settle_outside(&self, offered: Offered, cause: &str) {
        let owner = offered.owner();
        // What is held is so until the task has failed.
        let Offered {
            task,
            report,
            held: _held,
            ..
        } = offered;
        tracing::warn!(%task, cause, "agent answered outside the protocol");
        let error = Error::new(ErrorKind::InvalidAgentResponse, OUTSIDE_PROTOCOL);
        // First the caller, who must see the error and not the task that fails for it.
        tell(report, Err(error.because(cause)));
        self.show_or_log(&task).await;
        self.fail_or_log(&task, owner, OUTSIDE_PROTOCOL).await;
    }

    /// Ends a task with what the agent said, or, where the task has no room for that, as failed. One that has ended
    /// meanwhile stays as it is.
    async fn commit_or_fail(
        &self,
        task: &TaskId,
        owner: Option<Epoch>,
        decide: impl Fn(&TaskHead) -> Result<Change, Error>,
    ) {
        match self.commit_with(task, owner, decide).await {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::ResourceExhausted => {
                self.fail_or_log(task, owner, error.message()).await;
            }
            Err(error) => tracing::info!(%task, %error, "the agent's answer dropped"),
        }
    }

    /// Removes a task that is still hidden; says whether it did. Clients may have seen any other.
    async fn discard(&self, task: &TaskId) -> bool {
        removed(task, self.store().discard(task).await)
    }

    /// The same of a task that the agent answered with a message; those who repeat its send are to have the answer too.
    async fn discard_answered(&self, head: &TaskHead, answer: &Arc<Message>) -> bool {
        if self.limits().repeats.cover(&head.scope) {
            removed(&head.id, self.store().discard_answered(&head.id, answer).await)
        } else {
            self.discard(&head.id).await
        }
    }

    /// Makes a task visible if it is not.
    pub(super) async fn show(&self, task: &TaskId) -> Result<(), Error> {
        // Most are visible when this is asked: their heads say so without a copy of the task.
        while self.head(task).await?.hidden {
            let StoredTask { head, task: snapshot } = self.read(task).await?;
            let Some(change) = decide::show(&head, Arc::new(snapshot), self.stamp()) else {
                return Ok(());
            };
            match self.store().commit(change).await {
                Ok(_) => return Ok(()),
                Err(CommitError::Conflict) => {}
                Err(error) => return Err(self.not_committed(error)),
            }
        }
        Ok(())
    }

    async fn show_or_log(&self, task: &TaskId) {
        if let Err(error) = self.show(task).await {
            tracing::warn!(%task, %error, cause = error.cause(), "task not shown");
        }
    }

    /// Ends a live task as failed.
    pub(super) async fn fail(&self, task: &TaskId, owner: Option<Epoch>, text: &str) -> Result<(), Error> {
        let message = Message::agent_text(self.parts.ids.message_id(), text);
        let decide = |head: &_| decide::fail(head, message.clone(), self.limits(), self.stamp());
        self.commit_with(task, owner, decide).await.map(drop)
    }

    /// The same; one that has ended meanwhile stays as it is.
    pub(super) async fn fail_or_log(&self, task: &TaskId, owner: Option<Epoch>, text: &str) {
        if let Err(error) = self.fail(task, owner, text).await {
            tracing::info!(%task, %error, "failure not recorded");
        }
    }
}

fn removed(task: &TaskId, result: Result<bool, StoreError>) -> bool {
    result.unwrap_or_else(|error| {
        tracing::warn!(%task, cause = error.cause, "hidden task not removed");
        false
    })
}

/// A direct message speaks for the agent, and has to be a message.
fn spoken(mut message: Message) -> Result<Message, Error> {
    message.role = Role::Agent;
    check_direct_message(&message)?;
    Ok(message)
}

/// A caller that has left needs no report.
fn tell(report: Report, result: Result<Handed, Error>) {
    drop(report.send(result));
}
