// What a plugin wrote to standard error.

import { ask, step } from "./api.js";
import { el, setChoices, setText, visible } from "./dom.js";
import { plural } from "./format.js";

const EVERY = 2000; // milliseconds between two looks

export class Logs {
  #lines = [];
  #control = null;
  #timer = 0;
  #shown = false;

  constructor(panel) {
    this.plugin = el("select", { on: { change: () => this.#read() } });
    this.count = el(
      "select",
      { on: { change: () => this.#read() } },
      ["200", "1000", "5000"].map((count) => el("option", { value: count }, count)),
    );
    this.words = el("input", {
      type: "search",
      spellcheck: "false",
      on: { input: () => this.#draw() },
    });
    this.follow = el("input", {
      type: "checkbox",
      checked: true,
      on: { change: () => this.#read() },
    });
    this.wrap = el("input", {
      type: "checkbox",
      checked: true,
      on: { change: () => this.text.classList.toggle("wrapped", this.wrap.checked) },
    });
    this.state = el("p", { class: "count" });
    this.text = el("pre", {
      class: "log wrapped",
      tabindex: "0",
      role: "region",
      "aria-label": "Log",
    });
    panel.append(
      el("h2", { class: "hidden" }, "Logs"),
      el(
        "div",
        { class: "tools" },
        el("label", { class: "field" }, "Plugin", this.plugin),
        el("label", { class: "field" }, "Lines", this.count),
        el("label", { class: "field grow" }, "Only lines with", this.words),
        el("label", { class: "check" }, this.follow, "Follow"),
        el("label", { class: "check" }, this.wrap, "Wrap lines"),
      ),
      this.state,
      this.text,
    );
  }

  update(status) {
    const own = status.plugins
      .filter((plugin) => plugin.dialect !== "builtin")
      .map((plugin) => plugin.name);
    const failed = status.failed.map((one) => one.name);
    setChoices(this.plugin, [
      ...own.map((name) => [name, name]),
      ...failed.map((name) => [name, `${name} (not loaded)`]),
    ]);
    if (own.length + failed.length === 0) setText(this.state, "No plugin with a log is loaded.");
    else if (this.#shown && !this.#timer && !this.#control) this.#read();
  }

  /** Show the log of a plugin. */
  open(name) {
    this.plugin.value = name;
  }

  /** The view is shown, or is not any more. */
  show(shown) {
    this.#shown = shown;
    if (shown) this.#read();
    else this.#stop();
  }

  #stop() {
    clearTimeout(this.#timer);
    this.#timer = 0;
    this.#control?.abort();
    this.#control = null;
  }

  async #read() {
    this.#stop();
    if (!this.plugin.value || !this.#shown) return;
    const control = new AbortController();
    this.#control = control;
    const path = `plugin/${step(this.plugin.value)}/log?lines=${this.count.value}`;
    try {
      const log = await ask("GET", path, { signal: control.signal });
      this.#lines = log.lines;
      this.path = log.path;
      this.#draw();
    } catch (error) {
      if (control.signal.aborted) return;
      setText(this.state, error.message);
    }
    this.#control = null;
    if (this.follow.checked) this.#timer = setTimeout(() => this.#again(), EVERY);
  }

  #again() {
    this.#timer = 0;
    if (document.hidden) this.#timer = setTimeout(() => this.#again(), EVERY);
    else this.#read();
  }

  #draw() {
    const words = this.words.value.toLowerCase();
    const lines = words
      ? this.#lines.filter((line) => line.toLowerCase().includes(words))
      : this.#lines;
    const text = lines.map(visible).join("\n");
    setText(this.state, this.#summary(lines.length));
    if (this.text.textContent === text) return;
    const below = this.text.scrollHeight - this.text.scrollTop - this.text.clientHeight;
    this.text.textContent = text;
    if (below < 40) this.text.scrollTop = this.text.scrollHeight;
  }

  #summary(shown) {
    const all = this.#lines.length;
    if (all === 0) return `Nothing was written to ${this.path}`;
    const part = shown === all ? "" : `${shown} of `;
    return `${part}${plural(all, "line")} of ${this.path}`;
  }
}
