// What kind of field a JSON Schema asks for. Nothing of the page is touched here.

const DEPTH = 20; // references followed
const NESTED = 3; // alternatives within alternatives, which may be many,
const MANY = 32; // and how many of them

/** The schema that a reference within `root` leads to, with what stands beside the reference. */
export function resolve(schema, root) {
  let found = plain(schema);
  for (let depth = 0; depth < DEPTH && typeof found.$ref === "string"; depth += 1) {
    const { $ref, ...beside } = found;
    found = { ...at($ref, root), ...beside };
  }
  return found;
}

function plain(schema) {
  return typeof schema === "object" && schema !== null && !Array.isArray(schema) ? schema : {};
}

function at(reference, root) {
  if (!reference.startsWith("#")) return {};
  let steps;
  try {
    steps = decodeURIComponent(reference.slice(1)).split("/").slice(1);
  } catch {
    return {};
  }
  let found = root;
  for (const step of steps) {
    const name = step.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, name)) return {};
    found = found[name];
  }
  return plain(found);
}

/**
 * What to ask for: `kind` is "string", "integer", "number", "boolean", "choice" (of `choices`),
 * "list" (of `item`), or "json" for everything else; `schema` is the resolved one.
 */
export function fieldOf(given, root, depth = 0) {
  const schema = resolve(given, root);
  const choices = choicesOf(schema);
  if (choices) return { kind: "choice", schema, choices };
  const options = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(options)) return fromOptions(schema, options, root, depth);
  const types = [schema.type].flat().filter((type) => type !== "null" && type !== undefined);
  const kind = types.length === 1 ? types[0] : "json";
  if (["string", "integer", "number", "boolean"].includes(kind)) return { kind, schema };
  if (kind === "array" && !schema.prefixItems && depth < NESTED) {
    const item = fieldOf(schema.items, root, depth + 1);
    if (!["json", "list"].includes(item.kind)) return { kind: "list", schema, item };
  }
  return { kind: "json", schema };
}

function choicesOf(schema) {
  if (Array.isArray(schema.enum)) return schema.enum;
  return Object.hasOwn(schema, "const") ? [schema.const] : null;
}

/** "This or null" is a field for this; several constants are a choice. */
function fromOptions(schema, options, root, depth) {
  if (depth >= NESTED || options.length > MANY) return { kind: "json", schema };
  const found = options.map((option) => fieldOf(option, root, depth + 1));
  const real = found.filter((field) => field.schema.type !== "null");
  const { anyOf: _any, oneOf: _one, ...beside } = schema;
  if (real.length === 1) return { ...real[0], schema: { ...real[0].schema, ...beside } };
  if (real.every((field) => field.kind === "choice")) {
    return { kind: "choice", schema: beside, choices: real.flatMap((field) => field.choices) };
  }
  return { kind: "json", schema };
}

/** The fields of an object's schema: name, whether it is required, and what to ask for. */
export function fieldsOf(schema) {
  const root = plain(schema);
  const { properties, required } = resolve(root, root);
  const needed = new Set(Array.isArray(required) ? required : []);
  const known = Object.entries(plain(properties));
  const more = [...needed]
    .filter((name) => !Object.hasOwn(plain(properties), name))
    .map((name) => [name, {}]);
  return [...known, ...more].map(([name, one]) => ({
    name,
    required: needed.has(name),
    ...fieldOf(one, root),
  }));
}

/** The kind of a field in words, with its bounds. */
export function kindText({ kind, schema, item }) {
  if (kind === "list") return `list of ${item.kind === "choice" ? "choices" : `${item.kind}s`}`;
  if (kind === "json") return [schema.type ?? "any value"].flat().join(" or ") + ", as JSON";
  if (kind === "choice") return "";
  const [least, most] = [schema.minimum, schema.maximum];
  if (least !== undefined && most !== undefined) return `${kind}, ${least} to ${most}`;
  if (least !== undefined) return `${kind}, at least ${least}`;
  if (most !== undefined) return `${kind}, at most ${most}`;
  return schema.format ? `${kind}, ${schema.format}` : kind;
}
