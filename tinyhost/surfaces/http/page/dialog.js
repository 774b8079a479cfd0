// Questions before something is ended, and messages about what became of it.

import { el, newId } from "./dom.js";

/** Ask before doing something. Resolves to whether the person agreed. */
export function confirm(title, text, action) {
  const heading = newId("dialog");
  const dialog = el(
    "dialog",
    { "aria-labelledby": heading },
    el(
      "form",
      { method: "dialog" },
      el("h2", { id: heading }, title),
      el("p", {}, text),
      el(
        "div",
        { class: "line end" },
        el("button", { type: "submit", value: "no" }, "Cancel"),
        el("button", { type: "submit", value: "yes", class: "danger" }, action),
      ),
    ),
  );
  document.body.append(dialog);
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    });
    dialog.showModal();
    dialog.querySelector("button").focus();
  });
}

/** Tell what was done ("good") or went wrong ("bad"), until it is dismissed or 8 seconds passed. */
export function tell(kind, text) {
  const message = el(
    "div",
    { class: `message ${kind}`, role: kind === "bad" ? "alert" : "status" },
    el("p", {}, text),
    el(
      "button",
      {
        type: "button",
        class: "quiet",
        "aria-label": "Dismiss",
        on: { click: () => message.remove() },
      },
      "×",
    ),
  );
  document.getElementById("messages").append(message);
  if (kind === "good") setTimeout(() => message.remove(), 8000);
}
