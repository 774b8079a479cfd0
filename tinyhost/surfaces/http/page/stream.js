// What happens in the host, followed for ever: reconnects, and goes on where it was.

import { open, Refused } from "./api.js";
import { parse } from "./format.js";

const SILENCE = 45_000; // milliseconds without a sign of life, which comes every 15 seconds
const WAITS = [1, 2, 4, 8, 15]; // seconds before each further attempt

/** Puts the lines of a stream of server-sent events together; `push` returns the events' data. */
export class EventReader {
  #rest = "";

  push(text) {
    const blocks = (this.#rest + text).split("\n\n");
    this.#rest = blocks.pop();
    return blocks.map(dataOf).filter((data) => data !== "");
  }
}

function dataOf(block) {
  const lines = block.split("\n").filter((line) => line.startsWith("data:"));
  return lines.map((line) => line.slice(5).trimStart()).join("\n");
}

/**
 * begin: called before each connection; resolves to something that changes when the host is
 * started anew, as its events are then counted anew. onEvents: gets each batch of events.
 * onState: gets "connecting", "live", "waiting" with seconds, "hidden" or "refused".
 */
export class Stream {
  #since = 0;
  #host = null;
  #failures = 0;
  #control = null;
  #wake = null;
  #running = false;

  constructor({ begin, onEvents, onState, onNewHost }) {
    this.begin = begin;
    this.onEvents = onEvents;
    this.onState = onState;
    this.onNewHost = onNewHost;
    document.addEventListener("visibilitychange", () => this.#shownOrHidden());
    addEventListener("online", () => this.retry());
  }

  /** Connect at once. */
  retry() {
    this.#failures = 0;
    this.#wake?.();
  }

  /** Follow until the token is refused. */
  async run() {
    if (this.#running) return;
    this.#running = true;
    try {
      while (await this.#once());
    } finally {
      this.#running = false;
    }
  }

  async #once() {
    if (document.hidden) {
      this.onState("hidden");
      await this.#sleep(Infinity);
      return true;
    }
    this.onState("connecting");
    try {
      await this.#follow();
    } catch (error) {
      if (error instanceof Refused && error.status === 401) {
        this.onState("refused");
        return false;
      }
    }
    if (!document.hidden) await this.#pause();
    return true;
  }

  async #pause() {
    const seconds = WAITS[Math.min(this.#failures, WAITS.length - 1)];
    this.#failures += 1;
    this.onState("waiting", seconds);
    await this.#sleep(seconds * 1000);
  }

  async #sleep(milliseconds) {
    await new Promise((resolve) => {
      this.#wake = resolve;
      if (milliseconds !== Infinity) setTimeout(resolve, milliseconds);
    });
    this.#wake = null;
  }

  async #follow() {
    const control = new AbortController();
    this.#control = control;
    let timer = 0;
    const alive = () => {
      clearTimeout(timer);
      timer = setTimeout(() => control.abort(), SILENCE);
    };
    try {
      alive();
      await this.#meet(control.signal);
      const response = await open("GET", `events?since=${this.#since}`, { signal: control.signal });
      this.#failures = 0;
      this.onState("live");
      await this.#read(response, alive);
    } finally {
      clearTimeout(timer);
      control.abort();
    }
  }

  async #meet(signal) {
    const host = await this.begin(signal);
    if (this.#host !== null && host !== this.#host) {
      this.#since = 0;
      this.onNewHost();
    }
    this.#host = host;
  }

  async #read(response, alive) {
    const events = new EventReader();
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      alive();
      const batch = events.push(value).map(parse);
      if (batch.length === 0) continue;
      this.#since = batch.at(-1).seq;
      this.onEvents(batch);
    }
  }

  // A browser has few connections to one server, and tabs that nobody looks at share them.
  #shownOrHidden() {
    if (document.hidden) this.#control?.abort();
    this.retry();
  }
}
