use figment::Jail;

use super::*;

const FILE: &str = r#"
    listen = "127.0.0.1:1111"
    database_url = "postgres://file@localhost/db"
    allowed_hosts = ["tools.example.com"]

    [limits]
    per_key = 60

    [log]
    durability = "buffered"
    format = "json"

    [egress]
    policy = "any"
    allow = ["127.0.0.1:9999", "10.0.0.0/8"]

    [models.default]
    provider = "openai"
    model = "gpt-5-mini"
    api_key = "env:OPENAI_API_KEY"
    price = { input = 0.25, output = 2 }
"#;

#[test]
fn defaults_need_nothing() {
    in_jail(|_| {
        let config = loaded(&Sources::default());
        assert_eq!(config.listen, "127.0.0.1:7420");
        assert_eq!(config.body_limit_bytes, 4 * 1024 * 1024);
        assert_eq!(config.log.durability, Durability::Full);
        assert!(!config.metrics.public);
        assert!(config.limits.per_tenant.is_none());
    });
}

#[test]
fn server_that_is_started_is_named_by_an_absolute_path_for_some_tenants() {
    in_jail(|jail| {
        jail.set_env("GARDEN_KEY", "k-1");
        let place = Sources { config: Some("toolwright.toml".into()), ..Sources::default() };
        let with = |name: &str, lines: &str| format!("[mcp_servers.{name}]\n{lines}");
        let fit = "command = \"/usr/bin/garden\"\nargs = [\"--deep\"]\ntenants = [\"acme\"]\nenv = { KEY = \"env:GARDEN_KEY\", A = \"b\" }";
        jail.create_file("toolwright.toml", &with("garden", fit)).unwrap();
        let server = loaded(&place).mcp_servers().unwrap().remove(0);
        assert_eq!(server.tenants.iter().map(ToString::to_string).collect::<Vec<_>>(), ["acme"]);
        let env: Vec<_> =
            server.command.env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(env, [("A", "b"), ("KEY", "k-1")]);
        assert_eq!(server.command.secrets.iter().map(|secret| secret.as_str()).collect::<Vec<_>>(), ["k-1"]);
        for (name, lines, why) in [
            ("garden", "command = \"garden\"\ntenants = [\"acme\"]", "absolute path"),
            ("garden", "command = \"/g\"\ntenants = []", "at least one tenant"),
            ("garden", "command = \"/g\"", "tenants"),
            ("Garden", fit, "a-z"),
            (
                "garden",
                "command = \"/g\"\ntenants = [\"acme\"]\nenv = { K = \"env:GARDEN_NONE\" }",
                "GARDEN_NONE is not set",
            ),
            ("garden", "command = \"/g\"\ntenants = [\"acme\"]\nshell = true", "no such setting"),
        ] {
            jail.create_file("toolwright.toml", &with(name, lines)).unwrap();
            let refused = place.load().err().unwrap();
            assert!(format!("{refused:#}").contains(why), "{refused:#}");
        }
    });
}

#[test]
fn file_gives_way_to_environment_and_environment_to_flags() {
    in_jail(|jail| {
        jail.create_file("toolwright.toml", FILE).unwrap();
        let place = Sources { config: Some("toolwright.toml".into()), ..Sources::default() };
        let config = loaded(&place);
        assert_eq!(config.listen, "127.0.0.1:1111");
        assert_eq!(config.log.durability, Durability::Buffered);
        assert_eq!(config.log.format, LogFormat::Json);
        assert_eq!(config.limits.per_key.map(std::num::NonZero::get), Some(60));

        jail.set_env("TOOLWRIGHT_LISTEN", "127.0.0.1:2222");
        jail.set_env("TOOLWRIGHT_LOG__DURABILITY", "full");
        jail.set_env("TOOLWRIGHT_LIMITS__PER_KEY", "7");
        jail.set_env("TOOLWRIGHT_METRICS__PUBLIC", "true");
        let config = loaded(&place);
        assert_eq!(config.listen, "127.0.0.1:2222");
        assert_eq!(config.log.durability, Durability::Full);
        assert_eq!(config.limits.per_key.map(std::num::NonZero::get), Some(7));
        assert!(config.metrics.public);

        let config = place.load_with(|config| config.listen = "127.0.0.1:3333".to_owned()).ok().unwrap();
        assert_eq!(config.listen, "127.0.0.1:3333");
    });
}

#[test]
fn database_url_decides_wherever_it_is_set() {
    in_jail(|jail| {
        jail.set_env("TOOLWRIGHT_DATABASE_URL", "postgres://u@localhost/db");
        let target = |place: Sources| loaded(&place).target().unwrap();
        assert!(matches!(target(Sources::default()), Target::Postgres { .. }));

        let folder = Sources { data_dir: Some("here".into()), ..Sources::default() };
        assert_eq!(target(folder.clone()), Target::Postgres { url: "postgres://u@localhost/db".to_owned() });
        // An empty variable is how a compose file says "not set".
        jail.set_env("TOOLWRIGHT_DATABASE_URL", "");
        assert_eq!(target(folder.clone()), Target::Sqlite { file: "here/toolwright.sqlite".into() });
        jail.create_file("toolwright.toml", FILE).unwrap();
        let by_file = Sources { config: Some("toolwright.toml".into()), ..folder.clone() };
        assert_eq!(target(by_file), Target::Postgres { url: "postgres://file@localhost/db".to_owned() });

        let both = Sources { database_url: Some("postgres://flag@localhost/db".to_owned()), ..folder };
        assert_eq!(target(both), Target::Postgres { url: "postgres://flag@localhost/db".to_owned() });
    });
}

#[test]
fn database_is_named_without_its_password() {
    let postgres = |url: &str| shown(&Target::Postgres { url: url.to_owned() });
    assert_eq!(
        postgres("postgres://u:canary@db:5433/tw?password=canary"),
        "PostgreSQL, postgres://u@db:5433/tw"
    );
    assert_eq!(postgres("postgresql:///tw"), "PostgreSQL, postgresql:///tw");
    assert_eq!(postgres("postgres://u:canary@[::1"), "PostgreSQL");
    assert_eq!(shown(&Target::Sqlite { file: "d/toolwright.sqlite".into() }), "SQLite, d/toolwright.sqlite");
}

#[test]
fn lists_fit_into_the_environment() {
    in_jail(|jail| {
        for text in [
            "127.0.0.1:9999,10.0.0.0/8",
            r#"["127.0.0.1:9999", "10.0.0.0/8"]"#,
            "[127.0.0.1:9999, 10.0.0.0/8]",
        ] {
            jail.set_env("TOOLWRIGHT_EGRESS__ALLOW", text);
            assert_eq!(loaded(&Sources::default()).egress.allow, ["127.0.0.1:9999", "10.0.0.0/8"], "{text}");
        }
        jail.set_env("TOOLWRIGHT_ALLOWED_HOSTS", "one.example");
        assert_eq!(loaded(&Sources::default()).allowed_hosts, ["one.example"]);
    });
}

#[test]
fn sections_for_execution_kinds_are_kept() {
    in_jail(|jail| {
        jail.create_file("toolwright.toml", FILE).unwrap();
        jail.set_env("TOOLWRIGHT_MODELS__DEFAULT__BASE_URL", "http://127.0.0.1:9999/v1");
        let config = loaded(&Sources { config: Some("toolwright.toml".into()), ..Sources::default() });
        assert_eq!(config.egress.policy, EgressPolicy::Any);
        let models = config.models().unwrap();
        let model = models.get("default").unwrap();
        assert_eq!((model.provider.as_str(), model.model.as_str()), ("openai", "gpt-5-mini"));
        assert_eq!(model.base_url, "http://127.0.0.1:9999/v1");
        assert_eq!(format!("{:?}", model.key), "Unset(OPENAI_API_KEY)");
        assert_eq!(model.price.unwrap().cached.units(), 0.25, "as other input, where nothing else is said");
    });
}

#[test]
fn bad_setting_in_a_file_is_named_with_its_file() {
    check_file(
        "lisen = \"x\"",
        "in bad.toml: `lisen`: there is no such setting; known here: listen, data_dir,",
    );
    check_file(
        "[log]\nfromat = \"json\"",
        "in bad.toml: `log.fromat`: there is no such setting; known here: durab",
    );
    check_file("[log]\nformat = \"xml\"", "in bad.toml: `log.format`: must be `json` or `text`");
    check_file("[log]\ndurability = \"some\"", "in bad.toml: `log.durability`: must be `full` or `buffered`");
    check_file("[limits]\nper_key = 0", "in bad.toml: `limits.per_key`: must be a nonzero u32");
    check_file("[database]\nconnections = \"ten\"", "in bad.toml: `database.connections`: must be u32");
    check_file("listen = ", "in bad.toml: TOML parse error at line 1, column 10");
    check_file("listen = \"localhost\"", "`listen` must be an address and a port");
    check_file("public_url = \"tools.example.com\"", "`public_url` must be an address");
    check_file("[log]\nlevel = \"loud=very\"", "`log.level` must be");
    check_file("[models.default]\nmodel = \"m\"", "in bad.toml: `models.default.provider`: is missing");
    let model = |rest: &str| format!("[models.default]\nprovider = \"openai\"\nmodel = \"m\"\n{rest}");
    check_file(&model("fallback = \"x\""), "`models.default.fallback` must name another model");
    check_file(
        &model("temprature = 1"),
        "in bad.toml: `models.default.temprature`: there is no such setting",
    );
    check_file(
        &model("price = { input = -1, output = 1 }"),
        "in bad.toml: `models.default.price.input`: must be a price of at least 0",
    );
    check_file(
        &model("api_key = \"file:/nowhere/key\""),
        "`models.default.api_key`: the file /nowhere/key cannot be read",
    );
    check_file(
        "[models.default]\nprovider = \"acme\"\nmodel = \"m\"",
        "in bad.toml: `models.default.provider`: must be",
    );
}

#[test]
fn bad_setting_in_the_environment_is_named_as_a_variable() {
    check_env("TOOLWRIGHT_LISTNE", "x", "in the environment: TOOLWRIGHT_LISTNE: there is no such setting");
    check_env(
        "TOOLWRIGHT_LOG__FROMAT",
        "x",
        "in the environment: TOOLWRIGHT_LOG__FROMAT: there is no such setting",
    );
    check_env(
        "TOOLWRIGHT_BODY_LIMIT_BYTES",
        "4MB",
        "in the environment: TOOLWRIGHT_BODY_LIMIT_BYTES: must be usize",
    );
}

#[test]
fn fault_never_shows_a_secret() {
    check_env("TOOLWRIGHT_MODELS", "sk-canary", "in the environment: TOOLWRIGHT_MODELS: must be a map");
    check_env(
        "TOOLWRIGHT_DATABASE_URL",
        "mysql://root:canary@db",
        "`database_url` must start with postgres://",
    );
    check_file(
        "database_url = \"postgres://u:canary@db\nlisten = 1",
        "in bad.toml: TOML parse error at line 1",
    );
}

#[test]
fn variables_that_are_no_settings_are_left_alone() {
    in_jail(|jail| {
        for name in [
            "MASTER_KEY",
            "URL",
            "KEY",
            "CONFIG",
            "PORT",
            "PORT_7420_TCP_ADDR",
            "SERVICE_HOST",
            "SERVICE_PORT_HTTP",
        ] {
            jail.set_env(format!("TOOLWRIGHT_{name}"), "tcp://10.0.0.1:7420");
        }
        jail.set_env("TOOLWRIGHT_PUBLIC_URL", "");
        assert!(loaded(&Sources::default()).public_url.is_none());
    });
}

#[test]
fn missing_file_is_an_error() {
    let place = Sources { config: Some("nowhere/toolwright.toml".into()), ..Sources::default() };
    let error = place.load().err().unwrap().to_string();
    assert!(error.starts_with("cannot read the settings in nowhere/toolwright.toml"), "{error}");
}

/// In a folder and an environment of its own.
#[expect(clippy::result_large_err, reason = "the error is the library's")]
fn in_jail(test: impl FnOnce(&mut Jail)) {
    Jail::expect_with(|jail| {
        test(jail);
        Ok(())
    });
}

fn loaded(place: &Sources) -> Config {
    place.load().unwrap_or_else(|error| panic!("{error:#}"))
}

#[track_caller]
fn check_file(text: &str, expected: &str) {
    in_jail(|jail| {
        jail.create_file("bad.toml", text).unwrap();
        refused(&Sources { config: Some("bad.toml".into()), ..Sources::default() }, expected);
    });
}

#[track_caller]
fn check_env(name: &str, value: &str, expected: &str) {
    in_jail(|jail| {
        jail.set_env(name, value);
        refused(&Sources::default(), expected);
    });
}

#[track_caller]
fn refused(place: &Sources, expected: &str) {
    let error = place.load().err().map(|error| format!("{error:#}")).expect("the settings should be refused");
    assert!(error.starts_with(expected), "{error}");
    assert!(!error.contains("canary"), "{error}");
}
