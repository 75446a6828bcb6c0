//! `toolwright master-key`: makes a key, or puts what is stored under another one.

use std::path::PathBuf;

use anyhow::{Context, Result};
use serde_json::json;
use tw_base::MasterKey;

use super::{Common, with_office};
use crate::{
    fail::refusal,
    folder::{self, ServeLock},
    master_key::{self, KeySource},
    output,
};

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Put every stored secret under another master key
    #[command(after_help = "Example:\n  \
        (umask 077; toolwright master-key > /etc/toolwright/key.new)\n  \
        toolwright master-key rotate --to /etc/toolwright/key.new\n\n\
        Stop the servers before, and start them with the new key afterwards. Approvals that wait are void, and\n\
        cursors of lists begin anew. What was interrupted is finished by the same command again.")]
    Rotate(Rotate),
}

#[derive(Debug, clap::Args)]
pub(crate) struct Rotate {
    #[command(flatten)]
    common: Common,
    /// The file that holds the new key
    #[arg(long, value_name = "FILE")]
    to: PathBuf,
}

pub(crate) async fn run(command: Option<Command>) -> Result<()> {
    match command {
        None => output::say(&MasterKey::generate().to_text()),
        Some(Command::Rotate(rotate)) => run_rotate(rotate).await,
    }
}

async fn run_rotate(Rotate { common, to }: Rotate) -> Result<()> {
    with_office(&common.place, async |office, config| {
        // A server that runs would go on sealing under the old key.
        let _alone = folder::of(&office.target).map(ServeLock::take).transpose()?;
        let found = master_key::find(config, &office.target)?;
        let found = found.ok_or_else(|| {
            refusal("there is no master key yet", "`toolwright serve` makes one, or takes the one you name")
        })?;
        let next = master_key::read(&to)?.with_context(|| format!("there is no file {}", to.display()))?;
        let keys = office.operator.rotate_master_key(&found.key, &next).await;
        let Some(keys) = keys.context("cannot put the secrets under the new key")? else {
            let what = "the database belongs to another master key than the one that is set";
            return Err(refusal(what, "name the key it was started with last"));
        };
        // The key in the data folder is ours to keep; one that the operator keeps, the operator changes.
        let own = match &found.source {
            KeySource::File(file) if master_key::own_file(&office.target).as_ref() == Some(file) => {
                Some(file)
            }
            _ => None,
        };
        if let Some(file) = own {
            master_key::replace(file, &next).with_context(|| format!("cannot write {}", file.display()))?;
        }
        if common.json {
            return output::json(&json!({ "keys": keys, "replaced": own }));
        }
        output::say(&format!("{keys} keys are under the new master key now"))?;
        match own {
            Some(file) => {
                output::say(&format!("{} holds it; {} is no longer needed", file.display(), to.display()))
            }
            None => output::say("start the servers with the new key from now on"),
        }
    })
    .await
}
