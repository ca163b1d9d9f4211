// The JS half of the mailbox: everything a script can touch is made here, before it runs.
// Not here: what few scripts need (rare.js, console by inspect.js, the web conveniences by web.js); those texts are
// compiled at their first use, since compiling is what a new engine costs.
// The rule: after the script has started, this file uses only what it captured before, so a
// script may change any prototype it likes and mislead nobody but itself. The engine calls the
// one function returned at the end; messages leave as JSON text in `outbox`, built by
// concatenation, so that no `toJSON` and no setter of the script can reach the envelope.
// Must stay under 1,000 lines: higher line numbers belong to the script (see source.py).
0 || function () {   // not "(function": the engine would scan to the matching parenthesis first
"use strict";

const G = globalThis, FIRST_LINE = 1002;         // of the script, as in positions.py
const E = Error, P = Promise, RealDate = Date, RealFunction = Function, realEval = eval;
const lazy = { __proto__: null, rare: "", inspect: "", web: "" };
const { apply, construct, ownKeys } = Reflect;
const { defineProperty, getPrototypeOf, setPrototypeOf, freeze, create, keys, getOwnPropertyDescriptor } = Object;
const { stringify, parse, isRawJSON } = JSON;
const { min, imul } = Math;
const toNumber = Number, toText = String, TypeErrorOf = TypeError, ProxyOf = Proxy;
const execRegExp = RegExp.prototype.exec, sliceText = String.prototype.slice, splitText = String.prototype.split;
const joinArray = Array.prototype.join, dateToText = Date.prototype.toString, then = P.prototype.then;
const weakGet = WeakMap.prototype.get, weakSet = WeakMap.prototype.set;
const ObjectProto = Object.prototype, ArrayProto = Array.prototype;
const captured = {                                  // for rare.js and inspect.js, which may be compiled after a script has tampered
  __proto__: null, apply, ownKeys, defineProperty, getPrototypeOf, getOwnPropertyDescriptor, create, keys, stringify, toNumber, toText,
  TypeErrorOf, execRegExp, sliceText, splitText, then, weakGet, E, P, MapOf: Map, SetOf: Set, RegExpOf: RegExp, DateOf: Date, Bytes: Uint8Array,
  BufferOf: ArrayBuffer, IteratorOf: Iterator, isArray: Array.isArray, isView: ArrayBuffer.isView, floor: Math.floor, min,
  codeAt: String.prototype.charCodeAt, repeatText: String.prototype.repeat, replaceText: String.prototype.replaceAll,
  eachOfMap: Map.prototype.forEach, eachOfSet: Set.prototype.forEach, regExpToText: RegExp.prototype.toString,
  dateToISO: Date.prototype.toISOString, dateValue: Date.prototype.getTime, symbolToText: Symbol.prototype.toString, parseNumber: parseInt,
  unescapeText: unescape, encodeURI_: encodeURIComponent,
};
const bigMin = -9007199254740991n, bigMax = 9007199254740991n;

const hidden = (object, name, value) =>
  defineProperty(object, name, { __proto__: null, value, writable: true, enumerable: false, configurable: true });
const visible = (object, name, value) =>            // no prototype: a `get` on Object.prototype would spoil the descriptor
  defineProperty(object, name, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
const bareList = () => setPrototypeOf([], null);   // an index setter on Array.prototype cannot reach it

// ------------------------------------------------------------------ problems a script can catch
function problem(name, message, hint) {
  const error = new E(message);
  hidden(error, "name", name);
  if (hint !== undefined) visible(error, "hint", hint);
  return error;
}

// ------------------------------------------------------------------ what is compiled at its first use
let rareParts = null;
const rare = () => rareParts ??= realEval(lazy.rare)(captured, shared, realEval(lazy.inspect)(captured));
function loadWeb() { const text = lazy.web; lazy.web = ""; if (text !== "") realEval(text); }
function lazyGlobal(name, make) {
  defineProperty(G, name, {
    __proto__: null, configurable: true, enumerable: false,
    get() { const value = make(); hidden(G, name, value); return value; },
    set(value) { hidden(G, name, value); },
  });
}

// ------------------------------------------------------------------ state of the one script
let limits, outbox = "", outboxBytes = 0, clock = 0, startClock = 0;
let called = 0, waited = 0, lastId = 0, pendingCount = 0, account = { bytes: null, seconds: null };
let shownCount = 0, consoleDropped = 0, storedBytes = 0;
let ending = null;                                  // text of the event that ends the script
const pending = create(null), unawaited = create(null), stored = create(null);
const waits = create(null);                         // only in a run that looks for a deadlock: offset of an await to its promise
const callOfPromise = new WeakMap();

function post(text) {
  if (outboxBytes + text.length > limits.outbox_bytes)
    throw problem("too_large", "this script has sent " + outboxBytes + " characters since it last waited; the limit is " + limits.outbox_bytes,
      "await something between large sends, or send less");
  outboxBytes += text.length;
  outbox += outbox === "" ? text : "," + text;
}

// The innermost position inside the script, as the engine counts (source.py maps it back).
const position = /<input>:([1-9][0-9]{3,6}):([1-9][0-9]{0,6})\)?(?:\n|$)/;
const here = () => apply(stackSlot.get, new E(), []);
function siteOf(stack) {
  const found = apply(execRegExp, position, [stack]);
  return found === null ? "0,0" : found[1] + "," + found[2];
}

// Stacks as the script sees them: its own lines, as it counts them. `rawStack` is what the host maps.
const stackSlot = getOwnPropertyDescriptor(E.prototype, "stack"), stackOfProblem = new WeakMap();
let inserted = [0, 0, 0];                           // line, column and width of what source.py put in
defineProperty(E.prototype, "stack", {
  configurable: true, enumerable: false,
  get() { return typeof this === "object" && this !== null ? rare().tidyStack(this) : undefined; },
  set(value) { hidden(this, "stack", value); },
});

// ------------------------------------------------------------------ values out: one documented result each
let trail, trailKeys, trailEnd = 0, purpose = "";   // where in the value the replacer stands

function pathTo(key) { return pathOf(trailEnd) + (trailEnd > 0 ? stepOf(key) : ""); }
function stepOf(key) {
  return apply(execRegExp, /^[A-Za-z_$][\w$]*$/, [key]) !== null ? "." + key
    : apply(execRegExp, /^[0-9]+$/, [key]) !== null ? "[" + key + "]" : "[" + stringify(key) + "]";
}

function outgoing(key, value) {                     // the replacer of every JSON.stringify to the host
  if (typeof value !== "object") return typeof value === "bigint" ? bigOut(value) : value;
  if (value === null) return null;
  while (trailEnd > 0 && trail[trailEnd] !== this) trailEnd--;
  const proto = getPrototypeOf(value);
  if (proto !== ObjectProto && proto !== ArrayProto) value = proto === null ? unwrapRaw(value) : rare().special(key, value);
  if (typeof value !== "object" || value === null) return value;
  for (let i = 1; i <= trailEnd; i++)
    if (trail[i] === value)
      throw new TypeErrorOf(purpose + " cannot be sent: " + pathTo(key) + " refers back to " + pathOf(i) + ", and JSON has no cycles");
  if (trailEnd >= limits.depth)
    throw problem("too_deep", purpose + " is nested deeper than " + limits.depth + " levels at " + sliceOf(pathTo(key), 0, 80) + "…", "send a flatter value");
  trailEnd++;
  trail[trailEnd] = value;
  trailKeys[trailEnd] = key;
  return value;
}
function pathOf(end) {
  let path = "$";
  for (let i = 2; i <= end; i++) path += stepOf(trailKeys[i]);
  return path;
}
// JSON.rawJSON would let digits through that the host's parser reads otherwise: what the script's own parser makes of them goes out
const unwrapRaw = (value) => (isRawJSON !== undefined && isRawJSON(value) ? parse(value.rawJSON) : value);
const sliceOf = (text, from, to) => apply(sliceText, text, [from, to]);
const bigOut = (value) => (value >= bigMin && value <= bigMax ? toNumber(value) : toText(value));

function encode(value, what) {
  const before = { __proto__: null, trail, trailKeys, trailEnd, purpose };  // a getter may make us send while we send
  purpose = what;
  let text;
  try {
    if (typeof value === "object" && value !== null) {
      trail = bareList(); trailKeys = bareList(); trailEnd = 0;
      text = stringify(value, outgoing);
    } else text = stringify(typeof value === "bigint" ? bigOut(value) : value);
  } finally { trail = before.trail; trailKeys = before.trailKeys; trailEnd = before.trailEnd; purpose = before.purpose; }
  if (text === undefined) return "null";            // undefined, a function, a symbol, or a toJSON that gave one
  return checkSize(text, what);
}
function checkSize(text, what) {
  if (text.length * 3 > limits.args_bytes) {
    const size = text.length > limits.args_bytes ? text.length : rare().utf8Length(text);
    if (size > limits.args_bytes)
      throw problem("too_large", what + " is " + size + " bytes of JSON; the limit is " + limits.args_bytes, "send a part of it, or a summary");
  }
  return text;
}
function encodeAll(args, what) {                    // one by one: a toJSON on Array.prototype must not reach the list itself
  let text = "";
  for (let i = 0; i < args.length; i++) text += (i ? "," : "") + encode(args[i], args.length > 1 ? what + ", number " + (i + 1) : what);
  return checkSize("[" + text + "]", what);
}

// ------------------------------------------------------------------ calls
function call(tool, args, stack) {
  const id = lastId + 1;
  let settle;
  const promise = new P((resolve, reject) => { settle = { resolve, reject, stack, until: 0 }; });
  post('["called",' + id + "," + stringify(tool) + "," + args + "," + siteOf(stack) + "]");
  lastId = id;                                      // only now: what did not fit the outbox was never called
  pending[id] = settle;
  unawaited[id] = true;
  pendingCount++;
  apply(weakSet, callOfPromise, [promise, id]);
  return promise;
}

function callTool(name, args, stack) {
  if (called >= limits.calls)
    throw problem("too_many_calls", name + " refused: this script has made " + called + " of " + limits.calls + " calls",
      "return what you have and go on in the next script");
  const text = encodeAll(args, "the arguments of " + name);
  const promise = call(name, text, stack);
  called++;
  return promise;
}

function callHost(name, args, stack) {
  if (waited >= limits.waits)
    throw problem("too_many_waits", name + " refused: this script has waited " + waited + " of " + limits.waits + " times", "return what you have");
  const text = encodeAll(args, "the arguments of " + name);
  const promise = call(name, text, stack);
  waited++;
  return promise;
}

function settleNext(settlement) {
  const id = settlement[0], entry = pending[id];
  if (settlement[3] !== null && settlement[3] > clock) clock = settlement[3];
  if (settlement[4] !== null) account = settlement[4];
  if (entry === undefined) return;
  delete pending[id];
  pendingCount--;
  if (settlement[3] === null && entry.until > clock) clock = entry.until;
  if (settlement[1]) return entry.resolve(settlement[2]);
  const told = settlement[2], error = new E(told.message);
  hidden(error, "name", told.code);
  apply(weakSet, stackOfProblem, [error, entry.stack]);
  visible(error, "hint", told.hint);
  visible(error, "data", told.data);
  entry.reject(error);
}

// `await p`, `p.then` and Promise.all all read p.constructor: so we learn which calls somebody
// waits for, without touching the script's text.
let promiseConstructor = P;
defineProperty(P.prototype, "constructor", {
  configurable: true,
  enumerable: false,
  get() {
    const id = apply(weakGet, callOfPromise, [this]);
    if (id !== undefined) delete unawaited[id];
    return promiseConstructor;
  },
  set(value) { this === P.prototype ? (promiseConstructor = value) : hidden(this, "constructor", value); },
});

// ------------------------------------------------------------------ tools.<pack>.<tool>
const silent = create(null);
for (const name of ["then", "toJSON", "constructor", "toString", "valueOf", "asymmetricMatch", "nodeType", "$$typeof", "inspect"]) silent[name] = true;

function namespace(path, members) {
  const readOnly = () => { throw new TypeErrorOf(path + " cannot be changed: the host says which tools there are"); };
  return new ProxyOf(freeze(members), {
    __proto__: null,
    get(target, name) {
      const found = target[name];
      if (found !== undefined || typeof name === "symbol" || name in silent) return found;
      throw rare().unknownTool(path, name, target);
    },
    set: readOnly, defineProperty: readOnly, deleteProperty: readOnly, setPrototypeOf: readOnly,
  });
}
function growTools(names) {
  const root = create(null);
  for (let i = 0; i < names.length; i++) {
    const path = apply(splitText, names[i], ["."]);
    let branch = root;
    for (let k = 0; k < path.length - 1; k++) branch = branch[path[k]] ??= create(null);
    const name = names[i];
    const stub = { tool(...args) { return callTool(name, args, here()); } }.tool;
    defineProperty(stub, "name", { __proto__: null, value: path[path.length - 1] });
    branch[path[path.length - 1]] = freeze(stub);
  }
  return branchToProxy("tools", root);
}
function branchToProxy(path, branch) {
  const names = ownKeys(branch);
  for (let i = 0; i < names.length; i++)
    if (typeof branch[names[i]] === "object") branch[names[i]] = branchToProxy(path + "." + names[i], branch[names[i]]);
  return namespace(path, branch);
}

// ------------------------------------------------------------------ show, console, store, load
function show(value, options) {
  if (shownCount >= limits.shown_values)
    throw problem("too_many_shown", "show refused: this script has shown " + shownCount + " of " + limits.shown_values + " values", "collect values in one list and show it once");
  const text = encode(value, "the shown value");
  post('["shown",' + text + "," + encode(options, "the options of show") + "," + siteOf(here()) + "]");
  shownCount++;
}

function store(key, value) {
  if (typeof key !== "string" || key === "") throw new TypeErrorOf("store(key, value) wants a text as key");
  const before = stored[key] === undefined ? 0 : stored[key].length + key.length;
  if (value === undefined) {
    delete stored[key];
    storedBytes -= before;
    post('["stored",' + stringify(key) + ",null,true]");
    return;
  }
  const text = encode(value, "the value stored as " + stringify(key)), after = text.length + key.length;
  if (storedBytes - before + after > limits.stored_bytes)
    throw problem("store_full", "store(" + stringify(sliceOf(key, 0, 60)) + ") refused: " + after + " bytes more would make " + (storedBytes - before + after) + "; the session keeps " + limits.stored_bytes,
      "store less, or drop a key with store(key, undefined)");
  post('["stored",' + stringify(key) + "," + text + ",false]");
  storedBytes += after - before;
  stored[key] = text;
}
function load(key) { return stored[key] === undefined ? undefined : parse(stored[key]); }

// ------------------------------------------------------------------ time and chance come from Start
function ScriptDate(...args) {
  if (new.target === undefined) return apply(dateToText, new RealDate(clock), []);
  return construct(RealDate, args.length === 0 ? [clock] : args, new.target);
}
function replaceDate() {
  for (const name of ["parse", "UTC"]) hidden(ScriptDate, name, RealDate[name]);
  hidden(ScriptDate, "now", { now() { return clock; } }.now);
  defineProperty(ScriptDate, "name", { value: "Date" });
  defineProperty(ScriptDate, "length", { value: 7 });
  defineProperty(ScriptDate, "prototype", { value: RealDate.prototype, writable: false });
  hidden(RealDate.prototype, "constructor", ScriptDate);
  hidden(G, "Date", ScriptDate);
  hidden(G, "performance", freeze({ __proto__: null, now() { return clock - startClock; }, get timeOrigin() { return startClock; } }));
}
let chance = 0;
function nextChance() {                             // mulberry32, two draws for 53 bits
  chance = (chance + 0x6d2b79f5) | 0;
  let t = imul(chance ^ (chance >>> 15), chance | 1);
  t ^= t + imul(t ^ (t >>> 7), t | 61);
  return (t ^ (t >>> 14)) >>> 0;
}
hidden(Math, "random", { random() { return ((nextChance() >>> 5) * 67108864 + (nextChance() >>> 6)) / 9007199254740992; } }.random);

// ------------------------------------------------------------------ waiting: sleep and timers
function wait(milliseconds, stack) {
  const ms = toNumber(milliseconds);
  const whole = ms > 0 ? min(ms, 2147483647) : 0;
  const promise = callHost("sleep", [whole], stack);
  pending[lastId].until = clock + whole;
  return promise;
}
// ------------------------------------------------------------------ how a script ends
function fail(error) { if (ending === null) ending = '["failed",' + rare().describe(error, 0) + "]"; }
function finish(value) { if (ending === null) ending = '["finished",' + encode(value, "the result") + "]"; }

async function run(script) {
  let value;
  try { value = await script(); } catch (error) { fail(error); return; }
  try { finish(value); } catch (error) { fail(error); }
}

// ------------------------------------------------------------------ the world, once for each script
function begin(facts) {
  limits = facts.limits;
  clock = startClock = facts.now;
  chance = facts.seed | 0;
  if (facts.budget !== null) account = facts.budget;
  const held = ownKeys(facts.stored);
  for (let i = 0; i < held.length; i++) {
    const text = stringify(facts.stored[held[i]]);
    stored[held[i]] = text;
    storedBytes += text.length + held[i].length;
  }
  const globals = {
    tools: growTools(facts.tools),
    context: freezeDeep(facts.context),
    budget: freeze({
      get calls() { return limits.calls - called; },
      get bytes() { return account.bytes; },
      get seconds() { return account.seconds; },
    }),
  };
  const names = keys(globals);
  for (let i = 0; i < names.length; i++) hidden(G, names[i], globals[names[i]]);
}
function freezeDeep(value) {
  if (typeof value !== "object" || value === null) return value;
  const names = ownKeys(value);
  for (let i = 0; i < names.length; i++) freezeDeep(value[names[i]]);
  return freeze(value);
}

for (const [name, value] of Object.entries({
  show, store, load,
  sleep(milliseconds) { return wait(milliseconds, here()); },
  recall(handle) { return callHost("recall", [handle], here()); },
  relax(reason) { return callHost("relax", [reason], here()); },
  help(...args) { return callHost("help", args, here()); },
})) hidden(G, name, value);
for (const name of ["console", "setTimeout", "setInterval", "clearTimeout", "clearInterval"]) lazyGlobal(name, () => rare().globals[name]);
for (const name of ["structuredClone", "TextEncoder", "TextDecoder", "URL", "URLSearchParams"])
  lazyGlobal(name, () => { delete G[name]; loadWeb(); return G[name]; });

// ------------------------------------------------------------------ what is gone
const noCode = "code from text is off in this sandbox; write it in the script";
const powerless = (name, prototype) => {
  const stand = { [name]: function () { throw new EvalError(name + ": " + noCode); } }[name];
  defineProperty(stand, "prototype", { value: prototype, writable: false, enumerable: false, configurable: false });
  return stand;
};
for (const sample of [function () {}, async function () {}, function* () {}, async function* () {}]) {
  const prototype = getPrototypeOf(sample);
  const name = prototype === RealFunction.prototype ? "Function" : prototype[Symbol.toStringTag];
  const stand = powerless(name, prototype);
  hidden(prototype, "constructor", stand);
  if (name === "Function") hidden(G, "Function", stand);
  else setPrototypeOf(stand, G.Function);
}
// Out of memory is an InternalError that no script made: those the script makes itself are marked.
const RealInternalError = InternalError, madeByScript = new WeakMap();
const MarkedInternalError = { InternalError: function (...args) {
  const error = construct(RealInternalError, args, new.target ?? MarkedInternalError);
  apply(weakSet, madeByScript, [error, true]);
  return error;
} }.InternalError;
defineProperty(MarkedInternalError, "prototype", { value: RealInternalError.prototype, writable: false, enumerable: false, configurable: false });
setPrototypeOf(MarkedInternalError, E);
hidden(RealInternalError.prototype, "constructor", MarkedInternalError);
hidden(G, "InternalError", MarkedInternalError);
const ranOut = (error) => error instanceof RealInternalError && apply(weakGet, madeByScript, [error]) !== true;

const realQueueMicrotask = queueMicrotask;          // an error in it would otherwise reach the engine's loop
hidden(G, "queueMicrotask", { queueMicrotask(action) {
  if (typeof action !== "function") throw new TypeErrorOf("queueMicrotask wants a function");
  realQueueMicrotask(() => { try { action(); } catch (error) { fail(error); } });
} }.queueMicrotask);

hidden(G, "eval", { eval() { throw new EvalError("eval: " + noCode); } }.eval);
for (const name of ["SharedArrayBuffer", "Atomics", "WebAssembly", "WeakRef", "FinalizationRegistry"]) delete G[name];
delete Error.prepareStackTrace;                     // the engine's own hooks: positions must stay true
delete Error.stackTraceLimit;
replaceDate();

// ------------------------------------------------------------------ the one function the engine calls
let script, syntax, settlements = null, settled = 0;
const shared = {
  __proto__: null, here, post, problem, fail, encode, pathTo, wait, hidden, bareList, sliceOf,
  limits: () => limits, clock: () => clock, inserted: () => inserted, purpose: () => purpose,
  dropped() { consoleDropped++; }, awaited(id) { delete unawaited[id]; }, lastId: () => lastId,
  stackSlot, stackOfProblem, ranOut, FIRST_LINE,
};
return function bridge(operation, text) {
  switch (operation) {
    case "rare": lazy.rare = text; return "";
    case "inspect": lazy.inspect = text; return "";
    case "web": lazy.web = text; return "";
    case "load": rare(); loadWeb(); return "";      // in a zygote, where it is paid once for all
    case "begin": begin(parse(text)); return "";
    case "shift": inserted = parse(text); return "";
    case "compile":
      script = undefined;
      try {
        const made = realEval(text);
        if (typeof made === "function") { script = made; return "yes"; }
        syntax = problem("SyntaxError", "the braces of this script do not match");
      } catch (error) { syntax = error; }
      return "no";
    case "run":
      if (script === undefined) fail(syntax);
      else run(script);
      return "";
    case "settle": settlements = parse(text); settled = 0; return toText(settlements.length);
    case "next": settleNext(settlements[settled++]); return "";
    case "state": return ending !== null ? "ended" : pendingCount > 0 ? "waiting" : "stuck";
    case "watch":                                   // the text to come has $await(offset, value) around what it awaits
      hidden(G, "$await", (offset, value) => { waits[offset] = value; return value; });
      return "";
    case "probe": {                                 // which of the awaited promises are still open?
      const offsets = ownKeys(waits);
      for (let i = 0; i < offsets.length; i++) {
        const offset = offsets[i], settle = () => { delete waits[offset]; };
        if (!(waits[offset] instanceof P)) continue; // a thenable of the script's own: it never called back
        try { apply(then, waits[offset], [settle, settle]); } catch { settle(); }
      }
      return "";
    }
    case "waits": return "[" + apply(joinArray, ownKeys(waits), [","]) + "]";
    case "drain": {                                 // the messages so far; slice makes one flat string of the rope
      if (ending !== null || text === "cut") {
        if (consoleDropped > 0) outbox += (outbox === "" ? "" : ",") + '["dropped",' + consoleDropped + "]";
        outbox += (outbox === "" ? "" : ",") + '["unawaited",[' + apply(joinArray, ownKeys(unawaited), [","]) + "]]";
        if (text !== "cut") outbox += "," + ending;  // "cut": the engine has its own verdict
      }
      const out = "[" + outbox + "]";
      outbox = ""; outboxBytes = 0;
      return sliceOf(out, 0, out.length);
    }
    default: return "";
  }
};
}()
