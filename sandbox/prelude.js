// What every engine starts with: takes away what no script may have, and leaves a lazy stand-in for the rest of the world.
// The mailbox is in mail.js, what few scripts need in rare.js, console's eyes in inspect.js, the web conveniences in web.js: those texts
// are compiled at their first use, since compiling is nearly all that a new engine costs (a zygote compiles them before it forks).
// The rule for all of them but web.js: after the script has started, only what was captured here is used, so a script may change any
// prototype it likes and misleads nobody but itself. No template literals: the engine makes String.prototype.concat calls of them.
// Each file must stay under 1,000 lines: higher line numbers belong to the script (see source.py).
0 || function () {   // not "(function": the engine would scan to the matching parenthesis first
"use strict";
const G = globalThis, E = Error, realEval = eval;
const { apply, construct } = Reflect;
const { defineProperty, getPrototypeOf, setPrototypeOf } = Object;
const { stringify } = JSON;
const sliceText = String.prototype.slice, weakSet = WeakMap.prototype.set;
const captured = {
  __proto__: null, G, E, apply, construct, defineProperty, getPrototypeOf, setPrototypeOf, stringify, sliceText, weakSet,
  P: Promise, RealDate: Date, ownKeys: Reflect.ownKeys, freeze: Object.freeze, create: Object.create, keys: Object.keys,
  getOwnPropertyDescriptor: Object.getOwnPropertyDescriptor, parse: JSON.parse, isRawJSON: JSON.isRawJSON, min: Math.min, imul: Math.imul,
  floor: Math.floor, toNumber: Number, toText: String, TypeErrorOf: TypeError, ProxyOf: Proxy, MapOf: Map, SetOf: Set, RegExpOf: RegExp,
  DateOf: Date, Bytes: Uint8Array, BufferOf: ArrayBuffer, IteratorOf: Iterator, WeakMapOf: WeakMap, isArray: Array.isArray,
  isView: ArrayBuffer.isView, parseNumber: parseInt, unescapeText: unescape, encodeURI_: encodeURIComponent, queue: queueMicrotask,
  execRegExp: RegExp.prototype.exec, regExpToText: RegExp.prototype.toString, splitText: String.prototype.split,
  codeAt: String.prototype.charCodeAt, repeatText: String.prototype.repeat, replaceText: String.prototype.replaceAll,
  joinArray: Array.prototype.join, then: Promise.prototype.then, weakGet: WeakMap.prototype.get, eachOfMap: Map.prototype.forEach,
  eachOfSet: Set.prototype.forEach, dateToText: Date.prototype.toString, dateToISO: Date.prototype.toISOString,
  dateValue: Date.prototype.getTime, symbolToText: Symbol.prototype.toString, ObjectProto: Object.prototype, ArrayProto: Array.prototype,
  stackSlot: Object.getOwnPropertyDescriptor(E.prototype, "stack"),
};
const hidden = (object, name, value) =>             // no prototype: a `get` on Object.prototype would spoil the descriptor
  defineProperty(object, name, { __proto__: null, value, writable: true, enumerable: false, configurable: true });

// ------------------------------------------------------------------ what is compiled at its first use
const texts = { __proto__: null, mail: "", rare: "", inspect: "", web: "" };
let facts = "", mailbox = null;
const shared = {
  __proto__: null, captured, hidden, fail, inserted: null, madeByScript: new WeakMap(),
  rare: (mail) => realEval(texts.rare)(captured, mail, realEval(texts.inspect)(captured)),
};
const compiled = () => mailbox ??= realEval(texts.mail)(captured, shared);
function mail() {
  const box = compiled();
  if (facts !== "") { const text = facts; facts = ""; box.begin(text); }
  return box;
}
function loadWeb() { const text = texts.web; texts.web = ""; if (text !== "") realEval(text); }
function lazyGlobal(name, make) {
  defineProperty(G, name, {
    __proto__: null, configurable: true, enumerable: false,
    get() { const value = make(name); hidden(G, name, value); return value; },
    set(value) { hidden(G, name, value); },
  });
}
const fromMail = (name) => mail().globals[name], fromRare = (name) => mail().rare().globals[name];
const fromWeb = (name) => { delete G[name]; loadWeb(); return G[name]; };
const inMail = ["tools", "context", "budget", "show", "store", "load", "sleep", "recall", "relax", "help", "Date", "performance", "queueMicrotask"];
const waitForMail = () => { for (let i = 0; i < inMail.length; i++) lazyGlobal(inMail[i], fromMail); };
waitForMail();
for (const name of ["console", "setTimeout", "setInterval", "clearTimeout", "clearInterval"]) lazyGlobal(name, fromRare);
for (const name of ["structuredClone", "TextEncoder", "TextDecoder", "URL", "URLSearchParams"]) lazyGlobal(name, fromWeb);
hidden(Math, "random", { random() { return mail().random(); } }.random);
defineProperty(E.prototype, "stack", {              // as the script sees it: its own lines, as it counts them
  __proto__: null, configurable: true, enumerable: false,
  get() { return typeof this === "object" && this !== null ? mail().rare().tidyStack(this) : undefined; },
  set(value) { hidden(this, "stack", value); },
});

// ------------------------------------------------------------------ what is gone
const noCode = ": code from text is off in this sandbox; write it in the script";
for (const sample of [function () {}, async function () {}, function* () {}, async function* () {}]) {
  const prototype = getPrototypeOf(sample), name = prototype[Symbol.toStringTag] ?? "Function";
  const stand = { [name]: function () { throw new EvalError(name + noCode); } }[name];
  defineProperty(stand, "prototype", { value: prototype, writable: false, enumerable: false, configurable: false });
  hidden(prototype, "constructor", stand);
  if (name === "Function") hidden(G, "Function", stand);  // still there for `instanceof`
  else setPrototypeOf(stand, G.Function);
}
hidden(G, "eval", { eval() { throw new EvalError("eval" + noCode); } }.eval);
for (const name of ["SharedArrayBuffer", "Atomics", "WebAssembly", "WeakRef", "FinalizationRegistry"]) delete G[name];
delete E.prepareStackTrace;                         // the engine's own hooks: positions must stay true
delete E.stackTraceLimit;
// Out of memory is an InternalError that no script made: those the script makes itself are marked.
const RealInternalError = shared.RealInternalError = InternalError;
const Marked = { InternalError: function (...args) {
  const error = construct(RealInternalError, args, new.target ?? Marked);
  apply(weakSet, shared.madeByScript, [error, true]);
  return error;
} }.InternalError;
defineProperty(Marked, "prototype", { value: RealInternalError.prototype, writable: false, enumerable: false, configurable: false });
setPrototypeOf(Marked, E);
hidden(RealInternalError.prototype, "constructor", Marked);
hidden(G, "InternalError", Marked);

// ------------------------------------------------------------------ how a script ends
let ending = null, script, syntax;                  // text of the event that ends it; the compiled function; or why there is none
const flat = (parts) => apply(captured.joinArray, parts, [""]);  // the engine gives a long sum as a rope, which its binding cannot read
function fail(error) { if (ending === null) ending = '["failed",' + mail().rare().describe(error, 0) + "]"; }
function finish(value) {
  if (ending !== null) return;
  const kind = typeof value;
  const plain = value == null || kind === "boolean" || kind === "number" || (kind === "string" && value.length < 1000);
  ending = '["finished",' + (plain ? stringify(value ?? null) : mail().encode(value, "the result")) + "]";
}
async function run() {
  let value;
  try { value = await script(); } catch (error) { fail(error); return; }
  try { finish(value); } catch (error) { fail(error); }
}

// ------------------------------------------------------------------ the one function the engine calls
return function bridge(operation, text) {
  switch (operation) {
    case "begin": facts = text; return "";
    case "compile":
      script = undefined;
      try {
        const made = realEval(text);
        if (typeof made === "function") { script = made; return "yes"; }
        syntax = mail().problem("SyntaxError", "the braces of this script do not match");
      } catch (error) { syntax = error; }
      return "no";
    case "shift": shared.inserted = text; return "";
    case "run":
      if (script === undefined) fail(syntax);
      else run();
      return "";
    case "settle": mailbox.settle(text); return "";
    case "next": mailbox.next(); return "";
    case "drain":                                   // how it stands (F finished, X failed, W waiting, S stuck), and the messages so far
      if (mailbox === null || facts !== "") return ending === null ? "S[]" : flat(["F[", ending, "]"]);  // nothing was ever sent
      return mailbox.drain(ending, text === "cut");
    case "rehearse": facts = text; mail().rehearse(); return "";
    case "load mail": compiled(); return "";
    // In a zygote, where it is paid once for all. What web.js named is lazy again: a script's first use of it is what begins.
    case "load": compiled().rare(); loadWeb(); waitForMail(); return "";
    case "watch": case "probe": case "waits": return mail().deadlock(operation);
    default: texts[operation] = text; return "";
  }
};
}()
