//! Commands that ask a server: what they print, where, and how they end.

use serde_json::{Value, json};
use tw_model::Role;
use tw_test::{Generation, Kind, McpServer, Quirk, Receiver, TestDb};

use crate::world::{Client, Server, World};

/// What a command has printed, and how it ended.
#[derive(Debug)]
struct Said {
    code: i32,
    out: String,
    err: String,
}

impl Said {
    /// Ended well, with these words in what it printed.
    #[track_caller]
    fn well(&self, words: &[&str]) -> &Self {
        assert_eq!(self.code, 0, "{self:?}");
        words.iter().for_each(|word| assert!(self.out.contains(word), "{word}: {self:?}"));
        self
    }

    /// Ended with an error that has these words.
    #[track_caller]
    fn badly(&self, words: &[&str]) -> &Self {
        assert_eq!(self.code, 1, "{self:?}");
        words.iter().for_each(|word| assert!(self.err.contains(word), "{word}: {self:?}"));
        self
    }

    /// Noted something beside what it printed.
    #[track_caller]
    fn noted(&self, word: &str) -> &Self {
        assert!(self.err.contains(word), "{word}: {self:?}");
        self
    }

    #[track_caller]
    fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|_| panic!("{self:?}"))
    }
}

struct Scene {
    world: World,
    server: Server,
    admin: Client,
}

impl Scene {
    async fn reaching(address: &str) -> Self {
        let world = World::on(TestDb::new(Kind::Sqlite).await).await;
        let server = world.server_with(&[], &[("TOOLWRIGHT_EGRESS__ALLOW", address)]);
        let admin = world.client(&server, "acme", Role::Admin).await;
        Self { world, server, admin }
    }

    fn says(&self, command: &[&str], arguments: &[&str]) -> Said {
        self.says_to(&self.admin, command, arguments)
    }

    fn says_to(&self, who: &Client, command: &[&str], arguments: &[&str]) -> Said {
        let mut program = self.world.command();
        program.env("TOOLWRIGHT_URL", &self.server.url).env("TOOLWRIGHT_KEY", who.key.as_ref().unwrap());
        let ended = program.args(command).args(arguments).output().unwrap();
        Said {
            code: ended.status.code().unwrap(),
            out: String::from_utf8(ended.stdout).unwrap(),
            err: String::from_utf8(ended.stderr).unwrap(),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn mcp_servers_are_added_imported_from_and_decided_on() {
    let remote = McpServer::start(Generation::Present).await;
    let scene = Scene::reaching(&remote.upstream.host_and_port()).await;
    let says = |arguments: &[&str]| scene.says(&["mcp-servers"], arguments);
    says(&["add", "garden", &remote.url(), "--header", "nonsense"])
        .badly(&["a header must be `Name: value`"]);
    let header = "X-Key:  canary-of-a-header";
    let added = says(&["add", "garden", &remote.url(), "--header", header]);
    added.well(&["garden", &remote.url(), "ready", "2026-07-28", "add"]);
    assert!(!added.out.contains("canary"), "{added:?}");
    assert_eq!(remote.upstream.requests()[0].header("x-key"), Some("canary-of-a-header"));
    says(&["add", "GARDEN", &remote.url()]).badly(&["CONFLICT"]);
    says(&["add", "inside", "http://169.254.169.254/"])
        .badly(&["`url` must be an address that may be called"]);
    says(&["list"]).well(&["garden", "ready"]);
    assert_eq!(says(&["list", "--json"]).json()["items"][0]["name"], "garden");
    says(&["show", "Garden"]).well(&["add", "picture"]);
    says(&["show", "cellar"]).badly(&["there is no MCP server `cellar`"]);

    says(&["import", "garden", "add", "none", "--publish"])
        .badly(&["skipped none", "not everything was imported"]);
    says(&["import", "garden", "echo"]).well(&["garden.echo  draft"]);
    let changed = json!([{ "name": "add", "description": "Else.", "inputSchema": { "type": "object" } }]);
    remote.set(Quirk::Result(json!({ "tools": changed })));
    says(&["refresh", "garden"]).well(&["held"]);
    let drifts = says(&["drift", "garden", "--json"]).json();
    let drift = |slug: &str| {
        let items = drifts["items"].as_array().unwrap();
        let found = items.iter().find(|item| item["slug"] == slug).unwrap_or_else(|| panic!("{drifts}"));
        found["id"].as_str().unwrap().to_owned()
    };
    says(&["drift", "garden"]).well(&["garden.add", "changed", "pending", "/description"]);
    says(&["accept", "garden", &drift("garden.add")]).well(&["garden.add  accepted"]);
    says(&["accept", "garden", &drift("garden.add")]).badly(&["CONFLICT"]);
    says(&["reject", "garden", &drift("garden.echo")]).well(&["garden.echo  rejected"]);
    remote.set_from_the_start(Quirk::Reset);
    says(&["refresh", "garden"]).badly(&["the server is unreachable"]);
    let member = scene.world.client(&scene.server, "acme", Role::Member).await;
    scene.says_to(&member, &["mcp-servers"], &["list"]).badly(&["NOT_PERMITTED"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn webhooks_are_made_tried_sent_again_and_removed() {
    let receiver = Receiver::start().await;
    let scene = Scene::reaching(&receiver.upstream.host_and_port()).await;
    let says = |arguments: &[&str]| scene.says(&["webhooks"], arguments);
    assert_eq!(says(&["create", &receiver.url(), "--event", "run.lost"]).code, 2);
    says(&["create", "http://169.254.169.254/", "--event", "run.failed"])
        .badly(&["`url` must be an address that may be called"]);
    let made = says(&["create", &receiver.url(), "--event", "run.completed", "--event", "run.failed"]);
    made.well(&[]).noted("secret");
    let secret = made.out.trim_end();
    assert!(secret.starts_with("whsec_") && !secret.contains(char::is_whitespace), "for a script: {made:?}");
    let listed = says(&["list"]);
    listed.well(&[&receiver.url(), "run.completed run.failed", "enabled"]);
    assert!(!listed.out.contains("whsec_"), "{listed:?}");
    let id = says(&["list", "--json"]).json()["items"][0]["id"].as_str().unwrap().to_owned();

    says(&["test", &id]).well(&[]).noted("the receiver answered with 200");
    assert!(receiver.told("webhook.test")[0].is_signed_by(secret));
    receiver.answers(500, "no");
    says(&["test", &id]).badly(&["the message"]);
    says(&["deliveries", &id]).well(&["webhook.test", "delivered", "500"]);
    let tried = says(&["deliveries", &id, "--limit", "1", "--json"]).json();
    assert_eq!(tried["items"].as_array().unwrap().len(), 1, "{tried}");
    let delivery = tried["items"][0]["id"].as_str().unwrap();
    says(&["redeliver", delivery]).well(&[]).noted("the receiver answered with 200");
    let messages = receiver.messages();
    assert_eq!(messages[1].id(), messages[2].id(), "the same message");
    says(&["delete", &id]).well(&[]);
    assert_eq!(says(&["list", "--json"]).json()["items"], json!([]));
    says(&["test", &id]).badly(&["NOT_FOUND"]);
    let member = scene.world.client(&scene.server, "acme", Role::Member).await;
    scene.says_to(&member, &["webhooks"], &["list"]).badly(&["NOT_PERMITTED"]);
}
