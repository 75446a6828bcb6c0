//! Migrations come in pairs: the same name for SQLite and for PostgreSQL.

use super::Problem;

pub(crate) const SQLITE: &str = "crates/tw-store/migrations/sqlite";
pub(crate) const POSTGRES: &str = "crates/tw-store/migrations/postgres";

pub(crate) fn check(sqlite: Option<&[String]>, postgres: Option<&[String]>) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (folder, names) in [(SQLITE, sqlite), (POSTGRES, postgres)] {
        if names.is_none_or(<[_]>::is_empty) {
            problems.push(Problem::new(folder, 1, "there are no migrations"));
        }
    }
    let (sqlite, postgres) = (sqlite.unwrap_or_default(), postgres.unwrap_or_default());
    problems.extend(without_twin(SQLITE, sqlite, POSTGRES, postgres));
    problems.extend(without_twin(POSTGRES, postgres, SQLITE, sqlite));
    problems
}

fn without_twin(folder: &str, names: &[String], other: &str, others: &[String]) -> Vec<Problem> {
    let lonely = names.iter().filter(|name| !others.contains(name));
    lonely
        .map(|name| Problem::new(format!("{folder}/{name}"), 1, format!("write {other}/{name} too")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_have_no_problem() {
        assert_eq!(found(Some("0001_start.sql"), Some("0001_start.sql")), [""; 0]);
    }

    #[test]
    fn migration_for_one_database_wants_its_twin() {
        assert_eq!(
            found(Some("0001_start.sql 0002_runs.sql"), Some("0001_start.sql")),
            [
                "crates/tw-store/migrations/sqlite/0002_runs.sql:1: write crates/tw-store/migrations/postgres/0002_runs.sql too"
            ]
        );
    }

    #[test]
    fn missing_folder_does_not_pass() {
        assert_eq!(found(None, None).len(), 2);
        assert_eq!(found(Some(""), None).len(), 2);
    }

    fn found(sqlite: Option<&str>, postgres: Option<&str>) -> Vec<String> {
        let names = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let (sqlite, postgres) = (sqlite.map(names), postgres.map(names));
        check(sqlite.as_deref(), postgres.as_deref()).iter().map(Problem::to_string).collect()
    }
}
