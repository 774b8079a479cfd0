// What became of a call: what the tool put out, or who denied it and why.

import { Refused } from "./api.js";
import { block, reasons } from "./detail.js";
import { el, picture } from "./dom.js";
import { millis, pretty } from "./format.js";

/** One line for all who wait, seeing or not. */
export function summary(outcome) {
  return outcome.isError
    ? `The tool answered with an error after ${millis(outcome.ms)}`
    : `Answered in ${millis(outcome.ms)}`;
}

export function outcomeParts(outcome) {
  const { content: parts, structuredContent: structured, ...details } = outcome.details ?? {};
  const list = Array.isArray(parts) ? parts : parts === undefined ? [] : [parts];
  return [
    outcome.content ? block(outcome.content) : el("p", { class: "empty" }, "It put out no text."),
    list.map(part),
    structured === undefined ? null : titled("Structured content", block(structured)),
    outcome.additionalContext.length
      ? titled("Context that plugins added", outcome.additionalContext.map(block))
      : null,
    Object.keys(details).length ? titled("Details", block(details)) : null,
  ];
}

function titled(title, ...content) {
  return el("section", { class: "member" }, el("h4", {}, title), content);
}

/** A part of the answer that the text does not hold. */
function part(value) {
  if (value?.type === "image") {
    const image = picture(value);
    return titled(
      `Picture (${value.mimeType})`,
      image ?? el("p", { class: "empty" }, "It is of a kind that is not shown here."),
    );
  }
  if (value?.type === "text" || value === null) return null;
  const short = { ...value };
  if (typeof short.data === "string") short.data = `[${short.data.length} characters of base64]`;
  return titled(`Part of type ${value?.type ?? "unknown"}`, block(short));
}

/** One line on a call that was not made, or failed. */
export function failure(error) {
  if (!(error instanceof Refused)) return `Failed: ${error.message}`;
  return error.detail.type === "CallDenied"
    ? "Denied"
    : `Failed (${error.detail.type ?? error.status})`;
}

export function failureParts(error) {
  const detail = error instanceof Refused ? error.detail : {};
  const found = detail.decision?.reasons ?? [];
  const notes = detail.notes ?? [];
  return [
    el("p", { class: "pre" }, error.message),
    notes.map((note) => el("p", { class: "pre" }, note)),
    found.length ? reasons(found) : null,
    detail.type && detail.type !== "CallDenied"
      ? el("details", {}, el("summary", {}, "Details"), block(pretty(detail)))
      : null,
  ];
}
