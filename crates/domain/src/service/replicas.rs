//! Runs that may be another replica's: what is asked of them, what is answered, and how one is taken over.
//!
//! Whoever begins a run holds its lease; further messages and cancels of other replicas reach it through the store. A
//! caller that waits for an answer waits within the bounds of its call, whoever gives it.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use tokio::{sync::oneshot, time::timeout};

use super::{Context, Inner, Service, offers::Handed};
use crate::{
    Error, Role, TaskId, TaskSnapshot,
    directory::ServedAgent,
    json::Object,
    ports::{
        AskedOffer, CancelAnswer, DueWork, Lease, NumberedAsk, Offer, RunAnswer, RunAsk, RunGrant, RunPut,
        WorkKey, WorkKind,
    },
    request::SendMessage,
    work::{Held, Keeper, Worker},
};

/// This service as one of several over the same store.
pub(super) struct Replicas {
    pub(super) keeper: Keeper,
    /// Calls that wait for what another holder answers. Each leaves when its call does.
    waiting: Mutex<HashMap<TaskId, Vec<Waiting>>>,
}

struct Waiting {
    number: u64,
    report: Report,
}

enum Report {
    Offer(oneshot::Sender<Result<Handed, Error>>),
    Cancel(oneshot::Sender<CancelAnswer>),
}

impl Report {
    fn is_closed(&self) -> bool {
        match self {
            Self::Offer(report) => report.is_closed(),
            Self::Cancel(report) => report.is_closed(),
        }
    }

    /// A caller that has left needs no answer, and one to something else than what was asked is none.
    fn give(self, answer: RunAnswer) {
        match (self, answer) {
            (Self::Offer(report), RunAnswer::Taken) => drop(report.send(Ok(Handed::Taken))),
            (Self::Offer(report), RunAnswer::Message(message)) => {
                drop(report.send(Ok(Handed::Message(message))));
            }
            (Self::Offer(report), RunAnswer::Failed(error)) => drop(report.send(Err(error))),
            (Self::Cancel(report), RunAnswer::Cancel(answer)) => drop(report.send(answer)),
            _ => {}
        }
    }
}

pub(super) fn run_of(task: &TaskId) -> WorkKey {
    WorkKey {
        task: task.clone(),
        kind: WorkKind::Run,
    }
}

/// What is kept of an offer of the client's message of a number.
pub(super) fn asked_offer(
    context: &Context,
    request: &SendMessage,
    message: usize,
    follow_up: bool,
) -> AskedOffer {
    AskedOffer {
        message,
        metadata: request.metadata.clone(),
        accepted_output_modes: request.configuration.accepted_output_modes.clone(),
        extensions: context.requested_extensions.to_vec(),
        follow_up,
    }
}

impl Replicas {
    pub(super) fn new(keeper: Keeper) -> Self {
        Self {
            keeper,
            waiting: Mutex::default(),
        }
    }

    pub(super) fn put(&self, offer: AskedOffer) -> Option<Box<RunPut>> {
        let terms = self.keeper.terms();
        Some(Box::new(RunPut { offer, terms }))
    }

    fn wait(&self, task: &TaskId, number: u64, report: Report) {
        let mut waiting = self.lock();
        waiting
            .entry(task.clone())
            .or_default()
            .push(Waiting { number, report });
    }

    /// The numbers that somebody still waits for.
    fn waited_for(&self, task: &TaskId) -> Vec<u64> {
        let mut waiting = self.lock();
        let Some(of_task) = waiting.get_mut(task) else {
            return Vec::new();
        };
        of_task.retain(|waiting| !waiting.report.is_closed());
        let numbers = of_task.iter().map(|waiting| waiting.number).collect();
        if of_task.is_empty() {
            waiting.remove(task);
        }
        numbers
    }

    fn give(&self, task: &TaskId, number: u64, answer: RunAnswer) {
        let found = {
            let mut waiting = self.lock();
            let of_task = waiting.get_mut(task);
            of_task.and_then(|of_task| {
                let at = of_task.iter().position(|waiting| waiting.number == number)?;
                Some(of_task.swap_remove(at))
            })
        };
        if let Some(found) = found {
            found.report.give(answer);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<TaskId, Vec<Waiting>>> {
        // Nothing can panic while it is held.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// === asking ===

impl Service {
    /// Hands a message over that has just been stored: to the agent here where the run is this replica's to begin, else
    /// to whoever has the run.
    pub(super) fn hand_over_granted(
        &self,
        served: &ServedAgent,
        offer: Offer,
        grant: Option<RunGrant>,
    ) -> oneshot::Receiver<Result<Handed, Error>> {
        let Some(replicas) = &self.0.replicas else {
            return self.hand_over(served, offer, None);
        };
        match grant {
            None => self.hand_over(served, offer, None),
            Some(RunGrant::Begun { epoch, number }) => {
                let key = run_of(&offer.task.id);
                let held = replicas.keeper.hold(Lease { key, epoch }, number);
                self.hand_over(served, offer, Some(held))
            }
            Some(RunGrant::Asked(asked)) => {
                let (report, answer) = oneshot::channel();
                let task = &offer.task.id;
                replicas.wait(task, asked.number, Report::Offer(report));
                self.nudge(replicas, task);
                answer
            }
        }
    }

    /// Asks the run of a task to stop, wherever it is held. The caller bounds the wait. What is handed out with the
    /// answer keeps the lease until the caller is done.
    pub(super) async fn ask_to_stop(
        &self,
        served: &ServedAgent,
        task: &TaskId,
        metadata: Option<&Object>,
    ) -> Result<(CancelAnswer, Option<Held>), Error> {
        let Some(replicas) = &self.0.replicas else {
            return Ok((served.agent.cancel(task, metadata).await, None));
        };
        if let Some(held) = replicas.keeper.held(&run_of(task)) {
            return Ok((served.agent.cancel(task, metadata).await, Some(held)));
        }
        let ask = RunAsk::Cancel(metadata.cloned());
        let Some(asked) = self.0.store().ask(task, ask).await? else {
            return Ok((served.agent.cancel(task, metadata).await, None));
        };
        let (report, answer) = oneshot::channel();
        replicas.wait(task, asked.number, Report::Cancel(report));
        self.nudge(replicas, task);
        let mut pulse = self.0.follow(task).await?;
        let answered = async {
            match answer.await {
                Ok(answer) => answer,
                // The report was dropped, which says as much as silence.
                Err(_) => std::future::pending().await,
            }
        };
        let ended = async {
            let seen = pulse.wait_for(|pulse| pulse.state.is_terminal()).await.is_ok();
            if !seen {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            biased;
            answer = answered => Ok((answer, None)),
            // It ended another way; the run that was asked is over, and answers nothing any more.
            () = ended => Ok((CancelAnswer::NoRun, None)),
        }
    }

    /// The news of what was just asked may have come before anybody waited for it here, or be about a run that is held
    /// here.
    fn nudge(&self, replicas: &Replicas, task: &TaskId) {
        if let Some(held) = replicas.keeper.held(&run_of(task)) {
            self.look_at_asks(held);
        }
        self.look_for_answers(task.clone());
    }

    fn look_for_answers(&self, task: TaskId) {
        let service = self.clone();
        self.0.offers.spawn(Box::pin(async move {
            let Some(replicas) = &service.0.replicas else {
                return;
            };
            for number in replicas.waited_for(&task) {
                match service.0.store().answer_to(&task, number).await {
                    Ok(Some(answer)) => replicas.give(&task, number, answer),
                    Ok(None) => {}
                    // It is looked for again before long.
                    Err(error) => tracing::debug!(%task, cause = error.cause, "answer not read"),
                }
            }
        }));
    }
}

// === answering ===

impl Service {
    fn look_at_asks(&self, held: Held) {
        let service = self.clone();
        self.0.offers.spawn(Box::pin(async move {
            let _alone = held.asks().await;
            match service.0.store().asks(held.lease(), held.seen()).await {
                Ok(Some(asks)) => service.take_asks(&held, asks, 1).await,
                // The keeper hears of it, too.
                Ok(None) => {}
                Err(error) => tracing::debug!(lease = ?held, cause = error.cause, "asks not read"),
            }
        }));
    }

    /// Passes on what was asked of a run that is held here, in its order.
    async fn take_asks(&self, held: &Held, asks: Vec<NumberedAsk>, attempt: u32) {
        let task = &held.lease().key.task;
        for (number, ask) in asks {
            let taken = match ask {
                RunAsk::Offer(offer) => self.take_offer(held, number, offer, attempt).await,
                RunAsk::Cancel(metadata) => self.take_cancel(held, number, metadata).await,
            };
            if let Err(error) = taken {
                tracing::warn!(%task, %error, cause = error.cause(), "a run cannot go on here");
                held.give_back_in(ELSEWHERE);
                return;
            }
            held.note_seen(number);
        }
    }

    async fn take_offer(
        &self,
        held: &Held,
        number: u64,
        asked: AskedOffer,
        attempt: u32,
    ) -> Result<(), Error> {
        let (served, task) = self.served(held).await?;
        let Some(offer) = offer_again(task, asked, attempt) else {
            return Ok(());
        };
        let handed = self.hand_over(&served, offer, Some(held.clone()));
        let (service, held) = (self.clone(), held.clone());
        let (settled, done) = oneshot::channel::<()>();
        self.0.offers.spawn(Box::pin(async move {
            // Dropped with its run, it was neither taken nor refused.
            let answer = match handed.await {
                Ok(Ok(Handed::Taken)) => RunAnswer::Taken,
                Ok(Ok(Handed::Message(message))) => RunAnswer::Message(message),
                Ok(Err(error)) => RunAnswer::Failed(error),
                Err(_) => return,
            };
            drop(settled);
            service.answer(&held, number, answer).await;
        }));
        // The next message comes after it, but not only when an agent that says nothing has spoken.
        drop(timeout(self.limits().accept_window, done).await);
        Ok(())
    }

    async fn take_cancel(&self, held: &Held, number: u64, metadata: Option<Object>) -> Result<(), Error> {
        let (served, task) = self.served(held).await?;
        let (service, held) = (self.clone(), held.clone());
        self.0.offers.spawn(Box::pin(async move {
            let wait = service.limits().cancel_wait;
            let asked = served.agent.cancel(&task.id, metadata.as_ref());
            let Ok(answer) = timeout(wait, asked).await else {
                return;
            };
            service.answer(&held, number, RunAnswer::Cancel(answer)).await;
            if answer == CancelAnswer::Agreed {
                service.end_canceled(&held, wait).await;
            }
        }));
        Ok(())
    }

    /// The run has stopped for a client whose replica is about to cancel the task. Where that does not come, nobody
    /// would be at the task any more.
    async fn end_canceled(&self, held: &Held, wait: Duration) {
        let task = &held.lease().key.task;
        let ended = async {
            let mut pulse = self.0.follow(task).await?;
            // A channel that closes says that the task is gone.
            drop(pulse.wait_for(|pulse| pulse.state.is_terminal()).await);
            Ok::<_, Error>(())
        };
        if !matches!(timeout(wait, ended).await, Ok(Ok(())))
            && let Err(error) = self.0.commit_cancel(task, Some(held.epoch())).await
        {
            tracing::info!(%task, %error, "task not canceled");
        }
    }

    async fn answer(&self, held: &Held, number: u64, answer: RunAnswer) {
        let kept = matches!(answer, RunAnswer::Taken);
        if let Err(error) = self.0.store().answer(held.lease(), number, answer, kept).await {
            // Whoever asked waits as for a holder who is silent.
            tracing::warn!(lease = ?held, cause = error.cause, "answer not left");
        }
    }

    /// The task of a lease and its agent.
    async fn served(&self, held: &Held) -> Result<(Arc<ServedAgent>, TaskSnapshot), Error> {
        let stored = self.0.read(&held.lease().key.task).await?;
        let tenant = stored.head.scope.tenant.as_ref();
        let served = self.directory().find(tenant);
        let served = served.ok_or_else(|| Error::unavailable("the task's tenant is not served here"))?;
        Ok((served, stored.task))
    }
}

/// An offer from what was kept of it; nothing where the task does not have the message.
fn offer_again(task: TaskSnapshot, asked: AskedOffer, attempt: u32) -> Option<Offer> {
    let mut said = task.history.iter().filter(|message| message.role != Role::Agent);
    let message = said.nth(asked.message.checked_sub(1)?)?.clone();
    Some(Offer {
        task,
        message,
        metadata: asked.metadata,
        accepted_output_modes: asked.accepted_output_modes,
        extensions: asked.extensions,
        follow_up: asked.follow_up,
        attempt,
    })
}

// === taking over ===

/// How long a run rests that cannot go on here.
const ELSEWHERE: Duration = Duration::from_secs(1);

/// Losses after which a run may be what ends its replicas.
const SUSPICIOUS: u32 = 2;

const LOST_TOO_OFTEN: &str =
    "the agent's run was lost too often with the process that it ran in, and is not begun again";

/// What follows from how many holders lost a run.
enum Losses {
    /// It goes on.
    Few,
    /// It goes on at whichever replica chance has.
    Suspicious,
    /// Its task fails.
    TooMany,
}

impl Service {
    /// A run that ends its process ends the others there with it. Were they all taken over by one replica again and again,
    /// they would all be lost too often; so chance deals them out, each by itself.
    fn judge_losses(&self, lost: u32) -> Losses {
        let replicas = self.0.replicas.as_ref();
        if replicas.is_some_and(|replicas| lost > replicas.keeper.losses()) {
            Losses::TooMany
        } else if lost >= SUSPICIOUS && self.0.parts.ids.mark() > u32::MAX / 2 {
            Losses::Suspicious
        } else {
            Losses::Few
        }
    }

    async fn fail_lost(&self, held: &Held, lost: u32) {
        let task = &held.lease().key.task;
        tracing::error!(%task, lost, "run given up: each of its holders was lost");
        // Until it is written that the task has failed, nobody has settled its run.
        held.give_back_in(ELSEWHERE);
        let failed = async {
            self.0.show(task).await?;
            self.0.fail(task, Some(held.epoch()), LOST_TOO_OFTEN).await
        };
        match failed.await {
            Ok(()) => {
                held.is_over();
                if let Some(replicas) = &self.0.replicas {
                    replicas.keeper.note_given_up();
                }
            }
            Err(error) => tracing::warn!(%task, %error, cause = error.cause(), "failure not recorded yet"),
        }
    }
}

/// Does the runs of a service, as long as that is there.
pub(super) struct RunWorker(Weak<Inner>);

impl RunWorker {
    pub(super) fn of(service: &Service) -> Self {
        Self(Arc::downgrade(&service.0))
    }

    fn service(&self) -> Option<Service> {
        self.0.upgrade().map(Service)
    }
}

impl Worker for RunWorker {
    fn take(&self, held: Held, work: DueWork) {
        let (
            Some(service),
            DueWork::Run {
                attempt, lost, asks, ..
            },
        ) = (self.service(), work)
        else {
            return held.give_back();
        };
        let taking = service.clone();
        service.0.offers.spawn(Box::pin(async move {
            let _alone = held.asks().await;
            match taking.judge_losses(lost) {
                Losses::Few => {
                    tracing::info!(task = %held.lease().key.task, lost, "run taken over");
                    taking.take_asks(&held, asks, attempt).await;
                }
                Losses::Suspicious => held.give_back_in(ELSEWHERE),
                Losses::TooMany => taking.fail_lost(&held, lost).await,
            }
        }));
    }

    fn stop(&self, key: &WorkKey) {
        // Every agent is told: which of them has it, only the task says.
        if let Some(service) = self.service() {
            service.directory().release(&key.task);
        }
    }

    fn asked(&self, held: Held) {
        if let Some(service) = self.service() {
            service.look_at_asks(held);
        }
    }

    fn answered(&self, task: Option<&TaskId>) {
        let Some(service) = self.service() else {
            return;
        };
        let Some(replicas) = &service.0.replicas else {
            return;
        };
        let tasks = match task {
            Some(task) => vec![task.clone()],
            None => replicas.lock().keys().cloned().collect(),
        };
        for task in tasks {
            if !replicas.waited_for(&task).is_empty() {
                service.look_for_answers(task);
            }
        }
    }
}
