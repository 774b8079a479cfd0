// The plugins: state, health, and what can be done with them.

import { ask, step } from "./api.js";
import { pair } from "./detail.js";
import { confirm, tell } from "./dialog.js";
import { el, fill } from "./dom.js";
import { parse, span } from "./format.js";
import { Failure, NUMBERS, Row } from "./plugin_rows.js";

export class Plugins {
  #rows = new Map(); // by name
  #failed = new Map();
  #cpu = new Map(); // by name: [seconds of processor time, when]
  #facts = "";

  /** openTool: shows a tool, by id. openLog: a plugin's log. refresh: reads the status anew. */
  constructor(panel, { openTool, openLog, refresh }) {
    this.openTool = openTool;
    this.openLog = openLog;
    this.refresh = refresh;
    this.#build(panel);
  }

  update(status) {
    this.#tellHost(status);
    this.#sync(this.#rows, this.body, status.plugins, (plugin) => new Row(this, plugin));
    for (const plugin of status.plugins)
      this.#rows.get(plugin.name).update(plugin, this.#load(plugin));
    this.#sync(this.#failed, this.failures, status.failed, (failed) => new Failure(this, failed));
    for (const failed of status.failed) this.#failed.get(failed.name).update(failed);
    this.failedCard.hidden = status.failed.length === 0;
    this.nothing.hidden = status.plugins.length > 0;
  }

  // Rows stay where they are, so that nobody who uses a button of one loses it.
  #sync(rows, parent, values, make) {
    const names = new Set(values.map((value) => value.name));
    for (const [name, row] of rows) {
      if (names.has(name)) continue;
      row.elements.forEach((element) => element.remove());
      rows.delete(name);
    }
    let place = parent.firstElementChild;
    for (const value of values) {
      if (!rows.has(value.name)) rows.set(value.name, make(value));
      for (const element of rows.get(value.name).elements) {
        if (element === place) place = place.nextElementSibling;
        else parent.insertBefore(element, place);
      }
    }
  }

  /** The share of a processor that a plugin has used since the last look. */
  #load(plugin) {
    const seconds = plugin.stats.cpuSeconds;
    const now = performance.now() / 1000;
    const [before, then] = this.#cpu.get(plugin.name) ?? [];
    if (seconds === null) return "";
    if (before === undefined || now - then > 1) this.#cpu.set(plugin.name, [seconds, now]);
    if (before === undefined || seconds < before || now - then <= 1) {
      return this.#rows.get(plugin.name)?.load ?? "0 %";
    }
    const share = ((seconds - before) / (now - then)) * 100;
    return `${share < 10 ? share.toFixed(1).replace(/\.0$/, "") : Math.round(share)} %`;
  }

  #build(panel) {
    this.facts = el("dl", { class: "facts-list strip" });
    this.problems = el("ul", { class: "problems", hidden: true });
    this.body = el("tbody", { role: "rowgroup" });
    this.nothing = el("p", { class: "empty", hidden: true }, "No plugin is loaded.");
    this.failures = el("ul", { class: "failures" });
    this.failedCard = el(
      "section",
      { class: "card", "aria-labelledby": "failed-title", hidden: true },
      el("h2", { id: "failed-title" }, "Not loaded"),
      this.failures,
    );
    panel.append(
      this.facts,
      this.problems,
      this.failedCard,
      el("h2", { class: "hidden" }, "Plugins"),
      // The roles are there by themselves, but not when CSS lays the table out as cards.
      el(
        "table",
        { class: "plugins", role: "table", "aria-label": "Loaded plugins" },
        el(
          "thead",
          { role: "rowgroup" },
          el(
            "tr",
            { role: "row" },
            ["Plugin", "State"].map((head) =>
              el("th", { scope: "col", role: "columnheader" }, head),
            ),
            NUMBERS.map(([head]) =>
              el("th", { scope: "col", role: "columnheader", class: "number" }, head),
            ),
            el(
              "th",
              { scope: "col", role: "columnheader" },
              el("span", { class: "hidden" }, "Actions"),
            ),
          ),
        ),
        this.body,
      ),
      this.nothing,
      this.#loader(),
    );
  }

  #tellHost(status) {
    const facts = [
      ["Plugins", count(status)],
      ["Up", span(status.uptimeSeconds)],
      ["Open sessions", String(status.sessions)],
      ["Process", String(status.pid)],
      ["Configuration", status.config],
      [status.project ? "Project" : "Directory", status.project ?? status.directory],
    ];
    if (!status.ready) facts.unshift(["State", "plugins are being loaded"]);
    const key = JSON.stringify(facts);
    if (key !== this.#facts) fill(this.facts, facts.map(pair));
    this.#facts = key;
    const problems = [...status.problems, ...status.notices];
    this.problems.hidden = problems.length === 0;
    const text = JSON.stringify(problems);
    if (this.problems.dataset.text !== text)
      fill(
        this.problems,
        problems.map((problem) => el("li", {}, problem)),
      );
    this.problems.dataset.text = text;
  }

  // --- loading

  #loader() {
    const names = el("datalist", { id: "known-plugins" });
    this.name = el("input", {
      id: "load-name",
      list: "known-plugins",
      required: true,
      spellcheck: "false",
      autocomplete: "off",
      on: {
        focus: () => this.#offer(names),
      },
    });
    this.options = el("textarea", {
      id: "load-options",
      rows: "2",
      spellcheck: "false",
      placeholder: "those of the configuration",
    });
    this.loadButton = el("button", { type: "submit", class: "main" }, "Load");
    return el(
      "form",
      {
        class: "card loader",
        "aria-labelledby": "load-title",
        on: { submit: (event) => this.#submit(event) },
      },
      el("h2", { id: "load-title" }, "Load a plugin"),
      el(
        "div",
        { class: "line" },
        el("label", { class: "field grow", for: "load-name" }, "Name", this.name),
        names,
        el(
          "label",
          { class: "field grow", for: "load-options" },
          "Options, as JSON (optional)",
          this.options,
        ),
        this.loadButton,
      ),
    );
  }

  async #offer(names) {
    if (names.firstChild) return;
    try {
      const known = await ask("GET", "plugin/registry");
      fill(
        names,
        known.map((entry) => el("option", { value: entry.name }, entry.description)),
      );
    } catch {
      // a name can be written without being offered
    }
  }

  async #submit(event) {
    event.preventDefault();
    const body = { name: this.name.value.trim() };
    try {
      if (this.options.value.trim()) body.options = parse(this.options.value);
    } catch (error) {
      tell("bad", `The options are not JSON: ${error.message}`);
      this.options.focus();
      return;
    }
    const done = await this.act(this.loadButton, `${body.name} is loaded.`, () =>
      ask("POST", "plugin/load", { body: JSON.stringify(body) }),
    );
    if (done) this.name.value = this.options.value = "";
  }

  // --- acting

  /** Do something with a button's click; it cannot be clicked again meanwhile. */
  async act(button, done, work) {
    if (button.getAttribute("aria-disabled")) return false;
    button.setAttribute("aria-disabled", "true");
    try {
      await work();
      tell("good", done);
      return true;
    } catch (error) {
      tell("bad", error.message);
      return false;
    } finally {
      button.removeAttribute("aria-disabled");
      this.refresh();
    }
  }

  async unload(button, name, failed = false) {
    const text = failed
      ? "It is not tried again until it is loaded or the configuration is read again."
      : "Its tools go away, and its hooks are not asked any more. Calls in progress are ended.";
    if (
      !(await confirm(
        `${failed ? "Give up" : "Unload"} ${name}?`,
        text,
        failed ? "Give up" : "Unload",
      ))
    )
      return;
    await this.act(button, `${name} is unloaded.`, () => ask("DELETE", `plugin/${step(name)}`));
  }

  async restart(button, name) {
    const text = "Its process is ended and started anew. Calls in progress are ended.";
    if (!(await confirm(`Restart ${name}?`, text, "Restart"))) return;
    await this.retry(button, name, `${name} was restarted.`);
  }

  async retry(button, name, done = `${name} is loaded.`) {
    await this.act(button, done, () => ask("POST", `plugin/${step(name)}/restart`));
  }
}

/** How many plugins there are, by how they are. */
export function count({ plugins, failed }) {
  const ready = plugins.filter((plugin) => plugin.state === "ready").length;
  const parts = [
    [ready, "ready"],
    [plugins.length - ready, "not ready"],
    [failed.length, "not loaded"],
  ];
  return parts
    .filter(([number], index) => number || index === 0)
    .map((part) => part.join(" "))
    .join(", ");
}
