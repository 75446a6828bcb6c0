//! Workers that come and go.

use std::{fs, path::Path, time::Duration};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tokio::{
    task::JoinSet,
    time::{sleep, timeout},
};
use tw_sandbox::{Error, JqLimits};

use crate::{PATIENCE, World, patient};

const ENDLESS: &str = "def f: f; f";

#[tokio::test]
async fn fifty_requests_at_once_get_each_its_own_answer() {
    let world = World::new();
    let mut requests = JoinSet::new();
    for number in 0..50 {
        let sandbox = world.sandbox.clone();
        requests.spawn(async move {
            let given = sandbox.jq(&format!(". + {}", number % 7), &json!(number), patient()).await.unwrap();
            assert_eq!(given, [json!(number + number % 7)]);
        });
    }
    while let Some(done) = requests.join_next().await {
        done.unwrap();
    }
    let most = std::thread::available_parallelism().unwrap().get().clamp(2, 8);
    assert!((1..=most).contains(&world.workers().len()));
}

#[tokio::test]
async fn worker_that_is_killed_between_requests_is_replaced() {
    let world = World::new();
    world.jq(".", Value::Null).await.unwrap();
    let before = world.workers();
    kill(&before);

    // It may be found out before the request or by it.
    if let Err(error) = world.jq(".", json!(1)).await {
        assert!(error.is_retryable(), "{error:?}");
    }
    assert_eq!(world.jq(".", json!(2)).await.unwrap(), [json!(2)]);
    assert_ne!(world.workers(), before);
}

#[tokio::test]
async fn worker_that_is_killed_in_a_request_fails_it_and_no_other() {
    let world = World::new();
    let sandbox = world.sandbox.clone();
    let endless = tokio::spawn(async move { sandbox.jq(ENDLESS, &Value::Null, patient()).await });
    let workers = running(&world, 1).await;
    kill(&workers);

    let error = endless.await.unwrap().unwrap_err();
    assert!(matches!(error, Error::Worker { .. }), "{error:?}");
    assert_eq!(world.jq(".", json!(2)).await.unwrap(), [json!(2)]);
}

#[tokio::test]
async fn request_that_is_dropped_takes_its_worker_with_it() {
    let world = World::new();
    let endless = world.sandbox.jq(ENDLESS, &Value::Null, patient());
    let (workers, ()) = tokio::join!(running(&world, 1), async {
        let _ = timeout(Duration::from_millis(300), endless).await;
    });

    gone(&workers).await;
    assert_eq!(world.jq(".", json!(2)).await.unwrap(), [json!(2)]);
}

#[tokio::test]
async fn queue_of_its_own_leaves_a_worker_to_others() {
    let world = World::new();
    let flood = world.sandbox.apart();
    let mut endless = JoinSet::new();
    for _ in 0..20 {
        let flood = flood.clone();
        endless.spawn(async move { flood.jq(ENDLESS, &Value::Null, patient()).await });
    }
    let most = std::thread::available_parallelism().unwrap().get().clamp(2, 8);
    running(&world, most - 1).await;

    let given = world.sandbox.apart().jq(".", &json!(1), JqLimits { time: PATIENCE / 2, ..patient() }).await;

    assert_eq!(given.unwrap(), [json!(1)]);
    assert_eq!(world.workers().len(), most);
}

#[tokio::test]
async fn nothing_is_left_after_close() {
    let world = World::new();
    let requests = [world.jq("1", Value::Null), world.jq("2", Value::Null), world.jq("3", Value::Null)];
    for request in requests {
        request.await.unwrap();
    }
    let sandbox = world.sandbox.clone();
    let limits = JqLimits { time: Duration::from_millis(300), ..patient() };
    let endless = tokio::spawn(async move { sandbox.jq(ENDLESS, &Value::Null, limits).await });
    let workers = running(&world, 1).await;
    let homes: Vec<_> =
        workers.iter().map(|pid| fs::read_link(format!("/proc/{pid}/cwd")).unwrap()).collect();
    while world.sandbox.jq("4", &Value::Null, patient()).await.is_err() {}

    world.sandbox.close().await;

    assert!(matches!(endless.await.unwrap(), Err(Error::Time { .. })));
    assert!(workers.iter().all(|pid| !exists(*pid)), "{workers:?}");
    assert!(world.workers().is_empty());
    assert!(homes.iter().all(|home| !home.exists()), "{homes:?}");
    let error = world.jq(".", Value::Null).await.unwrap_err();
    assert_eq!(error.to_string(), "the sandbox is closed");
    world.sandbox.close().await;
}

#[tokio::test]
async fn worker_is_replaced_after_many_requests() {
    let world = World::new();
    world.jq(".", Value::Null).await.unwrap();
    let first = world.workers();
    for number in 1..1001 {
        assert_eq!(world.jq(".", json!(number)).await.unwrap(), [json!(number)]);
    }

    gone(&first).await;
    assert_eq!(world.workers().len(), 1);
}

/// Waits until that many workers are there and have started to compute.
async fn running(world: &World, count: usize) -> Vec<u32> {
    let all = async {
        loop {
            let workers = world.workers();
            if workers.len() == count && workers.iter().all(|pid| busy(*pid)) {
                return workers;
            }
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(PATIENCE, all).await.unwrap()
}

/// Whether a worker has got a request: it lowers its limit of memory for each.
fn busy(pid: u32) -> bool {
    let limits = fs::read_to_string(format!("/proc/{pid}/limits")).unwrap_or_default();
    let data = limits.lines().find_map(|line| line.strip_prefix("Max data size"));
    data.is_some_and(|line| !line.trim_start().starts_with("unlimited"))
}

/// Waits until there is no such process, not even a dead one.
async fn gone(workers: &[u32]) {
    let all = async {
        while workers.iter().any(|pid| exists(*pid)) {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(PATIENCE, all).await.unwrap();
}

fn exists(pid: u32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}

fn kill(workers: &[u32]) {
    for pid in workers {
        let pid = Pid::from_raw(i32::try_from(*pid).unwrap()).unwrap();
        kill_process(pid, Signal::KILL).unwrap();
    }
}
