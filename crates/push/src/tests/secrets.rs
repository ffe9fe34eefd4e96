//! Nothing that a configuration holds in confidence is logged, however much is.

use std::{
    io::Write,
    sync::{Arc, Mutex},
};

use gateway_domain::{AuthenticationInfo, PushNotificationConfigRow, lifecycle::Move};
use gateway_testkit::receiver::{Answer, Receiver};

use super::support::{Bench, quick};

#[derive(Clone, Default)]
struct Captured(Arc<Mutex<Vec<u8>>>);

impl Write for Captured {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn the_most_detailed_log_of_deliveries_that_fail_holds_no_secret() {
    let captured = Captured::default();
    let writer = captured.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    let _logged = tracing::subscriber::set_default(subscriber);

    let hook = Receiver::new(|number| match number {
        0 => Answer::Drop,
        1 => Answer::Status(500),
        2 => Answer::Status(404),
        _ => Answer::Status(200),
    })
    .await;
    let bench = Bench::new(quick()).await;
    let mut config = bench.plain("hook", &format!("{}/SECRET-PATH?key=SECRET-QUERY", hook.url()));
    config.row = PushNotificationConfigRow::new("row");
    config.config.token = Some("SECRET-456".to_owned());
    config.config.authentication = Some(AuthenticationInfo {
        schemes: Vec::new(),
        scheme: "Bearer".to_owned(),
        credentials: Some("SECRET-123".to_owned()),
    });
    bench.configure(config).await;
    bench.chunk("one").await;
    bench.step(Move::Complete).await;
    bench.nobody_is_followed().await;

    let log = String::from_utf8(captured.0.lock().unwrap().clone()).unwrap();
    assert!(
        log.contains("webhook call failed") && log.contains("webhook event given up"),
        "{log}"
    );
    assert!(log.contains("127.0.0.1"), "the log names the receiver: {log}");
    assert!(!log.contains("SECRET"), "{log}");
    let sent = hook.so_far();
    assert_eq!(
        sent[0].header("authorization"),
        Some("Bearer SECRET-123"),
        "they were there to be leaked"
    );
}
