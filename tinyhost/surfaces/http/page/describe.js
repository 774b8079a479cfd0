// What an event means, in words. Nothing of the page is touched here.

import { firstLine } from "./format.js";

export const KINDS = [
  "hook",
  "decision",
  "call",
  "ask",
  "plugin",
  "session",
  "notice",
  "reload",
  "event",
];

/**
 * tone: "allow", "deny", "ask", "change", "error" or "plain", told by `mark`, a word, too.
 * subject: what it is about. text: what happened. plugins: those with a part in it.
 * quiet: nobody had anything to say.
 */
function said(subject, text, tone = "plain", mark = "", plugins = [], quiet = false) {
  return { subject, text, tone, mark, plugins, quiet };
}

const WORDS = {
  hook,
  decision,
  call,
  ask: (event) =>
    said(
      event.tool,
      `has to be asked about: ${list(event.reasons)
        .map((reason) => reason.text)
        .join("; ")}`,
      "ask",
      "asked",
      who(event.reasons),
    ),
  plugin,
  session: (event) =>
    said(short(event.session), event.event === "start" ? `began in ${event.directory}` : "ended"),
  notice: (event) =>
    said(
      event.plugin,
      firstLine(event.text),
      event.level === "error" ? "error" : "plain",
      event.level,
      [event.plugin],
    ),
  reload: (event) => {
    const changes = ["loaded", "restarted", "unloaded"].filter((key) => list(event[key]).length);
    const text = changes.map((key) => `${key} ${event[key].join(", ")}`).join("; ");
    return said("configuration", text || "read again; nothing has changed");
  },
  event: (event) =>
    said(event.event, event.data === null ? "" : firstLine(JSON.stringify(event.data))),
};

export function describe(event) {
  let found;
  try {
    found = WORDS[event.kind](event);
  } catch {
    // A kind that is not known, or an answer that nobody would think of.
    found = said(event.kind, firstLine(JSON.stringify(event)));
  }
  return { ...found, plugins: [...new Set(found.plugins)] };
}

/** The end of a session's id, which is where ids differ. */
export function short(session) {
  return session && session.length > 14 ? `…${session.slice(-8)}` : (session ?? "");
}

function list(value) {
  return Array.isArray(value) ? value : [];
}

function who(reasons) {
  return list(reasons)
    .filter((reason) => reason.kind.startsWith("plugin"))
    .map((reason) => reason.who);
}

// --- hooks

function hook(event) {
  const answers = list(event.answers);
  const plugins = answers.map((answer) => answer.name);
  const failed = answers.filter((answer) => answer.error !== undefined);
  const spoke = answers.filter((answer) => answer.output !== null && answer.output !== undefined);
  const subject = event.tool ? `${event.hook} ${event.tool}` : event.hook;
  const texts = [
    ...spoke.map(opinion),
    ...failed.map((answer) => ({
      text: `${answer.name}: ${firstLine(answer.error?.message ?? String(answer.error))}`,
      tone: "error",
      mark: "failed",
    })),
  ];
  if (texts.length === 0) {
    return said(subject, `no opinion (${plugins.join(", ")})`, "plain", "", plugins, true);
  }
  const first = ["deny", "error", "ask", "change", "allow", "plain"]
    .map((tone) => texts.find((text) => text.tone === tone))
    .find(Boolean);
  return said(subject, texts.map((text) => text.text).join("; "), first.tone, first.mark, plugins);
}

/** What one plugin's answer means. */
function opinion({ name, output }) {
  if (typeof output !== "object") return { text: `${name} answered`, tone: "plain", mark: "" };
  const reason = output.reason ? `: ${firstLine(output.reason)}` : "";
  if (output.allowed === false)
    return { text: `${name} denies${reason}`, tone: "deny", mark: "denies" };
  if (output.allowed === true)
    return { text: `${name} allows${reason}`, tone: "allow", mark: "allows" };
  if (output.ask)
    return { text: `${name} wants the person asked${reason}`, tone: "ask", mark: "asks" };
  const changed = [];
  if (output.toolArgs !== undefined) changed.push("the arguments");
  if (output.output !== undefined || output.isError !== undefined) changed.push("the output");
  if (output.env) changed.push(`the environment: ${Object.keys(output.env).join(", ")}`);
  if (changed.length)
    return { text: `${name} changed ${changed.join(" and ")}`, tone: "change", mark: "changed" };
  if (output.additionalContext)
    return { text: `${name} added context`, tone: "plain", mark: "context" };
  return { text: `${name} answered`, tone: "plain", mark: "" };
}

// --- decisions and calls

const DECIDED = { allow: "allowed", deny: "denied", ask: "to be asked", change: "changed" };

function decision(event) {
  const by = event.plugin ? [event.plugin] : [];
  const mark = DECIDED[event.decision] ?? event.decision;
  return said(event.tool, firstLine(event.reason), event.decision, mark, [
    ...by,
    ...who(event.reasons),
  ]);
}

function call(event) {
  const changed = event.finalArgs === undefined ? "" : "with changed arguments: ";
  const text = `${changed}${firstLine(event.result) || "no output"}`;
  const tone = event.isError ? "error" : event.finalArgs === undefined ? "plain" : "change";
  const mark = event.isError ? "error" : "done";
  return said(event.tool, text, tone, mark, event.plugin ? [event.plugin] : []);
}

const BAD = new Set(["died", "failed", "wedged"]);

function plugin(event) {
  const tone = BAD.has(event.event) ? "error" : "plain";
  return said(event.plugin, firstLine(event.text), tone, event.event, [event.plugin]);
}
