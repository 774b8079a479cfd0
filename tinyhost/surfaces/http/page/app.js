// The page as a whole: the token, the tabs, the connection, and who is told what.

import { ask, findToken, hasToken, setToken } from "./api.js";
import { setText } from "./dom.js";
import { tell } from "./dialog.js";
import { Logs } from "./logs.js";
import { count, Plugins } from "./plugins.js";
import { Stream } from "./stream.js";
import { Timeline } from "./timeline.js";
import { Tools } from "./tools.js";

const NAMES = ["plugins", "timeline", "tools", "logs"];
const EVERY = 3000; // milliseconds between two looks at the status
const CHANGING = new Set(["plugin", "reload"]); // kinds of events after which it is another one

const byId = (id) => document.getElementById(id);
const [link, facts, gate, tabs] = ["link", "facts", "gate", "tabs"].map(byId);
const panels = Object.fromEntries(NAMES.map((name) => [name, byId(`panel-${name}`)]));
const tabOf = Object.fromEntries(NAMES.map((name) => [name, byId(`tab-${name}`)]));

// --- tabs

let shown = "plugins";
const places = {}; // how far each is scrolled

function show(name, focus = false) {
  places[shown] = scrollY;
  shown = name;
  for (const one of NAMES) {
    const selected = one === name;
    tabOf[one].setAttribute("aria-selected", String(selected));
    tabOf[one].tabIndex = selected ? 0 : -1;
    panels[one].hidden = !selected || !gate.hidden;
  }
  scrollTo(0, places[name] ?? 0);
  logs.show(name === "logs" && gate.hidden);
  history.replaceState(null, "", `#${name}`);
  if (focus) tabOf[name].focus();
}

function moveTab(event) {
  const index = NAMES.indexOf(shown);
  const to = { ArrowRight: index + 1, ArrowLeft: index - 1, Home: 0, End: NAMES.length - 1 }[
    event.key
  ];
  if (to === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  show(NAMES[(to + NAMES.length) % NAMES.length], true);
}

NAMES.forEach((name) => tabOf[name].addEventListener("click", () => show(name)));
tabs.addEventListener("keydown", moveTab);
byId("skip").addEventListener("click", (event) => {
  event.preventDefault();
  byId("main").focus();
});

// --- the views

const timeline = new Timeline(panels.timeline);
const tools = new Tools(panels.tools);
const logs = new Logs(panels.logs);
const plugins = new Plugins(panels.plugins, {
  openTool: (id) => {
    show("tools");
    tools.open(id);
  },
  openLog: (name) => {
    logs.open(name);
    show("logs");
    logs.text.focus();
  },
  refresh: () => refresh(),
});

// --- the status

let timer = 0;
let seen = null; // when the status was read last
let latest = 0; // the newest look; answers of older ones come too late

async function refresh(signal) {
  clearTimeout(timer);
  const look = ++latest;
  try {
    const status = await ask("GET", "status", { signal });
    if (look === latest) update(status);
    return status;
  } finally {
    if (look === latest) timer = setTimeout(again, EVERY);
  }
}

function again() {
  if (document.hidden || link.dataset.state !== "live") timer = setTimeout(again, EVERY);
  else refresh().catch(() => {}); // the stream of events tells when the host is gone
}

function update(status) {
  seen = new Date();
  setText(facts, `${count(status)} · ${status.project ?? status.directory}`);
  [plugins, tools, logs].forEach((view) => view.update(status));
  timeline.know(status.plugins.map((plugin) => plugin.name));
}

let soon = 0;

function refreshSoon() {
  clearTimeout(soon);
  soon = setTimeout(() => refresh().catch(() => {}), 100);
}

byId("reload").addEventListener("click", async (event) => {
  const button = event.currentTarget;
  if (button.getAttribute("aria-disabled")) return;
  button.setAttribute("aria-disabled", "true");
  try {
    tell("good", reloadText(await ask("POST", "reload")));
  } catch (error) {
    tell("bad", error.message);
  } finally {
    button.removeAttribute("aria-disabled");
    refreshSoon();
  }
});

function reloadText(done) {
  const changed = ["loaded", "restarted", "unloaded"].filter((key) => done[key].length);
  const failed = done.failed.length
    ? ` Not loaded: ${done.failed.map((one) => one.name).join(", ")}.`
    : "";
  const text =
    changed.map((key) => `${key} ${done[key].join(", ")}`).join("; ") || "nothing has changed";
  return `The configuration was read again: ${text}.${failed}`;
}

// --- the connection

const STATES = {
  connecting: () => "Connecting",
  live: () => "Live",
  waiting: (seconds) => `Not connected; next attempt in ${seconds} s`,
  hidden: () => "Paused",
  refused: () => "No access",
};

function onState(state, seconds) {
  // Each attempt of many is no news.
  if (state === "connecting" && link.dataset.state === "waiting") return;
  link.dataset.state = state;
  setText(link, STATES[state](seconds));
  byId("reconnect").hidden = state !== "waiting";
  if (state === "waiting")
    setText(facts, seen ? `What is shown is of ${seen.toLocaleTimeString()}` : "");
  if (state === "refused")
    close("The host does not take this token: it is another host's, or its file was made anew.");
}

const stream = new Stream({
  begin: async (signal) => {
    const status = await refresh(signal);
    return `${status.pid} ${status.started}`;
  },
  onEvents: (events) => {
    timeline.add(events);
    if (events.some((event) => CHANGING.has(event.kind))) refreshSoon();
  },
  onState,
  onNewHost: () => timeline.newHost(),
});

byId("reconnect").addEventListener("click", () => stream.retry());

// --- the token

function close(why) {
  link.dataset.state = "refused";
  setText(link, "No access");
  setText(facts, "");
  gate.hidden = false;
  tabs.hidden = byId("reload").hidden = true;
  show(shown);
  setText(byId("gate-why"), why);
  byId("gate-token").focus();
}

function enter() {
  if (!hasToken()) {
    close(
      "Open the address that tinyhost serve shows: it ends with #token=… and takes you right in.",
    );
    return;
  }
  gate.hidden = true;
  tabs.hidden = byId("reload").hidden = false;
  show(shown);
  stream.run();
}

byId("gate-form").addEventListener("submit", (event) => {
  event.preventDefault();
  setToken(byId("gate-token").value);
  byId("gate-token").value = "";
  enter();
});

addEventListener("hashchange", () => {
  const name = location.hash.slice(1);
  if (NAMES.includes(name)) {
    show(name);
  } else if (name.startsWith("token=")) {
    findToken();
    enter();
    stream.retry();
  }
});

if (NAMES.includes(location.hash.slice(1))) shown = location.hash.slice(1);
findToken();
enter();
