// How console shows values: one function from a list of arguments to text, bounded in depth, width and size.
// It runs inside the script's world and calls the script's own getters and toString at most through
// reads that are caught: what cannot be read is shown as such. Must stay under 1,000 lines (see source.py).
0 || function (captured) {
"use strict";
const {
  apply, ownKeys, getPrototypeOf, getOwnPropertyDescriptor, stringify, isArray, isView, toText, sliceText, repeatText, replaceText,
  dateToISO, dateValue, regExpToText, eachOfMap, eachOfSet, symbolToText, execRegExp, parseNumber,
  MapOf, SetOf, DateOf, RegExpOf, BufferOf, P: PromiseOf, E: ErrorOf,
} = captured;
const DEPTH = 4, ITEMS = 100, WIDTH = 72;

const slice = (text, from, to) => apply(sliceText, text, [from, to]);
const isName = (key) => apply(execRegExp, /^[A-Za-z_$][\w$]*$/, [key]) !== null;

function primitive(value, top) {
  switch (typeof value) {
    case "string": return top ? value : stringify(value);
    case "bigint": return toText(value) + "n";
    case "symbol": return apply(symbolToText, value, []);
    case "number": return value === 0 && 1 / value < 0 ? "-0" : toText(value);
    default: return toText(value);                  // undefined, null, booleans
  }
}

function nameOf(value) {
  try {
    const proto = getPrototypeOf(value);
    if (proto === null) return "";
    const made = getOwnPropertyDescriptor(proto, "constructor")?.value?.name;
    return typeof made === "string" && made !== "Object" && made !== "Array" ? made + " " : "";
  } catch { return ""; }
}

function errorText(error) {
  const name = toText(error.name ?? "Error"), message = toText(error.message ?? "");
  return message === "" ? name : name + ": " + message;
}

function lay(open, parts, close, pad) {             // on one line where it fits
  let width = open.length + close.length, broken = false;
  for (let i = 0; i < parts.length; i++) {
    width += parts[i].length + 2;
    if (apply(execRegExp, /\n/, [parts[i]]) !== null) broken = true;
  }
  if (parts.length === 0) return open + close;
  let text = open;
  if (!broken && width + pad.length <= WIDTH) {
    for (let i = 0; i < parts.length; i++) text += (i ? ", " : " ") + parts[i];
    return text + " " + close;
  }
  for (let i = 0; i < parts.length; i++) text += "\n" + pad + "  " + parts[i] + (i < parts.length - 1 ? "," : "");
  return text + "\n" + pad + close;
}

function view(value, depth, seen, pad, room) {
  if (value === null || (typeof value !== "object" && typeof value !== "function")) return primitive(value, false);
  for (let i = 0; i < depth; i++) if (seen[i] === value) return "[Circular]";
  seen[depth] = value;
  try { return shape(value, depth, seen, pad, room); } catch { return "[unreadable]"; }
}

function shape(value, depth, seen, pad, room) {
  if (typeof value === "function") {
    const name = getOwnPropertyDescriptor(value, "name")?.value;
    return typeof name === "string" && name !== "" ? "[Function: " + name + "]" : "[Function]";
  }
  if (value instanceof DateOf) { const at = apply(dateValue, value, []); return at === at ? apply(dateToISO, value, []) : "Invalid Date"; }
  if (value instanceof RegExpOf) return apply(regExpToText, value, []);
  if (value instanceof ErrorOf) return depth === 0 ? errorText(value) : "[" + errorText(value) + "]";
  if (nameOf(value) === "URL " || nameOf(value) === "URLSearchParams ") return nameOf(value) + stringify(toText(value));
  if (value instanceof PromiseOf) return "Promise { … } (write await before it)";
  if (depth > DEPTH) return isArray(value) ? "[Array]" : "[" + (nameOf(value) === "" ? "Object" : slice(nameOf(value), 0, -1)) + "]";
  const parts = [], deeper = pad + "  ";
  let n = 0, used = 0;
  const add = (text) => { if (n < ITEMS && used < room) { parts[parts.length] = text; used += text.length; } n++; };
  const show = (item) => (n < ITEMS && used < room ? view(item, depth + 1, seen, deeper, room - used) : "");
  let open = "{", close = "}", head = nameOf(value);
  if (value instanceof MapOf) { head = "Map(" + value.size + ") "; apply(eachOfMap, value, [(item, key) => add(show(key) + " => " + show(item))]); }
  else if (value instanceof SetOf) { head = "Set(" + value.size + ") "; apply(eachOfSet, value, [(item) => add(show(item))]); }
  else if (isArray(value) || (isView(value) && value.length !== undefined)) {
    open = "["; close = "]";
    if (!isArray(value)) head = nameOf(value) + "(" + value.length + ") ";
    for (let i = 0; i < value.length; i++) { if (n >= ITEMS || used >= room) { n = value.length; break; } add(show(value[i])); }
  } else if (value instanceof BufferOf) return "ArrayBuffer(" + value.byteLength + ")";
  else {
    const keys = ownKeys(value);
    for (let i = 0; i < keys.length; i++) {
      if (n >= ITEMS || used >= room) { n = keys.length; break; }
      const found = getOwnPropertyDescriptor(value, keys[i]);
      if (found === undefined || !found.enumerable) continue;
      const key = typeof keys[i] === "symbol" ? "[" + primitive(keys[i]) + "]" : isName(keys[i]) ? keys[i] : stringify(keys[i]);
      add(key + ": " + (found.get === undefined ? show(found.value) : "[Getter]"));
    }
  }
  if (n > parts.length) parts[parts.length] = "… " + (n - parts.length) + " more";
  return lay(head + open, parts, close, pad);
}

const top = (value, room) => (typeof value === "string" ? value : view(value, 0, [], "", room));

function substitute(args, room) {                   // console.log("%s is %d", …)
  let text = "", next = 1, from = 0;
  const format = args[0];
  for (let i = 0; i + 1 < format.length; i++) {
    if (format[i] !== "%") continue;
    const kind = format[i + 1];
    let put;
    if (kind === "%") put = "%";
    else if (next >= args.length) continue;
    else if (kind === "s" || kind === "o" || kind === "O" || kind === "j") put = top(args[next++], room);
    else if (kind === "d" || kind === "i" || kind === "f") put = primitive(typeof args[next] === "object" ? NaN : kind === "i" ? parseNumber(args[next++]) : +args[next++]);
    else if (kind === "c") { next++; put = ""; } else continue;
    text += slice(format, from, i) + put;
    from = i + 2;
    i++;
  }
  return [text + slice(format, from, format.length), next];
}

return function inspect(args, indent, room) {
  let text = "", from = 0;
  if (typeof args[0] === "string" && args.length > 1 && apply(execRegExp, /%[sdifjoOc%]/, [args[0]]) !== null) {
    const done = substitute(args, room);
    text = done[0];
    from = done[1];
  }
  for (let i = from; i < args.length && text.length <= room; i++) text += (i ? " " : "") + top(args[i], room);
  if (indent > 0) {
    const pad = apply(repeatText, "  ", [indent]);
    text = pad + apply(replaceText, text, ["\n", "\n" + pad]);
  }
  return text;
};
}
