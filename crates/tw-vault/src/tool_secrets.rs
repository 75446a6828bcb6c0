//! Secrets that a tool's definition holds itself: in `implementation` and in `execution_spec`. They are sealed when it
//! is saved, and open when it is prepared to run; in between, in tables, histories and views, they are what this makes
//! of them.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::Value;
use tw_base::{Error, Result};
use tw_model::{Definition, SEALED, TenantId, ToolId, each_secret};
use zeroize::Zeroizing;

use crate::{envelope::TenantKey, vault::Vault};

impl Vault {
    /// Seals the secrets of a definition that is about to be saved as a tool's. What is sealed for this tool
    /// already stays as it is.
    pub async fn seal_definition(
        &self,
        tenant: TenantId,
        tool: ToolId,
        definition: &mut Definition,
    ) -> Result<()> {
        let mut has_secrets = false;
        for part in definition.authored.secret_parts_mut() {
            each_secret(part, &mut |_| has_secrets = true);
        }
        if has_secrets {
            let key = self.new_tool_secrets(tenant).await?;
            definition.authored.secret_parts_mut().for_each(|part| seal(&key, tool, part));
        }
        Ok(())
    }

    /// Opens the secrets of a definition, for another tool: what is sealed for one does not open in another.
    pub async fn open_definition(
        &self,
        tenant: TenantId,
        tool: ToolId,
        definition: &mut Definition,
    ) -> Result<()> {
        for part in definition.authored.secret_parts_mut() {
            *part = self.open_part(tenant, tool, part).await?;
        }
        Ok(())
    }

    /// Seals the secrets of something that is kept beside a tool. What is sealed for this tool already stays as it is.
    pub async fn seal_part(&self, tenant: TenantId, tool: ToolId, part: &mut Value) -> Result<()> {
        let mut has_secrets = false;
        each_secret(part, &mut |_| has_secrets = true);
        if has_secrets {
            seal(&*self.new_tool_secrets(tenant).await?, tool, part);
        }
        Ok(())
    }

    /// A tool's `implementation` or `execution_spec` with its secrets, for whatever runs it.
    pub async fn open_part(&self, tenant: TenantId, tool: ToolId, part: &Value) -> Result<Value> {
        let key = self.tool_secrets(tenant).await?;
        let mut opened = part.clone();
        open(key.as_deref(), tool, &mut opened).map(|()| opened).ok_or_else(|| {
            Error::internal("opening the secrets of a tool", format!("a secret of tool {tool} does not open"))
        })
    }
}

fn seal(key: &TenantKey, tool: ToolId, part: &mut Value) {
    each_secret(part, &mut |secret| {
        if opened(key, tool, secret).is_none() {
            let plain = Zeroizing::new(secret.to_string());
            let sealed = URL_SAFE_NO_PAD.encode(key.seal(tool, plain.as_bytes()));
            *secret = Value::String(format!("{SEALED}{sealed}"));
        }
    });
}

/// Opens what is sealed. `None` where something is and does not open.
pub fn open(key: Option<&TenantKey>, tool: ToolId, part: &mut Value) -> Option<()> {
    let mut all = Some(());
    each_secret(part, &mut |secret| {
        if secret.as_str().is_some_and(|text| text.starts_with(SEALED)) {
            match key.and_then(|key| opened(key, tool, secret)) {
                Some(plain) => *secret = plain,
                None => all = None,
            }
        }
    });
    all
}

/// What a secret was before it was sealed for this tool, if it was.
fn opened(key: &TenantKey, tool: ToolId, secret: &Value) -> Option<Value> {
    let sealed = URL_SAFE_NO_PAD.decode(secret.as_str()?.strip_prefix(SEALED)?).ok()?;
    serde_json::from_slice(&key.open(tool, &sealed)?).ok()
}
