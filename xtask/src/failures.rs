//! The tests that failed, told once more at the end of a run: what stands above may be thousands of lines away, or cut off.

use std::{fs, io, path::Path};

use anyhow::{Context, Result};

/// How many failed tests are told, and how many lines of what each had to say.
const TOLD: usize = 20;
const LINES: usize = 8;

/// A test that failed, and the first lines of why.
#[derive(Debug, PartialEq)]
struct Failure {
    test: String,
    why: Vec<String>,
}

/// Takes away the report of an earlier run, so that nobody takes it for one of this run.
pub(crate) fn forget(report: &Path) -> Result<()> {
    match fs::remove_file(report) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("remove {}", report.display()))
        }
        _ => Ok(()),
    }
}

/// What failed by some reports in the format of JUnit; a report of a step that was not reached is not there.
pub(crate) fn told(reports: &[&Path]) -> String {
    let read = |report: &&Path| failures(&fs::read_to_string(report).unwrap_or_default());
    let failed: Vec<Failure> = reports.iter().flat_map(read).collect();
    let mut text = String::new();
    for Failure { test, why } in failed.iter().take(TOLD) {
        text += &format!("\nfailed: {test}\n");
        for line in why {
            text += &format!("    {line}\n");
        }
    }
    if TOLD < failed.len() {
        text += &format!("\nand {} more\n", failed.len() - TOLD);
    }
    text
}

/// The failed ones among `<testcase name="…" classname="…">…<failure message="…">…</failure></testcase>`.
fn failures(report: &str) -> Vec<Failure> {
    let case = |text: &str| {
        let case = text.split("</testcase>").next()?;
        let (attributes, content) = case.split_once('>')?;
        let (_, fault) = content.split_once("<failure").or_else(|| content.split_once("<error"))?;
        let (_, fault) = fault.split_once('>')?;
        let fault = fault.split("</failure>").next()?.split("</error>").next()?;
        let value = |name: &str| attribute(attributes, name).unwrap_or_default();
        let lines = plain(fault);
        let said = lines.lines().map(str::trim_end).filter(|line| !line.trim().is_empty());
        let test = format!("{} {}", value("classname"), value("name"));
        Some(Failure { test, why: said.take(LINES).map(str::to_owned).collect() })
    };
    report.split("<testcase ").skip(1).filter_map(case).collect()
}

/// The value of an attribute in the text of a tag.
pub(crate) fn attribute(attributes: &str, name: &str) -> Option<String> {
    // ` classname` ends in `name`.
    let padded = format!(" {attributes}");
    let (_, rest) = padded.split_once(&format!(" {name}=\""))?;
    rest.split_once('"').map(|(value, _)| plain(value))
}

/// XML text as its author wrote it.
fn plain(text: &str) -> String {
    let entities = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&#10;", "\n")];
    let text = text.trim_start_matches("<![CDATA[").trim_end_matches("]]>").to_owned();
    entities.iter().fold(text, |text, (coded, meant)| text.replace(coded, meant)).replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = r#"<testsuites><testsuite name="e2e/runs.e2e.ts">
        <testcase classname="e2e/runs.e2e.ts" name="a run is shown" time="1"></testcase>
        <testcase classname="e2e/runs.e2e.ts" name="the &quot;next&quot; page" time="1">
            <failure message="expected 1 &lt; 0" type="AssertionError">
AssertionError: expected 1 &lt; 0 &amp;lt;

 ❯ e2e/runs.e2e.ts:12:3
            </failure>
        </testcase>
        <testcase name="calls::one" classname="tw-it::it" time="2"><error type="x">gone</error></testcase>
        <testcase name="calls::two" classname="tw-it::it" time="2"/>
        </testsuite></testsuites>"#;

    #[test]
    fn failed_tests_are_told_with_the_first_lines_of_why() {
        let folder = tempfile::tempdir().unwrap();
        let report = folder.path().join("junit.xml");
        fs::write(&report, REPORT).unwrap();
        let text = told(&[&report, &folder.path().join("not-there.xml")]);
        assert_eq!(
            text,
            "\nfailed: e2e/runs.e2e.ts the \"next\" page\n    \
             AssertionError: expected 1 < 0 &lt;\n     ❯ e2e/runs.e2e.ts:12:3\n\
             \nfailed: tw-it::it calls::one\n    gone\n"
        );
    }

    #[test]
    fn many_failures_are_counted_and_long_ones_cut() {
        let case = format!(
            "<testcase name=\"a\" classname=\"b\"><failure>{}</failure></testcase>",
            "x\n".repeat(99)
        );
        let folder = tempfile::tempdir().unwrap();
        let report = folder.path().join("junit.xml");
        fs::write(&report, case.repeat(TOLD + 3)).unwrap();
        let text = told(&[&report]);
        assert_eq!(text.matches("failed: b a").count(), TOLD);
        assert_eq!(text.lines().filter(|line| *line == "    x").count(), TOLD * LINES);
        assert!(text.ends_with("\nand 3 more\n"), "{text}");
    }

    #[test]
    fn report_of_an_earlier_run_is_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let report = folder.path().join("junit.xml");
        fs::write(&report, REPORT).unwrap();
        forget(&report).unwrap();
        forget(&report).unwrap();
        assert_eq!(told(&[&report]), "");
    }
}
