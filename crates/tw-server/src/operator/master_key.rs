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
    /// Re-encrypt all stored secrets with another master key
    #[command(after_help = "Example:\n  \
        (umask 077; toolwright master-key > /etc/toolwright/key.new)\n  \
        toolwright master-key rotate --to /etc/toolwright/key.new\n\n\
        Stop the servers first, and start them with the new key afterwards. Pending approvals become void, and list\n\
        cursors become invalid. If the command is interrupted, run it again to finish.")]
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
            refusal("there is no master key yet", "`toolwright serve` creates one at the first start, or uses the one in TOOLWRIGHT_MASTER_KEY or `master_key_file`")
        })?;
        let next = master_key::read(&to)?.with_context(|| format!("there is no file {}", to.display()))?;
        let keys = office.operator.rotate_master_key(&found.key, &next).await;
        let Some(keys) = keys.context("cannot re-encrypt the secrets with the new key")? else {
            let what = "the database belongs to another master key than the one that is set";
            return Err(refusal(what, "set the key that the servers used last"));
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
        output::say(&format!("re-encrypted {keys} keys with the new master key"))?;
        match own {
            Some(file) => {
                output::say(&format!("{} holds it; {} is no longer needed", file.display(), to.display()))
            }
            None => output::say("start the servers with the new key from now on"),
        }
    })
    .await
}
