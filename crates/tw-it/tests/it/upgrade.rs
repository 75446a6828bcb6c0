//! Programs of different ages on one database: a newer one beside an older one, and an older one that comes too late.
//!
//! The older program is that of the last commit before there were tools of scripts, prompts and remote servers. `make soak`
//! builds it and names it in [`OLD`].

use std::{path::PathBuf, process::Command, time::Duration};

use serde_json::{Value, json};
use sqlx::{Connection, PgConnection};
use tw_model::Role;
use tw_store::Target;
use tw_test::{Generation, Kind, McpServer, ModelFormat, ModelServer, Quirk, Receiver, TestDb, on_both};

use crate::{
    credentials::execute,
    world::{Answer, Client, Server, UNDER_TEST, World, eventually, lines_of, program},
};

/// Names the older program.
const OLD: &str = "TW_TEST_OLD_SERVER";
/// What a program says of a database that is ahead of it.
const AHEAD: &str = "the database was migrated by a newer Toolwright";
const PATIENCE: Duration = Duration::from_secs(60);

/// What a program says that does not start.
async fn refusal(mut command: Command) -> String {
    command.args(["serve", "--listen", "127.0.0.1:0"]);
    let mut command = tokio::process::Command::from(command);
    let ended = tokio::time::timeout(PATIENCE, command.kill_on_drop(true).output()).await;
    let ended = ended.expect("it must not serve").unwrap();
    assert!(!ended.status.success());
    String::from_utf8_lossy(&ended.stderr).into_owned()
}

on_both! {
    async fn database_of_a_newer_program_is_refused_and_left_as_it_is(db: TestDb) {
        let world = World::on(db).await;
        execute(
            &world.db,
            "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
             SELECT 9999, 'of tomorrow', success, checksum, 0 FROM _sqlx_migrations WHERE version = 1".to_owned(),
        )
        .await;
        let said = refusal(world.command()).await;
        assert!(said.contains(&format!("{AHEAD} (migration 9999 is unknown here): use that version")), "{said}");
        let removed = execute(&world.db, "DELETE FROM _sqlx_migrations WHERE version = 9999".to_owned()).await;
        assert_eq!(removed, 1);
        let server = world.server();
        let member = world.client(&server, "acme", Role::Member).await;
        member.run("test.echo", json!({ "value": 1 })).await.is("200 success");
    }

    async fn run_that_only_a_newer_program_can_resume_is_left_to_it(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        let agent = world.agent(&server, "acme").await;
        let job = json!({ "implementation_type": "external", "is_async": true });
        make(&admin, &tool("job", &job)).await;
        let source = "export default (input, ctx) => ctx.callTool('job')";
        make(&admin, &script("waiting", source)).await;
        make(&admin, &with(script("asking", "export default () => 'done'"), &json!({ "permission_level": "write" }))).await;
        let (run, approval) = parked(&agent, "asking", json!({})).await;
        let waiting = async || {
            let open = admin.post("/api/tools/waiting/run", &json!({ "input": {}, "wait_ms": 0 })).await;
            let run = open.text_at("/run_id");
            is(&admin, &run, "pending").await;
            let inner = admin.get(&format!("/api/runs?parent_run_id={run}")).await.text_at("/items/0/run_id");
            let call = admin.get(&format!("/api/runs/{inner}")).await.text_at("/pending_tool_call/id");
            (run, inner, call)
        };
        let answer = async |inner: &str, call: &str| {
            let result = json!({ "call_id": call, "result": "found" });
            admin.post(&format!("/api/runs/{inner}/tool-results"), &result).await.is("200 success");
        };
        let (left, inner, call) = waiting().await;
        // As if a newer program had parked them, with a kind of its own.
        let written = |from: &str, to: &str| {
            let (from, to) = (format!("{from} {{"), format!("{to} {{"));
            format!("UPDATE pending_calls SET context = replace(context, '{from}', '{to}') WHERE context LIKE '{from}%'")
        };
        assert_eq!(execute(&world.db, written("artifact", "teleport")).await, 2);
        approve(&admin, &approval).await.is("500 INTERNAL");
        assert_eq!(admin.get(&format!("/api/approvals/{approval}")).await.json()["status"], "pending");
        answer(&inner, &call).await;
        // Whoever looks for runs that may go on has come by once this one has.
        let (other, inner, call) = waiting().await;
        answer(&inner, &call).await;
        is(&admin, &other, "success").await;
        for (run, status) in [(&left, "pending"), (&run, "needs_approval")] {
            assert_eq!(admin.get(&format!("/api/runs/{run}")).await.json()["status"], status);
        }
        assert_eq!(execute(&world.db, written("teleport", "artifact")).await, 2);
        is(&admin, &left, "success").await;
        approve(&admin, &approval).await.is("200 success");
    }
}

/// A database that the older program made, and whom the newer one asks.
struct Scene {
    db: TestDb,
    folder: tempfile::TempDir,
    models: ModelServer,
    remote: McpServer,
    receiver: Receiver,
}

impl Scene {
    async fn on(kind: Kind) -> Self {
        // Once per process is enough, and again does no harm.
        let _ = rustls::crypto::ring::default_provider().install_default();
        Self {
            db: TestDb::unmigrated(kind).await,
            folder: tempfile::tempdir().unwrap(),
            models: ModelServer::start().await,
            remote: McpServer::start(Generation::Present).await,
            receiver: Receiver::start().await,
        }
    }

    fn older(&self) -> Command {
        let path =
            std::env::var_os(OLD).unwrap_or_else(|| panic!("run this by `cargo xtask soak`: it sets {OLD}"));
        program(&PathBuf::from(path), &self.db, self.folder.path())
    }

    fn start_older(&self) -> Server {
        let mut command = self.older();
        command.args(["serve", "--listen", "127.0.0.1:0"]);
        Server::start(command)
    }

    fn start_newer(&self) -> Server {
        let mut command = program(&PathBuf::from(UNDER_TEST), &self.db, self.folder.path());
        let reached = [&self.models.upstream, &self.remote.upstream, &self.receiver.upstream];
        let reached: Vec<_> = reached.iter().map(|upstream| upstream.host_and_port()).collect();
        command
            .args(["serve", "--listen", "127.0.0.1:0"])
            .env("TOOLWRIGHT_EGRESS__ALLOW", reached.join(","))
            .env("TOOLWRIGHT_MODELS__DEFAULT__PROVIDER", "openai")
            .env("TOOLWRIGHT_MODELS__DEFAULT__MODEL", "m-1")
            .env("TOOLWRIGHT_MODELS__DEFAULT__BASE_URL", self.models.base_url())
            .env("TOOLWRIGHT_MODELS__DEFAULT__API_KEY", "sk-1");
        Server::start(command)
    }

    fn line(&self, line: &str) -> Value {
        json!({ "file": self.folder.path().join("effects"), "line": line })
    }

    fn effects(&self) -> Vec<String> {
        lines_of(&self.folder.path().join("effects"))
    }

    /// A tool's row without what every change of it changes.
    async fn row(&self, slug: &str) -> Value {
        let Target::Postgres { url } = self.db.target() else { panic!("this is for PostgreSQL") };
        let mut connection = PgConnection::connect(&url).await.unwrap();
        let select = "SELECT (to_jsonb(t) - 'revision' - 'updated_us' - 'changed_epoch')::text FROM tools t WHERE slug = $1";
        let row: String = sqlx::query_scalar(select).bind(slug).fetch_one(&mut connection).await.unwrap();
        serde_json::from_str(&row).unwrap()
    }
}

/// The admin that the first start of a server makes.
fn first_admin(server: &Server) -> Client {
    let log = server.log();
    let key =
        log.lines().find_map(|line| line.strip_prefix("api key: ")).expect("the first start shows a key");
    Client::new(&server.url, Some(key.to_owned()))
}

async fn agent_of(admin: &Client) -> Client {
    let key = json!({ "name": "bot", "role": "agent", "acts_as": "agent", "agent": "bot" });
    let made = admin.post("/api/api-keys", &key).await;
    Client::new(&admin.url, Some(made.is("201").text_at("/key")))
}

fn tool(slug: &str, rest: &Value) -> Value {
    let mut body = json!({
        "slug": slug, "name": slug, "description": "Made by a test.", "permission_level": "read",
        "input_schema": { "type": "object" }, "publish": true,
    });
    body.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
    body
}

fn script(slug: &str, source: &str) -> Value {
    let implementation = json!({ "language": "javascript", "source": source });
    tool(slug, &json!({ "implementation_type": "artifact", "implementation": implementation }))
}

fn with(mut body: Value, rest: &Value) -> Value {
    body.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
    body
}

async fn make(author: &Client, body: &Value) {
    author.post("/api/tools", body).await.is("201 published");
}

/// A tool that the older program knows.
async fn make_known(author: &Client, slug: &str) {
    let steps = json!([{ "id": "say", "tool": "test.echo", "input": { "value": "{{ input.n }}" } }]);
    let spec = json!({ "kind": "composition", "steps": steps, "output": "{{ steps.say.output.value }}" });
    make(author, &tool(slug, &json!({ "execution_spec": spec }))).await;
}

async fn approve(client: &Client, id: &str) -> Answer {
    client.post(&format!("/api/approvals/{id}/approve"), &json!({})).await
}

async fn is(client: &Client, run: &str, status: &str) {
    let path = format!("/api/runs/{run}");
    eventually(&format!("the run is {status}"), PATIENCE, async || {
        client.get(&path).await.json()["status"] == status
    })
    .await;
}

/// A call of a tool that asks first: its run and its approval.
async fn parked(agent: &Client, tool: &str, input: Value) -> (String, String) {
    let waits = agent.run(tool, input).await;
    (waits.is("202 needs_approval").text_at("/run_id"), waits.text_at("/approval_id"))
}

/// The tools of kinds that the older program does not know, each with its kind and an input.
fn newer_tools() -> [(&'static str, &'static str, Value); 4] {
    [
        ("counting", "artifact", json!({ "n": 1 })),
        ("summary", "prompt", json!({ "text": "x" })),
        ("remote", "mcp", json!({ "a": 1, "b": 2 })),
        ("garden.add", "mcp", json!({ "a": 1, "b": 2 })),
    ]
}

async fn make_newer_tools(scene: &Scene, admin: &Client) {
    make(admin, &script("counting", "export default (input) => ({ n: input.n + 1 })")).await;
    let prompt =
        json!({ "kind": "prompt", "mode": "direct", "prompt_template": "Summarise: {{ input.text }}" });
    make(admin, &tool("summary", &json!({ "execution_spec": prompt }))).await;
    let remote = json!({ "server_url": scene.remote.url(), "tool_name": "add" });
    make(admin, &tool("remote", &json!({ "implementation_type": "mcp", "implementation": remote }))).await;
    let server = json!({ "name": "garden", "url": scene.remote.url() });
    let server = admin.post("/api/mcp-servers", &server).await.is("201 ready").text_at("/id");
    let import = json!({ "tools": ["add"], "publish": true });
    let imported = admin.post(&format!("/api/mcp-servers/{server}/import"), &import).await;
    assert_eq!(imported.is("200").json()["skipped"], json!([]));
}

async fn run_newer_tools(scene: &Scene, client: &Client) {
    for (slug, _, input) in newer_tools() {
        scene.models.says(ModelFormat::OpenAi, "short");
        client.run(slug, input).await.is("200 success");
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "soak: needs the program of an earlier commit"]
async fn heavy_older_and_newer_program_work_side_by_side() {
    let scene = Scene::on(Kind::Postgres).await;
    let mut older = scene.start_older();
    let admin = first_admin(&older);
    let agent = agent_of(&admin).await;
    make_known(&admin, "known").await;
    let asked_before = parked(&agent, "test.write", scene.line("asked before")).await;

    // The newer one migrates while the older one works.
    let mut newer = scene.start_newer();
    let (there, agent_there) = (admin.at(&newer), agent.at(&newer));
    make_newer_tools(&scene, &there).await;
    let hook = json!({ "url": scene.receiver.url(), "events": ["run.completed", "approval.decided"] });
    there.post("/api/webhooks", &hook).await.is("201");
    run_newer_tools(&scene, &there).await;
    let on_newer = there.run("known", json!({ "n": 1 })).await.is("200 success").text_at("/run_id");
    let on_older = admin.run("known", json!({ "n": 2 })).await.is("200 success").text_at("/run_id");
    for (client, run) in [(&admin, &on_newer), (&there, &on_older)] {
        assert_eq!(client.get(&format!("/api/runs/{run}")).await.json()["status"], "success");
        assert_eq!(client.trail(run).await, ["tool.started", "tool.completed"]);
    }
    let told = async || {
        let messages = scene.receiver.told("run.completed");
        messages.iter().any(|message| message.body["data"]["run_id"] == json!(on_newer))
    };
    eventually("the webhook is told", PATIENCE, told).await;

    older_leaves_alone_what_it_does_not_know(&scene, &admin, &agent).await;
    run_newer_tools(&scene, &there).await;
    // What is changed on the newer one holds on the older one.
    there.patch("/api/tools/known", &json!({ "is_active": false })).await.is("200 published");
    admin.run("known", json!({ "n": 3 })).await.is("409 TOOL_DISABLED");
    there.patch("/api/tools/known", &json!({ "is_active": null })).await.is("200 published");
    admin.run("known", json!({ "n": 3 })).await.is("200 success");

    // Each approves what the other one asked for.
    approve(&there, &asked_before.1).await.is("200 success");
    let asked_there = parked(&agent_there, "test.write", scene.line("asked there")).await;
    approve(&admin, &asked_there.1).await.is("200 success");
    assert_eq!(scene.effects(), ["asked before", "asked there"]);

    // A script that waits is none of the older one's business, also when that does what the script waits for.
    let line = scene.line("by a script");
    let source =
        format!("export default async (input, ctx) => (await ctx.callTool('test.write', {line})).done");
    make(&there, &script("writing", &source)).await;
    let (waits, approval) = parked(&agent_there, "writing", json!({})).await;
    let asking = script("asking", "export default () => 'approved'");
    make(&there, &with(asking, &json!({ "permission_level": "write" }))).await;
    let (asks, its_approval) = parked(&agent_there, "asking", json!({})).await;
    approve(&admin, &its_approval).await.is("500 INTERNAL");
    newer.kill();
    admin.run("known", json!({ "n": 4 })).await.is("200 success");
    admin.run("writing", json!({})).await.is("409 TOOL_DISABLED");
    approve(&admin, &approval).await.is("200 success");
    assert_eq!(scene.effects().last().unwrap(), "by a script");
    let shown = admin.get(&format!("/api/runs/{waits}")).await.json();
    assert!(["needs_approval", "pending"].contains(&shown["status"].as_str().unwrap()), "{shown}");

    // The older one cannot come back.
    older.terminate();
    let said = refusal(scene.older()).await;
    assert!(said.contains(AHEAD), "{said}");
    let newer = scene.start_newer();
    let there = there.at(&newer);
    is(&there, &waits, "success").await;
    assert_eq!(there.get(&format!("/api/runs/{waits}")).await.json()["output"], "by a script");
    assert_eq!(scene.effects().len(), 3);
    approve(&there, &its_approval).await.is("200 success");
    is(&there, &asks, "success").await;
    run_newer_tools(&scene, &there).await;
}

async fn older_leaves_alone_what_it_does_not_know(scene: &Scene, admin: &Client, agent: &Client) {
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let over_mcp = agent.post("/mcp", &list).await.json();
    let over_mcp: Vec<_> =
        over_mcp["result"]["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert!(over_mcp.contains(&&json!("known")), "{over_mcp:?}");
    for (slug, kind, input) in newer_tools() {
        let path = format!("/api/tools/{slug}");
        let shown = admin.get(&path).await.json();
        assert_eq!(
            (&shown["available"], &shown["unavailable_reason"], &shown["implementation_type"]),
            (&json!(false), &json!("unknown_kind"), &json!(kind)),
            "{shown}"
        );
        for client in [admin, agent] {
            let refused = client.run(slug, input.clone()).await;
            assert!(refused.is("409 TOOL_DISABLED").text.contains(&format!("`{kind}`")), "{}", refused.text);
        }
        assert!(!over_mcp.contains(&&json!(slug)), "{over_mcp:?}");
        // A switch loses nothing of what the older program cannot read.
        let before = scene.row(slug).await;
        admin.patch(&path, &json!({ "is_active": false, "tags": ["x"] })).await.is("200 published");
        admin.patch(&path, &json!({ "is_active": null, "tags": null })).await.is("200 published");
        let after = scene.row(slug).await;
        assert_eq!(before, after, "{slug}");
    }
    let chain =
        json!({ "kind": "composition", "steps": [{ "id": "one", "tool": "counting", "input": { "n": 1 } }] });
    let across = tool("across", &json!({ "execution_spec": chain }));
    admin.post("/api/tools", &across).await.is("409 TOOL_DISABLED");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "soak: needs the program of an earlier commit"]
async fn heavy_tool_that_was_held_stays_held_beside_an_older_program() {
    let scene = Scene::on(Kind::Postgres).await;
    let older = scene.start_older();
    let admin = first_admin(&older);
    let newer = scene.start_newer();
    let there = admin.at(&newer);
    make_newer_tools(&scene, &there).await;
    let changed = json!([{ "name": "add", "description": "Else.", "inputSchema": { "type": "object" } }]);
    scene.remote.set(Quirk::Result(json!({ "tools": changed })));
    let servers = there.get("/api/mcp-servers").await;
    let id = servers.text_at("/items/0/id");
    there.post(&format!("/api/mcp-servers/{id}/refresh"), &json!({})).await.is("200 ready");
    let input = json!({ "a": 1, "b": 2 });
    there.run("garden.add", input.clone()).await.is("409 TOOL_HELD");
    let before = scene.row("garden.add").await;
    assert_eq!(before["mcp_held"], true);
    admin.run("garden.add", input.clone()).await.is("409 TOOL_DISABLED");
    admin.patch("/api/tools/garden.add", &json!({ "is_active": false })).await.is("200 published");
    admin.patch("/api/tools/garden.add", &json!({ "is_active": null })).await.is("200 published");
    assert_eq!(scene.row("garden.add").await, before);
    there.run("garden.add", input).await.is("409 TOOL_HELD");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "soak: needs the program of an earlier commit"]
async fn heavy_database_file_of_an_older_program_is_taken_over() {
    let scene = Scene::on(Kind::Sqlite).await;
    let mut older = scene.start_older();
    let admin = first_admin(&older);
    let agent = agent_of(&admin).await;
    make_known(&admin, "known").await;
    let run = admin.run("known", json!({ "n": 1 })).await.is("200 success").text_at("/run_id");
    let (_, approval) = parked(&agent, "test.write", scene.line("asked before")).await;
    assert_eq!(older.terminate().0, Some(0));

    let mut newer = scene.start_newer();
    let there = admin.at(&newer);
    assert_eq!(there.get(&format!("/api/runs/{run}")).await.json()["output"], 1);
    approve(&there, &approval).await.is("200 success");
    assert_eq!(scene.effects(), ["asked before"]);
    there.run("known", json!({ "n": 1 })).await.is("200 success");
    make_newer_tools(&scene, &there).await;
    run_newer_tools(&scene, &there).await;
    assert_eq!(newer.terminate().0, Some(0));

    let said = refusal(scene.older()).await;
    assert!(said.contains(AHEAD), "{said}");
    let newer = scene.start_newer();
    run_newer_tools(&scene, &there.at(&newer)).await;
}
