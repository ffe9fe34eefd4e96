//! Sends that are remembered for the case that they are repeated. They lie in the bucket of their task, and are written
//! with it.

use std::sync::Arc;

use gateway_domain::{
    Cursor, Message, TaskId, Timestamp,
    ports::StoreError,
    repeats::{FirstSend, SendClaim, SendKey},
};
use redis::ScriptInvocation;
use serde::{Deserialize, Serialize};

use crate::{
    Inner,
    keys::{send_part, tenant_part},
    records::{read, read_content, write},
    scripts,
};

/// A send without its answer, which stands behind it after a zero byte.
#[derive(Debug, Serialize, Deserialize)]
struct SendRecord {
    content: String,
    task: TaskId,
    revision: u64,
    mark: u32,
    until: Timestamp,
}

impl Inner {
    pub(crate) async fn first_send(
        &self,
        key: &SendKey,
        now: Timestamp,
    ) -> Result<Option<FirstSend>, StoreError> {
        let bucket = self.layout.bucket_of_send(key);
        let mut script = scripts::FIRST_SEND.key(self.layout.stem(bucket));
        script
            .arg(tenant_part(key.scope.tenant.as_ref()))
            .arg(send_part(key))
            .arg(now.millis());
        let stored: Option<Vec<u8>> = self.link.read_settled(bucket, &script).await?;
        stored.map(|stored| read_send(&stored)).transpose()
    }

    pub(crate) async fn forget_send(&self, key: &SendKey) -> Result<(), StoreError> {
        let bucket = self.layout.bucket_of_send(key);
        let mut script = scripts::FORGET_SEND.key(self.layout.stem(bucket));
        script
            .arg(tenant_part(key.scope.tenant.as_ref()))
            .arg(send_part(key));
        let _forgotten: u8 = self.link.write(bucket, &script).await?;
        Ok(())
    }

    /// A send that a step brings, as the last of what a script is given.
    pub(crate) fn add_claim(
        &self,
        script: &mut ScriptInvocation<'_>,
        claim: &SendClaim,
        task: &TaskId,
        cursor: Cursor,
    ) {
        let tenant = claim.key.scope.tenant.as_ref();
        script
            .arg(send_part(&claim.key))
            .arg(write_send(claim, task, cursor))
            .arg(claim.now.millis())
            .arg(claim.until.millis())
            .arg(self.layout.share(tenant, claim.most))
            .arg(self.layout.share(tenant, claim.bytes));
    }
}

/// The same where there is none, and other arguments follow.
pub(crate) fn add_no_claim(script: &mut ScriptInvocation<'_>) {
    for _ in 0..6 {
        script.arg("");
    }
}

/// What a script answers with where a step brings a send that is remembered.
pub(crate) fn repeated(answer: &[u8]) -> Option<Result<FirstSend, StoreError>> {
    answer.strip_prefix(b"REPEATED:").map(read_send)
}

/// Writes an answer as a script puts it behind its send.
pub(crate) fn write_answer(answer: &Arc<Message>) -> Vec<u8> {
    write(answer)
}

fn write_send(claim: &SendClaim, task: &TaskId, cursor: Cursor) -> Vec<u8> {
    let mut bytes = write(&SendRecord {
        content: claim.content.to_string(),
        task: task.clone(),
        revision: cursor.revision,
        mark: cursor.mark,
        until: claim.until,
    });
    bytes.push(0);
    bytes
}

fn read_send(stored: &[u8]) -> Result<FirstSend, StoreError> {
    const WHAT: &str = "a send";
    let broken = || StoreError::new("the record of a send is broken");
    let end = stored.iter().position(|byte| *byte == 0).ok_or_else(broken)?;
    let record: SendRecord = read(WHAT, &stored[..end])?;
    Ok(FirstSend {
        content: record.content.parse().map_err(|_| broken())?,
        task: record.task,
        cursor: Cursor {
            revision: record.revision,
            mark: record.mark,
        },
        answer: read_content(WHAT, &stored[end + 1..])?,
        until: record.until,
    })
}

#[cfg(test)]
mod tests {
    use super::read_send;

    /// As this format's first release wrote it. Later releases must go on reading it.
    const SEND: &str = concat!(
        r#"1{"content":"000102030405060708090a0b0c0d0e0f","task":"00-task","revision":3,"mark":7,"#,
        r#""until":"2026-01-31T09:00:00.000Z"}"#,
        "\0"
    );
    const ANSWER: &str = r#"1{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"at it"}]}"#;

    #[test]
    fn a_send_of_the_first_release_is_read_with_and_without_its_answer() {
        let first = read_send(SEND.as_bytes()).unwrap();
        assert_eq!((first.task.as_str(), first.cursor.revision), ("00-task", 3));
        assert_eq!(first.content.to_string(), "000102030405060708090a0b0c0d0e0f");
        assert_eq!(first.answer, None);
        let first = read_send(format!("{SEND}{ANSWER}").as_bytes()).unwrap();
        assert_eq!(first.answer.unwrap().first_text(), Some("at it"));
        assert!(read_send(b"1{}").is_err());
    }
}
