// A plugin that counts words, written as one is by hand, without a library.
const fs = require("fs"), path = require("path"), readline = require("readline");
const PROTOCOL = 6;
const write = (message) => process.stdout.write(JSON.stringify({ ...message, jsonrpc: "2.0" }) + "\n");
const count = (cwd, file) =>
  fs.readFileSync(path.join(cwd, file), "utf8").split(/\s+/).filter(Boolean).length;
const table = (file, words) => ({ kind: "table", headers: ["file", "words"], rows: [[file, String(words)]] });
const methods = {
  initialize: () => ({
    protocol: PROTOCOL, name: "wordcount", version: "0.1.0",
    tools: [{ name: "count", description: "Counts words", inputSchema: { type: "object" } }],
    commands: [{ name: "wordcount", hint: "count words", family: "plugin",
      args: { kind: "free", hint: "<path>" }, instant: true }],
  }),
  "tool/call": ({ callId, input, cwd }) => {
    write({ method: "tool/progress", params: { callId, tail: `reading ${input.path}` } });
    try {
      const words = count(cwd, input.path);
      return { output: { parts: [{ type: "text", text: `${words} words in ${input.path}` }],
        display: table(input.path, words) } };
    } catch (error) {
      return { output: { parts: [{ type: "text", text: String(error) }], isError: true } };
    }
  },
  "command/run": ({ args, cwd }) => ({ outcome: { kind: "view", view: table(args, count(cwd, args)) } }),
  "command/complete": ({ partial, cwd }) => ({
    completions: fs.readdirSync(cwd).filter((name) => name.startsWith(partial)).map((value) => ({ value })),
  }),
};
readline.createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  try {
    write({ id, result: methods[method](params) });
  } catch (error) {
    write({ id, error: { code: -32000, message: "cannot read: " + error.message } });
  }
});
