//! Commits that were lost after they had been shown: no stream goes on as if nothing were.

use gateway_domain::Operation;
use gateway_testkit::redis::RedisServer;
use gateway_tests::{client::Ask, gateway::Gateway};
use serde_json::{Value, json};

use crate::support::{Deployment, begin, carried, cursor, resume, revision, subscribe, texts};

/// What Redis holds of a task.
struct Saved {
    task: String,
    keys: Vec<String>,
}

impl Saved {
    fn of(redis: &RedisServer, task: &str) -> Self {
        let keys = keys(redis, task);
        for (number, key) in keys.iter().enumerate() {
            assert_eq!(redis.say(&format!("COPY {key} saved:{number}")), ":1\r\n");
        }
        Self {
            task: task.to_owned(),
            keys,
        }
    }

    /// Takes the task back to where it was, as a server does that takes over without the last commits.
    fn restore(&self, redis: &RedisServer) {
        for key in keys(redis, &self.task) {
            redis.say(&format!("DEL {key}"));
        }
        for (number, key) in self.keys.iter().enumerate() {
            assert_eq!(redis.say(&format!("COPY saved:{number} {key}")), ":1\r\n");
        }
    }
}

fn keys(redis: &RedisServer, task: &str) -> Vec<String> {
    let listed = redis.say(&format!("KEYS *{task}*"));
    let keys: Vec<_> = listed
        .lines()
        .filter(|line| line.contains(task))
        .map(str::to_owned)
        .collect();
    assert!(keys.len() > 1, "{listed}");
    keys
}

async fn append(gateway: &Gateway, task: &str, text: &str) {
    let artifact = json!({ "artifactId": "a", "parts": [{ "text": text }] });
    let params = json!({ "id": task, "artifact": artifact, "append": true, "lastChunk": false });
    let agent = gateway.agent(gateway_domain::Binding::JsonRpc);
    agent
        .call(&Ask::new(Operation::UpdateArtifact, params))
        .await
        .json();
}

/// The texts of a task's artifact.
fn held(task: &Value) -> Vec<String> {
    let parts = task["artifacts"][0]["parts"].as_array();
    let texts = parts
        .into_iter()
        .flatten()
        .filter_map(|part| part["text"].as_str());
    texts.map(str::to_owned).collect()
}

#[tokio::test]
async fn a_stream_that_has_shown_what_was_lost_starts_over_with_the_task_and_says_so() {
    let Deployment {
        replicas: [one, other],
        redis,
    } = Deployment::start().await;
    let task = begin(&one, "ask").await;
    one.task_in("TASK_STATE_INPUT_REQUIRED", &task).await;
    let mut streams = Vec::new();
    for client in other.clients() {
        for marked in [true, false] {
            let mut stream = if marked {
                resume(&*client, &task, None).await.stream()
            } else {
                subscribe(&*client, &task).await
            };
            stream.event().await;
            streams.push((stream, marked));
        }
    }
    let saved = Saved::of(&redis, &task);
    append(&one, &task, "lost 1").await;
    append(&one, &task, "lost 2").await;
    let mut lost = String::new();
    for (stream, marked) in &mut streams {
        for text in ["lost 1", "lost 2"] {
            let event = stream.event().await;
            assert_eq!(texts(&event), [text]);
            if *marked {
                lost = cursor(&event);
            }
        }
    }
    saved.restore(&redis);
    let new = ["new 1", "new 2", "new 3"];
    for text in new {
        append(&one, &task, text).await;
    }
    for (stream, marked) in &mut streams {
        let first = stream.event().await;
        let mut shown = held(&first["task"]);
        assert!(first["task"].is_object(), "{first}");
        let told = if *marked {
            json!("other-timeline")
        } else {
            Value::Null
        };
        assert_eq!(carried(&first)["startedOver"], told);
        // It may have started over before the last of them.
        while shown.len() < new.len() {
            shown.extend(texts(&stream.event().await).into_iter().map(str::to_owned));
        }
        assert_eq!(shown, new);
    }
    for client in one.clients() {
        let mut stream = resume(&*client, &task, Some(&lost)).await.stream();
        let first = stream.event().await;
        assert_eq!(carried(&first)["startedOver"], "other-timeline");
        assert!(revision(&cursor(&first)) > revision(&lost));
        assert_eq!(held(&first["task"]), new);
    }
}
