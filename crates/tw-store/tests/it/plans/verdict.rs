//! What is wrong with the plan of a statement, in the words of both databases.

use std::{collections::BTreeSet, fmt};

use serde_json::Value;
use tw_model::TenantId;
use tw_store::Target;
use tw_test::TestDb;

use super::{recorder::Said, sources};
use crate::world::Raw;

/// Something in a plan that costs more with every row.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Flaw {
    /// All rows of a table, or of an index.
    Scan(String),
    /// All rows that a tenant has in a table.
    Tenant(String),
    /// Whatever was found is gathered before the first of it is given out.
    Sort,
}

/// How a database would carry a statement out.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) text: String,
    pub(super) flaws: BTreeSet<Flaw>,
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scan(table) => write!(f, "scans {table}"),
            Self::Tenant(table) => write!(f, "walks all of a tenant's {table}"),
            Self::Sort => f.write_str("sorts"),
        }
    }
}

/// Reads plans, as the server would get them.
pub(super) enum Planner {
    Sqlite { connection: Box<rusqlite::Connection>, tables: Vec<String> },
    Postgres { raw: Box<Raw> },
}

impl Planner {
    pub(super) async fn open(db: &TestDb, tenant: TenantId) -> Self {
        match db.target() {
            Target::Sqlite { file } => {
                let connection = rusqlite::Connection::open(file).unwrap();
                // A trigger's own statements are part of the plan.
                let triggers = rusqlite::config::DbConfig::SQLITE_DBCONFIG_TRIGGER_EQP;
                connection.set_db_config(triggers, true).unwrap();
                let tables = column(&connection, "SELECT name FROM sqlite_master WHERE type = 'table'", 0);
                Self::Sqlite { connection: Box::new(connection), tables }
            }
            Target::Postgres { .. } => {
                let mut raw = Raw::open(db).await;
                let role = raw.column("SELECT tw_app_role()").await.unwrap().remove(0);
                raw.execute(format!("SET ROLE {role}")).await.unwrap();
                for (name, value) in sources::one_plan() {
                    raw.execute(format!("SET {name} = {value}")).await.unwrap();
                }
                raw.execute(format!("SELECT set_config('tw.tenants', '{{{tenant}}}', false)")).await.unwrap();
                Self::Postgres { raw: Box::new(raw) }
            }
        }
    }

    pub(super) async fn plan(&mut self, said: &Said) -> Plan {
        match self {
            Self::Sqlite { connection, tables } => sqlite_plan(connection, tables, &said.sql),
            Self::Postgres { raw } => postgres_plan(raw, said).await,
        }
    }
}

fn column(connection: &rusqlite::Connection, sql: &str, column: usize) -> Vec<String> {
    let mut statement = connection.prepare(sql).unwrap_or_else(|error| panic!("{error}: {sql}"));
    let mut rows = statement.raw_query();
    let mut values = Vec::new();
    while let Some(row) = rows.next().unwrap() {
        values.push(row.get(column).unwrap());
    }
    values
}

fn sqlite_plan(connection: &rusqlite::Connection, tables: &[String], sql: &str) -> Plan {
    // Values play no part: the statement is prepared before it has any.
    let lines = column(connection, &format!("EXPLAIN QUERY PLAN {sql}"), 3);
    let mut plan = Plan { text: lines.join("\n"), ..Plan::default() };
    for line in &lines {
        let words: Vec<_> = line.split(' ').collect();
        // `SCAN alias`, `SEARCH alias USING INDEX name (tenant_id=? AND …)`; what is no table was made on the way.
        let table = words.get(1).and_then(|name| table_of(name, sql, tables));
        match (words[0], table) {
            ("SCAN", Some(table)) => drop(plan.flaws.insert(Flaw::Scan(table))),
            ("SEARCH", Some(table)) if line.contains("ANY(") || line.contains("AUTOMATIC") => {
                plan.flaws.insert(Flaw::Scan(table));
            }
            ("SEARCH", Some(table)) if line.contains("(tenant_id=?)") && has_several(&table) => {
                plan.flaws.insert(Flaw::Tenant(table));
            }
            _ => {}
        }
        if line.contains("TEMP B-TREE") {
            plan.flaws.insert(Flaw::Sort);
        }
    }
    plan
}

/// Whether a tenant has more than one row in a table.
fn has_several(table: &str) -> bool {
    !["tenant_epoch", "tenant_keys"].contains(&table)
}

/// The table behind a name in a statement.
fn table_of(name: &str, sql: &str, tables: &[String]) -> Option<String> {
    if tables.iter().any(|table| table == name) {
        return Some(name.to_owned());
    }
    let words: Vec<_> = sql.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    let mut pairs = words.windows(2);
    let named = pairs.find(|pair| pair[1] == name && tables.iter().any(|table| table == pair[0]));
    named.map(|pair| pair[0].to_owned())
}

const TYPES: [(&str, &str); 3] = [
    ("INSERT INTO places", "(bigint, uuid, text, uuid, bigint, bigint, bigint)"),
    ("$3 IS NULL OR coalesce(provider_variant", "(uuid, text, text)"),
    ("UPDATE pending_calls SET state = CASE WHEN $1", "(text, uuid, bigint, text, text, uuid, uuid)"),
];

async fn postgres_plan(raw: &mut Raw, said: &Said) -> Plan {
    let sorts = if said.in_order { "off" } else { "on" };
    raw.execute(format!("SET enable_sort = {sorts}")).await.unwrap();
    let values = (1..).take_while(|number| said.sql.contains(&format!("${number}"))).count();
    // Where it cannot be told from the statement what a value is, as the driver says it.
    let types = TYPES.iter().find(|(part, _)| said.sql.contains(part)).map_or("", |(_, types)| types);
    let prepared = raw.execute(format!("PREPARE planned {types} AS {}", said.sql)).await;
    prepared.unwrap_or_else(|error| panic!("{error}: {}", said.sql));
    let nulls = vec!["NULL"; values].join(", ");
    let call = if values == 0 { "planned".to_owned() } else { format!("planned({nulls})") };
    let lines = raw.column(format!("EXPLAIN (COSTS OFF) EXECUTE {call}")).await;
    let text = lines.unwrap_or_else(|error| panic!("{error}: {}", said.sql)).join("\n");
    let json = raw.json(format!("EXPLAIN (FORMAT JSON, COSTS OFF) EXECUTE {call}")).await.unwrap();
    raw.execute("DEALLOCATE planned").await.unwrap();
    let mut plan = Plan { text, ..Plan::default() };
    walk(&json[0]["Plan"], None, false, &mut plan.flaws);
    plan
}

/// Looks at a node and what is below it. `limited` says that what it gives out is taken row by row, up to a number.
fn walk(node: &Value, relation: Option<&str>, limited: bool, flaws: &mut BTreeSet<Flaw>) {
    let kind = node["Node Type"].as_str().unwrap_or_default();
    let relation = node["Relation Name"].as_str().or(relation);
    let named = || relation.unwrap_or_default().to_owned();
    let index_columns = node["Index Cond"].as_str().map(columns);
    let has_filter = node["Filter"].as_str().is_some_and(|filter| !columns(filter).is_empty());
    // Neither does anybody stop it, nor is all that it finds wanted.
    let goes_on = !limited || has_filter;
    match kind {
        "Seq Scan" => drop(flaws.insert(Flaw::Scan(named()))),
        "Index Scan" | "Index Only Scan" | "Bitmap Index Scan" => match index_columns {
            None => drop(flaws.insert(Flaw::Scan(named()))),
            // From some row on, whoever's it is.
            Some(_) if !has_equality(node["Index Cond"].as_str().unwrap_or_default()) => {
                flaws.insert(Flaw::Scan(named()));
            }
            Some(columns) if columns.is_empty() && goes_on && has_several(&named()) => {
                flaws.insert(Flaw::Tenant(named()));
            }
            _ => {}
        },
        "Sort" | "Incremental Sort" if !children(node).all(is_bounded) => drop(flaws.insert(Flaw::Sort)),
        _ => {}
    }
    let passes_on = matches!(kind, "Subquery Scan" | "Append" | "Merge Append" | "LockRows" | "Result");
    for child in children(node) {
        let is_outer = is_outer(child);
        let gives = is_outer || ["Member", "Subquery"].contains(&relationship(child));
        let handed_on = limited && (passes_on || (kind == "Nested Loop" && is_outer));
        walk(child, relation, gives && (kind == "Limit" || handed_on), flaws);
    }
}

/// How a node is related to the one above it.
fn relationship(node: &Value) -> &str {
    node["Parent Relationship"].as_str().unwrap_or_default()
}

fn is_outer(node: &Value) -> bool {
    relationship(node) == "Outer"
}

fn has_equality(condition: &str) -> bool {
    condition.replace(">=", "").replace("<=", "").contains('=')
}

fn children(node: &Value) -> impl Iterator<Item = &Value> {
    node["Plans"].as_array().into_iter().flatten()
}

/// Whether a node gives out a number of rows that no table decides.
fn is_bounded(node: &Value) -> bool {
    match node["Node Type"].as_str().unwrap_or_default() {
        "Limit" | "Function Scan" | "Values Scan" => true,
        "Result" if node["Plans"].is_null() => true,
        // The join to one row for each of a bounded number.
        "Nested Loop" => children(node).find(|child| is_outer(child)).is_some_and(is_bounded),
        "Append" | "Merge Append" | "Subquery Scan" | "Unique" | "Sort" | "Result" | "LockRows" => {
            children(node).all(is_bounded)
        }
        _ => false,
    }
}

/// The columns that a condition is about, without the one that every condition is about.
fn columns(condition: &str) -> BTreeSet<String> {
    let mut columns = BTreeSet::new();
    let mut before = ' ';
    let mut word = String::new();
    for char in condition.chars().chain([' ']) {
        if char.is_alphanumeric() || char == '_' || char == '$' {
            word.push(char);
            continue;
        }
        let is_name = word.starts_with(|c: char| c.is_ascii_lowercase() || c == '_');
        // Neither the name of a table, nor that of a type, nor a text.
        if is_name
            && char != '.'
            && before != ':'
            && before != '\''
            && !["tenant_id", "hashed"].contains(&word.as_str())
        {
            columns.insert(std::mem::take(&mut word));
        }
        word.clear();
        before = char;
    }
    columns
}
