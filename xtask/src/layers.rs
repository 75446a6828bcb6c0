//! Who may lean on whom.
//!
//! A line names a package of the workspace and the packages it depends on (for tests alone does not
//! count). The lower ones come first, so an edge always points up this page. A new edge is one word
//! here, seen by whoever reads the change; `cargo xtask tidy` compares the table with the manifests.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::problem::Problem;

#[rustfmt::skip]
pub(crate) const LAYERS: &[(&str, &[&str])] = &[
    ("tw-model", &[]),
    ("tw-schema", &[]),
    ("tw-policy", &["tw-model"]),
    ("tw-macros", &[]),
    ("tw-egress", &[]),
    ("tw-otel", &["tw-egress"]),
    ("tw-sandbox", &[]),
    ("toolwright-sdk", &["tw-egress", "tw-macros", "tw-model"]),
    ("tw-store", &["tw-model"]),
    ("tw-models", &["toolwright-sdk", "tw-egress", "tw-model"]),
    ("tw-mcp-client", &["toolwright-sdk", "tw-egress", "tw-model", "tw-schema"]),
    ("tw-tools", &["toolwright-sdk", "tw-mcp-client"]),
    ("tw-exec", &["toolwright-sdk", "tw-model", "tw-schema"]),
    ("tw-base", &["tw-exec", "tw-model", "tw-schema", "tw-store"]),
    ("tw-identity", &["toolwright-sdk", "tw-base", "tw-exec", "tw-model", "tw-schema", "tw-store"]),
    ("tw-vault", &["toolwright-sdk", "tw-base", "tw-egress", "tw-exec", "tw-identity", "tw-model", "tw-schema", "tw-store"]),
    ("tw-registry", &["toolwright-sdk", "tw-base", "tw-exec", "tw-identity", "tw-model", "tw-policy", "tw-schema", "tw-store", "tw-vault"]),
    ("tw-mcp-servers", &["toolwright-sdk", "tw-base", "tw-egress", "tw-exec", "tw-identity", "tw-mcp-client", "tw-model", "tw-registry", "tw-schema", "tw-store", "tw-vault"]),
    ("tw-webhooks", &["toolwright-sdk", "tw-base", "tw-egress", "tw-identity", "tw-model", "tw-schema", "tw-store", "tw-vault"]),
    ("tw-engine", &["toolwright-sdk", "tw-base", "tw-egress", "tw-exec", "tw-identity", "tw-mcp-client", "tw-mcp-servers", "tw-model", "tw-models", "tw-otel", "tw-policy", "tw-registry", "tw-sandbox", "tw-schema", "tw-store", "tw-vault", "tw-webhooks"]),
    ("tw-kinds", &["toolwright-sdk", "tw-egress", "tw-exec", "tw-mcp-client", "tw-model", "tw-models", "tw-sandbox", "tw-schema"]),
    ("tw-http", &["toolwright-sdk", "tw-base", "tw-engine", "tw-exec", "tw-identity", "tw-mcp-servers", "tw-model", "tw-policy", "tw-registry", "tw-schema", "tw-vault", "tw-webhooks"]),
    ("tw-mcp", &["tw-base", "tw-engine", "tw-identity", "tw-model", "tw-registry", "tw-schema"]),
    ("tw-server", &["tw-base", "tw-egress", "tw-engine", "tw-http", "tw-identity", "tw-kinds", "tw-mcp", "tw-model", "tw-models", "tw-otel", "tw-registry", "tw-sandbox", "tw-schema", "tw-store", "tw-tools", "tw-vault"]),
    ("tw-test", &["tw-model", "tw-store"]),
    ("tw-it", &["toolwright-sdk", "tw-server"]),
    ("tw-bench", &["toolwright-sdk", "tw-base", "tw-egress", "tw-engine", "tw-http", "tw-identity", "tw-kinds", "tw-mcp", "tw-model", "tw-models", "tw-sandbox", "tw-store", "tw-test", "tw-tools"]),
    ("xtask", &[]),
];

type Edges = BTreeMap<String, BTreeSet<String>>;

/// Compares the table with what `cargo metadata --no-deps` prints.
pub(crate) fn check(metadata: &str) -> Result<Vec<Problem>> {
    let mut problems = compare(LAYERS, &edges(metadata)?);
    problems.extend(upward(LAYERS));
    Ok(problems)
}

fn edges(metadata: &str) -> Result<Edges> {
    let metadata: Value = serde_json::from_str(metadata).context("read what cargo metadata printed")?;
    let packages = metadata["packages"].as_array().context("cargo metadata lists no packages")?;
    let name = |value: &Value| value["name"].as_str().map(str::to_owned);
    let members: BTreeSet<String> = packages.iter().filter_map(name).collect();
    let edges_of = |package: &Value| {
        let dependencies = package["dependencies"].as_array().into_iter().flatten();
        let real = dependencies.filter(|dependency| dependency["kind"] != "dev");
        real.filter_map(name).filter(|name| members.contains(name)).collect()
    };
    Ok(packages.iter().filter_map(|package| Some((name(package)?, edges_of(package)))).collect())
}

fn compare(table: &[(&str, &[&str])], edges: &Edges) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (package, actual) in edges {
        let Some((_, listed)) = table.iter().find(|(name, _)| name == package) else {
            let edges: Vec<_> = actual.iter().collect();
            problems.push(problem(package, format!("add the line `(\"{package}\", &{edges:?}),`")));
            continue;
        };
        for edge in actual.iter().filter(|edge| !listed.contains(&edge.as_str())) {
            problems.push(problem(package, format!("add \"{edge}\" to the line of {package}")));
        }
        for edge in listed.iter().filter(|edge| !actual.contains(**edge)) {
            problems.push(problem(package, format!("remove \"{edge}\" from the line of {package}")));
        }
    }
    for (package, _) in table.iter().filter(|(package, _)| !edges.contains_key(*package)) {
        problems.push(problem(package, format!("remove the line of {package}, there is no such package")));
    }
    problems
}

fn upward(table: &[(&str, &[&str])]) -> Vec<Problem> {
    let place = |package: &str| table.iter().position(|(name, _)| *name == package);
    let mut problems = Vec::new();
    for (package, listed) in table {
        for edge in listed.iter().filter(|edge| place(edge) > place(package)) {
            problems.push(problem(
                package,
                format!("{package} must not depend on {edge}, which is in a higher layer"),
            ));
        }
    }
    problems
}

fn problem(package: &str, text: String) -> Problem {
    let start = format!("    (\"{package}\",");
    let table = "pub(crate) const LAYERS";
    let line_of = |start: &str| include_str!("layers.rs").lines().position(|line| line.starts_with(start));
    let line = line_of(&start).or_else(|| line_of(table)).map_or(1, |index| index + 1);
    Problem::new("xtask/src/layers.rs", line, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const METADATA: &str = r#"{ "packages": [
        { "name": "low", "dependencies": [{ "name": "serde", "kind": null }] },
        { "name": "mid", "dependencies": [{ "name": "low", "kind": null }, { "name": "top", "kind": "dev" }] },
        { "name": "top", "dependencies": [{ "name": "mid", "kind": "build" }, { "name": "low", "kind": null }] }
    ] }"#;

    #[test]
    fn table_that_tells_the_truth_has_no_problem() {
        assert_eq!(found(&[("low", &[]), ("mid", &["low"]), ("top", &["low", "mid"])]), [""; 0]);
    }

    #[test]
    fn edge_in_the_manifests_alone_is_to_be_added() {
        assert_eq!(
            found(&[("low", &[]), ("mid", &["low"]), ("top", &["low"])]),
            ["add \"mid\" to the line of top"]
        );
    }

    #[test]
    fn edge_in_the_table_alone_is_to_be_removed() {
        assert_eq!(
            found(&[("low", &[]), ("top", &["low", "mid"]), ("mid", &["low", "top"])]),
            ["remove \"top\" from the line of mid"]
        );
    }

    #[test]
    fn package_and_line_belong_together() {
        assert_eq!(
            found(&[("low", &[]), ("gone", &[]), ("top", &["low", "mid"])]),
            ["add the line `(\"mid\", &[\"low\"]),`", "remove the line of gone, there is no such package"]
        );
    }

    #[test]
    fn edge_to_a_higher_layer_is_refused() {
        let problems = upward(&[("low", &["mid"]), ("mid", &[])]);
        assert_eq!(texts(problems), ["low must not depend on mid, which is in a higher layer"]);
    }

    fn found(table: &[(&str, &[&str])]) -> Vec<String> {
        texts(compare(table, &edges(METADATA).unwrap()))
    }

    fn texts(problems: Vec<Problem>) -> Vec<String> {
        problems.into_iter().map(|problem| problem.text).collect()
    }
}
