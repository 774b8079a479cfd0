// The tools of all plugins; any of them can be tried.

import { ask, step } from "./api.js";
import { el, fill, newId, setAttribute, setText } from "./dom.js";
import { ArgumentsForm } from "./form.js";
import { failure, failureParts, outcomeParts, summary } from "./result.js";

const HINTS = {
  readOnlyHint: ["reads only", "may change things"],
  destructiveHint: ["may destroy", "destroys nothing"],
  idempotentHint: ["repeatable", null],
  openWorldHint: ["reaches outside", null],
};

export class Tools {
  #tools = new Map(); // by id
  #trials = new Map(); // by id: what is shown for a tool, kept while it is not
  #chosen = "";
  #listed = "";

  constructor(panel) {
    this.words = el("input", {
      type: "search",
      spellcheck: "false",
      on: { input: () => this.#list() },
    });
    this.nav = el("div", { class: "tool-list" });
    this.place = el("div", { class: "trial" });
    panel.append(
      el("h2", { class: "hidden" }, "Tools"),
      el(
        "div",
        { class: "columns" },
        el(
          "nav",
          { class: "side", "aria-label": "Tools" },
          el("label", { class: "field" }, "Find a tool", this.words),
          this.nav,
        ),
        this.place,
      ),
    );
    this.#show("");
  }

  update(status) {
    this.#tools = new Map(
      status.plugins.flatMap((plugin) => plugin.tools).map((tool) => [tool.id, tool]),
    );
    for (const id of this.#trials.keys())
      if (!this.#tools.has(id) && id !== this.#chosen) this.#trials.delete(id);
    this.#list();
    if (this.#chosen) this.#show(this.#chosen);
  }

  /** Show a tool, and go to its heading. */
  open(id) {
    this.words.value = "";
    this.#show(id);
    this.#list();
    this.place.querySelector("h3")?.focus();
  }

  // --- the list

  #list() {
    const words = this.words.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = (tool) =>
      words.every((word) => `${tool.id} ${tool.description}`.toLowerCase().includes(word));
    const found = [...this.#tools.values()].filter(fits);
    const key = JSON.stringify([found.map((tool) => [tool.id, tool.name]), this.#chosen]);
    if (key === this.#listed) return;
    this.#listed = key;
    const focused = document.activeElement?.dataset?.tool;
    const groups = Map.groupBy ? Map.groupBy(found, (tool) => tool.plugin) : grouped(found);
    fill(
      this.nav,
      [...groups].map(([plugin, tools]) => this.#group(plugin, tools)),
      found.length === 0
        ? el(
            "p",
            { class: "empty" },
            this.#tools.size ? "No tool fits." : "No plugin offers a tool.",
          )
        : null,
    );
    if (focused)
      [...this.nav.querySelectorAll("[data-tool]")]
        .find((one) => one.dataset.tool === focused)
        ?.focus();
  }

  #group(plugin, tools) {
    const heading = newId("group");
    return el(
      "section",
      { "aria-labelledby": heading },
      el("h3", { id: heading }, plugin),
      el(
        "ul",
        {},
        tools.map((tool) =>
          el(
            "li",
            {},
            el(
              "button",
              {
                type: "button",
                class: "item",
                "data-tool": tool.id,
                "aria-current": tool.id === this.#chosen ? "true" : null,
                on: { click: () => this.open(tool.id) },
              },
              tool.name,
            ),
          ),
        ),
      ),
    );
  }

  // --- the tool that is tried

  #show(id) {
    this.#chosen = id;
    const tool = this.#tools.get(id);
    const known = this.#trials.get(id);
    if (!tool) {
      if (known) known.gone();
      else
        fill(
          this.place,
          el("p", { class: "empty" }, "Choose a tool to see what it takes, and to call it."),
        );
      return;
    }
    const key = JSON.stringify(tool);
    if (known?.key !== key) this.#trials.set(id, new Trial(tool, key));
    const trial = this.#trials.get(id);
    trial.there();
    if (this.place.firstChild !== trial.element) fill(this.place, trial.element);
  }
}

function grouped(tools) {
  const groups = new Map();
  for (const tool of tools) groups.set(tool.plugin, [...(groups.get(tool.plugin) ?? []), tool]);
  return groups;
}

/** One tool with its form and what became of the last call. */
class Trial {
  #control = null;

  constructor(tool, key) {
    this.tool = tool;
    this.key = key;
    this.form = new ArgumentsForm(tool.inputSchema);
    this.callButton = el("button", { type: "submit", class: "main" }, "Call");
    this.cancelButton = el(
      "button",
      { type: "button", hidden: true, on: { click: () => this.#control?.abort() } },
      "Cancel",
    );
    this.note = el("p", { class: "count", role: "status" });
    this.output = el("div", { class: "result" });
    this.state = el("p", { class: "outcome", role: "status" });
    this.element = el(
      "article",
      { "aria-label": tool.name, "data-tried": tool.id },
      el(
        "div",
        { class: "card" },
        el("h3", { tabindex: "-1" }, tool.name),
        el(
          "p",
          { class: "tags" },
          el("code", {}, tool.id),
          tags(tool).map((tag) => el("span", { class: "tag" }, tag)),
        ),
        tool.description ? el("p", { class: "pre description" }, tool.description) : null,
        el(
          "form",
          {
            novalidate: true,
            "aria-label": `Arguments of ${tool.name}`,
            on: { submit: (event) => this.#submit(event), keydown: (event) => this.#keys(event) },
          },
          this.form.element,
          el(
            "div",
            { class: "line" },
            this.callButton,
            this.cancelButton,
            el("span", { class: "type keys" }, "or Ctrl+Enter"),
            this.note,
          ),
        ),
      ),
      el("div", { class: "card answer" }, el("h3", {}, "Result"), this.state, this.output),
    );
    this.#tell("none", "Nothing was called yet", []);
  }

  gone() {
    setText(this.note, "The plugin is not loaded any more.");
  }

  there() {
    setText(this.note, "");
  }

  #keys(event) {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      event.currentTarget.requestSubmit();
    }
  }

  async #submit(event) {
    event.preventDefault();
    if (this.#control) return;
    const args = this.form.read();
    if (args === null) return;
    this.#control = new AbortController();
    this.#busy(true);
    this.#tell("running", "Running", []);
    try {
      const path = `tool/${step(this.tool.id)}/call`;
      const outcome = await ask("POST", path, {
        body: `{"args": ${args}}`,
        signal: this.#control.signal,
      });
      this.#tell(outcome.isError ? "error" : "good", summary(outcome), outcomeParts(outcome));
    } catch (error) {
      if (this.#control.signal.aborted)
        this.#tell("error", "Cancelled; what it did until then is done", []);
      else
        this.#tell(
          error.detail?.type === "CallDenied" ? "deny" : "error",
          failure(error),
          failureParts(error),
        );
    } finally {
      this.#control = null;
      this.#busy(false);
    }
  }

  #busy(busy) {
    if (!busy && document.activeElement === this.cancelButton) this.callButton.focus();
    this.cancelButton.hidden = !busy;
    setAttribute(this.callButton, "aria-disabled", busy ? "true" : null);
  }

  #tell(kind, text, parts) {
    this.state.dataset.kind = kind;
    setText(this.state, text);
    fill(this.output, parts);
    if (kind !== "none") this.state.scrollIntoView({ block: "nearest" });
  }
}

function tags(tool) {
  const hints = Object.entries(tool.hints ?? {}).map(
    ([name, value]) => HINTS[name]?.[value ? 0 : 1],
  );
  return [tool.permission ? `permission: ${tool.permission}` : null, ...hints].filter(Boolean);
}
