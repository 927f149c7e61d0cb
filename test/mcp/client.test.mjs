// Asks the program with the protocol's client in TypeScript, over standard input and output. DOPOLICY is the program.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const program = process.env.DOPOLICY ?? fileURLToPath(new URL("../../bin/kubectl-dopolicy", import.meta.url));
const demo = fileURLToPath(new URL("../../testdata/demo", import.meta.url));

const questions = [
  ["effective", { targets: ["httproute/shop/cart"] }],
  ["request", { url: "https://shop.example.com/cart/checkout", expect: ["allowed"] }],
  ["reach", { policies: ["authpolicy/infra/gw-auth"] }],
  ["overridden", {}],
  ["matrix", { missing: ["authentication"] }],
  ["status", {}],
  ["prove", { require: ["authentication"] }],
  ["diff", { delete: ["AuthPolicy/shop/cart-auth"] }],
  ["check", {}],
  ["graph", { limit: 5 }],
];

/** askEverything lists the tools, which makes the client check results by their schemas, and calls each. */
async function askEverything(client) {
  const { tools } = await client.listTools();
  assert.deepEqual(tools.map((t) => t.name).sort(), questions.map(([name]) => name).sort());
  for (const [name, args] of questions) {
    const result = await client.callTool({ name, arguments: args });
    assert.ok(!result.isError, `${name}: ${result.content[0].text}`);
    assert.equal(typeof result.structuredContent.complete, "boolean", name);
    assert.deepEqual(JSON.parse(result.content[1].text), result.structuredContent, name);
  }
  const wrong = await client.callTool({ name: "effective", arguments: { targets: ["nope"] } });
  assert.ok(wrong.isError);
}

let client;
before(async () => {
  client = new Client({ name: "test", version: "1" });
  await client.connect(new StdioClientTransport({ command: program, args: ["mcp", "-f", demo], stderr: "ignore" }));
});
after(() => client.close());

test("standard input and output", () => askEverything(client));

test("schemas are resources", async () => {
  const { resources } = await client.listResources();
  const one = await client.readResource({ uri: resources.find((r) => r.name === "Proof").uri });
  assert.equal(JSON.parse(one.contents[0].text).type, "object");
});

test("HTTP on a loopback address", async () => {
  const server = spawn(program, ["mcp", "-f", demo, "--listen", "127.0.0.1:0"], { stdio: ["ignore", "ignore", "pipe"] });
  try {
    const line = await new Promise((resolve) => server.stderr.once("data", (data) => resolve(String(data))));
    const remote = new Client({ name: "test", version: "1" });
    await remote.connect(new StreamableHTTPClientTransport(new URL(line.trim().split(" ").at(-1))));
    await askEverything(remote);
    await remote.close();
  } finally {
    server.kill();
  }
});
