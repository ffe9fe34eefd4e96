//! Following a task: who is told what, and when the channel closes.

use gateway_domain::{TaskId, TaskState, lifecycle::Move, ports::Pulse};
use tokio::sync::watch;

use super::Bench;

async fn follow(bench: &Bench, id: &TaskId) -> watch::Receiver<Pulse> {
    bench.reader().follow(id).await.unwrap().unwrap()
}

pub async fn a_follower_is_told_of_the_newest_commit_when_it_returns(bench: &Bench) {
    let id = bench.visible_task(0).await;
    let mut follower = follow(bench, &id).await;
    for made in [
        bench.append(&id, "a", "text").await,
        bench.take_message(&id, "more").await,
        bench.step(&id, Move::Work, 1).await,
        bench.step(&id, Move::Complete, 2).await,
    ] {
        // Another replica may hear of it a little later, but never of less.
        let at_least = |pulse: &Pulse| pulse.cursor.revision >= made.cursor.revision;
        follower.wait_for(at_least).await.unwrap();
    }
    let last = bench.head(&id).await.pulse();
    assert_eq!(*follower.borrow(), last);
    assert_eq!((last.state, last.status_revision), (TaskState::Completed, 5));
}

pub async fn a_follower_that_comes_late_begins_with_the_newest_pulse(bench: &Bench) {
    let id = bench.visible_task(0).await;
    let made = bench.append(&id, "a", "text").await;
    assert_eq!(*follow(bench, &id).await.borrow(), made.pulse());
}

pub async fn a_follower_that_comes_when_others_have_left_is_told_as_well(bench: &Bench) {
    let id = bench.visible_task(0).await;
    for chunk in 0..3 {
        let mut follower = follow(bench, &id).await;
        let made = bench.append(&id, "a", &format!("chunk {chunk}")).await;
        follower
            .wait_for(|pulse| pulse.cursor == made.cursor)
            .await
            .unwrap();
        drop(follower);
        bench.append(&id, "a", "nobody follows").await;
    }
}

pub async fn a_task_that_is_not_there_cannot_be_followed(bench: &Bench) {
    let nobody = TaskId::new("nobody's");
    assert!(bench.reader().follow(&nobody).await.unwrap().is_none());
}

pub async fn the_channel_closes_when_the_task_is_discarded(bench: &Bench) {
    let id = bench.hidden_task(0).await;
    let mut follower = follow(bench, &id).await;
    bench.writer().discard(&id).await.unwrap();
    let told = follower.wait_for(|pulse| pulse.cursor.revision > 1).await;
    assert!(told.is_err(), "nothing is told any more");
}

pub async fn the_channel_of_a_finished_task_stays_open_while_it_is_kept(bench: &Bench) {
    let id = bench.visible_task(0).await;
    let mut follower = follow(bench, &id).await;
    bench.step(&id, Move::Complete, 1).await;
    follower
        .wait_for(|pulse| pulse.state.is_terminal())
        .await
        .unwrap();
    assert!(
        follower.has_changed().is_ok(),
        "a closed channel would be an error"
    );
    let late = follow(bench, &id).await;
    assert!(late.has_changed().is_ok());
    assert!(late.borrow().state.is_terminal());
}

pub async fn a_shown_task_is_told_of(bench: &Bench) {
    let id = bench.hidden_task(0).await;
    let mut follower = follow(bench, &id).await;
    assert!(follower.borrow().hidden);
    let showing = bench.showing(&id, 1).await;
    bench.writer().commit(showing).await.unwrap();
    let told = *follower.wait_for(|pulse| !pulse.hidden).await.unwrap();
    assert_eq!((told.cursor.revision, told.state), (2, TaskState::Submitted));
}
