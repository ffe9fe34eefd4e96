//! What goes wrong: replicas are killed and started again, and Redis fails over where a trial has it, evenly over the trial.

use std::sync::Arc;

use super::{Stage, count, redis::Redis};
use crate::cluster::Cluster;

/// Lets everything go wrong that the trial asks for, says that it is over, and hands back what it happened to.
pub(crate) async fn run(stage: Arc<Stage>, mut cluster: Cluster, mut redis: Redis) -> (Cluster, Redis) {
    let (kills, failovers) = (stage.trial.kills, stage.trial.failovers);
    let all = kills + failovers;
    let mut failed_over = 0;
    for number in 1..=all {
        tokio::time::sleep(stage.trial.pace).await;
        // The k-th failover comes when k parts of all faults are through.
        if (failed_over + 1) * all <= number * failovers {
            failed_over += 1;
            fail_over(&stage, &mut redis);
            count(&stage.counts.failovers);
        } else {
            let victim = fastrand::usize(..3);
            cluster.kill(victim);
            tokio::time::sleep(stage.trial.pace / 4).await;
            tokio::task::block_in_place(|| cluster.restart(victim));
            count(&stage.counts.kills);
        }
    }
    stage.faults_over.send_replace(true);
    (cluster, redis)
}

fn fail_over(stage: &Stage, redis: &mut Redis) {
    let task = stage.any_task.get().expect("tasks begin before anything fails");
    tokio::task::block_in_place(|| redis.fail_over(task, !stage.trial.confirmed));
}
