//! News of tasks: from the channel of each to those who follow it here.

use std::sync::{Arc, atomic::Ordering::Relaxed};

use gateway_domain::{
    TaskId,
    ports::{Pulse, StoreError, WorkNews},
};
use redis::{Cmd, PushInfo, PushKind, Value};
use tokio::{
    sync::{broadcast, watch},
    time::timeout,
};

use crate::{
    Inner,
    followers::{Followed, Followers, Standing, Subscription},
    keys::{self, Bucket},
    link::{NewsGate, PATIENCE},
    records, scripts,
};

/// Takes in what Redis says without being asked. It never waits: everything else on the connection stands behind it.
pub(crate) struct Ears {
    pub(crate) followers: Arc<Followers>,
    pub(crate) work: broadcast::Sender<WorkNews>,
}

impl Ears {
    /// Takes it in. Where there is a gate, followers are told once what they are told of is confirmed.
    pub(crate) fn hear(&self, gate: Option<&NewsGate>, push: &PushInfo) {
        match work_news(push) {
            // Without due work nobody listens.
            Some(news) => drop(self.work.send(news)),
            None => take(&self.followers, gate, push),
        }
    }
}

/// What it says of due work, if it is about that.
fn work_news(push: &PushInfo) -> Option<WorkNews> {
    let Some(Value::BulkString(channel)) = push.data.first() else {
        return None;
    };
    let (_, kind) = std::str::from_utf8(channel).ok()?.split_once("}:")?;
    if kind != keys::WORK {
        return None;
    }
    Some(match (&push.kind, push.data.get(1)) {
        (PushKind::SMessage, Some(Value::BulkString(text))) => read_work_news(text),
        // The first subscription, or one after the connection had been away.
        _ => WorkNews::Missed,
    })
}

fn read_work_news(text: &[u8]) -> WorkNews {
    let task = || Some(TaskId::new(std::str::from_utf8(text.get(1..)?).ok()?));
    match (text.first(), task()) {
        (Some(b'a'), Some(task)) => WorkNews::Asked(task),
        (Some(b'r'), Some(task)) => WorkNews::Answered(task),
        (Some(b'd'), _) => WorkNews::Due,
        // Another release's.
        _ => WorkNews::Missed,
    }
}

fn take(followers: &Followers, gate: Option<&NewsGate>, push: &PushInfo) {
    let Some((bucket, id)) = task_of(push) else {
        return;
    };
    match (&push.kind, push.data.get(1)) {
        (PushKind::SMessage, Some(Value::BulkString(news))) if news.is_empty() => followers.close(&id),
        (PushKind::SMessage, Some(Value::BulkString(news))) => {
            let pulse = std::str::from_utf8(news).ok().and_then(records::read_pulse);
            match (pulse, gate) {
                (Some(pulse), None) => followers.tell(&id, pulse),
                (Some(pulse), Some(gate)) if gate.tell(bucket, &id, pulse) => {}
                _ => followers.doubt(&id),
            }
        }
        (PushKind::SUnsubscribe, _) => followers.unsubscribed(&id),
        _ => {}
    }
}

/// The task whose channel it came over.
fn task_of(push: &PushInfo) -> Option<(Bucket, TaskId)> {
    let Value::BulkString(channel) = push.data.first()? else {
        return None;
    };
    let (stem, rest) = std::str::from_utf8(channel).ok()?.split_once("}:")?;
    let (_, tag) = stem.split_once('{')?;
    let id = rest.strip_prefix(keys::NEWS)?.strip_prefix(':')?;
    Some((Bucket::read(tag)?, TaskId::new(id)))
}

/// What is told of a task that another release wrote.
pub(crate) fn unreadable_news() -> StoreError {
    StoreError::new("the news of a task are of another release")
}

impl Inner {
    /// The followers of one task wait for each other; none waits longer than for any call.
    pub(crate) async fn follow(&self, id: &TaskId) -> Result<Option<watch::Receiver<Pulse>>, StoreError> {
        let joined = timeout(PATIENCE, self.join(id)).await;
        joined.unwrap_or_else(|_| Err(StoreError::new("Redis did not tell of the task in time")))
    }

    async fn join(&self, id: &TaskId) -> Result<Option<watch::Receiver<Pulse>>, StoreError> {
        let Some(bucket) = self.layout.bucket(id) else {
            return Ok(None);
        };
        // A second time only where the channel closes while it is joined.
        for _ in 0..2 {
            // Held until the end, so that the record stays.
            let (followed, _held) = self.followers.join(id);
            let Some(standing) = self.look(bucket, id, &followed).await? else {
                followed.close();
                return Ok(None);
            };
            let (told, standing) = standing;
            if let Some(told) = told {
                self.compare(&followed, told, &standing);
            }
            if let Some(follower) = followed.follow() {
                return Ok(Some(follower));
            }
        }
        Err(StoreError::new(
            "the task's news ended twice while it was to be followed",
        ))
    }

    /// Looks up where a task stands, for those who follow it.
    pub(crate) async fn look_at(&self, id: &TaskId) -> Result<(), StoreError> {
        let (Some(bucket), Some(followed)) = (self.layout.bucket(id), self.followers.followed(id)) else {
            return Ok(());
        };
        match self.look(bucket, id, &followed).await? {
            Some((Some(told), standing)) => self.compare(&followed, told, &standing),
            Some((None, _)) => {}
            None => {
                // Live tasks never leave, but with what Redis lost.
                let lived = followed
                    .told()
                    .is_some_and(|told| !told.hidden && !told.state.is_terminal());
                self.counts.set_back.fetch_add(u64::from(lived), Relaxed);
                followed.close();
            }
        }
        Ok(())
    }

    fn compare(&self, followed: &Followed, told: Pulse, standing: &Standing) {
        if followed.compare(told, standing) {
            self.counts.set_back.fetch_add(1, Relaxed);
        }
    }

    /// What was told of a task last, and where it stands; nothing where there is no such task. Whatever comes to be
    /// after that is told.
    async fn look(
        &self,
        bucket: Bucket,
        id: &TaskId,
        followed: &Followed,
    ) -> Result<Option<(Option<Pulse>, Standing)>, StoreError> {
        // Before anything else: over new connections the first news may already be of another timeline.
        let told = followed.told();
        self.subscribe(bucket, id, followed).await?;
        let seen = told.map_or(0, |told| told.cursor.revision);
        let mut script = scripts::STAND.key(self.layout.stem(bucket));
        script.arg(id.as_str()).arg(seen);
        let found: Option<(String, Vec<u8>)> = self.link.read_settled(bucket, &script).await?;
        let Some((news, entry)) = found else {
            return Ok(None);
        };
        let standing = Standing {
            pulse: records::read_pulse(&news).ok_or_else(unreadable_news)?,
            mark_then: records::mark_of(&entry),
        };
        Ok(Some((told, standing)))
    }

    async fn subscribe(&self, bucket: Bucket, id: &TaskId, followed: &Followed) -> Result<(), StoreError> {
        let mut subscription = followed.subscription.lock().await;
        let ended = followed.take_end();
        let holds = matches!(*subscription, Subscription::Confirmed(over)
            if !ended && self.link.serial(bucket) == Some(over));
        if !holds {
            // Noted first: an answer that does not come in time may still mean a subscription.
            *subscription = Subscription::Asked;
            let command = self.about_news("SSUBSCRIBE", bucket, id);
            *subscription = Subscription::Confirmed(self.link.subscribe(bucket, &command).await?);
        }
        Ok(())
    }

    /// Ends the subscription of a task that nobody follows any more. Whoever comes meanwhile waits, and subscribes
    /// again.
    pub(crate) async fn unsubscribe(&self, id: &TaskId, followed: &Followed) -> Result<(), StoreError> {
        let mut subscription = followed.subscription.lock().await;
        if *subscription != Subscription::None
            && let Some(bucket) = self.layout.bucket(id)
        {
            *subscription = Subscription::Asked;
            self.link
                .subscribe(bucket, &self.about_news("SUNSUBSCRIBE", bucket, id))
                .await?;
            *subscription = Subscription::None;
        }
        self.followers.forget(id);
        Ok(())
    }

    fn about_news(&self, verb: &str, bucket: Bucket, id: &TaskId) -> Cmd {
        let mut command = redis::cmd(verb);
        command.arg(self.layout.key(bucket, keys::NEWS, id.as_str()));
        command
    }
}

#[cfg(test)]
mod tests {
    use gateway_domain::{Cursor, TaskState};

    use super::*;

    fn push(kind: PushKind, data: &[&str]) -> PushInfo {
        let data = data
            .iter()
            .map(|text| Value::BulkString(text.as_bytes().to_vec()));
        PushInfo {
            kind,
            data: data.collect(),
        }
    }

    fn pulse(revision: u64) -> Pulse {
        Pulse {
            cursor: Cursor { revision, mark: 1 },
            status_revision: revision,
            state: TaskState::Working,
            hidden: false,
        }
    }

    const CHANNEL: &str = "a2a:{00}:news:00-task";

    #[test]
    fn news_reach_the_followers_of_their_task_and_never_go_back() {
        let followers = Followers::default();
        let (_, mut follower) = followers.join(&TaskId::new("00-task"));
        let (_, other) = followers.join(&TaskId::new("00-other"));
        for revision in [2, 3, 1] {
            let news = records::write_pulse(&pulse(revision));
            take(&followers, None, &push(PushKind::SMessage, &[CHANNEL, &news]));
        }
        assert_eq!(*follower.borrow_and_update(), pulse(3));
        assert!(!other.has_changed().unwrap());
    }

    #[test]
    fn the_end_of_a_task_closes_the_channel() {
        let followers = Followers::default();
        let (_, follower) = followers.join(&TaskId::new("00-task"));
        take(&followers, None, &push(PushKind::SMessage, &[CHANNEL, ""]));
        assert!(follower.has_changed().is_err());
    }

    #[test]
    fn news_of_another_release_and_a_subscription_that_ended_make_a_task_doubtful_once() {
        let followers = Followers::default();
        let id = TaskId::new("00-task");
        let (_, _follower) = followers.join(&id);
        assert_eq!(followers.doubtful(), []);
        for (kind, data) in [
            (PushKind::SMessage, vec![CHANNEL, "what a later release says"]),
            (PushKind::SUnsubscribe, vec![CHANNEL]),
        ] {
            take(&followers, None, &push(kind, &data));
            assert_eq!(followers.doubtful(), std::slice::from_ref(&id));
            assert_eq!(followers.doubtful(), []);
        }
    }

    #[test]
    fn pushes_that_are_no_news_are_passed_over() {
        let followers = Followers::default();
        let (_, follower) = followers.join(&TaskId::new("00-task"));
        for (kind, data) in [
            (PushKind::Disconnection, vec![]),
            (PushKind::SMessage, vec!["elsewhere", "1-00000001 1 2 0"]),
            (PushKind::SMessage, vec![CHANNEL]),
            (PushKind::Invalidate, vec![CHANNEL, "x"]),
            (PushKind::SSubscribe, vec![CHANNEL]),
            (
                PushKind::SMessage,
                vec!["a2a:{0}:news:00-task", "1-00000001 1 2 0"],
            ),
        ] {
            take(&followers, None, &push(kind, &data));
        }
        assert!(!follower.has_changed().unwrap());
        assert_eq!(followers.doubtful(), []);
    }
}
