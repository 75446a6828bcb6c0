//! Names that mean what the test says.

use std::{
    collections::HashMap,
    io,
    net::IpAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use tw_egress::Resolve;

type Answer = std::pin::Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send>>;

/// A resolver with answers per name, given one after the other; the last one stays. It asks nobody.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    answers: Arc<Mutex<HashMap<String, Vec<Vec<IpAddr>>>>>,
    lookups: Arc<AtomicUsize>,
}

impl Names {
    pub(crate) fn with(self, name: &str, answers: &[&[&str]]) -> Self {
        let parse = |answer: &&[&str]| answer.iter().map(|address| address.parse().unwrap()).collect();
        let answers = answers.iter().map(parse).collect();
        self.answers.lock().unwrap().insert(name.to_owned(), answers);
        self
    }

    pub(crate) fn lookups(&self) -> usize {
        self.lookups.load(Ordering::SeqCst)
    }
}

impl Resolve for Names {
    fn resolve<'a>(&'a self, name: &'a str) -> Answer {
        self.lookups.fetch_add(1, Ordering::SeqCst);
        let mut answers = self.answers.lock().unwrap();
        let answer = answers.get_mut(name).map(|answers| match answers.len() {
            0 | 1 => answers.first().cloned().unwrap_or_default(),
            _ => answers.remove(0),
        });
        let answer = answer.ok_or_else(|| io::ErrorKind::NotFound.into());
        Box::pin(async move { answer })
    }
}
