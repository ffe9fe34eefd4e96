//! Where calls go: only to addresses that the guard let pass when the call was made, and over TLS only to who proves it.

use std::{net::SocketAddr, sync::Arc};

use gateway_domain::{TaskPushNotificationConfig, lifecycle::Move, ports::Webhooks};
use gateway_testkit::receiver::{Answer, Receiver};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tokio::net::TcpStream;
use tokio_rustls::{
    TlsAcceptor,
    rustls::{RootCertStore, ServerConfig, crypto::ring, pki_types::PrivateKeyDer},
};

use super::support::{Bench, Fixed, quick};
use crate::{Attempt, DeadLetter, Settings, client::Trusted};

async fn bench(settings: Settings, resolver: Fixed, trusted: Trusted) -> Bench {
    Bench::with(
        settings,
        gateway_testkit::store::Settings::default(),
        resolver,
        trusted,
    )
    .await
}

#[tokio::test]
async fn a_bad_address_and_bad_headers_are_named_all_at_once_and_not_repeated() {
    let bench = Bench::new(Settings::default()).await;
    let mut config: TaskPushNotificationConfig = bench.plain("hook", "http://secret.localhost/").config;
    config.token = Some("secret\r\nX-Admin: 1".to_owned());
    config.authentication = Some(gateway_domain::AuthenticationInfo {
        schemes: Vec::new(),
        scheme: "Bearer secret".to_owned(),
        credentials: Some("secret".to_owned()),
    });
    let violations = bench.courier.check(&config).unwrap_err();
    let fields: Vec<_> = violations
        .iter()
        .map(|violation| violation.field.as_ref())
        .collect();
    assert_eq!(fields, ["url", "token", "authentication.scheme"]);
    for violation in &violations {
        assert!(violation.description.starts_with("must "), "{violation:?}");
        assert!(!violation.description.contains("secret"), "{violation:?}");
    }
    config.authentication = Some(gateway_domain::AuthenticationInfo {
        schemes: Vec::new(),
        scheme: "Bearer".to_owned(),
        credentials: Some("x".repeat(4_096)),
    });
    let violations = bench.courier.check(&config).unwrap_err();
    assert_eq!(violations[2].field, "authentication.credentials");
}

#[tokio::test]
async fn a_name_that_means_an_inside_address_when_it_is_called_is_not_called() {
    let hook = Receiver::willing().await;
    let bench = bench(
        Settings::default(),
        Fixed(vec![hook.address]),
        Trusted::ByTheMachine,
    )
    .await;
    bench
        .configure(bench.plain("hook", "https://hooks.example.com/"))
        .await;
    bench.step(Move::Complete).await;
    bench.nobody_is_followed().await;
    let counts = bench.courier.counts();
    assert_eq!(counts.of_attempt(Attempt::Forbidden), 1);
    assert_eq!(counts.of_dead_letter(DeadLetter::Forbidden), 1);
    assert_eq!(hook.so_far().len(), 0);
}

#[tokio::test]
async fn of_the_addresses_of_a_name_only_allowed_ones_are_connected_to() {
    let hook = Receiver::willing().await;
    let inside = Receiver::willing().await;
    let mut settings = quick();
    settings.allowed_ranges = vec![format!("{}/32", hook.address.ip()).parse().unwrap()];
    let forbidden: SocketAddr = format!("127.0.0.2:{}", inside.address.port()).parse().unwrap();
    let bench = bench(
        settings,
        Fixed(vec![forbidden, hook.address]),
        Trusted::ByTheMachine,
    )
    .await;
    bench
        .configure(bench.plain("hook", "http://hooks.example.com:8080/"))
        .await;
    bench.step(Move::Complete).await;
    let call = hook.calls(1).await.remove(0);
    assert_eq!(call.header("host"), Some("hooks.example.com:8080"));
    bench.nobody_is_followed().await;
    assert_eq!(inside.so_far().len(), 0);
}

#[tokio::test]
async fn an_address_that_nobody_listens_at_gives_way_to_the_next() {
    let hook = Receiver::willing().await;
    let free = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .unwrap()
        .local_addr()
        .unwrap();
    let bench = bench(quick(), Fixed(vec![free, hook.address]), Trusted::ByTheMachine).await;
    bench
        .configure(bench.plain("hook", "http://hooks.example.com/"))
        .await;
    bench.step(Move::Complete).await;
    bench.nobody_is_followed().await;
    assert_eq!(hook.news(), ["TASK_STATE_COMPLETED"]);
    assert_eq!(bench.courier.counts().of_attempt(Attempt::Delivered), 1);
}

#[tokio::test]
async fn a_name_without_an_address_is_tried_again_and_given_up() {
    let bench = bench(quick(), Fixed(Vec::new()), Trusted::ByTheMachine).await;
    bench
        .configure(bench.plain("hook", "https://hooks.example.com/"))
        .await;
    bench.step(Move::Complete).await;
    bench.nobody_is_followed().await;
    assert_eq!(bench.courier.counts().of_attempt(Attempt::Unreachable), 4);
    assert_eq!(bench.courier.counts().of_dead_letter(DeadLetter::Exhausted), 1);
}

// === TLS ===

/// A receiver for a name with its certificate, and the authority that made it.
async fn tls_hook(name: &str) -> (Receiver, RootCertStore) {
    let mut authority = CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(vec![name.to_owned()]).unwrap();
    let certificate = certificate.signed_by(&key, &authority).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![certificate.der().clone()],
            PrivateKeyDer::Pkcs8(key.serialize_der().into()),
        );
    let acceptor = TlsAcceptor::from(Arc::new(config.unwrap()));
    let layer = move |stream: TcpStream| {
        let acceptor = acceptor.clone();
        async move { acceptor.accept(stream).await }
    };
    let mut roots = RootCertStore::empty();
    roots.add(authority.der().clone()).unwrap();
    (Receiver::behind(layer, |_| Answer::Status(200)).await, roots)
}

#[tokio::test]
async fn a_receiver_that_proves_its_name_is_called_over_tls() {
    let (hook, roots) = tls_hook("hooks.example.com").await;
    let bench = bench(quick(), Fixed(vec![hook.address]), Trusted::By(roots)).await;
    bench
        .configure(bench.plain("hook", "https://hooks.example.com/"))
        .await;
    bench.chunk("one").await;
    bench.step(Move::Complete).await;
    bench.nobody_is_followed().await;
    assert_eq!(hook.news(), ["one", "TASK_STATE_COMPLETED"]);
    assert_eq!(bench.courier.counts().of_attempt(Attempt::Delivered), 2);
}

#[tokio::test]
async fn a_receiver_of_another_name_or_of_an_unknown_authority_gets_nothing() {
    let (hook, roots) = tls_hook("other.example.com").await;
    let (_, of_another_authority) = tls_hook("hooks.example.com").await;
    for (name, roots) in [
        ("hooks.example.com", roots),
        ("other.example.com", of_another_authority),
    ] {
        let bench = bench(quick(), Fixed(vec![hook.address]), Trusted::By(roots)).await;
        bench
            .configure(bench.plain("hook", &format!("https://{name}/")))
            .await;
        bench.step(Move::Complete).await;
        bench.nobody_is_followed().await;
        assert_eq!(
            bench.courier.counts().of_attempt(Attempt::Unreachable),
            4,
            "{name}"
        );
    }
    assert_eq!(hook.so_far().len(), 0);
}
