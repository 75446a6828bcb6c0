// What a script finds beside the language itself, and what the worker drives it by.
(native, now, seed) => {
  "use strict";
  const { stringify, parse } = JSON;
  const CALLS_MAX = 1000;
  const BATCH_MAX = 8;
  const INPUT_CHARS_MAX = 1 << 20;
  const MESSAGE_CHARS_MAX = 1024;

  // A run that is resumed runs again from its beginning, so it must see the same time and the same chances.
  const RealDate = Date;
  RealDate.now = () => now;
  const FixedDate = new Proxy(RealDate, {
    apply: () => new RealDate(now).toString(),
    construct: (target, args, made) => Reflect.construct(target, args.length === 0 ? [now] : args, made),
  });
  Object.defineProperty(RealDate.prototype, "constructor", { value: FixedDate, writable: true, configurable: true });
  globalThis.Date = FixedDate;
  let [a, b, c, d] = seed;
  const next = () => {
    const sum = (a + b + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + sum) | 0;
    return sum >>> 0;
  };
  for (let round = 0; round < 12; round += 1) next();
  Math.random = () => ((next() >>> 5) * 67108864 + (next() >>> 6)) / 9007199254740992;

  // Text must not become code, and there is nobody to share memory with.
  const refusal = (prototype) => {
    const refuse = function () {
      throw new EvalError("text cannot be run as code here");
    };
    refuse.prototype = prototype;
    return refuse;
  };
  for (const sample of [() => {}, async () => {}, function* () {}, async function* () {}]) {
    const prototype = Object.getPrototypeOf(sample);
    Object.defineProperty(prototype, "constructor", { value: refusal(prototype) });
  }
  globalThis.eval = refusal(null);
  globalThis.Function = refusal(Object.getPrototypeOf(refusal));
  delete globalThis.SharedArrayBuffer;
  delete globalThis.Atomics;

  const show = (value) => {
    if (typeof value === "string") return value;
    try {
      if (value instanceof Error) return `${value.name}: ${value.message}`;
      return stringify(value) ?? String(value);
    } catch {
      return "(a value that cannot be shown)";
    }
  };
  const log = (...values) => native.log(values.map(show).join(" ").toWellFormed());
  globalThis.console = Object.freeze({ log, info: log, warn: log, error: log, debug: log });

  const lineIn = (stack) => {
    const found = /\bartifact:(\d+)/.exec(String(stack));
    return found === null ? null : Number(found[1]);
  };
  const failures = new WeakSet();
  const failure = (code, message, line) => {
    const error = new Error();
    Object.defineProperty(error, "message", { value: message, writable: true, configurable: true, enumerable: true });
    error.code = code;
    Object.defineProperty(error, "line", { value: line });
    failures.add(error);
    return error;
  };

  let made = 0;
  let asked = [];
  const waiting = [];
  const callTool = (tool, input = {}) =>
    new Promise((resolve, reject) => {
      const line = lineIn(new Error().stack);
      made += 1;
      if (CALLS_MAX < made) {
        reject(failure("BUDGET_EXCEEDED", `one run may make at most ${CALLS_MAX} calls`, line));
        return;
      }
      const text = stringify(input);
      if (text === undefined || INPUT_CHARS_MAX < text.length) {
        const why = text === undefined ? "is not JSON" : `is over ${INPUT_CHARS_MAX} characters`;
        reject(failure("INVALID_PARAMS", `the input of the call ${why}`, line));
        return;
      }
      waiting.push({ tool: String(tool).toWellFormed(), text, line, resolve, reject });
    });
  const ctx = Object.freeze({ callTool });

  return {
    start: async (main, input) => {
      if (typeof main !== "function") throw new TypeError("the default export must be a function");
      return main(parse(input), ctx);
    },
    // The next calls to be made, as JSON; nothing where there are none.
    take: () => {
      asked = waiting.splice(0, BATCH_MAX);
      if (asked.length === 0) return undefined;
      return `[${asked.map(({ tool, text }) => `{"tool":${stringify(tool)},"input":${text}}`).join(",")}]`;
    },
    answer: (text) => {
      const answers = parse(text);
      asked.forEach(({ line, resolve, reject }, at) => {
        const { Ok: output, Err: error } = answers[at];
        if (error === undefined) resolve(output);
        else reject(failure(error.code, error.message, line));
      });
      asked = [];
    },
    describe: (thrown) => {
      let [message, line, code] = ["an exception that cannot be shown", null, null];
      try {
        if (typeof thrown === "object" && thrown !== null) {
          message = String(thrown.message || thrown.name || stringify(thrown));
          line = thrown.line ?? lineIn(thrown.stack);
          if (failures.has(thrown)) code = thrown.code;
        } else {
          message = String(thrown);
        }
      } catch {
        // The exception is of a kind that raises another one when it is looked at.
      }
      message = message.slice(0, MESSAGE_CHARS_MAX).toWellFormed();
      return stringify({ message, line: Number.isInteger(line) && 0 < line ? line : null, code: code && String(code) });
    },
  };
}
