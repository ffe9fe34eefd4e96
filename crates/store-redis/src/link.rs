//! The connections to Redis: one for commands, one for news. A call waits a bounded time, and says so when it is over.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use gateway_domain::ports::StoreError;
use redis::{
    Client, Cmd, ConnectionInfo, FromRedisValue, IntoConnectionInfo, ProtocolVersion, RedisError,
    RedisResult, ScriptInvocation, Value,
    aio::{AsyncPushSender, ConnectionManager, ConnectionManagerConfig},
};
use tokio::{
    sync::Semaphore,
    time::{Instant, timeout},
};

use crate::Settings;

/// How long a call waits in all.
pub(crate) const PATIENCE: Duration = Duration::from_millis(1_800);

/// How long a connection may take to come about.
const CONNECTING: Duration = Duration::from_secs(1);

/// Calls that are under way at once; the others wait, but no longer than that.
const MOST_CALLS: usize = 1_024;

/// The connections.
pub(crate) struct Link {
    commands: ConnectionManager,
    news: ConnectionManager,
    permits: Semaphore,
    /// Since when Redis has not answered.
    away: Mutex<Option<Instant>>,
}

impl Link {
    /// Connects. `pushed` is given what Redis says without being asked; it must not wait.
    pub(crate) async fn open(settings: &Settings, pushed: impl AsyncPushSender) -> Result<Self, StoreError> {
        let client = Client::open(info(settings)?).map_err(fault)?;
        let commands = ConnectionManager::new_with_config(client.clone(), config()).await;
        let listening = config().set_push_sender(pushed).set_automatic_resubscription();
        let news = ConnectionManager::new_with_config(client, listening).await;
        Ok(Self {
            commands: commands.map_err(fault)?,
            news: news.map_err(fault)?,
            permits: Semaphore::new(MOST_CALLS),
            away: Mutex::default(),
        })
    }

    /// Runs a script that comes to the same when it runs twice: it is sent again where the connection broke.
    pub(crate) async fn run<T: FromRedisValue>(
        &self,
        script: &ScriptInvocation<'_>,
    ) -> Result<T, StoreError> {
        let mut connection = self.commands.clone();
        self.within_patience(async {
            let first = script.invoke_async(&mut connection).await;
            match first {
                Err(error) if broke(&error) => script.invoke_async(&mut connection).await,
                other => other,
            }
        })
        .await
    }

    /// Runs a script once.
    pub(crate) async fn run_once<T: FromRedisValue>(
        &self,
        script: &ScriptInvocation<'_>,
    ) -> Result<T, StoreError> {
        let mut connection = self.commands.clone();
        self.within_patience(script.invoke_async(&mut connection)).await
    }

    /// Sends a command that comes to the same when it runs twice.
    pub(crate) async fn ask<T: FromRedisValue>(&self, command: &Cmd) -> Result<T, StoreError> {
        self.ask_over(self.commands.clone(), command).await
    }

    /// Sends a command about subscriptions, over the connection that has them.
    pub(crate) async fn subscribe(&self, command: &Cmd) -> Result<(), StoreError> {
        self.ask_over::<Value>(self.news.clone(), command).await.map(drop)
    }

    async fn ask_over<T: FromRedisValue>(
        &self,
        mut connection: ConnectionManager,
        command: &Cmd,
    ) -> Result<T, StoreError> {
        self.within_patience(async {
            let first = command.query_async(&mut connection).await;
            match first {
                Err(error) if broke(&error) => command.query_async(&mut connection).await,
                other => other,
            }
        })
        .await
    }

    /// Since when Redis has not answered any call, if it has not.
    pub(crate) fn away_for(&self) -> Option<Duration> {
        let away = self.away.lock().unwrap_or_else(PoisonError::into_inner);
        away.map(|since| since.elapsed())
    }

    async fn within_patience<T>(&self, call: impl Future<Output = RedisResult<T>>) -> Result<T, StoreError> {
        let permitted = async {
            // The semaphore is never closed.
            let _permit = self.permits.acquire().await;
            call.await
        };
        let answer = timeout(PATIENCE, permitted).await;
        self.note(matches!(&answer, Ok(result) if !result.as_ref().is_err_and(silent)));
        match answer {
            Ok(answer) => answer.map_err(fault),
            Err(_) => Err(StoreError::new(format_args!(
                "Redis did not answer within {PATIENCE:?}"
            ))),
        }
    }

    fn note(&self, answered: bool) {
        let mut away = self.away.lock().unwrap_or_else(PoisonError::into_inner);
        match (answered, *away) {
            (true, Some(since)) => {
                tracing::info!(
                    seconds = since.elapsed().as_secs(),
                    "the store in Redis answers again"
                );
                *away = None;
            }
            (false, None) => {
                tracing::warn!("no answer from Redis; calls are told to come back");
                *away = Some(Instant::now());
            }
            _ => {}
        }
    }
}

/// Where Redis is and who comes, with the protocol in which news come without being asked for.
fn info(settings: &Settings) -> Result<ConnectionInfo, StoreError> {
    // The library's error could repeat the URL, and with it a password.
    let wrong = |_| StoreError::new("the URL of Redis is not of the form redis://HOST:PORT/DATABASE");
    let info = settings.url.as_str().into_connection_info().map_err(wrong)?;
    let mut redis = info.redis_settings().clone().set_protocol(ProtocolVersion::RESP3);
    if let Some(user) = &settings.user {
        redis = redis.set_username(user);
    }
    if let Some(password) = &settings.password {
        redis = redis.set_password(password);
    }
    Ok(info.set_redis_settings(redis))
}

/// A connection that broke is made anew at the next call, with one attempt: whoever calls has little time.
fn config() -> ConnectionManagerConfig {
    ConnectionManagerConfig::new()
        .set_number_of_retries(1)
        .set_min_delay(Duration::from_millis(10))
        .set_max_delay(Duration::from_millis(100))
        .set_connection_timeout(Some(CONNECTING))
        .set_response_timeout(Some(PATIENCE))
}

/// Whether the connection was lost, so that another attempt goes over a new one.
fn broke(error: &RedisError) -> bool {
    silent(error) && !error.is_timeout()
}

/// Whether there was no answer at all: one that refuses is an answer.
fn silent(error: &RedisError) -> bool {
    error.is_io_error() || error.is_connection_dropped() || error.is_unrecoverable_error()
}

fn fault(error: RedisError) -> StoreError {
    StoreError::new(format_args!("Redis: {error}"))
}

#[cfg(test)]
mod tests {
    use super::info;
    use crate::Settings;

    #[test]
    fn a_bad_url_is_told_without_its_password() {
        let with = |url: &str| Settings {
            url: url.to_owned(),
            password: Some("hunter3".to_owned()),
            ..Settings::default()
        };
        let fault = info(&with("http://user:hunter2@host")).unwrap_err().cause;
        assert!(fault.contains("redis://") && !fault.contains("hunter"), "{fault}");
        assert!(info(&with("redis://host:6379/3")).is_ok());
        assert!(!format!("{:?}", with("redis://user:hunter2@host")).contains("hunter"));
    }
}
