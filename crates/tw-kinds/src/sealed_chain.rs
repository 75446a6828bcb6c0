//! Chains in whose steps secrets lie sealed.

use serde_json::Value;
use tokio::sync::OnceCell;
use tw_exec::{BoxFuture, Call, Ended, Executor};
use tw_model::{ToolFailure, holds_sealed};
use tw_schema::Fault;

use crate::composition::Composition;

/// A chain that is read again with its secrets open when it runs for the first time: a secret may be a template.
#[derive(Debug)]
pub(crate) struct SealedChain {
    sealed: Composition,
    opened: OnceCell<Composition>,
}

impl SealedChain {
    /// Reads a chain, whether secrets lie sealed in it or not.
    pub(crate) fn read(spec: &Value, is_new: bool) -> Result<Box<dyn Executor>, Vec<Fault>> {
        let chain = Composition::read(spec, is_new)?;
        Ok(match holds_sealed(spec) {
            true => Box::new(Self { sealed: chain, opened: OnceCell::new() }),
            false => Box::new(chain),
        })
    }

    async fn open(call: &Call<'_>) -> Result<Composition, ToolFailure> {
        let spec = call.secrets.execution_spec().await?;
        Composition::read(&spec, false).map_err(|faults| {
            let first = faults.first().map(|fault| format!("`{}` {}", fault.path, fault.message));
            ToolFailure::new(format!("the chain cannot be read: {}", first.unwrap_or_default()))
        })
    }
}

impl Executor for SealedChain {
    fn run<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Ended> {
        Box::pin(async move {
            match self.opened.get_or_try_init(|| Self::open(&call)).await {
                Ok(chain) => Executor::run(chain, call).await,
                Err(failure) => Ended::Failed(failure),
            }
        })
    }

    fn calls(&self) -> Vec<&str> {
        self.sealed.calls()
    }

    fn is_resumable(&self) -> bool {
        self.sealed.is_resumable()
    }
}
