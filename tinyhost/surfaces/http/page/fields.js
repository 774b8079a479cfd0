// Fields of a form. Each has `element`, `read()`, and `write(value)`.
//
// `read` gives {text} with the value as JSON text, {} for none, or {problem} in words. Values are
// JSON text, as a number is to reach the plugin the way that it was written. `write` takes a
// value, undefined for none, and returns whether `read` would give the same again.
//
// No element gets a name of the plugin's as its own `name` or `id`: such names would hide what
// a form itself has.

import { el, fill, newId } from "./dom.js";
import { parse } from "./format.js";

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
const INTEGER = /^-?(0|[1-9]\d*)$/;

/** A control for what schema.js's fieldOf found. */
export function controlFor(field, attributes) {
  return MAKERS[field.kind](field, attributes);
}

const MAKERS = { string, integer: number, number, boolean, choice, list, json };

function placeholder(schema) {
  return schema.default === undefined ? null : `default: ${pretty(schema.default)}`;
}

function string({ schema }, attributes) {
  const element = el("textarea", {
    ...attributes,
    rows: "1",
    spellcheck: "false",
    placeholder: placeholder(schema),
  });
  return {
    element,
    read: () => (element.value === "" ? {} : { text: JSON.stringify(element.value) }),
    write: (value) => {
      element.value = value ?? "";
      return value === undefined || (value !== "" && element.value === value);
    },
  };
}

function number({ kind, schema }, attributes) {
  const element = el("input", {
    ...attributes,
    type: "text",
    inputmode: kind === "integer" ? "numeric" : "decimal",
    autocomplete: "off",
    placeholder: placeholder(schema),
  });
  const [form, words] = kind === "integer" ? [INTEGER, "a whole number"] : [NUMBER, "a number"];
  return {
    element,
    read: () => {
      const text = element.value.trim();
      if (text === "") return {};
      if (!form.test(text)) return { problem: `must be ${words}` };
      if (schema.minimum !== undefined && Number(text) < schema.minimum)
        return { problem: `must be at least ${schema.minimum}` };
      if (schema.maximum !== undefined && Number(text) > schema.maximum)
        return { problem: `must be at most ${schema.maximum}` };
      return { text };
    },
    write: (value) => {
      element.value = JSON.stringify(value) ?? "";
      return value === undefined || form.test(element.value);
    },
  };
}

function boolean(field, attributes) {
  return choice({ ...field, choices: [true, false] }, attributes);
}

function choice({ schema, choices }, attributes) {
  const texts = choices.map((value) => JSON.stringify(value));
  const none =
    schema.default === undefined ? "not given" : `not given (default: ${pretty(schema.default)})`;
  const element = el(
    "select",
    attributes,
    el("option", { value: "" }, none),
    choices.map((value, index) => el("option", { value: texts[index] }, pretty(value))),
  );
  return {
    element,
    read: () => (element.value === "" ? {} : { text: element.value }),
    write: (value) => {
      element.value = JSON.stringify(value) ?? "";
      return value === undefined || element.value !== "";
    },
  };
}

function pretty(value) {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function json({ schema }, attributes) {
  const element = el("textarea", {
    ...attributes,
    rows: "2",
    class: "code",
    spellcheck: "false",
    placeholder:
      placeholder(schema) ??
      (schema.type === "array" ? "[]" : schema.type === "object" ? "{}" : null),
  });
  return {
    element,
    read: () => {
      const text = element.value.trim();
      if (text === "") return {};
      try {
        JSON.parse(text);
        return { text };
      } catch (error) {
        return { problem: `is not JSON: ${error.message}` };
      }
    },
    write: (value) => {
      element.value = JSON.stringify(value, null, 2) ?? "";
      return true;
    },
  };
}

// --- lists

function list({ item, name, required }, attributes) {
  const rows = el("ol", { class: "rows" });
  const controls = new Map();
  const add = el(
    "button",
    {
      type: "button",
      class: "small",
      ...attributes,
      on: { click: () => append().element.focus() },
    },
    `Add to ${name}`,
  );

  function append() {
    const control = controlFor(item, {
      id: newId("item"),
      "aria-label": `${name}, entry ${controls.size + 1}`,
    });
    const row = el(
      "li",
      { class: "line" },
      control.element,
      el(
        "button",
        {
          type: "button",
          class: "small",
          "aria-label": `Remove this entry of ${name}`,
          on: { click: () => remove(row) },
        },
        "Remove",
      ),
    );
    controls.set(row, control);
    rows.append(row);
    return control;
  }

  function remove(row) {
    controls.delete(row);
    row.remove();
    [...controls.values()].forEach((control, index) =>
      control.element.setAttribute("aria-label", `${name}, entry ${index + 1}`),
    );
    add.focus();
  }

  return {
    element: el("div", { role: "group", "aria-label": name }, rows, add),
    focus: add,
    read: () => {
      const found = [...controls.values()].map((control) => control.read());
      const bad = found.findIndex((one) => one.problem);
      if (bad >= 0) return { problem: `entry ${bad + 1} ${found[bad].problem}` };
      if (found.length === 0) return required ? { text: "[]" } : {};
      const texts = found.map((one) => one.text ?? (item.kind === "string" ? '""' : undefined));
      const empty = texts.indexOf(undefined);
      return empty >= 0
        ? { problem: `entry ${empty + 1} has no value` }
        : { text: `[${texts.join(",")}]` };
    },
    write: (value) => {
      controls.clear();
      fill(rows);
      if (value === undefined) return true;
      if (!Array.isArray(value) || (value.length === 0 && !required)) return false;
      return value.every((one) => append().write(one) || (one === "" && item.kind === "string"));
    },
  };
}

/** The members of an object in JSON text; null where it is no object. Raises SyntaxError. */
export function membersOf(text) {
  const value = parse(text);
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : null;
}
