//! Streams through a balancer: each event arrives before the agent is told to report the next one, so that one that is
//! kept back anywhere never comes.

use std::collections::BTreeSet;

use gateway_domain::{Binding, Operation};
use gateway_tests::{
    balancer::Kind,
    client::Answer,
    cluster::{Cluster, Plan},
    samples,
};
use serde_json::{Value, json};

use super::{ask, call};

#[tokio::test]
async fn an_event_passes_nginx_on_every_binding_before_the_next_one_is_made() {
    pass(Kind::Nginx).await;
}

#[tokio::test]
async fn an_event_passes_envoy_on_every_binding_before_the_next_one_is_made() {
    pass(Kind::Envoy).await;
}

async fn pass(kind: Kind) {
    let cluster = Cluster::start(Plan::behind(kind));
    let (clients, agents) = (cluster.clients(), cluster.agents());
    for client in clients.all() {
        let agent = agents.of_binding(client.binding());
        let task = call(&*client, Operation::SendMessage, samples::message("auth")).await;
        let task = task["task"]["id"].as_str().unwrap().to_owned();
        let mut stream = match client
            .call(
                // Compressed, small events would wait for more of them.
                &ask(Operation::SubscribeToTask, json!({ "id": task })).with("accept-encoding", "gzip, br"),
            )
            .await
        {
            Answer::Stream(stream) => stream,
            other => panic!("{other:?}"),
        };
        assert_eq!(stream.event().await["task"]["id"], *task);
        for number in 1..=5 {
            call(&*agent, Operation::UpdateArtifact, chunk(&task, number)).await;
            let event = stream.event().await;
            let text = &event["artifactUpdate"]["artifact"]["parts"][0]["text"];
            assert_eq!(*text, number.to_string(), "{event}");
            // Whichever replica reads has what was shown.
            let held = call(&*client, Operation::GetTask, json!({ "id": task })).await;
            let parts = held["artifacts"][0]["parts"].as_array().unwrap();
            assert_eq!(parts.len(), usize::try_from(number).unwrap(), "{held}");
        }
        call(&*agent, Operation::CompleteTask, json!({ "id": task })).await;
        let rest = stream.rest().await;
        assert_eq!(rest.len(), 1, "{rest:?}");
        assert_eq!(rest[0]["statusUpdate"]["status"]["state"], "TASK_STATE_COMPLETED");
    }
    let answered = cluster.answered().await;
    assert!(answered.iter().all(|calls| *calls > 0), "{answered:?}");
}

#[tokio::test]
async fn a_quiet_stream_outlives_a_proxy_that_ends_what_is_silent_for_longer() {
    let plan = Plan::behind(Kind::Nginx)
        .set("CONNECTIONS__KEEP_ALIVE", "1 s")
        .exchange("proxy_read_timeout 1h;", "proxy_read_timeout 3s;");
    let cluster = Cluster::start(plan);
    // Over gRPC the example waits for an hour: its keep-alives are pings, which nginx does not count.
    for binding in [Binding::JsonRpc, Binding::HttpJson] {
        let client = cluster.clients().of_binding(binding);
        let sent = client
            .call(&ask(Operation::SendStreamingMessage, samples::message("quiet 7")))
            .await;
        let events = sent.stream().rest().await;
        let last = &events.last().unwrap()["statusUpdate"]["status"]["state"];
        assert_eq!(
            *last,
            "TASK_STATE_COMPLETED",
            "over {}: {events:?}",
            binding.name()
        );
    }
}

#[tokio::test]
async fn the_card_shows_where_the_balancer_is_and_every_binding_is_called_there() {
    for kind in Kind::ALL {
        let cluster = Cluster::start(Plan::behind(kind));
        let front = cluster.front();
        let card = gateway_tests::raw::Http::new(front.http)
            .get("/.well-known/agent-card.json")
            .await
            .json();
        let interfaces = card["supportedInterfaces"].as_array().unwrap();
        let urls: BTreeSet<_> = interfaces
            .iter()
            .map(|interface| interface["url"].as_str().unwrap())
            .collect();
        let shown = front.public_urls();
        assert_eq!(urls, shown.iter().map(|(_, url)| &**url).collect(), "{card}");
        for binding in Binding::ALL {
            let client = cluster.clients().of_binding(binding);
            let done = call(&*client, Operation::SendMessage, samples::message("say hello")).await;
            assert_eq!(
                done["task"]["status"]["state"],
                "TASK_STATE_COMPLETED",
                "{}",
                binding.name()
            );
        }
    }
}

fn chunk(task: &str, number: u32) -> Value {
    json!({
        "id": task,
        "artifact": { "artifactId": "a", "parts": [{ "text": number.to_string() }] },
        "append": number > 1,
        "lastChunk": false,
    })
}
