//! Encrypted connections: whom the store trusts, and by which certificate it is known.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use std::path::{Path, PathBuf};

use base64::{Engine, engine::general_purpose::STANDARD};
use gateway_domain::ports::Store;
use gateway_store_redis::{RedisStore, Settings, Tls};
use gateway_testkit::redis::Server;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use support::{chunk, create, numbers, open};
use tempfile::TempDir;

/// An authority of the test's own and what it vouches for, in files.
struct Papers {
    folder: TempDir,
}

impl Papers {
    fn new() -> Self {
        let papers = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, "an authority");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        papers.write(
            "ca.pem",
            &pem("CERTIFICATE", params.self_signed(&key).unwrap().der()),
        );
        let authority = Issuer::new(params, key);
        for name in ["server", "client"] {
            let key = KeyPair::generate().unwrap();
            let names = ["127.0.0.1".to_owned(), "localhost".to_owned()];
            let mut params = CertificateParams::new(names).unwrap();
            params.distinguished_name.push(DnType::CommonName, name);
            papers.write(
                &format!("{name}.pem"),
                &pem("CERTIFICATE", params.signed_by(&key, &authority).unwrap().der()),
            );
            papers.write(&format!("{name}.key"), &pem("PRIVATE KEY", &key.serialize_der()));
        }
        papers
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    /// A server that takes encrypted connections only at one port, and plain ones at another, for the test's own
    /// questions. Asks for certificates where it is told to.
    fn server(&self, asks: bool, port: u16) -> Server {
        Server::start(&[
            "--port",
            "{port}",
            "--tls-port",
            &port.to_string(),
            "--bind",
            "127.0.0.1",
            "--save",
            "",
            "--dir",
            "{folder}",
            "--tls-cert-file",
            &self.text("server.pem"),
            "--tls-key-file",
            &self.text("server.key"),
            "--tls-ca-cert-file",
            &self.text("ca.pem"),
            "--tls-auth-clients",
            if asks { "yes" } else { "no" },
        ])
    }
}

fn pem(label: &str, der: &[u8]) -> String {
    let text = STANDARD.encode(der);
    let lines = text
        .as_bytes()
        .chunks(64)
        .map(|line| std::str::from_utf8(line).unwrap());
    let lines = lines.collect::<Vec<_>>().join("\n");
    format!("-----BEGIN {label}-----\n{lines}\n-----END {label}-----\n")
}

fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

fn settings(scheme: &str, port: u16, tls: Tls) -> Settings {
    Settings {
        url: format!("{scheme}://127.0.0.1:{port}"),
        tls,
        ..Settings::default()
    }
}

fn trusting(ca: &Path) -> Tls {
    Tls {
        ca_file: Some(ca.to_owned()),
        ..Tls::default()
    }
}

#[tokio::test]
async fn an_own_authority_is_trusted_and_with_a_certificate_a_server_that_asks_lets_the_store_in() {
    let papers = Papers::new();
    let port = free_port();
    let _server = papers.server(true, port);
    let with_certificate = Tls {
        certificate_file: Some(papers.path("client.pem")),
        key_file: Some(papers.path("client.key")),
        ..trusting(&papers.path("ca.pem"))
    };
    let store = open(settings("rediss", port, with_certificate)).await;
    let id = create(&store, "task").await;
    let mut follower = store.follow(&id).await.unwrap().unwrap();
    chunk(&store, &id, "1").await;
    follower
        .wait_for(|pulse| pulse.cursor.revision == 2)
        .await
        .unwrap();
    assert_eq!(numbers(&store, &id).await, [1]);
    let without = RedisStore::open(settings("rediss", port, trusting(&papers.path("ca.pem")))).await;
    assert!(without.is_err(), "the server asks for a certificate");
}

#[tokio::test]
async fn a_server_that_nobody_trusted_vouches_for_is_refused_unless_that_is_said_in_as_many_words() {
    let (papers, others) = (Papers::new(), Papers::new());
    let port = free_port();
    let _server = papers.server(false, port);
    for tls in [Tls::default(), trusting(&others.path("ca.pem"))] {
        let refused = RedisStore::open(settings("rediss", port, tls)).await;
        let cause = refused.err().expect("nobody vouches for it").cause;
        assert!(cause.contains("TLS"), "{cause}");
    }
    let anybody = Tls {
        accept_any_certificate: true,
        ..Tls::default()
    };
    let store = open(settings("rediss", port, anybody)).await;
    create(&store, "task").await;
}

#[tokio::test]
async fn a_plain_connection_to_an_encrypted_port_and_the_other_way_round_fail_in_time() {
    let papers = Papers::new();
    let port = free_port();
    let server = papers.server(false, port);
    let ca = papers.path("ca.pem");
    for (scheme, port) in [("redis", port), ("rediss", server.port())] {
        let tls = if scheme == "rediss" {
            trusting(&ca)
        } else {
            Tls::default()
        };
        assert!(
            RedisStore::open(settings(scheme, port, tls)).await.is_err(),
            "{scheme}"
        );
    }
}

#[tokio::test]
async fn papers_that_cannot_be_read_or_do_not_fit_are_named() {
    let papers = Papers::new();
    papers.write("empty.pem", "");
    let path = |name: &str| Some(papers.path(name));
    for (tls, says) in [
        (
            Tls {
                ca_file: path("none.pem"),
                ..Tls::default()
            },
            "none.pem",
        ),
        (
            Tls {
                ca_file: path("empty.pem"),
                ..Tls::default()
            },
            "empty.pem",
        ),
        (
            Tls {
                certificate_file: path("client.pem"),
                ..Tls::default()
            },
            "key file",
        ),
        (
            Tls {
                certificate_file: path("client.pem"),
                key_file: path("client.pem"),
                ..Tls::default()
            },
            "client.pem",
        ),
        (
            Tls {
                certificate_file: path("client.pem"),
                key_file: path("server.key"),
                ..trusting(&papers.path("ca.pem"))
            },
            "do not fit",
        ),
    ] {
        let refused = RedisStore::open(settings("rediss", 1, tls)).await;
        let cause = refused.err().unwrap().cause;
        assert!(cause.contains(says), "{cause}");
    }
}
