// Everything that an event tells, opened below its row.

import { el } from "./dom.js";
import { millis, pretty } from "./format.js";

const ABOVE = new Set(["seq", "t", "kind", "session", "answers", "reasons", "plugin", "tool"]);
const TITLES = {
  args: "Arguments",
  finalArgs: "Arguments in the end",
  result: "Result (its beginning)",
  output: "Merged answer",
  text: "Text",
  data: "Data",
  hook: "Hook",
  decision: "Decision",
  by: "Decided by",
  reason: "Reason",
  isError: "Error",
  ms: "Time taken",
  event: "Event",
  directory: "Directory",
};

export function detail(event, onSession) {
  const rest = Object.entries(event).filter(([key, value]) => wanted(event, key, value));
  const [short, long] = [rest.filter(isShort), rest.filter((one) => !isShort(one))];
  return el(
    "div",
    { class: "detail" },
    facts(event, short, onSession),
    event.answers ? answers(event.answers) : null,
    event.reasons?.length ? reasons(event.reasons) : null,
    long.map(([key, value]) =>
      el("div", { class: "member" }, el("h4", {}, TITLES[key] ?? key), block(value)),
    ),
  );
}

function wanted(event, key, value) {
  if (ABOVE.has(key) || value === null || value === "") return false;
  return key !== "reason" || !event.reasons?.length; // which say the same, one by one
}

function isShort([, value]) {
  return typeof value !== "object" && !String(value).includes("\n") && String(value).length < 80;
}

function facts(event, short, onSession) {
  const pairs = [
    ["Time", new Date(event.t * 1000).toLocaleString()],
    ["Number", String(event.seq)],
    event.tool ? ["Tool", el("code", {}, event.tool)] : null,
    event.plugin ? ["Plugin", event.plugin] : null,
    ...short.map(([key, value]) => [
      TITLES[key] ?? key,
      key === "ms" ? millis(value) : String(value),
    ]),
    event.session
      ? [
          "Session",
          [
            el("code", {}, event.session),
            " ",
            el(
              "button",
              { type: "button", class: "small", on: { click: () => onSession(event.session) } },
              "Show only this session",
            ),
          ],
        ]
      : null,
  ];
  return el("dl", { class: "facts-list" }, pairs.filter(Boolean).map(pair));
}

export function pair([name, value]) {
  return el("div", {}, el("dt", {}, name), el("dd", {}, value));
}

export function block(value) {
  return el("pre", { class: "block", tabindex: "0" }, pretty(value));
}

function answers(found) {
  const rows = found.map((answer) => {
    const failed = answer.error !== undefined;
    const text = failed
      ? pretty(answer.error?.message ?? answer.error)
      : answer.output === null
        ? "no opinion"
        : pretty(answer.output);
    return el(
      "tr",
      {},
      el("th", { scope: "row" }, answer.name),
      el(
        "td",
        { class: failed ? "tone-error" : "" },
        failed ? "failed: " : "",
        el("span", { class: "pre" }, text),
      ),
      el("td", { class: "number" }, millis(answer.ms)),
    );
  });
  return table("Answers", ["Plugin", "Answer", "Time"], rows);
}

/** Who or what had a say in a decision, the deciding reasons first. */
export function reasons(found) {
  const rows = found.map((reason) =>
    el(
      "tr",
      {},
      el(
        "th",
        { scope: "row" },
        reason.kind === "plugin" ? `plugin ${reason.who}` : reason.kind.replace("-", " "),
      ),
      el("td", { class: `word tone-${reason.action ?? "plain"}` }, reason.action ?? "no opinion"),
      el("td", {}, el("span", { class: "pre" }, reason.text)),
    ),
  );
  return table("Reasons, the deciding ones first", ["Who", "Says", "Why"], rows);
}

function table(caption, heads, rows) {
  return el(
    "table",
    { class: "small-table" },
    el("caption", {}, caption),
    el(
      "thead",
      {},
      el(
        "tr",
        {},
        heads.map((head) => el("th", { scope: "col" }, head)),
      ),
    ),
    el("tbody", {}, rows),
  );
}
