//! All fault codes, with their values and messages.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Violation;

macro_rules! codes {
    ($($name:ident = $code:literal: $make:ident($($param:ident),*) => $template:literal;)+) => {
        /// The rule that a value breaks. A code never changes once released; `docs/faults.md` lists them.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum FaultCode {
            $(#[doc = $template] #[serde(rename = $code)] $name,)+
        }

        impl FaultCode {
            pub const ALL: &[Self] = &[$(Self::$name),+];

            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $code),+ }
            }

            /// The template of the message.
            #[must_use]
            pub const fn template(self) -> &'static str {
                match self { $(Self::$name => $template),+ }
            }

            /// The names of the values of the message.
            #[must_use]
            pub const fn params(self) -> &'static [&'static str] {
                match self { $(Self::$name => &[$(stringify!($param)),*]),+ }
            }
        }

        impl Violation {
            $(
                #[doc = $template]
                #[must_use]
                pub fn $make($($param: impl Into<Value>),*) -> Self {
                    Self::new(FaultCode::$name, [$((stringify!($param), $param.into())),*])
                }
            )+
        }
    };
}

codes! {
    // Any value.
    Required = "required": required() => "is required";
    NotNull = "not_null": not_null() => "must not be null";
    NotEmpty = "not_empty": not_empty() => "must not be empty";
    Type = "type": wrong_type(expected, found) => "must be {expected:type}, not {found:type}";
    Enum = "enum": one_of(values, more) => "must be one of {values:json}{more:more}";
    Const = "const": constant(value) => "must be {value:json}";
    UnknownMember = "unknown_member": unknown_member() => "is not a known member";
    UnknownMembers = "unknown_members": unknown_members(count) => "has {count|more member|more members} that are not known";
    Misnamed = "misnamed": misnamed(name) => "is not a known member; its name is `{name}`";
    OneMember = "one_member": one_member(names) => "must have exactly one of {names:code}";
    OnlyWith = "only_with": only_with(other) => "must be left out without {other:code}";
    RequiredWith = "required_with": required_with(other) => "is required with {other:code}";
    Contradiction = "contradiction": contradiction(this, other) => "`{this}` and `{other}` contradict each other; give one of them";
    Duplicate = "duplicate": duplicate(value) => "must be unique; {value:json} appears twice";
    Fixed = "fixed": fixed() => "cannot be changed here";
    GivenTwice = "given_twice": given_twice() => "must be given only once";
    Taken = "taken": taken(name) => "is taken: {name:json}";
    Invalid = "invalid": invalid(why) => "cannot be read: {why}";
    Json = "json": json() => "must be valid JSON";

    // Numbers, times and sizes.
    Range = "range": range(min, max) => "must be a whole number from {min} to {max}";
    Positive = "positive": positive() => "must be a positive whole number";
    Minimum = "minimum": minimum(limit) => "must be at least {limit}";
    Maximum = "maximum": maximum(limit) => "must be at most {limit}";
    ExclusiveMinimum = "exclusive_minimum": exclusive_minimum(limit) => "must be more than {limit}";
    ExclusiveMaximum = "exclusive_maximum": exclusive_maximum(limit) => "must be less than {limit}";
    MultipleOf = "multiple_of": multiple_of(factor) => "must be a multiple of {factor}";
    Timestamp = "timestamp": timestamp() => "must be a time such as 2026-11-15T08:00:00Z";
    Future = "future": future() => "must be in the future";
    MinLength = "min_length": min_length(limit) => "must have at least {limit|character|characters}";
    MaxLength = "max_length": max_length(limit) => "must have at most {limit|character|characters}";
    Length = "length": length(min, max) => "must have {min} to {max} characters";
    MaxBytes = "max_bytes": max_bytes(limit) => "must have at most {limit|byte|bytes}";
    ByteLength = "byte_length": byte_length(min, max) => "must have {min} to {max} bytes";
    MinItems = "min_items": min_items(limit) => "must have at least {limit|item|items}";
    MaxItems = "max_items": max_items(limit) => "must have at most {limit|item|items}";
    ItemCount = "item_count": item_count(min, max) => "must be a list of {min} to {max} items";
    MinProperties = "min_properties": min_properties(limit) => "must have at least {limit|property|properties}";
    MaxProperties = "max_properties": max_properties(limit) => "must have at most {limit|property|properties}";
    Nesting = "nesting": nesting(max) => "must be nested at most {max|level|levels} deep";

    // Texts.
    Pattern = "pattern": pattern(pattern) => "must match the pattern `{pattern}`";
    PatternUnchecked = "pattern_unchecked": pattern_unchecked() => "could not be checked against its pattern";
    Format = "format": format(format) => "must be a valid {format}";
    ContentEncoding = "content_encoding": content_encoding(encoding) => "must be {encoding} text";
    ContentMediaType = "content_media_type": content_media_type(media_type) => "must be {media_type}";
    Utf8 = "utf8": utf8() => "must be UTF-8 text";
    Characters = "characters": characters() => "must consist of letters a-z, digits, `.`, `_` and `-`";
    Ends = "ends": ends() => "must start and end with a letter or a digit";
    ControlCharacters = "control_characters": control_characters() => "must not contain control characters";
    ForbiddenCharacter = "forbidden_character": forbidden_character(character) => "must not contain `{character}`";
    Invisible = "invisible": invisible() => "must contain a visible character";
    SlugParts = "slug_parts": slug_parts() => "must have a letter at the start of every part between dots";
    SlugUnderscores = "slug_underscores": slug_underscores() => "must not contain `__`, which stands for a dot in function names";
    Reserved = "reserved": reserved(word) => "must be another word: `{word}` is reserved";
    Version = "version": version(why) => "must be a semantic version such as 1.2.3: {why}";
    Permission = "permission": permission(why) => "must be a permission such as `entities.team.read`: {why}";
    Pointer = "pointer": pointer() => "must be a JSON pointer such as /a/b or /items/*/name";
    FileKind = "file_kind": file_kind() => "must be a media type such as image/* or an ending such as .pdf";
    Redacted = "redacted": redacted() => "must be the secret itself: `***` keeps a stored secret only while kind, server and tool stay the same";
    Language = "language": language() => "must be a language tag such as `de` or `de-AT`";
    Wrong = "wrong": wrong() => "is not correct";
    Cursor = "cursor": cursor() => "must be a cursor of this list";
    CursorStale = "cursor_stale": cursor_stale() => "is out of date: start the list again";
    Sequence = "sequence": sequence() => "must be a sequence number or `latest`";
    BeyondLast = "beyond_last": beyond_last(last) => "must be at most the newest event of the session, which is {last}";
    OffsetRange = "offset_range": offset_range(max) => "must be a whole number from 0 to {max}; use `cursor` to go further";

    // A value against a JSON Schema, where no other code says it.
    Schema = "schema": schema() => "does not fit the schema";
    UncheckedSize = "unchecked_size": unchecked_size() => "is too large to be checked against this schema";
    UnknownProperty = "unknown_property": unknown_property() => "is not a known property";
    PropertyNames = "property_names": property_names(name, why) => "must not have a property {name:json}: its name {why}";
    UniqueItems = "unique_items": unique_items() => "must not contain two equal items";
    Contains = "contains": contains() => "must contain the required number of items that match `contains`";
    UnevaluatedItems = "unevaluated_items": unevaluated_items() => "must not contain items that the schema does not describe";
    NotAllowed = "not_allowed": not_allowed() => "is not allowed";
    Not = "not": not() => "must not match the schema in `not`";
    AnyOf = "any_of": any_of() => "must match at least one of the allowed forms";
    OneOf = "one_of": exactly_one_form() => "must match exactly one of the allowed forms, and matches several";

    // A JSON Schema itself.
    NotASchema = "not_a_schema": not_a_schema() => "must be an object or a boolean";
    SchemaObject = "schema_object": schema_object() => "must describe an object: its `type` must be `object`";
    SchemaLimit = "schema_limit": schema_limit(max, what) => "must have at most {max} {what}";
    SchemaPattern = "schema_pattern": schema_pattern() => "must be a regular expression of ECMA-262 (with the flag `u`) of moderate size, without look-around, back-references and flags inside";
    SchemaDialect = "schema_dialect": schema_dialect() => "must be 2020-12 or left out: all of a schema is read as 2020-12";
    SchemaItems = "schema_items": schema_items() => "must be one schema; for a list of schemas use `prefixItems`";
    SchemaEnum = "schema_enum": schema_enum() => "must have at least one value: an empty list allows nothing";
    SchemaReferred = "schema_referred": schema_referred(keyword, why) => "refers to an invalid part: its `{keyword}` {why}";
    SchemaRemote = "schema_remote": schema_remote(reference) => "must not refer to `{reference}`, which is outside the schema; references are not fetched";
    SchemaBroken = "schema_broken": schema_broken(reference) => "must not refer to `{reference}`, which does not exist";
    SchemaDraft = "schema_draft": schema_draft(reference) => "must not refer to `{reference}`, which uses another draft than 2020-12";
    SchemaIdentifier = "schema_identifier": schema_identifier() => "must have an `$id`, anchors and references that are well formed";
    SchemaEndless = "schema_endless": schema_endless() => "must not refer to itself endlessly for the same value";
    SchemaComplex = "schema_complex": schema_complex() => "is too complex: too many subschemas apply to one value";

    // Fields, forms and views.
    FieldCount = "field_count": field_count(max) => "must have at most {max|field|fields}, nested ones included";
    NotForType = "not_for_type": not_for_type(kind) => "must be left out: `{kind}` does not support it";
    Scalar = "scalar": scalar() => "must be a string, a number or a boolean";
    DefaultsNested = "defaults_nested": defaults_nested() => "cannot be checked: defaults are nested too deeply";
    NameList = "name_list": name_list() => "must be a list of names";
    NotDescribed = "not_described": not_described(name) => "must be one of the described fields; {name:json} is not";
    NotInSchema = "not_in_schema": not_in_schema(path, schema) => "must be in the {schema} schema; {path:json} is not";
    SchemaUnsearchable = "schema_unsearchable": schema_unsearchable(path) => "cannot be found in so complex a schema: {path:json}";
    UnknownSection = "unknown_section": unknown_section(section) => "must be one of the sections; there is no {section:json}";
    HiddenRequired = "hidden_required": hidden_required() => "must be false: the field is required and has no default, so nobody could send the form";
    DependsOnItself = "depends_on_itself": depends_on_itself() => "must not depend on itself";
    OpenMap = "open_map": open_map() => "accepts any property, which models do not see and strict clients refuse; list them in `properties`";
    NoProperties = "no_properties": no_properties() => "lists no properties, so forms and models have nothing to fill in; list them, or set an empty `properties` for a tool without input";
    NamedParts = "named_parts": named_parts() => "must be an object of named parts, not a list";

    // Definitions of tools.
    SlugUnmakeable = "slug_unmakeable": slug_unmakeable() => "is required: the name has no letters or digits to make a slug from";
    SlugFixed = "slug_fixed": slug_fixed() => "cannot be changed; clone the tool under another one";
    SlugOther = "slug_other": slug_other() => "must be the one in the path";
    VersionFixed = "version_fixed": version_fixed() => "must be changed by `POST /api/tools/{{tool}}/version?new_version=X.Y.Z`";
    VersionRequired = "version_required": version_required() => "is required: the tool has never been published";
    KindFixed = "kind_fixed": kind_fixed(kind) => "must be `{kind}` and cannot be changed";
    KindLater = "kind_later": kind_later(kind, kinds) => "must be one of {kinds:code}: this version does not support `{kind}` tools";
    KindMismatch = "kind_mismatch": kind_mismatch(this, kind, other, found) => "says `{this}`, which is `implementation_type` `{kind}`, but `{other}` says {found:json}";
    NotForKind = "not_for_kind": not_for_kind(kind) => "must be left out: `{kind}` tools do not have it";
    ModeLater = "mode_later": mode_later(mode, missing) => "must be `direct`: `{mode}` needs {missing}, which this version does not have";
    KindUnknown = "kind_unknown": kind_unknown() => "must be a kind that this program knows";
    PureWrites = "pure_writes": pure_writes() => "must be false for a tool that changes data: repeated calls of a pure tool get a stored result";
    TenantSlug = "tenant_slug": tenant_slug(why) => "must be the slug of a tenant: {why}";
    ProgramOnly = "program_only": program_only() => "is allowed in built-in tools only";
    ProgramPart = "program_part": program_part() => "cannot be changed in a built-in tool";
    StatusChange = "status_change": status_change(from, to) => "cannot become `{to}` from `{from}`";
    StatusPublish = "status_publish": status_publish() => "must be set to `published` by `POST /api/tools/{{tool}}/publish`";
    StatusOfProgram = "status_of_program": status_of_program() => "must be `deprecated` or `disabled` in a built-in tool; null means published";
    LevelRaised = "level_raised": level_raised(level) => "must be above `{level}`: the level of this tool can only be raised";
    PolicyFixed = "policy_fixed": policy_fixed(policy) => "must be `{policy}` for this tool";
    AliasOwn = "alias_own": alias_own() => "must not repeat the slug";
    Alias = "alias": alias(alias, why) => "must be a list of tool names; `{alias}` {why}";
    Tags = "tags": tags(max, bytes) => "must have at most {max} words of 1 to {bytes} bytes";

    // What a tool executes.
    UnknownTool = "unknown_tool": unknown_tool(tool) => "must name an existing tool; there is no `{tool}`";
    CallsItself = "calls_itself": calls_itself(tool) => "must name another tool: `{tool}` would call itself";
    CallsBack = "calls_back": calls_back(tool) => "must name another tool: `{tool}` calls this one in turn";
    StepId = "step_id": step_id(max) => "must have only letters, digits and `_`, must not start with a digit, and must have at most {max|character|characters}";
    StepInput = "step_input": step_input() => "must be an object, or one expression that yields one";
    UnknownStep = "unknown_step": unknown_step(step) => "must read an earlier step; there is no `{step}` before this one";
    StepInputMissing = "step_input_missing": step_input_missing(tool) => "is required by `{tool}`, and the step does not set it";
    UnknownFieldInExpression = "unknown_field_in_expression": unknown_field_in_expression(name, known) => "must read a field that exists: there is no `{name}`{known:only}";
    OutputMissing = "output_missing": output_missing() => "is required by `output_schema`, and the output does not have it";
    OutputType = "output_type": output_type(expected, found) => "must be {expected:type} by `output_schema`, not {found:type}";
    OpenapiVersion = "openapi_version": openapi_version() => "must be 3.0 or 3.1: convert an older document first";
    Yaml = "yaml": yaml(line, column, why) => "cannot be read as YAML in line {line}, column {column}: {why}";
    StepReference = "step_reference": step_reference() => "must name a step as in `steps.<id>.output`";
    FixedName = "fixed_name": fixed_name() => "must not contain an expression: names are fixed";
    Expression = "expression": expression(why) => "must be a valid expression: {why}";
    ExpressionUnclosed = "expression_unclosed": expression_unclosed() => "must close every `{{{{` with `}}}}`";
    ExpressionBytes = "expression_bytes": expression_bytes(max) => "must have expressions of at most {max|byte|bytes}";
    ExpressionParts = "expression_parts": expression_parts(max) => "must have expressions of at most {max} names, values and operators";
    ExpressionCount = "expression_count": expression_count(max, what) => "must have at most {max} of {what:code}";
    UnknownNameInExpression = "unknown_name_in_expression": unknown_name_in_expression(name, known) => "must use one of {known:code}; `{name}` is not known";
    Statement = "statement": statement(word) => "must use only the statements `if` and `for` in `{{% … %}}`, not `{word}`";
    Jq = "jq": jq(why) => "must be a valid jq filter: {why}";
    Script = "script": script(line, column, why) => "is not valid in line {line}, column {column}: {why}";
    ScriptExport = "script_export": script_export() => "must have `export default` with a function, such as `export default (input) => input`";
    ArtifactUnknown = "artifact_unknown": artifact_unknown() => "must be the id of an artifact";
    ArtifactVersion = "artifact_version": artifact_version(max) => "must be the number of a version: the artifact has 1 to {max}";
    ArtifactSource = "artifact_source": artifact_source(version) => "must be the script of version {version}: leave out `artifact_version` to save another one as the next version";
    SecretLabel = "secret_label": secret_label(why) => "must have a label after `secret:`, which {why}";
    SecretExpression = "secret_expression": secret_expression() => "must have fixed text after `secret:`, and a space between it and any expression";
    SecretStatements = "secret_statements": secret_statements() => "must not use `secret:` in a text with statements (`{{% … %}}`)";
    LabelOnly = "label_only": label_only() => "must be the label of a credential, without `secret:`";
    Url = "url": url(why) => "must be a URL: {why}";
    UrlScheme = "url_scheme": url_scheme() => "must start with `https://` or `http://`";
    UrlHost = "url_host": url_host() => "must have a fixed scheme, host and port; expressions are allowed after the first `/` or `?`";
    UrlUser = "url_user": url_user() => "must not contain a user name; put credentials into a header";
    UrlCharacter = "url_character": url_character() => "must not contain characters that are not allowed in a URL";
    UrlFragment = "url_fragment": url_fragment() => "must not have a fragment, `#…`, because it is never sent";
    UrlQuery = "url_query": url_query() => "must use expressions in the query only as values, after a name and `=`";
    UrlStatements = "url_statements": url_statements() => "must use expressions, `{{{{ … }}}}`, not statements";
    UrlSecret = "url_secret": url_secret(name) => "must not show `{name}` to everybody who sees the tool; put it under `query`, where it is kept as a secret";
    Header = "header": header(why) => "cannot be sent: {why}";
    HeaderTwice = "header_twice": header_twice(other) => "must be another header than `{other}`";
    EgressDenied = "egress_denied": egress_denied(why) => "must be an address that may be called: {why}";
    McpCommand = "mcp_command": mcp_command() => "must be left out: MCP servers cannot be started with a command; give the `url` of a server that uses HTTP";
    Multipart = "multipart": multipart() => "needs a `body` that is one text with all parts; an object is sent as JSON or as `application/x-www-form-urlencoded`";

    // Approvals.
    StandingDestructive = "standing_destructive": standing_destructive() => "must be left out: a destructive call is approved one at a time";
    StandingSecrets = "standing_secrets": standing_secrets() => "must be left out: the input holds secrets, and such a call is approved one at a time";
    StandingSize = "standing_size": standing_size(limit) => "must name fields whose values have at most {limit} bytes together";
    InputPointer = "input_pointer": input_pointer() => "must be a JSON pointer into the input, such as /customer";
    PointsNowhere = "points_nowhere": points_nowhere() => "must point at a value in the approved input";

    // People, keys and credentials.
    RoleOfKeys = "role_of_keys": role_of_keys() => "must be a role for people; `agent` is a role for keys";
    MemberName = "member_name": member_name(max) => "must have a name of letters a-z, digits, `_` and `-` that starts with a letter or `_` and has at most {max} characters";
    AllowedHost = "allowed_host": allowed_host(why) => "must be a host such as `api.example.com` or `*.example.com`: {why}";
    HostNotAllowed = "host_not_allowed": host_not_allowed(label) => "must be on a host of the `allowed_hosts` of `{label}`";
    CredentialField = "credential_field": credential_field() => "must have a field `api_key` or `token` to send: it has several fields, and none has one of these names";
}
