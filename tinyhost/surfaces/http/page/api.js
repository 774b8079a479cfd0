// The host's HTTP API, and the token for it.

import { parse } from "./format.js";

const KEY = "tinyhost.token";
let token = "";

/** Take the token from the address, where it is then removed, or from this tab's memory. */
export function findToken() {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given === null) {
    token = stored();
    return;
  }
  history.replaceState(null, "", location.pathname + location.search);
  setToken(given);
}

function stored() {
  try {
    return sessionStorage.getItem(KEY) ?? "";
  } catch {
    return ""; // the browser keeps nothing; the token lives as long as the page
  }
}

export function setToken(given) {
  token = given.trim();
  try {
    if (token) sessionStorage.setItem(KEY, token);
    else sessionStorage.removeItem(KEY);
  } catch {
    // as above
  }
}

export function hasToken() {
  return token !== "";
}

/** The host answered with an error. status 401: the token is wrong. detail: its fields. */
export class Refused extends Error {
  constructor(status, message, detail) {
    super(message);
    this.status = status;
    this.detail = detail;
  }
}

/** The host could not be reached. */
export class Unreachable extends Error {}

/** Ask for a path below the page's own. body: JSON text. Resolves to the open response. */
export async function open(method, path, { body, signal } = {}) {
  if (!/^[\x21-\x7e]+$/.test(token)) throw new Refused(401, "there is no token", {});
  const headers = { Authorization: `Bearer ${token}` };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let response;
  try {
    response = await fetch(path, { method, headers, body, signal, cache: "no-store" });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Unreachable("the host does not answer");
  }
  if (!response.ok) throw await refusal(response);
  return response;
}

async function refusal(response) {
  let said = {};
  try {
    said = parse(await response.text());
  } catch {
    // not from the host itself, but from something in between
  }
  return new Refused(
    response.status,
    said.error ?? `the answer is HTTP ${response.status}`,
    said.detail ?? {},
  );
}

/** Ask, and resolve to the answer's JSON; undefined where there is none. */
export async function ask(method, path, options = {}) {
  const response = await open(method, path, options);
  try {
    const text = await response.text();
    return text ? parse(text) : undefined;
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new Unreachable("the host broke off its answer");
  }
}

/** One step of a path. */
export function step(name) {
  return encodeURIComponent(name);
}
