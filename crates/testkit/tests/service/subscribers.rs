//! Many subscribers at once: each sees each event once and in order, whenever it came.

use futures::{StreamExt, future::join_all};
use gateway_domain::{
    Entry, StreamResponse, TaskId, TaskSnapshot, event::Keep, lifecycle::Move, reply::StreamItem,
};
use gateway_testkit::agent::{Gate, Script, Step};

use crate::harness::World;

const SUBSCRIBERS: usize = 20;
const UPDATES_BETWEEN: usize = 25;

/// 25 updates for each gate: status updates and chunks take turns.
fn burst(gates: &[Gate]) -> Vec<Step> {
    let mut run = vec![Step::moves(Move::Work)];
    for (turn, gate) in gates.iter().enumerate() {
        run.push(Step::Wait(gate.clone()));
        run.extend((0..UPDATES_BETWEEN).map(|number| {
            let number = turn * UPDATES_BETWEEN + number;
            let text = format!("{number};");
            if number.is_multiple_of(2) {
                Step::progress(&text)
            } else {
                Step::chunk("a", &text, number > 1, false)
            }
        }));
    }
    run.push(Step::moves(Move::Complete));
    run
}

/// What a client makes of a stream: the first event is the task, and each later one changes it.
fn fold(items: &[StreamItem]) -> TaskSnapshot {
    let StreamResponse::Task(first) = items[0].event.event() else {
        panic!("the first event is {:?}", items[0].event);
    };
    let mut task = TaskSnapshot::clone(first);
    for item in &items[1..] {
        task.apply(&match item.event.event() {
            StreamResponse::StatusUpdate(event) => Entry::StatusUpdated {
                event: event.clone(),
                displaced: Keep::Append,
            },
            StreamResponse::ArtifactUpdate(event) => Entry::ArtifactUpdated(event.clone()),
            other => panic!("{other:?} in the middle of a stream"),
        });
    }
    task
}

/// Subscribes at the very moment when the agent goes on, so that the snapshot and the next updates race.
async fn subscribe_at(world: &World, task: &TaskId, gate: &Gate) -> Vec<StreamItem> {
    gate.reached().await;
    let (events, ()) = tokio::join!(world.subscribe(task), async { gate.open() });
    events.unwrap().map(Result::unwrap).collect().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn subscribers_at_any_moment_of_a_burst_see_the_same_task_in_the_end() {
    let world = World::new();
    let gates: Vec<_> = (0..SUBSCRIBERS).map(|_| Gate::new()).collect();
    world.agent.expect(Script::accept(burst(&gates)));
    let task = world.start("hello").await;
    let readers = gates.into_iter().map(|gate| {
        let (world, task) = (world.clone(), task.clone());
        tokio::spawn(async move { subscribe_at(&world, &task, &gate).await })
    });
    let streams = join_all(readers).await;
    let stored = world.get(&task).await.unwrap();
    for items in streams.into_iter().map(Result::unwrap) {
        let revisions: Vec<_> = items.iter().map(|item| item.cursor.unwrap().revision).collect();
        let gapless = revisions.is_sorted_by(|a, b| a + 1 == *b);
        assert!(gapless, "every update of this task is an event: {revisions:?}");
        assert_eq!(fold(&items), stored);
    }
}
