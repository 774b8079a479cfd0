// One plugin as a row of the table, with what is opened below it; and one that is not loaded.

import { pair } from "./detail.js";
import { el, fill, newId, setText } from "./dom.js";
import { bytes, firstLine, millis } from "./format.js";

// Columns of numbers: the head, and the text for a plugin.
export const NUMBERS = [
  ["Calls", (plugin) => plugin.counters.calls],
  ["p50", (plugin) => millis(plugin.stats.p50Ms)],
  ["p99", (plugin) => millis(plugin.stats.p99Ms)],
  ["Errors", (plugin) => plugin.counters.errors],
  ["Timeouts", (plugin) => plugin.counters.timeouts],
  ["Restarts", (plugin) => plugin.counters.restarts],
  ["Memory", (plugin) => bytes(plugin.stats.memoryBytes)],
  ["CPU", (plugin, load) => load],
];
const ALARMING = new Set(["Errors", "Timeouts", "Restarts"]);
const DIALECTS = { native: "", builtin: "built in" };
const COUNTERS = {
  busy: "Deadlines passed in the queue",
  lateReplies: "Late replies",
  junkLines: "Junk lines",
  notifications: "Notifications",
  unsent: "Unsent messages",
  stderrDropped: "Bytes of log dropped",
  deaths: "Deaths",
};

/** A loaded plugin: its row, and what is opened below it. */
export class Row {
  load = "0 %";
  #detail = "";

  constructor(view, plugin) {
    this.view = view;
    const { name } = plugin;
    const id = newId("plugin");
    this.more = el(
      "button",
      {
        type: "button",
        class: "more",
        "aria-expanded": "false",
        "aria-controls": id,
        on: { click: () => this.#toggle() },
      },
      name,
    );
    this.version = el("span", { class: "version" });
    this.state = el("span", { class: "state" });
    this.message = el("span", { class: "reason" });
    this.cells = NUMBERS.map(([head]) =>
      el("td", { role: "cell", class: "number", "data-head": head }),
    );
    const button = (text, click) =>
      el(
        "button",
        {
          type: "button",
          class: "small",
          "aria-label": `${text} ${name}`,
          on: { click: (event) => click(event.currentTarget) },
        },
        text,
      );
    const actions =
      plugin.dialect === "builtin"
        ? []
        : [
            button("Log", () => view.openLog(name)),
            button("Restart", (from) => view.restart(from, name)),
            button("Unload", (from) => view.unload(from, name)),
          ];
    this.row = el(
      "tr",
      { role: "row", "data-plugin": name },
      el("th", { scope: "row", role: "rowheader" }, this.more, " ", this.version),
      el("td", { role: "cell", class: "states" }, this.state, this.message),
      this.cells,
      el("td", { role: "cell", class: "actions" }, actions),
    );
    this.content = el("td", { role: "cell", colspan: String(NUMBERS.length + 3) });
    this.below = el("tr", { role: "row", class: "below", id, hidden: true }, this.content);
    this.elements = [this.row, this.below];
  }

  #toggle() {
    this.below.hidden = !this.below.hidden;
    this.more.setAttribute("aria-expanded", String(!this.below.hidden));
  }

  update(plugin, load) {
    this.load = load;
    setText(
      this.version,
      [plugin.version, DIALECTS[plugin.dialect] ?? plugin.dialect].filter(Boolean).join(" · "),
    );
    setText(this.state, plugin.state);
    this.state.dataset.state = plugin.state;
    setText(this.message, firstLine(plugin.message, 120));
    NUMBERS.forEach(([head, value], index) => {
      const text = value(plugin, load);
      setText(this.cells[index], text === "" ? "–" : text);
      this.cells[index].classList.toggle("alarming", ALARMING.has(head) && text > 0);
      this.cells[index].classList.toggle("zero", text === 0 || text === "");
    });
    this.#describe(plugin);
  }

  #describe(plugin) {
    const { stats, ...lasting } = plugin;
    const key = JSON.stringify(lasting);
    if (key === this.#detail || this.content.contains(document.activeElement)) return;
    this.#detail = key;
    fill(this.content, details(plugin, this.view.openTool));
  }
}

function details(plugin, openTool) {
  const tools = plugin.tools.map((tool) =>
    el(
      "button",
      { type: "button", class: "small", on: { click: () => openTool(tool.id) } },
      tool.name,
    ),
  );
  const limits = Object.entries(plugin.limits).map(
    ([name, value]) => `${name} ${name === "memory" ? bytes(value) : value}`,
  );
  const { sandbox } = plugin;
  const counted = Object.entries(COUNTERS).filter(([name]) => plugin.counters[name]);
  return el(
    "dl",
    { class: "facts-list" },
    [
      plugin.message ? ["Why it is not ready", el("span", { class: "pre" }, plugin.message)] : null,
      ["Tools", tools.length ? tools.map((tool) => [tool, " "]) : "none"],
      ["Hooks", plugin.hooks.join(", ") || "none"],
      ...Object.entries(plugin.capabilities).map(([kind, names]) => [kind, names.join(", ")]),
      plugin.pid ? ["Process", String(plugin.pid)] : null,
      plugin.path ? ["Program", el("code", {}, plugin.path)] : null,
      ["Id", el("code", {}, plugin.id)],
      plugin.pid
        ? [
            "Started in",
            `${millis(plugin.spawnMs)}, then ${millis(plugin.handshakeMs)} of handshake`,
          ]
        : null,
      limits.length ? ["Limits", limits.join(", ")] : null,
      sandbox ? ["Sandbox", confinement(sandbox)] : null,
      ...counted.map(([name, title]) => [title, String(plugin.counters[name])]),
    ]
      .filter(Boolean)
      .map(pair),
  );
}

function confinement({ engine, network, read, write, gaps }) {
  return [
    engine,
    `network ${network ? "open" : "closed"}`,
    `reads ${read.join(", ") || "nothing of its own"}`,
    `writes ${write.join(", ") || "nothing"}`,
    ...(gaps.length ? [`gaps: ${gaps.join(", ")}`] : []),
  ].join("; ");
}

/** A plugin that should be loaded and is not. */
export class Failure {
  constructor(view, failed) {
    const { name } = failed;
    const button = (text, click) =>
      el(
        "button",
        {
          type: "button",
          class: "small",
          "aria-label": `${text}: ${name}`,
          on: { click: (event) => click(event.currentTarget) },
        },
        text,
      );
    this.text = el("pre", {
      class: "block",
      tabindex: "0",
      "aria-label": `Why ${name} is not loaded`,
    });
    this.elements = [
      el(
        "li",
        { "data-failed": name },
        el(
          "div",
          { class: "line" },
          el("b", { class: "grow" }, name),
          button("Log", () => view.openLog(name)),
          button("Try again", (from) => view.retry(from, name)),
          button("Give up", (from) => view.unload(from, name, true)),
        ),
        this.text,
      ),
    ];
  }

  update(failed) {
    setText(this.text, [failed.error.message, ...(failed.error.notes ?? [])].join("\n"));
  }
}
