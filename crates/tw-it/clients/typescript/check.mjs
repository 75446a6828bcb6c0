// What a client from TypeScript does with our server: list, call, error, approval, pending.
//
// Run as `check.mjs v1|v2|v2-present|inspector`, with TW_URL, TW_AGENT_KEY and TW_ADMIN_KEY in the environment.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { promisify } from "node:util";

const { TW_URL, TW_AGENT_KEY, TW_ADMIN_KEY, TW_LEDGER } = process.env;
const note = { file: TW_LEDGER, line: "from typescript" };
const info = { name: "toolwright-checks", version: "1.0.0" };
const withKey = { requestInit: { headers: { Authorization: `Bearer ${TW_AGENT_KEY}` } } };

async function rest(method, path, body) {
  const answer = await fetch(TW_URL + path, {
    method,
    headers: { Authorization: `Bearer ${TW_ADMIN_KEY}`, "Content-Type": "application/json" },
    body: body && JSON.stringify(body),
  });
  assert.ok(answer.ok, `${method} ${path}: ${answer.status}`);
  return answer.json();
}

async function approveSoon() {
  for (let look = 0; look < 100; look++) {
    const { items } = await rest("GET", "/api/approvals");
    if (items.length) return rest("POST", `/api/approvals/${items[0].id}/approve`, {});
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  assert.fail("nothing waits for an approval");
}

async function scenario(client) {
  const names = (await client.listTools()).tools.map((tool) => tool.name);
  assert.deepEqual(names, names.toSorted());
  assert.ok(["get_run", "test.echo", "test.write"].every((name) => names.includes(name)), names.join());

  const echoed = await client.callTool({ name: "test.echo", arguments: { value: { a: [1, 2.5, null, "ä"] } } });
  assert.deepEqual(echoed.structuredContent, { value: { a: [1, 2.5, null, "ä"] } });
  const refused = await client.callTool({ name: "test.write", arguments: { file: 7 } });
  assert.equal(refused.isError, true);
  await assert.rejects(client.callTool({ name: "no.such.tool", arguments: {} }), { code: -32602 });

  const [, done] = await Promise.all([approveSoon(), client.callTool({ name: "test.write", arguments: note })]);
  assert.ok(!done.isError && !done.structuredContent.status, JSON.stringify(done));

  const waits = (await client.callTool({ name: "test.write", arguments: note })).structuredContent;
  assert.equal(waits.status, "needs_approval");
  assert.ok(waits.url.endsWith(`/approvals/${waits.approval_id}`), waits.url);
  const decided = await rest("POST", `/api/approvals/${waits.approval_id}/approve`, { wait_ms: 10000 });
  assert.equal(decided.status, "success");
  const collected = await client.callTool({ name: "get_run", arguments: { run_id: waits.run_id } });
  assert.equal(collected.structuredContent.status, "success");
  await client.close();
}

const ways = {
  async v1() {
    const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
    const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
    const client = new Client(info);
    await client.connect(new StreamableHTTPClientTransport(new URL(`${TW_URL}/mcp`), withKey));
    await scenario(client);
  },
  async v2(options) {
    const { Client, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
    const client = new Client(info, options);
    await client.connect(new StreamableHTTPClientTransport(new URL(`${TW_URL}/mcp`), withKey));
    if (options) assert.equal(client.getNegotiatedProtocolVersion(), "2026-07-28");
    await scenario(client);
  },
  "v2-present"() {
    return ways.v2({ versionNegotiation: { mode: "auto" } });
  },
  async inspector() {
    const bin = new URL("node_modules/.bin/mcp-inspector", `file://${process.cwd()}/`).pathname;
    const run = promisify(execFile);
    const common = ["--cli", `${TW_URL}/mcp`, "--transport", "http", "--header", `Authorization: Bearer ${TW_AGENT_KEY}`];
    const listed = await run(bin, [...common, "--method", "tools/list"]);
    assert.ok(JSON.parse(listed.stdout).tools.some((tool) => tool.name === "test.echo"), listed.stdout);
    const call = ["--method", "tools/call", "--tool-name", "test.echo", "--tool-arg", "value=7"];
    const called = JSON.parse((await run(bin, [...common, ...call])).stdout);
    assert.deepEqual(called.structuredContent, { value: 7 });
  },
};

await ways[process.argv[2]]();
process.exit(0);
