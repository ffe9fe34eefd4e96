//! Small texts that callers hand back: cursors of streams and tokens of pages.

use gateway_domain::{
    Cursor, ErrorKind, Operation, Scope, TaskId, Timestamp,
    page::{PageKey, TaskPosition},
    request::TaskFilter,
    resume::SentCursor,
};

use crate::run::Target;

/// Any text, as a cursor and as a token that nobody made.
pub const CURSOR: Target = Target {
    name: "cursor",
    tokens: &[
        b"-",
        b"00000000",
        b"ffffffff",
        b"+",
        b"18446744073709551615",
        b"18446744073709551616",
        b"_",
    ],
    check,
};

fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    if let Ok(cursor) = text.parse::<Cursor>() {
        assert_eq!(cursor.to_string().parse(), Ok(cursor));
    }
    let sent = SentCursor {
        field: "last-event-id",
        text: text.to_owned(),
    };
    assert_eq!(sent.read().ok(), text.parse::<Cursor>().ok());
    let _ = text.parse::<Timestamp>();
    foreign_token(text);
}

/// A token opens for nobody but the key that made it.
fn foreign_token(text: &str) {
    let key = PageKey::new(b"a key of this test alone");
    let (scope, filter) = (Scope::default(), TaskFilter::default());
    match key.open_tasks(&scope, &filter, text) {
        Ok(position) => assert_eq!((position, text), (None, "")),
        Err(error) => assert_eq!(error.kind(), ErrorKind::InvalidParams),
    }
    let list = Operation::ListTaskPushNotificationConfigs;
    match key.open_id(list, "t-1", text) {
        Ok(position) => assert_eq!((position, text), (None, "")),
        Err(error) => assert_eq!(error.kind(), ErrorKind::InvalidParams),
    }
    // And the text may stand in one.
    let position = TaskPosition {
        timestamp: Timestamp::from_millis(1_700_000_000_000).unwrap(),
        id: TaskId::new(text),
    };
    let token = key.seal_tasks(&scope, &filter, &position);
    assert_eq!(key.open_tasks(&scope, &filter, &token).unwrap(), Some(position));
}
