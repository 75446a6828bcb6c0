//! `toolwright backup`.

use std::path::PathBuf;

use anyhow::{Context, Result};
use serde_json::json;
use tw_store::{Options, Store, Target};

use crate::{
    fail::{Hint, refusal},
    operator::Common,
    output,
};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    common: Common,
    /// The file to write; it must not exist yet
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

pub(crate) async fn run(args: Args) -> Result<()> {
    let target = args.common.place.load()?.target()?;
    // A backup is also made before an upgrade, so nothing is migrated here; and what is not there is not
    // made by looking for it.
    match &target {
        Target::Sqlite { file } if !file.exists() => {
            let what = format!("there is no database {}", file.display());
            return Err(refusal(what, "name its folder with --data-dir"));
        }
        Target::Postgres { .. } => {
            let what = "a PostgreSQL database is backed up with its own tools";
            return Err(refusal(what, "use pg_dump, and keep the master key in another safe place"));
        }
        Target::Sqlite { .. } => {}
    }
    let store = Store::open(&Options { connections: 2, ..Options::new(target) }).await;
    let store = store.context("cannot open the database")?;
    let copied = store.backup(&args.out).await;
    store.close().await;
    copied
        .with_context(|| format!("cannot write a backup to {}", args.out.display()))
        .hint("name another file with --out, in a folder that exists and has space")?;

    let bytes = std::fs::metadata(&args.out).context("cannot look at the backup")?.len();
    if args.common.json {
        return output::json(&json!({ "file": args.out, "bytes": bytes, "has_master_key": false }));
    }
    output::say(&format!("wrote {} ({bytes} bytes)", args.out.display()))?;
    output::say(
        "The master key is not part of it: keep a copy of `master.key` in another safe place. Without it the \
         stored credentials cannot be read.\n\
         To restore: put the file into an empty data folder as `toolwright.sqlite`, with the key beside it.",
    )
}
