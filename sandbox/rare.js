// What few scripts need, compiled at its first use: values JSON has no form for, unknown tools, console, timers, and how
// an error is told. The rule of prelude.js holds here too: after the script has started only what was captured before is used;
// it comes in as `captured`, and the mailbox itself as `core`. Must stay under 1,000 lines (see source.py).
0 || function (captured, core, inspect) {
"use strict";
const {
  apply, defineProperty, create, keys, stringify, toNumber, toText, TypeErrorOf, execRegExp, splitText, then, weakGet, E, P,
  MapOf, SetOf, RegExpOf, Bytes, BufferOf, IteratorOf, isArray, isView, floor, min, codeAt, eachOfMap, eachOfSet, regExpToText,
  unescapeText, encodeURI_, parse,
} = captured;
const { here, post, problem, fail, encode, pathTo, wait, hidden, bareList, sliceOf, stackOfProblem } = core;
const { stackSlot } = captured, FIRST_LINE = 1002;  // of the script, as in positions.py
const { madeByScript, RealInternalError } = core.shared;
const ranOut = (error) => error instanceof RealInternalError && apply(weakGet, madeByScript, [error]) !== true;

// ------------------------------------------------------------------ values that JSON has no form for
function special(key, value) {
  if (value instanceof P)
    throw new TypeErrorOf(core.purpose() + " holds a promise at " + pathTo(key) + "; write await before the call that made it");
  const list = bareList();
  let n = 0;
  if (value instanceof MapOf) {
    apply(eachOfMap, value, [(item, k) => { const pair = bareList(); pair[0] = k; pair[1] = item; list[n++] = pair; }]);
    return list;
  }
  if (value instanceof SetOf) {
    apply(eachOfSet, value, [(item) => { list[n++] = item; }]);
    return list;
  }
  if (isView(value) || value instanceof BufferOf) {
    const view = value.length === undefined ? new Bytes(value.buffer === undefined ? value : value.buffer) : value;
    for (let i = 0; i < view.length; i++) list[i] = view[i];
    return list;
  }
  if (value instanceof E) return plainError(value);
  if (value instanceof RegExpOf) return apply(regExpToText, value, []);
  if (value instanceof IteratorOf)
    throw new TypeErrorOf(core.purpose() + " holds an iterator at " + pathTo(key) + "; spread it into a list: [...it]");
  return value;
}
function plainError(error) {
  const out = create(null), names = keys(error);
  out.name = error.name;
  out.message = error.message;
  for (let i = 0; i < names.length; i++) out[names[i]] = error[names[i]];
  if (error.cause !== undefined) out.cause = error.cause;
  return out;
}

function utf8Length(text) {                         // by the engine's own functions, in pieces: a loop over characters is slow
  if (apply(execRegExp, /[^\0-\x7f]/, [text]) === null) return text.length;
  let size = 0;
  for (let at = 0, end; at < text.length; at = end) {
    end = min(at + 16384, text.length);
    const unit = apply(codeAt, text, [end - 1]);
    if (unit >= 0xd800 && unit < 0xdc00) end++;     // never between the halves of a pair
    size += unescapeText(encodeURI_(sliceOf(text, at, end))).length;
  }
  return size;
}

// ------------------------------------------------------------------ a tool that is not there
function distance(a, b) {
  let row = bareList();
  for (let j = 0; j <= b.length; j++) row[j] = j;
  for (let i = 1; i <= a.length; i++) {
    const next = bareList();
    next[0] = i;
    for (let j = 1; j <= b.length; j++)
      next[j] = min(next[j - 1] + 1, row[j] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
    row = next;
  }
  return row[b.length];
}
function nearest(name, names) {
  let best = null, score = 1 + floor(name.length / 2);
  for (let i = 0; i < names.length; i++) {
    const d = distance(name, names[i]);
    if (d < score) { score = d; best = names[i]; }
  }
  return best;
}function unknownTool(path, name, members) {
  const names = keys(members), prefix = path === "tools" ? "" : sliceOf(path, 6) + ".";
  const wanted = path === "tools" ? "pack" : "tool", near = nearest(name, names);
  let list = "";
  for (let i = 0; i < names.length && i < 12; i++) list += (i ? ", " : "") + names[i];
  if (names.length > 12) list += ", and " + (names.length - 12) + " more";
  const guess = near === null ? "" : "; did you mean " + prefix + near + "?";
  const error = problem("unknown_tool", "there is no " + wanted + " " + prefix + name + guess,
    names.length === 0 ? "this script was given no tools" : path + " has: " + list);
  return error;
}

// ------------------------------------------------------------------ console
let groupDepth = 0, consoleLines = 0, consoleBytes = 0;
const counters = create(null), timers = create(null);
function print(level, args) {
  const limits = core.limits(), room = limits.console_bytes - consoleBytes;
  if (consoleLines >= limits.console_lines || room <= 0) { core.dropped(); return; }
  let text = inspect(args, groupDepth, limits.console_bytes);
  if (typeof text !== "string") text = "[unreadable]";
  let lines = 1, cut = text.length > room ? room : text.length;
  for (let i = 0; i < cut; i++)
    if (text[i] === "\n" && ++lines > limits.console_lines - consoleLines) { cut = i; lines--; break; }
  if (cut < text.length) { text = sliceOf(text, 0, cut); core.dropped(); }
  consoleLines += lines;
  consoleBytes += text.length;
  post('["printed","' + level + '",' + stringify(text) + "]");
}
const label = (args) => (args.length === 0 || args[0] === undefined ? "default" : toText(args[0]));
const consoleMethods = {
  log(...args) { print("log", args); }, info(...args) { print("info", args); }, debug(...args) { print("debug", args); },
  warn(...args) { print("warn", args); }, error(...args) { print("error", args); }, trace(...args) { print("debug", args); },
  dir(value) { print("log", [value]); }, table(value) { print("log", [value]); },
  assert(condition, ...args) { if (!condition) { print("error", ["Assertion failed"]); if (args.length) print("error", args); } },
  group(...args) { if (args.length) print("log", args); if (groupDepth < 16) groupDepth++; },
  groupEnd() { if (groupDepth > 0) groupDepth--; },
  count(...args) { const k = label(args); counters[k] = (counters[k] ?? 0) + 1; print("log", [k + ": " + counters[k]]); },
  countReset(...args) { delete counters[label(args)]; },
  time(...args) { timers[label(args)] = core.clock(); },
  timeEnd(...args) { const k = label(args); print("log", [k + ": " + (core.clock() - (timers[k] ?? core.clock())) + " ms"]); delete timers[k]; },
  timeLog(...args) { const k = label(args); print("log", [k + ": " + (core.clock() - (timers[k] ?? core.clock())) + " ms"]); },
};
consoleMethods.groupCollapsed = consoleMethods.group;

// ------------------------------------------------------------------ timers, bound to the script's life
let lastTimer = 0;
const cleared = create(null);
function startTimer(action, milliseconds, args, again, stack) {
  if (typeof action !== "function") throw new TypeErrorOf("a timer wants a function; code as text is off in this sandbox");
  const id = ++lastTimer;
  cleared[id] = false;
  const arm = () => {
    const waiting = wait(milliseconds, stack);
    core.awaited(core.lastId());
    apply(then, waiting, [() => {
      if (cleared[id] !== false) return;
      if (!again) delete cleared[id];
      try { apply(action, undefined, args); } catch (error) { fail(error); }
      if (again && cleared[id] === false) arm();
    }]);
  };
  arm();
  return id;
}
const clearTimer = (id) => { if (cleared[id] === false) cleared[id] = true; };

const insertedAt = () => (core.shared.inserted === null ? [0, 0, 0] : parse(core.shared.inserted));

// ------------------------------------------------------------------ errors, as told to the script and to the host
const rawStack = (error) => apply(weakGet, stackOfProblem, [error]) ?? apply(stackSlot.get, error, []);
const stackRow = /^ *at (?:(.*) \()?<input>:([0-9]{4,}):([0-9]+)\)?$/;
function tidyStack(error) {
  const raw = rawStack(error);
  if (typeof raw !== "string") return raw;
  const name = read(error, "name", 200) ?? "Error", message = read(error, "message", 4000) ?? "";
  let text = message === "" ? name : name + ": " + message;
  const inserted = insertedAt(), rows = apply(splitText, raw, ["\n"]);
  for (let i = 0; i < rows.length; i++) {
    const found = apply(execRegExp, stackRow, [rows[i]]);
    if (found === null || found[2] < FIRST_LINE) continue;
    let column = toNumber(found[3]);
    if (toNumber(found[2]) === inserted[0] && column > inserted[1]) column -= inserted[2];
    const place = "script:" + (found[2] - FIRST_LINE + 1) + ":" + column;
    text += found[1] === undefined || found[1] === "<anonymous>" ? "\n    at " + place : "\n    at " + found[1] + " (" + place + ")";
  }
  return text;
}

function read(object, name, most) {
  try {
    const value = object[name];
    if (typeof value !== "string") return undefined;
    return value.length > most ? sliceOf(value, 0, most) + ("… (" + value.length + " characters)") : value;
  } catch { return undefined; }
}
function stackFor(thrown) {
  try {
    const raw = thrown instanceof E ? rawStack(thrown) : read(thrown, "stack", 8000);
    return typeof raw === "string" ? sliceOf(raw, 0, 8000) : "";
  } catch { return ""; }
}
function describe(thrown, depth) {
  if ((typeof thrown !== "object" && typeof thrown !== "function") || thrown === null)
    return '{"thrown":"' + (thrown === null ? "null" : typeof thrown) + '","message":' + stringify(sliceOf(inspect([thrown], 0, 2000), 0, 2000)) + "}";
  const message = read(thrown, "message", 4000);
  let text = '{"name":' + stringify(read(thrown, "name", 200) ?? "") + ',"stack":' + stringify(stackFor(thrown));
  if (message === undefined) {
    let shape;
    try { shape = sliceOf(inspect([thrown], 0, 2000), 0, 2000); } catch { shape = "(a value that cannot be read)"; }
    text += ',"thrown":"object","message":' + stringify(shape);
  } else text += ',"message":' + stringify(message);
  try { if (ranOut(thrown)) text += ',"engine":true'; } catch { /* a proxy: no error of the engine's */ }
  const hint = read(thrown, "hint", 1000);
  if (hint !== undefined) text += ',"hint":' + stringify(hint);
  try {
    const data = thrown.data;
    if (data !== undefined) { const shown = encode(data, "data"); if (shown.length < 16384) text += ',"data":' + shown; }
  } catch { /* data that cannot be sent is left out: the error itself must still arrive */ }
  try {
    const cause = thrown.cause;
    if (cause !== undefined && depth < 5) text += ',"cause":' + describe(cause, depth + 1);
  } catch { /* a throwing getter: the chain ends here */ }
  try {
    const errors = thrown.errors, total = isArray(errors) ? toNumber(errors.length) : 0;  // a proxy may say anything
    if (total > 0 && depth < 2) {
      text += ',"errors":[';
      for (let i = 0; i < total && i < 3; i++) text += (i ? "," : "") + describe(errors[i], depth + 1);
      text += '],"errors_total":' + stringify(floor(total));
    }
  } catch { /* the same */ }
  return text + "}";
}

const console = create(null);
for (let i = 0, names = keys(consoleMethods); i < names.length; i++) hidden(console, names[i], consoleMethods[names[i]]);
const globals = {
  __proto__: null, console,
  setTimeout: { setTimeout(action, milliseconds, ...args) { return startTimer(action, milliseconds, args, false, here()); } }.setTimeout,
  setInterval: { setInterval(action, milliseconds, ...args) { return startTimer(action, milliseconds, args, true, here()); } }.setInterval,
  clearTimeout: clearTimer, clearInterval: clearTimer,
};
return { __proto__: null, special, utf8Length, unknownTool, tidyStack, describe, globals };
}
