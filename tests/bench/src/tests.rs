//! The generator against its own floor.

use std::time::Duration;

use super::*;

fn free_addr() -> SocketAddr {
    std::net::TcpListener::bind("127.0.0.1:0")
        .and_then(|l| l.local_addr())
        .expect("a free port")
}

#[tokio::test]
async fn every_operation_works_on_the_floor_server_over_every_binding() {
    let (http, grpc) = (free_addr(), free_addr());
    tokio::spawn(floor::serve(http, grpc));
    for addr in [http, grpc] {
        while tokio::net::TcpStream::connect(addr).await.is_err() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
    let own = [Watched {
        name: "own".into(),
        pid: std::process::id(),
    }];
    for (binding, url) in [
        (Binding::Jsonrpc, format!("http://{http}/jsonrpc")),
        (Binding::Rest, format!("http://{http}/rest")),
        (Binding::Grpc, format!("http://{grpc}")),
    ] {
        let target = Target::new(binding, &url).unwrap();
        let mut stored = Stored::default();
        load::store(&target, &mut stored, 5, 2).await.unwrap();
        assert_eq!((stored.count, stored.ids.len()), (5, 5));
        for op in [Op::Send, Op::Stream, Op::Get, Op::List] {
            let load = Load {
                op,
                concurrency: 2,
                grpc_connections: 1,
                seconds: 10.0,
                requests: 20,
                warmup_seconds: 0.0,
                rate: None,
                contexts: 2,
                text: "hello".into(),
                page_size: 50,
                by_context: false,
                walk: false,
            };
            let report = load::run(&target, load, &stored, &own).await.unwrap();
            assert_eq!(
                (report.requests, report.errors),
                (20, 0),
                "{binding:?} {op:?} {:?}",
                report.first_error
            );
        }
        let fanout = Fanout {
            streams: 20,
            hold_ms: 1500,
            chunks: 30,
            size: 10,
            streams_per_connection: 10,
        };
        let report = fanout::run(&target, &fanout, &own).await.unwrap();
        assert_eq!(
            (report.received, report.open_errors),
            (20, 0),
            "{binding:?} {:?}",
            report.first_error
        );
        assert!(report.from_emission);
        let report = growth::run(&target, 1, 8, &own).await.unwrap();
        assert!(report.early_cpu_us > 0.0, "{binding:?} {report:?}");
    }
}

#[test]
fn refuses_targets_on_other_machines() {
    assert!(Target::new(Binding::Rest, "http://192.0.2.1:80").is_err());
    assert!(Target::new(Binding::Rest, "https://127.0.0.1").is_err());
}
