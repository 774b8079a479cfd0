// Numbers and times for people, and JSON that keeps its numbers.

export function millis(value) {
  if (value === null || value === undefined) return "";
  if (value > 0 && value < 0.05) return "<0.1 ms";
  if (value < 10) return `${value.toFixed(1)} ms`;
  if (value < 1000) return `${Math.round(value)} ms`;
  return `${(value / 1000).toFixed(value < 10_000 ? 1 : 0)} s`;
}

export function bytes(value) {
  if (value === null || value === undefined) return "";
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let index = 0;
  while (value >= 1024 && index < units.length - 1) {
    value /= 1024;
    index += 1;
  }
  return `${index === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[index]}`;
}

/** A length of time in seconds, in its two largest units. */
export function span(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  const parts = [
    [Math.floor(whole / 86400), "d"],
    [Math.floor(whole / 3600) % 24, "h"],
    [Math.floor(whole / 60) % 60, "min"],
    [whole % 60, "s"],
  ];
  const first = parts.findIndex(([count]) => count > 0);
  if (first < 0) return "0 s";
  return parts
    .slice(first, first + 2)
    .filter(([count]) => count > 0)
    .map((part) => part.join(" "))
    .join(" ");
}

/** The time of day of seconds since the epoch, with milliseconds. */
export function clock(seconds) {
  const when = new Date(seconds * 1000);
  const two = (number) => String(number).padStart(2, "0");
  const time = [when.getHours(), when.getMinutes(), when.getSeconds()].map(two).join(":");
  return `${time}.${String(when.getMilliseconds()).padStart(3, "0")}`;
}

export function firstLine(text, most = 200) {
  const line = String(text ?? "")
    .trim()
    .split("\n", 1)[0];
  return line.length > most ? `${line.slice(0, most)}…` : line;
}

export function plural(count, word) {
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}

/** A value from JSON text. Numbers too large for a double stay as they are written. */
export function parse(text) {
  return JSON.parse(text, (_key, value, context) => {
    if (typeof value !== "number" || !context?.source || !JSON.rawJSON) return value;
    return String(value) === context.source || Number.isSafeInteger(value)
      ? value
      : JSON.rawJSON(context.source);
  });
}

export function pretty(value) {
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}
