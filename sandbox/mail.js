// The mailbox, and the part of the script's world that uses it: calls, values out, show, store, time and chance.
// Compiled at its first use, perhaps after the script has tampered: only `captured` is used, as prelude.js says. Messages leave as JSON text in
// `outbox`, built by concatenation, so that no `toJSON` and no setter of the script can reach the envelope.
0 || function (captured, shared) {
"use strict";
const {
  E, P, RealDate, apply, construct, ownKeys, defineProperty, getPrototypeOf, setPrototypeOf, freeze, create, stringify, parse, isRawJSON, min, imul,
  toNumber, toText, TypeErrorOf, ProxyOf, WeakMapOf, execRegExp, sliceText, splitText, joinArray, dateToText, then, weakGet, weakSet, queue,
  ObjectProto, ArrayProto, stackSlot,
} = captured;
const { hidden, fail } = shared;
const bigMin = -9007199254740991n, bigMax = 9007199254740991n;
const visible = (object, name, value) =>
  defineProperty(object, name, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
const bareList = () => setPrototypeOf([], null);    // an index setter on Array.prototype cannot reach it
function problem(name, message, hint) {             // an error that a script can catch by its name
  const error = new E(message);
  hidden(error, "name", name);
  if (hint !== undefined) visible(error, "hint", hint);
  return error;
}

// ------------------------------------------------------------------ state of the one script
let limits, outbox, outboxBytes, clock, startClock, called, waited, lastId, pendingCount, account;
let storeCount, shownCount, consoleDropped, storedBytes, chance, pending, unawaited, stored, settlements, settled, rareParts = null;
const waits = create(null);                         // only in a run that looks for a deadlock: offset of an await to its promise
const callOfPromise = new WeakMapOf(), stackOfProblem = new WeakMapOf();
const globals = create(null);

function begin(text) {
  const facts = parse(text);
  limits = facts.limits;
  clock = startClock = facts.now;
  chance = facts.seed | 0;
  account = facts.budget ?? { __proto__: null, bytes: null, seconds: null };
  outbox = "";
  outboxBytes = called = waited = lastId = pendingCount = storeCount = shownCount = consoleDropped = storedBytes = settled = 0;
  pending = create(null); unawaited = create(null); stored = create(null); settlements = null;
  const held = ownKeys(facts.stored);
  for (let i = 0; i < held.length; i++) {
    const value = stringify(facts.stored[held[i]]);
    stored[held[i]] = value;
    storedBytes += value.length + held[i].length;
  }
  globals.tools = growTools(facts.tools);
  globals.context = freezeDeep(facts.context);
}
function freezeDeep(value) {
  if (typeof value !== "object" || value === null) return value;
  const names = ownKeys(value);
  for (let i = 0; i < names.length; i++) freezeDeep(value[names[i]]);
  return freeze(value);
}
const rare = () => rareParts ??= shared.rare(mail);

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
  __proto__: null, configurable: true,
  enumerable: false,
  get() {
    const id = apply(weakGet, callOfPromise, [this]);
    if (id !== undefined) delete unawaited[id];
    return promiseConstructor;
  },
  set(value) { this === P.prototype ? (promiseConstructor = value) : hidden(this, "constructor", value); },
});

// ------------------------------------------------------------------ tools.<pack>.<tool>
const silent = {                                    // names that others ask any object for
  __proto__: null, then: 1, toJSON: 1, constructor: 1, toString: 1, valueOf: 1, asymmetricMatch: 1, nodeType: 1, $$typeof: 1, inspect: 1,
};

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

// ------------------------------------------------------------------ show, store, load
function show(value, options) {
  if (shownCount >= limits.shown_values)
    throw problem("too_many_shown", "show refused: this script has shown " + shownCount + " of " + limits.shown_values + " values", "collect values in one list and show it once");
  const text = encode(value, "the shown value");
  post('["shown",' + text + "," + encode(options, "the options of show") + "," + siteOf(here()) + "]");
  shownCount++;
}

function store(key, value) {
  if (typeof key !== "string" || key === "") throw new TypeErrorOf("store(key, value) wants a text as key");
  if (storeCount >= limits.stored_values)
    throw problem("too_many_stored", "store refused: this script has stored " + storeCount + " of " + limits.stored_values + " values", "collect values in one object and store it once");
  const before = stored[key] === undefined ? 0 : stored[key].length + key.length;
  if (value === undefined) {
    delete stored[key];
    storedBytes -= before;
    post('["stored",' + stringify(key) + ",null,true]");
    storeCount++;
    return;
  }
  const text = encode(value, "the value stored as " + stringify(key)), after = text.length + key.length;
  if (storedBytes - before + after > limits.stored_bytes)
    throw problem("store_full", "store(" + stringify(sliceOf(key, 0, 60)) + ") refused: " + after + " bytes more would make " + (storedBytes - before + after) + "; the session keeps " + limits.stored_bytes,
      "store less, or drop a key with store(key, undefined)");
  post('["stored",' + stringify(key) + "," + text + ",false]");
  storeCount++;
  storedBytes += after - before;
  stored[key] = text;
}
function load(key) { return stored[key] === undefined ? undefined : parse(stored[key]); }

// ------------------------------------------------------------------ time and chance come from Start
function ScriptDate(...args) {
  if (new.target === undefined) return apply(dateToText, new RealDate(clock), []);
  return construct(RealDate, args.length === 0 ? [clock] : args, new.target);
}
hidden(ScriptDate, "parse", RealDate.parse);
hidden(ScriptDate, "UTC", RealDate.UTC);
hidden(ScriptDate, "now", { now() { return clock; } }.now);
defineProperty(ScriptDate, "name", { __proto__: null, value: "Date" });
defineProperty(ScriptDate, "length", { __proto__: null, value: 7 });
defineProperty(ScriptDate, "prototype", { __proto__: null, value: RealDate.prototype, writable: false });
hidden(RealDate.prototype, "constructor", ScriptDate);
function nextChance() {                             // mulberry32, two draws for 53 bits
  chance = (chance + 0x6d2b79f5) | 0;
  let t = imul(chance ^ (chance >>> 15), chance | 1);
  t ^= t + imul(t ^ (t >>> 7), t | 61);
  return (t ^ (t >>> 14)) >>> 0;
}
const random = () => ((nextChance() >>> 5) * 67108864 + (nextChance() >>> 6)) / 9007199254740992;

// ------------------------------------------------------------------ waiting: sleep and timers
function wait(milliseconds, stack) {
  const ms = toNumber(milliseconds);
  const whole = ms > 0 ? min(ms, 2147483647) : 0;
  const promise = callHost("sleep", [whole], stack);
  pending[lastId].until = clock + whole;
  return promise;
}

// ------------------------------------------------------------------ what the engine asks for
function drain(ending, cut) {                       // join makes one flat string of the rope; slice may give the rope itself
  let body = outbox;                                // the outbox is emptied when that is done: out of memory, it is asked once more
  if (ending !== null || cut) {
    if (consoleDropped > 0) body += (body === "" ? "" : ",") + '["dropped",' + consoleDropped + "]";
    const ids = apply(joinArray, ownKeys(unawaited), [","]);
    if (ids !== "") body += (body === "" ? "" : ",") + '["unawaited",[' + ids + "]]";
    if (!cut) body += (body === "" ? "" : ",") + ending;  // cut: the engine has its own verdict
  }
  const state = ending !== null ? (ending[2] === "f" && ending[3] === "i" ? "F" : "X") : pendingCount > 0 ? "W" : "S";
  const out = apply(joinArray, [state + "[", body, "]"], [""]);
  outbox = ""; outboxBytes = 0;
  return out;
}
function settle(text) { settlements = parse(text); settled = 0; next(); }
function next() { settleNext(settlements[settled++]); }

function deadlock(operation) {
  const offsets = ownKeys(waits);
  if (operation === "watch")                        // the text to come has $await(offset, value) around what it awaits
    hidden(captured.G, "$await", (offset, value) => { waits[offset] = value; return value; });
  else if (operation === "probe")                   // which of the awaited promises are still open?
    for (let i = 0; i < offsets.length; i++) {
      const offset = offsets[i], done = () => { delete waits[offset]; };
      if (!(waits[offset] instanceof P)) continue;  // a thenable of the script's own: it never called back
      try { apply(then, waits[offset], [done, done]); } catch { done(); }
    }
  return apply(joinArray, ["[", apply(joinArray, offsets, [","]), "]"], [""]);
}
function rehearse() {                               // touch what a call will touch; the next `begin` starts afresh
  post(encode({ a: [1] }, "") + siteOf(here()));
  drain(null, false);
}

globals.budget = freeze({
  __proto__: ObjectProto,
  get calls() { return limits.calls - called; },
  get bytes() { return account.bytes; },
  get seconds() { return account.seconds; },
  get tools() { return account.tools == null ? {} : freezeDeep(account.tools); },
});
globals.show = show;
globals.store = store;
globals.load = load;
globals.sleep = { sleep(milliseconds) { return wait(milliseconds, here()); } }.sleep;
globals.recall = { recall(handle) { return callHost("recall", [handle], here()); } }.recall;
globals.relax = { relax(reason) { return callHost("relax", [reason], here()); } }.relax;
globals.help = { help(...args) { return callHost("help", args, here()); } }.help;
globals.Date = ScriptDate;
globals.performance = freeze({ __proto__: null, now() { return clock - startClock; }, get timeOrigin() { return startClock; } });
globals.queueMicrotask = { queueMicrotask(action) {  // an error in it would otherwise reach the engine's loop
  if (typeof action !== "function") throw new TypeErrorOf("queueMicrotask wants a function");
  queue(() => { try { action(); } catch (error) { fail(error); } });
} }.queueMicrotask;

const mail = {
  __proto__: null, begin, globals, rare, encode, problem, random, settle, next, drain, deadlock, rehearse,
  // for rare.js
  here, post, fail, pathTo, wait, hidden, bareList, sliceOf, stackOfProblem, shared,
  limits: () => limits, clock: () => clock, purpose: () => purpose, lastId: () => lastId,
  dropped() { consoleDropped++; }, awaited(id) { delete unawaited[id]; },
};
return mail;
}
