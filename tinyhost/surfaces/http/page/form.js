// A form for a tool's arguments, made from the JSON Schema of its input.

import { el, newId, setAttribute, setText } from "./dom.js";
import { controlFor, membersOf } from "./fields.js";
import { fieldsOf, kindText } from "./schema.js";

export class ArgumentsForm {
  #fields;
  #asJson = false;

  constructor(schema) {
    this.#fields = fieldsOf(schema).map((field) => new Field(field));
    this.json = el("textarea", {
      id: newId("json"),
      class: "code",
      rows: "8",
      spellcheck: "false",
    });
    this.jsonProblem = el("p", { class: "problem", id: newId("problem"), role: "alert" });
    this.jsonPart = el(
      "div",
      { class: "form-field", hidden: true },
      el("label", { for: this.json.id }, "Arguments, as a JSON object"),
      this.json,
      this.jsonProblem,
    );
    this.formPart = el(
      "div",
      {},
      this.#fields.length
        ? this.#fields.map((field) => field.element)
        : el("p", { class: "empty" }, "This tool names no arguments."),
    );
    this.element = el("div", {}, this.#modes(), this.formPart, this.jsonPart);
  }

  #modes() {
    const name = newId("mode");
    const mode = (text, json) => {
      const radio = el("input", {
        type: "radio",
        name,
        value: json ? "json" : "form",
        checked: !json,
        on: { change: () => this.#switch(json) },
      });
      if (json) this.jsonMode = radio;
      else this.formMode = radio;
      return el("label", { class: "chip" }, radio, text);
    };
    return el(
      "fieldset",
      { class: "chips" },
      el("legend", { class: "hidden" }, "How to write the arguments"),
      mode("Form", false),
      mode("JSON", true),
    );
  }

  #switch(json) {
    if (json) {
      // What is not complete yet can be completed there.
      this.json.value = this.#text(this.#fields.map((field) => [field, field.control.read()]));
    } else if (!this.#fromJson()) {
      this.jsonMode.checked = true;
      return;
    }
    this.#asJson = json;
    this.jsonPart.hidden = !json;
    this.formPart.hidden = json;
  }

  #fromJson() {
    const found = this.#members();
    if (found === null) return false;
    const known = new Set(this.#fields.map((field) => field.name));
    const unknown = Object.keys(found).find((name) => !known.has(name));
    if (unknown !== undefined) return this.#refuse(`the form has no field for "${unknown}"`);
    for (const field of this.#fields) {
      if (!field.write(Object.hasOwn(found, field.name) ? found[field.name] : undefined)) {
        return this.#refuse(`the form cannot show what "${field.name}" is`);
      }
    }
    return true;
  }

  #members() {
    this.#refuse("");
    try {
      const found = membersOf(this.json.value.trim() || "{}");
      if (found === null)
        this.#refuse("this is not an object: it has to begin with { and end with }");
      return found;
    } catch (error) {
      this.#refuse(`this is not JSON: ${error.message}`);
      return null;
    }
  }

  #refuse(text) {
    setText(this.jsonProblem, text);
    setAttribute(this.json, "aria-invalid", text ? "true" : null);
    setAttribute(this.json, "aria-describedby", text ? this.jsonProblem.id : null);
    return false;
  }

  #text(found) {
    const members = found
      .filter(([, value]) => value.text !== undefined)
      .map(([field, value]) => `  ${JSON.stringify(field.name)}: ${value.text}`);
    return members.length ? `{\n${members.join(",\n")}\n}` : "{}";
  }

  /** The arguments as JSON text; null when something is wrong, which is then shown and focused. */
  read() {
    if (this.#asJson) {
      if (this.#members() !== null) return this.json.value.trim() || "{}";
      this.json.focus();
      return null;
    }
    const found = this.#fields.map((field) => [field, field.read()]);
    const wrong = found.find(([, value]) => value.problem);
    if (wrong) {
      wrong[0].focus();
      return null;
    }
    return this.#text(found);
  }
}

/** A field with its label, what it is for, and what is wrong with it. */
class Field {
  constructor(field) {
    this.name = field.name;
    this.required = field.required;
    const id = newId("field");
    const [about, problem] = [`${id}-about`, `${id}-problem`];
    this.control = controlFor(field, {
      id,
      "aria-describedby": `${about} ${problem}`,
      "aria-required": field.required && field.kind !== "list" ? "true" : null,
    });
    this.problem = el("p", { class: "problem", id: problem });
    this.element = el(
      "div",
      { class: "form-field", "data-field": field.name },
      el(
        "div",
        { class: "line" },
        el("label", { for: id }, el("code", {}, field.name)),
        field.required ? el("span", { class: "required" }, "required") : null,
        el("span", { class: "type" }, kindText(field)),
      ),
      el("p", { class: "about", id: about }, field.schema.description ?? ""),
      this.control.element,
      this.problem,
    );
  }

  read() {
    const found = this.control.read();
    if (this.required && !found.problem && found.text === undefined)
      found.problem = "has to be given";
    setText(this.problem, found.problem ? `${this.name} ${found.problem}` : "");
    setAttribute(
      this.control.focus ?? this.control.element,
      "aria-invalid",
      found.problem ? "true" : null,
    );
    return found;
  }

  write(value) {
    return this.control.write(value);
  }

  focus() {
    (this.control.focus ?? this.control.element).focus();
  }
}
