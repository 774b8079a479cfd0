// Elements. What comes from plugins gets into the page through this module, and as text alone.

const COLOURS = /\u001b\[[0-9;:]*m/g;
// Control characters, and those that turn the direction of text or take no room.
const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;

/** The text with everything in it visible, so that it cannot look like another text. */
export function visible(text) {
  return String(text).replaceAll("\r\n", "\n").replace(COLOURS, "").replace(HIDDEN, shown);
}

function shown(character) {
  const code = character.codePointAt(0);
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  return `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
}

/**
 * An element. attributes: `on` holds listeners by event, `value` is the property; true sets an
 * attribute, and false, null and undefined leave it out. children: nodes, texts, nested lists.
 */
export function el(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "on") {
      for (const [event, listener] of Object.entries(value))
        element.addEventListener(event, listener);
    } else if (key === "value") {
      element.value = value;
    } else {
      setAttribute(element, key, value);
    }
  }
  append(element, children);
  return element;
}

export function setAttribute(element, name, value) {
  if (value === false || value === null || value === undefined) element.removeAttribute(name);
  else element.setAttribute(name, value === true ? "" : visible(value));
}

function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : visible(child));
  }
}

/** Replace what is in an element. */
export function fill(element, ...children) {
  element.replaceChildren();
  append(element, children);
}

/** Set an element's text if it is another one; a selection or a reader's place is kept if not. */
export function setText(element, text) {
  const wanted = visible(text);
  if (element.textContent !== wanted) element.textContent = wanted;
}

/** The choices of a select, [value, text] each; what is selected stays so if it is still there. */
export function setChoices(select, choices) {
  const key = JSON.stringify(choices);
  if (select.dataset.choices === key) return;
  const selected = select.value;
  fill(
    select,
    choices.map(([value, text]) => el("option", { value }, text)),
  );
  select.dataset.choices = key;
  if (choices.some(([value]) => value === selected)) select.value = selected;
}

const PICTURES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"]);

/** A picture from a tool, if it is of a kind that holds nothing but a picture; else null. */
export function picture(part) {
  const data = String(part.data ?? "");
  if (!PICTURES.has(part.mimeType) || !/^[A-Za-z0-9+/\s]+={0,2}\s*$/.test(data)) return null;
  const image = el("img", { class: "picture", alt: "A picture that the tool put out" });
  image.src = `data:${part.mimeType};base64,${data.replace(/\s+/g, "")}`;
  return image;
}

let numbers = 0;

/** An id that no other element has. */
export function newId(prefix) {
  numbers += 1;
  return `${prefix}-${numbers}`;
}
