// The live timeline: hooks, decisions, calls and what else happens, the newest first.

import { describe, KINDS, short } from "./describe.js";
import { detail } from "./detail.js";
import { el, fill, newId, setChoices, setText } from "./dom.js";
import { clock, millis, plural } from "./format.js";

const KEPT = 4000; // events, which is more than the host keeps
const STEP = 200; // rows shown at first, and more at each "Show older"

export class Timeline {
  #items = []; // the oldest first; events, gaps and new hosts
  #waiting = []; // arrived while paused
  #last = 0; // the number of the newest event
  #paused = false;
  #shown = STEP;
  #fresh = []; // to be put into the list at the next frame
  #scheduled = false;
  #plugins = new Set();
  #sessions = new Map();

  constructor(panel) {
    this.#build(panel);
  }

  // --- what arrives

  add(events) {
    const items = [];
    for (const event of events) {
      const missed = this.#last ? event.seq - this.#last - 1 : 0;
      if (missed > 0) items.push({ gap: missed });
      this.#last = event.seq;
      items.push(this.#item(event));
    }
    this.#take(items);
  }

  /** The host was started anew: its events are counted from 1 again. */
  newHost() {
    this.#last = 0;
    this.#take([{ restart: true }]);
  }

  /** The names of plugins that are loaded, to filter by even before they do something. */
  know(plugins) {
    const before = this.#plugins.size;
    plugins.forEach((name) => this.#plugins.add(name));
    if (this.#plugins.size !== before) this.#offerChoices();
  }

  #item(event) {
    const item = { event, ...describe(event), search: "" };
    item.plugins.forEach((name) => this.#plugins.add(name));
    if (event.session) {
      this.#sessions.delete(event.session); // so that it becomes the last one
      this.#sessions.set(event.session, true);
      if (this.#sessions.size > 50) this.#sessions.delete(this.#sessions.keys().next().value);
    }
    return item;
  }

  #take(items) {
    if (this.#paused) {
      this.#waiting.push(...items);
      this.#dropWaiting();
      this.#tellState();
      return;
    }
    this.#items.push(...items);
    if (this.#items.length > KEPT) this.#items.splice(0, this.#items.length - KEPT);
    this.#fresh.push(...items);
    if (!this.#scheduled) {
      this.#scheduled = true;
      requestAnimationFrame(() => this.#flush());
    }
  }

  #dropWaiting() {
    if (this.#waiting.length <= KEPT) return;
    const dropped = this.#waiting.splice(0, this.#waiting.length - KEPT + 1);
    const count = dropped.reduce((sum, item) => sum + (item.gap ?? (item.event ? 1 : 0)), 0);
    this.#waiting.unshift({ gap: count });
  }

  #flush() {
    this.#scheduled = false;
    const fresh = this.#fresh.filter(this.#filter()).slice(-this.#shown);
    this.#fresh = [];
    const now = Date.now() / 1000;
    const rows = fresh
      .map((item) => this.#row(item, item.event && now - item.event.t < 5))
      .reverse();
    this.list.prepend(...rows);
    while (this.list.children.length > this.#shown) this.list.lastElementChild.remove();
    this.#offerChoices();
    this.#tellState();
  }

  // --- controls

  #build(panel) {
    this.kinds = el(
      "fieldset",
      { class: "chips" },
      el("legend", {}, "Kinds"),
      KINDS.map((kind) =>
        el(
          "label",
          { class: "chip" },
          el("input", {
            type: "checkbox",
            checked: true,
            value: kind,
            on: { change: () => this.#draw() },
          }),
          kind,
        ),
      ),
    );
    this.plugin = this.#select();
    this.session = this.#select();
    this.words = el("input", {
      type: "search",
      spellcheck: "false",
      on: { input: () => this.#draw() },
    });
    this.silent = el("input", {
      type: "checkbox",
      checked: true,
      on: { change: () => this.#draw() },
    });
    this.pauseButton = el(
      "button",
      { type: "button", "aria-pressed": "false", on: { click: () => this.#pause() } },
      "Pause",
    );
    this.state = el("p", { class: "count" });
    // For those who listen: what they changed themselves, and not each event.
    this.spoken = el("p", { class: "hidden", role: "status" });
    this.list = el("ol", {
      class: "events",
      reversed: true,
      role: "list",
      "aria-label": "Events, the newest first",
    });
    this.none = el("p", { class: "empty" });
    this.older = el(
      "button",
      { type: "button", hidden: true, on: { click: () => this.#more() } },
      "Show older",
    );
    panel.append(
      el("h2", { class: "hidden" }, "Timeline"),
      (this.filters = el(
        "details",
        { class: "filters" },
        el("summary", {}, "Filters"),
        el(
          "div",
          { class: "tools", role: "search", "aria-label": "Filter the timeline" },
          this.kinds,
          el("label", { class: "field" }, "Plugin", this.plugin),
          el("label", { class: "field" }, "Session", this.session),
          el("label", { class: "field grow" }, "Text", this.words),
          el("label", { class: "check" }, this.silent, "Hooks without an opinion"),
          el("button", { type: "button", on: { click: () => this.#clear() } }, "Clear filters"),
        ),
      )),
      el("div", { class: "head" }, this.state, this.pauseButton),
      this.spoken,
      this.list,
      this.none,
      this.older,
    );
    this.#offerChoices();
    this.#tellState();
    const narrow = matchMedia("(max-width: 700px)"); // where filters have to be opened
    narrow.addEventListener("change", () => this.#openFilters(narrow));
    this.#openFilters(narrow);
  }

  #openFilters(narrow) {
    this.filters.open = !narrow.matches;
  }

  #select() {
    return el("select", { on: { change: () => this.#draw() } });
  }

  #offerChoices() {
    const names = [...this.#plugins].sort();
    setChoices(this.plugin, [["", "All"], ...names.map((name) => [name, name])]);
    const wanted = this.session.value;
    const sessions = [...this.#sessions.keys()].reverse();
    if (wanted && !sessions.includes(wanted)) sessions.unshift(wanted);
    setChoices(this.session, [["", "All"], ...sessions.map((id) => [id, short(id)])]);
  }

  #clear() {
    this.kinds.querySelectorAll("input").forEach((box) => {
      box.checked = true;
    });
    this.silent.checked = true;
    this.plugin.value = this.session.value = this.words.value = "";
    this.#draw();
  }

  #only(session) {
    this.#sessions.set(session, true);
    this.#offerChoices();
    this.session.value = session;
    this.filters.open = true;
    this.#draw();
    this.session.focus();
  }

  #pause() {
    this.#paused = !this.#paused;
    this.pauseButton.setAttribute("aria-pressed", String(this.#paused));
    if (!this.#paused) this.#take(this.#waiting.splice(0));
    this.#tellState();
    setText(this.spoken, this.#paused ? "Paused" : "Going on");
  }

  #more() {
    const before = this.list.children.length;
    this.#shown += STEP;
    this.#draw();
    this.list.children[before]?.querySelector("button")?.focus();
  }

  // --- the list

  /** What tells whether an item fits the filters as they are now. */
  #filter() {
    const boxes = [...this.kinds.querySelectorAll("input")];
    const off = new Set(boxes.filter((box) => !box.checked).map((box) => box.value));
    const [plugin, session, silent] = [this.plugin.value, this.session.value, this.silent.checked];
    const words = this.words.value.toLowerCase().split(/\s+/).filter(Boolean);
    return (item) => {
      const { event } = item;
      if (!event) return true; // a gap
      if (off.has(event.kind) || (item.quiet && !silent)) return false;
      if (plugin && !item.plugins.includes(plugin)) return false;
      if (session && event.session !== session) return false;
      if (words.length)
        item.search ||= `${item.subject} ${item.text} ${JSON.stringify(event)}`.toLowerCase();
      return words.every((word) => item.search.includes(word));
    };
  }

  #draw() {
    this.#fresh = [];
    const fitting = this.#items.filter(this.#filter());
    fill(
      this.list,
      fitting
        .slice(-this.#shown)
        .reverse()
        .map((item) => this.#row(item, false)),
    );
    this.#tellState();
    setText(this.spoken, this.state.textContent);
  }

  #tellState() {
    const known = this.#items.filter((item) => item.event).length;
    const fitting = this.#items.filter(this.#filter());
    const shown = fitting.filter((item) => item.event).length;
    const held = this.#waiting.length;
    setText(this.pauseButton, this.#paused ? "Resume" : "Pause");
    setText(
      this.state,
      this.#paused
        ? `Paused. ${plural(held, "new event")}.`
        : shown === known
          ? plural(known, "event")
          : `${shown} of ${plural(known, "event")}`,
    );
    this.none.hidden = shown > 0;
    setText(this.none, known === 0 ? "Nothing has happened yet." : "No event fits these filters.");
    this.older.hidden = fitting.length <= this.#shown;
  }

  #row(item, isNew) {
    if (item.gap)
      return note(`${plural(item.gap, "event")} missed: more happened than this page could follow`);
    if (item.restart) return note("The host was started anew");
    const { event } = item;
    const id = newId("event");
    const button = el(
      "button",
      { type: "button", class: "event", "aria-expanded": "false", "aria-controls": id },
      el("time", { datetime: new Date(event.t * 1000).toISOString() }, clock(event.t)),
      el("span", { class: "kind" }, event.kind),
      el("span", { class: `mark tone-${item.tone}` }, item.mark),
      el(
        "span",
        { class: "what" },
        el("b", {}, item.subject),
        " ",
        el("span", { class: "said" }, item.text),
      ),
      el("span", { class: "ms" }, millis(event.ms ?? longest(event))),
    );
    const body = el("div", { id, hidden: true });
    button.addEventListener("click", () => {
      body.hidden = !body.hidden;
      button.setAttribute("aria-expanded", String(!body.hidden));
      if (!body.firstChild) body.append(detail(event, (session) => this.#only(session)));
    });
    const classes = [isNew ? "fresh" : "", item.quiet ? "silent" : ""].filter(Boolean).join(" ");
    return el(
      "li",
      { class: classes || null, "data-seq": event.seq, "data-kind": event.kind },
      button,
      body,
    );
  }
}

function longest(event) {
  const times = (event.answers ?? []).map((answer) => answer.ms);
  return times.length ? Math.max(...times) : null;
}

function note(text) {
  return el("li", { class: "gap" }, text);
}
