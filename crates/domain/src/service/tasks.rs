//! GetTask, ListTasks, CancelTask and SubscribeToTask (§3.1.3 to §3.1.6).

use super::{Answered, Context, Inner, Service, reachable, stream};
use crate::{
    Error, ErrorKind, Message, Outcome, TaskId, Version, decide,
    page::TaskPosition,
    ports::{CancelAnswer, Epoch, ListQuery, Listing, StoredTask},
    reply::{Body, TaskPage},
    request::{CancelTask, GetTask, ListTasks, SubscribeToTask},
};

impl Service {
    pub(super) async fn get_task(&self, context: &Context, request: GetTask) -> Answered {
        let stored = self.0.store().read(&request.id).await?;
        let StoredTask { head, task } = stored
            .filter(|stored| !stored.head.hidden)
            .ok_or_else(Error::task_not_found)?;
        reachable(&head, &context.scope(request.tenant.as_ref()))?;
        Ok((
            Outcome::Found,
            Body::Task(task.with_history(request.history_length)),
        ))
    }

    pub(super) async fn list_tasks(&self, context: &Context, request: ListTasks) -> Answered {
        let scope = context.scope(request.filter.tenant.as_ref());
        let key = &self.0.parts.page_key;
        let after = key.open_tasks(&scope, &request.filter, &request.page_token);
        let query = ListQuery {
            scope: scope.clone(),
            filter: request.filter.clone(),
            after: after.map_err(|error| error.outcome(Outcome::Invalid))?,
            most: usize::try_from(request.page_size).unwrap_or(usize::MAX),
            history_length: request.history_length,
            include_artifacts: request.include_artifacts,
        };
        let Listing { tasks, more, total } = self.0.store().list(query).await?;
        let next_page_token = match tasks.last().filter(|_| more) {
            Some(last) => {
                let position = TaskPosition {
                    timestamp: last.status.timestamp,
                    id: last.id.clone(),
                };
                key.seal_tasks(&scope, &request.filter, &position)
            }
            None => String::new(),
        };
        let total_size = u32::try_from(total).unwrap_or(u32::MAX);
        let page = TaskPage {
            tasks,
            next_page_token,
            page_size: request.page_size,
            total_size,
        };
        Ok((Outcome::Listed, Body::Tasks(page)))
    }

    /// Asks the agent first, for a bounded time. Its consent and its silence both end the task; only its refusal,
    /// or an end that it reports itself, do not.
    pub(super) async fn cancel_task(&self, context: &Context, request: CancelTask) -> Answered {
        let inner = &self.0;
        let scope = context.scope(request.tenant.as_ref());
        decide::check_cancelable(&*inner.reach(&request.id, &scope).await?)?;
        let asked = self.ask_to_stop(&context.agent, &request.id, request.metadata.as_ref());
        let answer = tokio::time::timeout(inner.limits().cancel_wait, asked).await;
        // Held on to until the task has ended: its run has stopped, and nobody else is at it.
        let (answer, _held) = match answer {
            Ok(answer) => {
                let (answer, held) = answer?;
                (Some(answer), held)
            }
            Err(_) => (None, None),
        };
        match answer {
            Some(CancelAnswer::Refused) => {
                // An end that the agent reported meanwhile stands and is the better answer.
                decide::check_cancelable(&*inner.reach(&request.id, &scope).await?)?;
                let text = "the agent cannot stop the task at this stage";
                let error = Error::new(ErrorKind::TaskNotCancelable, text);
                return Err(error.outcome(Outcome::NotCancelableNow));
            }
            Some(CancelAnswer::Agreed | CancelAnswer::NoRun) => {}
            None => {
                tracing::info!(task = %request.id, "agent silent on a cancel, task canceled without it");
            }
        }
        inner.commit_cancel(&request.id, None).await?;
        let StoredTask { task, .. } = inner.read(&request.id).await?;
        Ok((Outcome::Canceled, Body::Task(task)))
    }

    pub(super) async fn subscribe_to_task(&self, context: &Context, request: SubscribeToTask) -> Answered {
        context.require_streaming()?;
        let resumes_after = context.resumes_after()?;
        let inner = &self.0;
        // Attached before the state is looked at, so that no event falls in between.
        let pulse = inner.store().follow(&request.id).await?;
        let head = inner
            .reach(&request.id, &context.scope(request.tenant.as_ref()))
            .await?;
        let pulse = pulse.ok_or_else(Error::task_not_found)?;
        let rules = context.rules(request.version);
        if let Some(cursor) = resumes_after {
            let events = stream::after(inner, request.id, cursor, pulse, rules).await?;
            return Ok((Outcome::Subscribed, Body::Stream(events)));
        }
        if head.status.state.is_terminal() && request.version == Version::V1_0 {
            let text = format!("the task is {}; read it with GetTask", head.status.state.name());
            return Err(Error::new(ErrorKind::UnsupportedOperation, text).outcome(Outcome::TaskTerminal));
        }
        let StoredTask { head, task } = inner.read(&request.id).await?;
        let events = stream::from_snapshot(inner, task, head.cursor, pulse, rules);
        Ok((Outcome::Subscribed, Body::Stream(events)))
    }
}

impl Inner {
    pub(super) async fn commit_cancel(&self, task: &TaskId, owner: Option<Epoch>) -> Result<(), Error> {
        let message = Message::agent_text(self.parts.ids.message_id(), "canceled on the client's request");
        let decide = |head: &_| decide::cancel(head, message.clone(), self.limits(), self.stamp());
        self.commit_with(task, owner, decide).await.map(|_| ())
    }
}
