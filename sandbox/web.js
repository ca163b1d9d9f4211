// Web conveniences scripts reach for and the engine lacks: structuredClone, TextEncoder, TextDecoder, URL, URLSearchParams.
// Not here: btoa, atob, queueMicrotask, DOMException (the engine has them to the standard); timers, console, show (prelude.js).
// Evaluated once, before the script or when it first names one of these. State lives in private fields and every loop consumes
// its input, so a script that tampers with prototypes or hands in malformed input can only spoil its own use of these classes.
void function () { // not (() => {})(): the engine would read the whole file once more to tell a parenthesis from parameters
  "use strict";

  const scalars = (value) => `${value}`.toWellFormed(); // WebIDL's USVString; a template refuses symbols, String() would not
  const need = (given, count) => {
    if (given.length < count) throw new TypeError(`${count} argument(s) required, but only ${given.length} present`);
  };

  // ---- Bytes ----
  // Bytes are handled as binary strings, one character a byte: the engine's base64, escape and URI functions then do the work,
  // many times faster than a loop over bytes.

  const PIECE = 0x4000; // characters
  const NON_ASCII = /[^\0-\x7f]/;
  const toBytes = (binary) => Uint8Array.fromBase64(btoa(binary));

  function toBinary(source) {
    if (ArrayBuffer.isView(source)) source = new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
    else if (source instanceof ArrayBuffer) source = new Uint8Array(source);
    else throw new TypeError("The input must be an ArrayBuffer or a view of one");
    return atob(source.toBase64());
  }

  // Replacing by a pattern costs some 300 bytes a match until it is done, and escaped text is long: never all at once.
  function byPieces(string, convert) {
    let result = "";
    for (let at = 0, end; at < string.length; at = end) {
      end = at + PIECE;
      if ((string.charCodeAt(end) & 0xfc00) === 0xdc00) end++; // not between the halves of a pair
      result += convert(string.slice(at, end));
    }
    return result;
  }

  const toUtf8 = (string) =>
    byPieces(string, (piece) => (NON_ASCII.test(piece) ? unescape(encodeURIComponent(piece)) : piece));

  // A match is one whole character, or the longest beginning of one, or a stray byte: the last two become one U+FFFD each.
  const SEQUENCE = new RegExp(
    "(?:\xf0[\x90-\xbf]|\xf4[\x80-\x8f]|[\xf1-\xf3][\x80-\xbf])[\x80-\xbf]{0,2}" +
      "|(?:\xe0[\xa0-\xbf]|\xed[\x80-\x9f]|[\xe1-\xec\xee\xef][\x80-\xbf])[\x80-\xbf]?|[\xc2-\xdf][\x80-\xbf]|[\x80-\xff]",
    "g",
  );
  const wholeSize = (sequence) => (sequence < "\xe0" ? 2 : sequence < "\xf0" ? 3 : 4);
  const repaired = (sequence) => (sequence.length === wholeSize(sequence) ? decodeURIComponent(escape(sequence)) : "\ufffd");

  function fromUtf8(binary, fatal = false) {
    let string = "";
    for (let at = 0, end; at < binary.length; at = end) {
      end = at + PIECE;
      // Cut before a character. Four continuation bytes in a row belong to none, so looking back three is enough.
      end -= [0, 1, 2, 3].find((back) => (binary.charCodeAt(end - back) & 0xc0) !== 0x80) ?? 0;
      const piece = binary.slice(at, end);
      try {
        string += NON_ASCII.test(piece) ? decodeURIComponent(escape(piece)) : piece;
      } catch (error) {
        if (fatal) throw error;
        string += piece.replace(SEQUENCE, repaired);
      }
    }
    return string;
  }

  function fromUtf16(binary, fatal, bigEndian) {
    const odd = binary.length % 2;
    let units = new Uint16Array(toBytes(odd ? binary.slice(0, -1) : binary).buffer);
    if (bigEndian) units = units.map((unit) => (unit << 8) | (unit >> 8));
    let string = "";
    for (let at = 0; at < units.length; at += PIECE) string += String.fromCharCode(...units.subarray(at, at + PIECE));
    if (odd) string = `${string.replace(/[\ud800-\udbff]$/, "")}\ud800`; // half a pair and half a unit are one error
    if (fatal && !string.isWellFormed()) throw new TypeError();
    return string.toWellFormed();
  }

  // How many bytes at the end may begin a character that the next call of a stream completes.
  function unfinishedUtf8(binary) {
    const tail = /[\xc2-\xf4][\x80-\xbf]{0,2}$/.exec(binary.slice(-3))?.[0] ?? "";
    return tail.length < wholeSize(tail) && tail.match(SEQUENCE)?.length === 1 ? tail.length : 0;
  }

  function unfinishedUtf16(binary, bigEndian) {
    const odd = binary.length % 2;
    return (binary.charCodeAt(binary.length - odd - (bigEndian ? 2 : 1)) & 0xfc) === 0xd8 ? odd + 2 : odd;
  }

  // ---- TextEncoder and TextDecoder ----

  class TextEncoder {
    get encoding() { return "utf-8"; }
    encode(input = "") { return toBytes(toUtf8(scalars(input))); }

    encodeInto(source, destination) {
      need(arguments, 2);
      if (!(destination instanceof Uint8Array)) throw new TypeError("The destination must be a Uint8Array");
      source = scalars(source);
      const room = destination.length;
      let read = Math.min(room, source.length); // every unit takes a byte or more
      if ((source.charCodeAt(read) & 0xfc00) === 0xdc00) read--; // half a pair: the whole would not fit
      let binary = toUtf8(source.slice(0, read));
      if (binary.length > room) {
        let cut = room;
        while ((binary.charCodeAt(cut) & 0xc0) === 0x80) cut--;
        binary = binary.slice(0, cut);
        read = fromUtf8(binary).length;
      }
      destination.set(toBytes(binary));
      return { read, written: binary.length };
    }
  }

  const LABELS = {
    "utf-8": "utf-8 utf8 unicode-1-1-utf-8 unicode11utf8 unicode20utf8 x-unicode20utf8",
    "utf-16le": "utf-16le utf-16 ucs-2 unicode csunicode iso-10646-ucs-2 unicodefeff",
    "utf-16be": "utf-16be unicodefffe",
    "windows-1252":
      "windows-1252 cp1252 x-cp1252 latin1 l1 iso-8859-1 iso8859-1 iso88591 iso_8859-1 iso_8859-1:1987 iso-ir-100 " +
      "csisolatin1 cp819 ibm819 ascii us-ascii ansi_x3.4-1968",
  };
  const WINDOWS_1252 = // bytes 80 to 9f
    "\u20ac\x81\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\x8d\u017d\x8f" +
    "\x90\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\x9d\u017e\u0178";

  class TextDecoder {
    #encoding;
    #fatal;
    #ignoreBOM;
    #kept = ""; // the bytes of an unfinished character, between two calls of a stream
    #begun = false; // a stream is past the place where a byte order mark may stand

    constructor(label = "utf-8", options = undefined) {
      const wanted = `${label}`.replace(/^[\t\n\f\r ]+|[\t\n\f\r ]+$/g, "").toLowerCase();
      const names = Object.keys(LABELS);
      this.#encoding = names.find((name) => LABELS[name].split(" ").includes(wanted));
      if (!this.#encoding) throw new RangeError(`The "${label}" encoding is not supported; use one of ${names.join(", ")}`);
      this.#fatal = Boolean(options?.fatal);
      this.#ignoreBOM = Boolean(options?.ignoreBOM);
    }

    get encoding() { return this.#encoding; }
    get fatal() { return this.#fatal; }
    get ignoreBOM() { return this.#ignoreBOM; }

    decode(input = undefined, options = undefined) {
      const given = input === undefined ? "" : toBinary(input);
      if (this.#encoding === "windows-1252") {
        const decoded = (byte) => WINDOWS_1252[byte.charCodeAt(0) - 0x80];
        return byPieces(given, (piece) => piece.replace(/[\x80-\x9f]/g, decoded));
      }
      const binary = this.#kept + given;
      const utf8 = this.#encoding === "utf-8";
      const bigEndian = this.#encoding === "utf-16be";
      const stream = Boolean(options?.stream);
      const unfinished = !stream ? 0 : utf8 ? unfinishedUtf8(binary) : unfinishedUtf16(binary, bigEndian);
      const finished = binary.slice(0, binary.length - unfinished);
      const begun = this.#begun;
      this.#kept = "";
      this.#begun = false;
      let string;
      try {
        string = utf8 ? fromUtf8(finished, this.#fatal) : fromUtf16(finished, this.#fatal, bigEndian);
      } catch {
        throw new TypeError(`The encoded data was not valid for encoding ${this.#encoding}`);
      }
      this.#kept = binary.slice(finished.length);
      this.#begun = stream && (begun || string !== "");
      return !begun && !this.#ignoreBOM && string[0] === "\ufeff" ? string.slice(1) : string;
    }
  }

  // ---- URLSearchParams ----

  // unescape knows %XX and leaves a lone % alone, as it should; %uXXXX is its own idea and is kept from it.
  const percentDecode = (string) =>
    string.includes("%") ? fromUtf8(unescape(toUtf8(string).replaceAll("%u", "%25u"))) : string;

  // What encodeURIComponent leaves alone, or writes otherwise than a form.
  const FORM_CODES = { "!": "%21", "'": "%27", "(": "%28", ")": "%29", "~": "%7E", "%20": "+" };
  const formPiece = (piece) => encodeURIComponent(piece).replace(/[!'()~]|%20/g, (found) => FORM_CODES[found]);
  const formEncode = (string) => byPieces(string, formPiece);
  const formText = (pairs) => pairs.map(([name, value]) => `${formEncode(name)}=${formEncode(value)}`).join("&");

  function cut(string, mark) {
    const at = string.indexOf(mark);
    return at < 0 ? [string, null] : [string.slice(0, at), string.slice(at + 1)];
  }

  function parseQuery(query) {
    const fields = query.split("&").filter((field) => field !== "");
    return fields.map((field) => cut(field, "=").map((part) => percentDecode((part ?? "").replaceAll("+", " "))));
  }

  function pairsOf(init) {
    if (init === undefined) return [];
    if (init !== Object(init)) return parseQuery(scalars(init).replace(/^\?/, ""));
    if (init[Symbol.iterator] == null) return Object.keys(init).map((name) => [scalars(name), scalars(init[name])]);
    return Array.from(init, (pair) => {
      const both = pair === Object(pair) ? Array.from(pair, (part) => scalars(part)) : [];
      if (both.length !== 2) throw new TypeError("Each query pair must be an iterable [name, value] tuple");
      return both;
    });
  }

  function* walkPairs(pairs, pick) {
    for (let at = 0; at < pairs.length; at++) yield pick(pairs[at]);
  }
  Object.defineProperty(walkPairs.prototype, Symbol.toStringTag, { value: "URLSearchParams Iterator", configurable: true });

  let bindParams; // (params, onChange): the params belong to a URL, which follows them
  let refillParams; // (params, query): that URL changed, its params follow

  class URLSearchParams {
    #pairs; // one array for life, so that iterators stay live
    #onChange = null;

    static {
      bindParams = (params, onChange) => { params.#onChange = onChange; };
      refillParams = (params, query) => { params.#refill(parseQuery(query)); };
    }

    constructor(init = undefined) { this.#pairs = pairsOf(init); }

    #refill(pairs) {
      this.#pairs.length = 0;
      for (const pair of pairs) this.#pairs.push(pair);
    }

    #changed() { this.#onChange?.(formText(this.#pairs)); }

    #matching(name, value) {
      name = scalars(name);
      if (value === undefined) return (pair) => pair[0] === name;
      value = scalars(value);
      return (pair) => pair[0] === name && pair[1] === value;
    }

    get size() { return this.#pairs.length; }

    append(name, value) {
      need(arguments, 2);
      this.#pairs.push([scalars(name), scalars(value)]);
      this.#changed();
    }

    delete(name, value = undefined) {
      need(arguments, 1);
      const matches = this.#matching(name, value);
      this.#refill(this.#pairs.filter((pair) => !matches(pair)));
      this.#changed();
    }

    get(name) { need(arguments, 1); return this.#pairs.find(this.#matching(name))?.[1] ?? null; }
    getAll(name) { need(arguments, 1); return this.#pairs.filter(this.#matching(name)).map((pair) => pair[1]); }
    has(name, value = undefined) { need(arguments, 1); return this.#pairs.some(this.#matching(name, value)); }

    set(name, value) {
      need(arguments, 2);
      const matches = this.#matching(name);
      const first = this.#pairs.find(matches);
      if (first) first[1] = scalars(value);
      else this.#pairs.push([scalars(name), scalars(value)]);
      if (first) this.#refill(this.#pairs.filter((pair) => pair === first || !matches(pair)));
      this.#changed();
    }

    sort() {
      this.#pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
      this.#changed();
    }

    forEach(callback, thisArg = undefined) {
      if (typeof callback !== "function") throw new TypeError("The callback must be a function");
      for (const [name, value] of walkPairs(this.#pairs, (pair) => pair)) callback.call(thisArg, value, name, this);
    }

    entries() { return walkPairs(this.#pairs, ([name, value]) => [name, value]); }
    keys() { return walkPairs(this.#pairs, (pair) => pair[0]); }
    values() { return walkPairs(this.#pairs, (pair) => pair[1]); }
    toString() { return formText(this.#pairs); }
  }

  // ---- Hosts ----
  // A host is its serialised text; null means that it cannot be parsed.

  const PORTS = { __proto__: null, http: 80, https: 443, ws: 80, wss: 443, ftp: 21, file: null };
  const isSpecial = (url) => url.scheme in PORTS;

  const CONTROLS = /[^ -~]+/g;
  const NOT_IN_FRAGMENT = /[^!#-;=?-_a-~]+/g;
  const NOT_IN_QUERY = /[^!$-;=?-~]+/g;
  const NOT_IN_SPECIAL_QUERY = /[^!$-&(-;=?-~]+/g;
  const NOT_IN_PATH = /[^!$-;=@-\]_a-z|~]+/g;
  const NOT_IN_USERINFO = /[^!$-.0-9A-Z_a-z~]+/g;
  const percentCode = (run) => encodeURIComponent(run).replaceAll("'", "%27");
  const percentEncode = (string, set) => byPieces(string, (piece) => piece.replace(set, percentCode));

  function parseHost(host, special) {
    if (host[0] === "[") return host.endsWith("]") ? parseIPv6(host.slice(1, -1)) : null;
    if (!special) return /[\0\t\n\r #/:<>?@[\\\]^|]/.test(host) ? null : percentEncode(host, CONTROLS);
    const decoded = percentDecode(host);
    const domain = NON_ASCII.test(decoded) ? toASCII(decoded) : decoded.toLowerCase();
    if (!domain || /[\0- #%/:<>?@[\\\]^|\x7f]/.test(domain)) return null;
    return /(?:^|\.)(?:\d+|0x[\da-f]*)\.?$/.test(domain) ? parseIPv4(domain) : domain;
  }

  function parseIPv4(domain) {
    const numbers = domain.replace(/\.$/, "").split(".").map((part) => {
      if (/^0x[\da-f]*$/.test(part)) return parseInt(part.slice(2) || "0", 16);
      if (/^0[0-7]*$/.test(part)) return parseInt(part, 8);
      return /^[1-9]\d*$/.test(part) ? Number(part) : NaN;
    });
    let address = numbers.pop();
    if (numbers.length > 3 || !(address < 256 ** (4 - numbers.length)) || !numbers.every((number) => number < 256)) return null;
    numbers.forEach((number, at) => { address += number * 256 ** (3 - at); });
    return [24, 16, 8, 0].map((shift) => (address >>> shift) & 255).join(".");
  }

  function parseIPv6(address) {
    const dotted = /^(.*:)(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(address);
    if (dotted) {
      const [a, b, c, d] = dotted.slice(2).map((part) => (/^0./.test(part) || part > 255 ? NaN : Number(part)));
      if (Number.isNaN(a + b + c + d)) return null;
      address = `${dotted[1]}${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
    }
    const halves = address.split("::", 3).map((half) => (half === "" ? [] : half.split(":")));
    const given = halves.flat();
    const missing = 8 - given.length;
    if (halves.length > 2 || (halves.length === 2 ? missing < 1 : missing !== 0)) return null;
    if (!given.every((piece) => /^[\da-fA-F]{1,4}$/.test(piece))) return null;
    const pieces = [...halves[0], ...Array(missing).fill("0"), ...(halves[1] ?? [])];
    const full = pieces.map((piece) => parseInt(piece, 16).toString(16)).join(":");
    const zeros = [...full.matchAll(/\b0(?::0)+\b/g)].sort((a, b) => b[0].length - a[0].length)[0]; // the first of the longest
    if (!zeros) return `[${full}]`;
    return `[${full.slice(0, zeros.index).replace(/:$/, "")}::${full.slice(zeros.index + zeros[0].length).replace(/^:/, "")}]`;
  }

  // IDNA by the engine's Unicode data instead of the mapping table of UTS 46, which alone would be larger than this file:
  // compatibility forms, case and invisible characters are mapped, unassigned ones refused; bidi rules are not checked.
  let idna = null; // compiled at first use
  function toASCII(domain) {
    idna ??= {
      ignored: new RegExp("(?![\\u200c\\u200d])\\p{Default_Ignorable_Code_Point}", "gu"),
      refused: new RegExp("(?![\\u200c\\u200d])[\\p{C}\\p{Z}\\ufffc\\ufffd]|(?<!\\p{M})[\\u200c\\u200d]|(?<=^|\\.)\\p{M}", "u"),
      dotted: new RegExp("[\\u2024-\\u2026\\u2488-\\u249b\\u33c2\\u33c7\\u33d8\\ufe12\\ufe19\\ufe30\\ufe52\\u{1f100}]", "u"),
    };
    if (idna.dotted.test(domain)) return null; // characters that would turn into dots among others
    const normal = domain.replace(idna.ignored, "").normalize("NFKC");
    const lower = Array.from(normal, (point) => point.toLowerCase()).join(""); // singly, or a final sigma would differ
    const mapped = lower.normalize("NFKC").replaceAll("\u3002", ".");
    if (idna.refused.test(mapped)) return null;
    return mapped.split(".").map((label) => (NON_ASCII.test(label) ? `xn--${punycode(label)}` : label)).join(".");
  }

  // RFC 3492, with its names.
  function punycode(label) {
    const digit = (value) => String.fromCharCode(value + (value < 26 ? 97 : 22));
    const points = Array.from(label, (point) => point.codePointAt(0));
    let output = label.replace(/[^\0-\x7f]+/g, "");
    const basic = output.length;
    if (basic) output += "-";
    let n = 128;
    let delta = 0;
    let bias = 72;
    for (let handled = basic; handled < points.length; n++, delta++) {
      const next = points.reduce((least, point) => (point >= n && point < least ? point : least), Infinity);
      delta += (next - n) * (handled + 1);
      n = next;
      for (const point of points) {
        if (point < n) delta++;
        if (point !== n) continue;
        let q = delta;
        for (let k = 36; ; k += 36) {
          const t = Math.min(Math.max(k - bias, 1), 26);
          if (q < t) break;
          output += digit(t + ((q - t) % (36 - t)));
          q = Math.floor((q - t) / (36 - t));
        }
        output += digit(q);
        delta = Math.floor(delta / (handled === basic ? 700 : 2));
        delta += Math.floor(delta / ++handled);
        for (bias = 0; delta > 455; bias += 36) delta = Math.floor(delta / 35);
        bias += Math.floor((36 * delta) / (delta + 38));
        delta = 0;
      }
    }
    return output;
  }

  // ---- URL ----
  // A record is {scheme, username, password, host, port, path, query, fragment}: host, port, query and fragment are null when
  // absent; path is a list of segments or, when opaque, a string. The parsers below return whether they could.

  const DRIVE = /^[a-zA-Z][:|]$/;
  const NORMAL_DRIVE = /^[a-zA-Z]:$/;
  const LEADING_DRIVE = /^[a-zA-Z][:|](?:[/\\]|$)/;
  const SLASHES = /^[/\\]+/;
  const TWO_SLASHES = /^[/\\]{2}/;
  const HOST_AND_PORT = /^((?:\[[^\]]*(?:\]|$)|[^[:])*)(?::(.*))?$/s; // no colon inside brackets ends a host
  const withoutBreaks = (value) => byPieces(scalars(value), (piece) => piece.replace(/[\t\n\r]+/g, ""));
  const encodeQuery = (url, query) => percentEncode(query, isSpecial(url) ? NOT_IN_SPECIAL_QUERY : NOT_IN_QUERY);

  function trimmed(input) {
    let start = 0;
    let end = input.length;
    while (start < end && input.charCodeAt(start) <= 32) start++;
    while (end > start && input.charCodeAt(end - 1) <= 32) end--;
    return withoutBreaks(input.slice(start, end));
  }

  function parseUrl(input, base) {
    const [unfragmented, fragment] = cut(trimmed(input), "#");
    const [front, query] = cut(unfragmented, "?");
    const scheme = /^([a-zA-Z][a-zA-Z\d+.-]*):/.exec(front)?.[1].toLowerCase();
    if (scheme === undefined && !base) return null;
    const url = {
      scheme: scheme ?? base.scheme, username: "", password: "", host: null, port: null, path: [], query: null, fragment: null,
    };
    const rest = scheme === undefined ? front : front.slice(scheme.length + 1);
    let parsed = true;
    if (scheme === undefined && typeof base.path === "string") {
      if (unfragmented !== "" || fragment === null) return null;
      Object.assign(url, { path: base.path, query: base.query });
    } else if (url.scheme === "file") {
      parsed = parseFile(url, rest, query, base?.scheme === "file" ? base : null);
    } else if (scheme === undefined || (isSpecial(url) && base?.scheme === scheme)) {
      parsed = parseRelative(url, rest, query, base);
    } else if (isSpecial(url)) {
      parsed = parseAuthority(url, rest.replace(SLASHES, ""));
    } else if (rest.startsWith("//")) {
      parsed = parseAuthority(url, rest.slice(2));
    } else if (rest[0] === "/") {
      addPath(url, rest.slice(1));
    } else {
      url.path = percentEncode(query === null && fragment === null ? rest : rest.replace(/ $/, "%20"), CONTROLS);
    }
    if (!parsed) return null;
    if (query !== null) url.query = encodeQuery(url, query);
    if (fragment !== null) url.fragment = percentEncode(fragment, NOT_IN_FRAGMENT);
    return url;
  }

  function parseRelative(url, rest, query, base) {
    const special = isSpecial(url);
    if (special && TWO_SLASHES.test(rest)) return parseAuthority(url, rest.replace(SLASHES, ""));
    if (!special && rest.startsWith("//")) return parseAuthority(url, rest.slice(2));
    Object.assign(url, { username: base.username, password: base.password, host: base.host, port: base.port });
    if (rest[0] === "/" || (special && rest[0] === "\\")) addPath(url, rest.slice(1));
    else addRelativePath(url, rest, query, base);
    return true;
  }

  function parseFile(url, rest, query, base) {
    url.host = base?.host ?? "";
    if (TWO_SLASHES.test(rest)) {
      const [, host, path] = /^([^/\\]*)(.*)$/s.exec(rest.slice(2));
      url.host = "";
      if (DRIVE.test(host)) addPath(url, rest.slice(2));
      else if (!setFileHost(url, host)) return false;
      else startPath(url, path);
    } else if (SLASHES.test(rest)) {
      if (base && !LEADING_DRIVE.test(rest.slice(1)) && NORMAL_DRIVE.test(base.path[0])) url.path.push(base.path[0]);
      addPath(url, rest.slice(1));
    } else if (base && !LEADING_DRIVE.test(rest)) {
      addRelativePath(url, rest, query, base);
    } else {
      addPath(url, rest);
    }
    return true;
  }

  function parseAuthority(url, rest) {
    const special = isSpecial(url);
    const [, authority, path] = (special ? /^([^/\\]*)(.*)$/s : /^([^/]*)(.*)$/s).exec(rest);
    const at = authority.lastIndexOf("@");
    if (at >= 0) {
      const [username, password] = cut(authority.slice(0, at), ":");
      url.username = percentEncode(username, NOT_IN_USERINFO);
      url.password = percentEncode(password ?? "", NOT_IN_USERINFO);
    }
    const [, host, port] = HOST_AND_PORT.exec(authority.slice(at + 1));
    if (host === "" && (special || at >= 0 || port !== undefined)) return false;
    url.host = parseHost(host, special);
    if (url.host === null || (port && !(/^\d+$/.test(port) && setPort(url, port)))) return false;
    startPath(url, path);
    return true;
  }

  function setFileHost(url, text) {
    const host = text === "" ? "" : parseHost(text, true);
    if (host !== null) url.host = host === "localhost" ? "" : host;
    return host !== null;
  }

  function setPort(url, digits) {
    const port = Number(digits);
    if (port <= 65535) url.port = port === PORTS[url.scheme] ? null : port;
    return port <= 65535;
  }

  function startPath(url, rest) {
    if (isSpecial(url)) addPath(url, rest.replace(/^[/\\]/, ""));
    else if (rest !== "") addPath(url, rest.replace(/^\//, ""));
  }

  function addRelativePath(url, rest, query, base) {
    url.path = base.path.slice();
    if (rest === "") {
      if (query === null) url.query = base.query;
    } else {
      shorten(url);
      addPath(url, rest);
    }
  }

  function addPath(url, rest) {
    const segments = percentEncode(rest, NOT_IN_PATH).split(isSpecial(url) ? /[/\\]/ : "/");
    segments.forEach((segment, at) => {
      const dots = /^(?:\.|%2[eE])(\.|%2[eE])?$/.exec(segment);
      if (dots?.[1]) shorten(url);
      const drive = url.scheme === "file" && url.path.length === 0 && DRIVE.test(segment);
      if (!dots) url.path.push(drive ? `${segment[0]}:` : segment);
      else if (at === segments.length - 1) url.path.push("");
    });
  }

  function shorten(url) {
    if (url.scheme !== "file" || url.path.length !== 1 || !NORMAL_DRIVE.test(url.path[0])) url.path.pop();
  }

  const hostText = (url) => (url.port === null ? (url.host ?? "") : `${url.host}:${url.port}`);
  const pathText = (url) => (typeof url.path === "string" ? url.path : url.path.map((segment) => `/${segment}`).join(""));

  function urlText(url) {
    const path = pathText(url);
    const credentials = `${url.username}${url.password && ":"}${url.password}`;
    let front = "";
    if (url.host !== null) front = `//${credentials}${credentials && "@"}${hostText(url)}`;
    else if (typeof url.path !== "string" && path.startsWith("//")) front = "/."; // or else the path would read as a host
    const query = url.query === null ? "" : `?${url.query}`;
    return `${url.scheme}:${front}${path}${query}${url.fragment === null ? "" : `#${url.fragment}`}`;
  }

  function originOf(url) {
    if (url.scheme === "blob") {
      const inner = typeof url.path === "string" ? parseUrl(url.path, null) : null;
      return /^https?$/.test(inner?.scheme) ? originOf(inner) : "null";
    }
    return isSpecial(url) && url.scheme !== "file" ? `${url.scheme}://${hostText(url)}` : "null";
  }

  function parseWithBase(input, base) {
    if (base === undefined) return parseUrl(scalars(input), null);
    const parsed = parseUrl(scalars(base), null);
    return parsed && parseUrl(scalars(input), parsed);
  }

  function invalidUrl(input, base) {
    const named = (value) => JSON.stringify(scalars(value).slice(0, 200));
    let message = `Invalid URL: ${named(input)}`;
    if (base !== undefined) message += ` with base ${named(base)}`;
    else if (!/^\s*[a-zA-Z][a-zA-Z\d+.-]*:/.test(input)) message += " has no scheme; give an absolute base as second argument";
    return Object.assign(new TypeError(message), { code: "ERR_INVALID_URL" });
  }

  function setHost(url, value, portAllowed) {
    const special = isSpecial(url);
    const [text] = withoutBreaks(value).split(special ? /[/\\?#]/ : /[/?#]/, 1);
    if (typeof url.path === "string") return;
    if (url.scheme === "file") {
      setFileHost(url, text);
      return;
    }
    const [, name, port] = HOST_AND_PORT.exec(text);
    if (port !== undefined && (name === "" || !portAllowed)) return;
    if (name === "" && (special || url.username || url.password || url.port !== null)) return;
    const host = parseHost(name, special);
    if (host === null) return;
    url.host = host;
    setLeadingPort(url, port ?? "");
  }

  function setLeadingPort(url, text) {
    const digits = /^\d+/.exec(text);
    if (digits) setPort(url, digits[0]);
  }

  const takesCredentials = (url) => Boolean(url.host) && url.scheme !== "file"; // and a port

  class URL {
    #url;
    #params = null;

    constructor(input, base = undefined) {
      need(arguments, 1);
      this.#url = parseWithBase(input, base);
      if (!this.#url) throw invalidUrl(input, base);
    }

    static canParse(input, base = undefined) { need(arguments, 1); return parseWithBase(input, base) !== null; }
    static parse(input, base = undefined) { need(arguments, 1); return parseWithBase(input, base) && new URL(input, base); }

    #setQuery(query, fields) {
      this.#url.query = query;
      if (this.#params) refillParams(this.#params, fields);
    }

    get href() { return urlText(this.#url); }
    set href(value) {
      const url = parseWithBase(value);
      if (!url) throw invalidUrl(value);
      this.#url = url;
      this.#setQuery(url.query, url.query ?? "");
    }

    get origin() { return originOf(this.#url); }

    get protocol() { return `${this.#url.scheme}:`; }
    set protocol(value) {
      const url = this.#url;
      const scheme = /^([a-zA-Z][a-zA-Z\d+.-]*)(?::|$)/.exec(withoutBreaks(value))?.[1].toLowerCase();
      if (scheme === undefined || scheme in PORTS !== isSpecial(url)) return;
      if (scheme === "file" && (url.username || url.password || url.port !== null)) return;
      if (url.scheme === "file" && !url.host) return;
      url.scheme = scheme;
      if (url.port === PORTS[scheme]) url.port = null;
    }

    get username() { return this.#url.username; }
    set username(value) {
      const username = percentEncode(scalars(value), NOT_IN_USERINFO);
      if (takesCredentials(this.#url)) this.#url.username = username;
    }

    get password() { return this.#url.password; }
    set password(value) {
      const password = percentEncode(scalars(value), NOT_IN_USERINFO);
      if (takesCredentials(this.#url)) this.#url.password = password;
    }

    get host() { return hostText(this.#url); }
    set host(value) { setHost(this.#url, value, true); }

    get hostname() { return this.#url.host ?? ""; }
    set hostname(value) { setHost(this.#url, value, false); }

    get port() { return `${this.#url.port ?? ""}`; }
    set port(value) {
      value = scalars(value);
      if (!takesCredentials(this.#url)) return;
      if (value === "") this.#url.port = null;
      else setLeadingPort(this.#url, withoutBreaks(value));
    }

    get pathname() { return pathText(this.#url); }
    set pathname(value) {
      const url = this.#url;
      value = withoutBreaks(value);
      if (typeof url.path === "string") return;
      url.path = [];
      startPath(url, value);
      if (value === "" && url.host === null) url.path.push("");
    }

    get search() { return this.#url.query ? `?${this.#url.query}` : ""; }
    set search(value) {
      value = scalars(value);
      const fields = value.replace(/^\?/, "");
      this.#setQuery(value === "" ? null : encodeQuery(this.#url, withoutBreaks(fields)), fields);
    }

    get searchParams() {
      if (!this.#params) {
        this.#params = new URLSearchParams(`?${this.#url.query ?? ""}`);
        bindParams(this.#params, (query) => { this.#url.query = query || null; });
      }
      return this.#params;
    }

    get hash() { return this.#url.fragment ? `#${this.#url.fragment}` : ""; }
    set hash(value) {
      value = scalars(value);
      this.#url.fragment = value === "" ? null : percentEncode(withoutBreaks(value.replace(/^#/, "")), NOT_IN_FRAGMENT);
    }

    toString() { return urlText(this.#url); }
    toJSON() { return urlText(this.#url); }
  }

  // ---- structuredClone ----
  // An object is first an empty copy, known by its original; the copies are then filled one after another. So cycles need no
  // care and depth no stack.

  const ERRORS = { __proto__: null, Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };
  const VIEWS = {
    __proto__: null, Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array,
    BigInt64Array, BigUint64Array, Float16Array, Float32Array, Float64Array,
  };
  const viewName = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag).get;
  const regexpSource = Object.getOwnPropertyDescriptor(RegExp.prototype, "source").get;
  const REFUSED = [Promise, WeakMap, WeakSet, Symbol, Iterator, TextEncoder, TextDecoder, URL, URLSearchParams];
  // A maker throws a TypeError when its object only inherits from the class: that one is a plain object.
  const MAKERS = [
    [Date, (date) => new Date(Date.prototype.getTime.call(date))],
    [RegExp, (regexp) => new RegExp(regexpSource.call(regexp), regexp.flags)],
    [Map, (map) => (Map.prototype.has.call(map), new Map())],
    [Set, (set) => (Set.prototype.has.call(set), new Set())],
    [ArrayBuffer, copyBuffer],
    ...[Number, String, Boolean, BigInt].map((box) => [box, (boxed) => Object(box.prototype.valueOf.call(boxed))]),
  ];

  function refuse(what) { throw new DOMException(`${what} could not be cloned.`, "DataCloneError"); }

  function hide(object, name, value) {
    return Object.defineProperty(object, name, { value, writable: true, enumerable: false, configurable: true });
  }

  function copyBuffer(buffer) {
    if (buffer.detached) refuse("A detached ArrayBuffer");
    const copy = new ArrayBuffer(buffer.byteLength, buffer.resizable ? { maxByteLength: buffer.maxByteLength } : undefined);
    new Uint8Array(copy).set(new Uint8Array(buffer));
    return copy;
  }

  function copyError(error) {
    const name = scalars(error.name);
    const message = Object.getOwnPropertyDescriptor(error, "message")?.value;
    const copy = error instanceof DOMException ? new DOMException(error.message, name) : new (ERRORS[name] ?? Error)();
    if (message !== undefined) hide(copy, "message", scalars(message));
    return typeof error.stack === "string" ? hide(copy, "stack", error.stack) : copy;
  }

  function emptyCopy(source, copy) {
    if (Array.isArray(source)) return new Array(source.length);
    const prototype = Object.getPrototypeOf(source);
    if (prototype === Object.prototype || prototype === null) return {};
    if (ArrayBuffer.isView(source)) {
      const view = VIEWS[viewName.call(source)] ?? DataView;
      return new view(copy(source.buffer), source.byteOffset, view === DataView ? source.byteLength : source.length);
    }
    if (Error.isError(source) || source instanceof DOMException) return copyError(source);
    if (REFUSED.some((refused) => source instanceof refused)) refuse(`#<${source.constructor?.name}>`);
    for (const [made, make] of MAKERS) {
      try {
        if (source instanceof made) return make(source);
      } catch (error) {
        if (!(error instanceof TypeError)) throw error;
      }
    }
    return {};
  }

  function fillCopy(source, target, copy) {
    if (target instanceof Map) {
      for (const [key, value] of Array.from(Map.prototype.entries.call(source))) target.set(copy(key), copy(value));
    } else if (target instanceof Set) {
      for (const value of Array.from(Set.prototype.values.call(source))) target.add(copy(value));
    } else if (Error.isError(target)) {
      if (Object.hasOwn(source, "cause")) hide(target, "cause", copy(source.cause));
    } else if (Array.isArray(target) || Object.getPrototypeOf(target) === Object.prototype) {
      for (const key in source) { // unlike Object.keys, does not hold the keys of a long array all at once
        if (!Object.hasOwn(source, key)) continue;
        const value = copy(source[key]);
        if (key !== "__proto__") target[key] = value;
        else Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
      }
    }
  }

  function structuredClone(value, options = undefined) {
    need(arguments, 1);
    if (options !== Object(options) && options != null) throw new TypeError("The options must be an object");
    const transfer = Array.from(options?.transfer ?? []);
    transfer.forEach((buffer, at) => {
      if (buffer instanceof ArrayBuffer && !buffer.detached && transfer.indexOf(buffer) === at) return;
      throw new DOMException("Only an ArrayBuffer, attached and listed once, can be transferred.", "DataCloneError");
    });
    const copies = new Map();
    const copy = (source) => {
      if (typeof source === "symbol") refuse(String(source));
      if (typeof source === "function") refuse(`function ${source.name}`);
      if (source !== Object(source)) return source;
      if (!copies.has(source)) copies.set(source, emptyCopy(source, copy));
      return copies.get(source);
    };
    const result = copy(value);
    for (const [source, target] of copies) fillCopy(source, target, copy); // the map grows while it is walked
    for (const buffer of transfer) buffer.transfer(0); // from outside, copied memory is as good as moved memory
    return result;
  }

  // ---- Globals ----

  hide(URLSearchParams.prototype, Symbol.iterator, URLSearchParams.prototype.entries);
  for (const made of [TextEncoder, TextDecoder, URLSearchParams, URL]) {
    for (const name of Object.keys(Object.getOwnPropertyDescriptors(made.prototype))) {
      if (name !== "constructor") Object.defineProperty(made.prototype, name, { enumerable: true }); // as WebIDL has it
    }
    Object.defineProperty(made.prototype, Symbol.toStringTag, { value: made.name, configurable: true });
  }
  for (const made of [TextEncoder, TextDecoder, URLSearchParams, URL, structuredClone]) {
    const present = Object.getOwnPropertyDescriptor(globalThis, made.name);
    if (!present || present.get) hide(globalThis, made.name, made); // a value is the script's own, set before
  }
}();
