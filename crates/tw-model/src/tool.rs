//! What a tool is.

use std::{collections::BTreeMap, fmt, sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Authored, Permission, Slug, Timestamp, ToolId};

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum $name {
            $($(#[$variant_doc])* #[serde(rename = $word)] $variant),+
        }

        impl $name {
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }

            #[must_use]
            pub fn parse(text: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|word| word.as_str() == text)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

words! {
    /// What a tool may do to the world, from harmless to irreversible. The order matters: a tenant may
    /// raise a level and never lower it.
    Level { Read = "read", Draft = "draft", Write = "write", Destructive = "destructive" }
}

words! {
    /// Whether an agent's call waits for a person, where the definition says so.
    Policy { Auto = "auto", AlwaysAsk = "always_ask" }
}

words! {
    /// Which layer of the catalogue a tool's row belongs to. The wire calls it `kind`.
    Layer { Code = "code", SystemOverride = "system_override", TenantCustom = "tenant_custom" }
}

words! {
    Origin { Code = "code", Builtin = "builtin", Database = "database", Bundle = "bundle", Mcp = "mcp" }
}

words! {
    ToolStatus { Draft = "draft", Published = "published", Deprecated = "deprecated", Disabled = "disabled" }
}

words! {
    /// Whether a tool is in a tenant's catalogue when no row says anything about it.
    Listing {
        /// There unless switched off.
        OptOut = "opt_out",
        /// Absent until switched on, because it needs provisioning.
        OptIn = "opt_in",
    }
}

words! {
    /// Why a tool is not in a tenant's catalogue.
    Unlisted {
        /// Its list of tenants does not name this one.
        NotForThisTenant = "not_for_this_tenant",
        SwitchedOff = "switched_off",
        /// It is absent until switched on, and nobody has.
        NotSwitchedOn = "not_switched_on",
    }
}

words! {
    SectionKind {
        Summary = "summary", Table = "table", Chart = "chart", Radar = "radar", Ranking = "ranking",
        Custom = "custom",
    }
}

/// One part of a tool's output and how a person wants to see it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutputSection {
    /// Key in the output object.
    pub key: String,
    pub label: String,
    #[serde(rename = "type")]
    pub kind: SectionKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<BTreeMap<String, Value>>,
    /// The label in other languages: `{ "de": { "label" } }`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub i18n: Option<Value>,
}

/// How runs of a tool share the machine. Never shown to a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Execution {
    /// Equal input gives equal output, and nothing else happens.
    pub is_pure: bool,
    pub concurrency_group: String,
    /// How many runs of the group may overlap; `None` for no limit of its own.
    pub max_concurrency: Option<u32>,
    pub timeout_s: Option<u32>,
}

impl Default for Execution {
    fn default() -> Self {
        Self {
            is_pure: false,
            concurrency_group: "default".to_owned(),
            max_concurrency: None,
            timeout_s: None,
        }
    }
}

/// What runs when the tool is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "implementation_type", rename_all = "snake_case")]
pub enum Implementation {
    /// A Rust function that registered itself under the tool's slug.
    Code,
    /// Gives back what it was given, or one of the program's own tools under another name.
    Internal,
    /// A request to somebody else's server.
    Http,
    /// A program outside, which fetches its calls and brings back the results.
    External,
    /// A person, who answers in a form.
    Space,
    /// A function of the program that tools may call.
    Function,
    /// A script, in a sandbox.
    Artifact,
    /// A tool of somebody else's MCP server.
    Mcp,
    /// Other tools, one after the other.
    Composition,
    /// A question to a language model.
    Prompt,
    /// What its `execution_spec` says, and nothing where it has none.
    Custom,
    /// A kind of a newer program. Such a tool is shown and can be switched off, and never runs.
    Unknown,
}

impl Implementation {
    /// What a tool outside the program can be made of.
    pub const AUTHORED: &[Self] = &[
        Self::Internal,
        Self::Http,
        Self::External,
        Self::Space,
        Self::Function,
        Self::Artifact,
        Self::Mcp,
        Self::Composition,
        Self::Prompt,
        Self::Custom,
    ];

    /// Words of `implementation_type` that a later version will know.
    pub const PLANNED: &[&str] = &["rag_retrieval", "agent_call", "task", "code"];

    /// The authored one that the wire's `implementation_type` names.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::AUTHORED.iter().copied().find(|implementation| implementation.type_name() == text)
    }

    /// The wire's `implementation_type`.
    #[must_use]
    pub const fn type_name(self) -> &'static str {
        self.wire_names().0
    }

    /// Whether a program that works beside this one during an upgrade may not know the kind. What a run of it needs to go
    /// on is then kept so that no such program takes the run up.
    #[must_use]
    pub const fn is_recent(self) -> bool {
        match self {
            Self::Artifact | Self::Mcp | Self::Prompt => true,
            Self::Code
            | Self::Internal
            | Self::Http
            | Self::External
            | Self::Space
            | Self::Function
            | Self::Composition
            | Self::Custom
            | Self::Unknown => false,
        }
    }

    /// The wire's `execution_type`, where one of its four words fits.
    #[must_use]
    pub const fn execution_type(self) -> Option<&'static str> {
        self.wire_names().1
    }

    /// Whether its `execution_spec` may say of which kind it is instead.
    #[must_use]
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Custom)
    }

    /// The wire's `tool_type` of a tool that is no part of the program.
    #[must_use]
    pub const fn tool_type(self) -> &'static str {
        match self {
            Self::Artifact => "artifact",
            Self::Mcp => "mcp",
            Self::Code
            | Self::Internal
            | Self::Http
            | Self::External
            | Self::Space
            | Self::Function
            | Self::Composition
            | Self::Prompt
            | Self::Custom
            | Self::Unknown => "custom",
        }
    }

    const fn wire_names(self) -> (&'static str, Option<&'static str>) {
        match self {
            Self::Code | Self::Function => ("function", None),
            Self::Internal => ("internal", Some("internal")),
            Self::Http => ("http", Some("gateway")),
            Self::External => ("external", Some("external")),
            Self::Space => ("space", Some("space")),
            Self::Artifact => ("artifact", None),
            Self::Mcp => ("mcp", None),
            Self::Composition => ("composition", None),
            Self::Prompt => ("prompt", None),
            Self::Custom => ("custom", None),
            Self::Unknown => ("unknown", None),
        }
    }
}

/// A tool: one definition for the form, the function and the endpoint.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolDef {
    pub id: ToolId,
    pub slug: Slug,
    pub name: String,
    /// Read by people and by models: when to use it, and what to use instead.
    pub description: String,
    pub category: String,
    /// Name of a Lucide icon.
    pub icon: String,
    pub tags: Vec<String>,
    pub version: semver::Version,
    pub layer: Layer,
    pub origin: Origin,
    pub status: ToolStatus,
    /// The tenant's own switch; `None` where no row says anything, and then [`Listing`] decides.
    pub enabled: Option<bool>,
    pub is_active: bool,
    pub listing: Listing,
    pub level: Option<Level>,
    /// `None` means derived from the level.
    pub policy: Option<Policy>,
    pub required_permission: Option<Permission>,
    /// Tenants that may see the tool; empty for all.
    pub tenant_slugs: Vec<String>,
    pub output_sections: Vec<OutputSection>,
    pub collaborative: bool,
    /// Whether a space shows the call; `None` acts as no.
    pub visible: Option<bool>,
    pub is_async: bool,
    /// How long a call may take, whatever limits the definition names.
    pub timeout_ms: u64,
    pub execution: Execution,
    /// Whether a call may reach what is neither this server nor the people on it, as the tool's declaration says.
    /// `None` for a tool of a tenant's own, whose kind says it.
    pub open_world: Option<bool>,
    pub input_schema: Arc<Value>,
    pub output_schema: Option<Arc<Value>>,
    pub implementation: Implementation,
    pub authored: Arc<Authored>,
    /// When it was first published; `None` for tools that are part of the program, which always are.
    pub published_at: Option<Timestamp>,
    /// Whether something was saved that is not live yet.
    pub has_draft: bool,
}

impl ToolDef {
    pub const TIMEOUT_MS_DEFAULT: u64 = 30_000;

    /// Every word of the wire's `tool_type`, which is derived.
    pub const TOOL_TYPES: &[&str] = &["built_in", "mcp", "artifact", "custom"];

    /// Members of a tool that are derived or written elsewhere. Whoever saves what they read sends them back.
    pub const READ_ONLY: &[&str] = &[
        "id",
        "tenant_id",
        "origin",
        "tool_type",
        "execution_type",
        "available",
        "unavailable_reason",
        "published_at",
        "has_draft",
        "etag",
        "warnings",
        "revision",
        "created_at",
        "updated_at",
        "created_by",
        "builtin_template_id",
        "is_builtin_template",
    ];

    /// A tool of the program, published and for everybody, about which nothing more is said yet.
    #[must_use]
    pub fn new(slug: Slug, implementation: Implementation, input_schema: Arc<Value>) -> Self {
        Self {
            id: ToolId::of_code(slug.as_str()),
            slug,
            name: String::new(),
            description: String::new(),
            category: String::new(),
            icon: String::new(),
            tags: Vec::new(),
            version: semver::Version::new(1, 0, 0),
            layer: Layer::Code,
            origin: Origin::Code,
            status: ToolStatus::Published,
            enabled: None,
            is_active: true,
            listing: Listing::OptOut,
            level: None,
            policy: None,
            required_permission: None,
            tenant_slugs: Vec::new(),
            output_sections: Vec::new(),
            collaborative: false,
            visible: None,
            is_async: false,
            timeout_ms: Self::TIMEOUT_MS_DEFAULT,
            execution: Execution::default(),
            open_world: None,
            input_schema,
            output_schema: None,
            implementation,
            authored: Authored::none(),
            published_at: None,
            has_draft: false,
        }
    }

    /// How long a call may take.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        Duration::from_millis(self.timeout_ms)
    }

    /// Whether a call may change the world, so that its start has to be on disk before it runs. A
    /// tool without a level is taken for one that may.
    #[must_use]
    pub fn has_effects(&self) -> bool {
        !matches!(self.level, Some(Level::Read | Level::Draft))
    }

    /// Whether a second call with the same input changes nothing.
    #[must_use]
    pub fn is_idempotent(&self) -> bool {
        !self.has_effects() || self.is_pure()
    }

    /// Whether equal input gives equal output and nothing else happens. A tool that writes is not believed: its
    /// level may have been raised since its author said so.
    #[must_use]
    pub fn is_pure(&self) -> bool {
        self.execution.is_pure && !matches!(self.level, Some(Level::Write | Level::Destructive))
    }

    /// Whether the tool is in the catalogue of a tenant, or the reason why not.
    pub fn in_catalogue(&self, tenant_slug: &str) -> Result<(), Unlisted> {
        // Fails closed: a list that does not name the tenant hides the tool whatever the switches say.
        if !self.tenant_slugs.is_empty() && !self.tenant_slugs.iter().any(|slug| slug == tenant_slug) {
            return Err(Unlisted::NotForThisTenant);
        }
        match (self.enabled, self.listing) {
            (Some(true), _) | (None, Listing::OptOut) => Ok(()),
            (Some(false), _) => Err(Unlisted::SwitchedOff),
            (None, Listing::OptIn) => Err(Unlisted::NotSwitchedOn),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool() -> ToolDef {
        ToolDef {
            layer: Layer::TenantCustom,
            origin: Origin::Database,
            level: None,
            ..ToolDef::new("a".parse().unwrap(), Implementation::Internal, Arc::default())
        }
    }

    #[test]
    fn tool_that_writes_is_not_pure_whatever_it_says() {
        for (level, is_pure) in [
            (None, true),
            (Some(Level::Read), true),
            (Some(Level::Draft), true),
            (Some(Level::Write), false),
            (Some(Level::Destructive), false),
        ] {
            let mut tool = ToolDef { level, ..tool() };
            tool.execution.is_pure = true;
            assert_eq!(tool.is_pure(), is_pure, "{level:?}");
            assert_eq!(tool.is_idempotent(), !tool.has_effects() || is_pure, "{level:?}");
        }
    }
}
