// The service over HTTP: requests with a token, retries, and the stream of what is new.

const ROOT = new URL("api/", document.baseURI.split("#")[0]);
const KEPT = "stopwise-token";
const PATIENCE = 90_000; // ms for an answer: code for a new kind of question may have to be compiled
const SILENCE = 40_000; // ms without a sign of life after which a stream is opened anew

/** The service refused. */
export class Problem extends Error {
  constructor(status, kind, message) {
    super(message);
    Object.assign(this, { status, kind });
  }
}

/** The service does not answer, or its store is away: try again. */
export class Away extends Error {}

export const path = (name, rest = "") => `campaigns/${encodeURIComponent(name)}${rest}`;

// -------------------------------------------------------------------------------------- tokens

let dialog = null; // how to ask for a token; set by the application
let asking = null;

export const onTokenNeeded = (ask) => {
  dialog = ask;
};
export const token = () => sessionStorage.getItem(KEPT);
export const forget = () => sessionStorage.removeItem(KEPT);

/** Ask once, however many requests wait for it. */
function needToken(why, refused) {
  if (token() !== refused) return Promise.resolve(true); // somebody gave another one meanwhile
  asking ??= dialog(why).then((given) => {
    asking = null;
    if (given) sessionStorage.setItem(KEPT, given);
    return Boolean(given);
  });
  return asking;
}

// ------------------------------------------------------------------------------------ requests

let skew = 0; // seconds that the service's clock is ahead of ours
export const now = () => Date.now() / 1000 + skew;

async function send(where, options) {
  for (;;) {
    const given = token();
    const headers = { ...options.headers };
    if (given) headers.authorization = `Bearer ${given}`;
    let answer;
    try {
      answer = await fetch(new URL(where, ROOT), { cache: "no-store", ...options, headers });
    } catch (error) {
      if (options.signal?.aborted && options.signal.reason?.name !== "TimeoutError") throw error;
      throw new Away("the service does not answer");
    }
    if (answer.ok) return answer;
    const found = await answer.json().catch(() => ({ error: "Refused", message: answer.statusText }));
    if (answer.status === 401 && (await needToken(found.message, given))) continue;
    if ([429, 502, 503, 504].includes(answer.status)) throw new Away(found.message || "the store is away");
    throw new Problem(answer.status, found.error, found.message);
  }
}

const within = (signal, ms) => AbortSignal.any([AbortSignal.timeout(ms), ...(signal ? [signal] : [])]);

export async function get(where, signal, patience = PATIENCE) {
  const answer = await send(where, { signal: within(signal, patience) });
  const date = Date.parse(answer.headers.get("date"));
  // the header has whole seconds: smaller differences are not known
  if (Number.isFinite(date)) skew = Math.abs(date - Date.now()) > 2000 ? (date - Date.now()) / 1000 : 0;
  try {
    return await answer.json();
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Away("the answer broke off");
  }
}

export async function post(where, body, patience = PATIENCE) {
  const headers = { "content-type": "application/json" };
  const answer = await send(where, {
    method: "POST",
    headers,
    body: JSON.stringify(body),
    signal: within(null, patience),
  });
  return answer.json();
}

/** A file, with the token that a plain link could not send. */
export async function download(where, filename) {
  const blob = await (await send(where, {})).blob();
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = filename;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

// --------------------------------------------------------------------------------- again, again

export const backoff = (failures) =>
  Math.min(30_000, 1000 * 2 ** (failures - 1)) * (0.8 + 0.4 * Math.random());

const pollers = new Set();
let banner = () => {};
export const onAway = (show) => {
  banner = show;
};
export const tryNow = () => pollers.forEach((each) => each.retry());

/** Work that is done again when asked for, not more often than ``gap``, and not while nobody looks. */
export class Poller {
  constructor(work, { gap = 1000, idle = 0, share = 0.2, back = () => {}, failed }) {
    Object.assign(this, { work, gap, idle, share, back, failed }); // ``share``: of the time, at most
    this.failures = 0;
    this.next = 0; // not before
    this.abort = new AbortController();
    this.seen = () => document.hidden || this.kick();
    document.addEventListener("visibilitychange", this.seen);
    pollers.add(this);
  }

  kick() {
    if (this.stopped || this.timer) return;
    if (this.busy) {
      this.again = true;
      return;
    }
    this.timer = setTimeout(() => this.run(), Math.max(0, this.next - Date.now()));
  }

  retry() {
    clearTimeout(this.timer);
    this.timer = null;
    this.next = 0;
    this.kick();
  }

  async run() {
    this.timer = null;
    if (document.hidden || this.stopped) return;
    this.busy = true;
    this.again = false;
    const start = Date.now();
    let wait = this.idle;
    try {
      await this.work(this.abort.signal);
      if (this.failures) {
        this.failures = 0;
        banner(null);
        this.back();
      }
      // who answers slowly is asked less often
      this.next = start + Math.max(this.gap, (Date.now() - start) / this.share);
    } catch (error) {
      if (this.stopped) return;
      if (!(error instanceof Away)) {
        this.stop();
        this.failed(error);
        return;
      }
      this.failures += 1;
      wait = backoff(this.failures);
      this.next = Date.now() + wait;
      banner(error.message, this.next);
      this.again = true;
    } finally {
      this.busy = false;
    }
    if (this.again) this.kick();
    else if (this.idle) this.timer = setTimeout(() => this.run(), Math.max(wait, this.next - Date.now()));
  }

  stop() {
    this.stopped = true;
    clearTimeout(this.timer);
    this.abort.abort();
    document.removeEventListener("visibilitychange", this.seen);
    pollers.delete(this);
    if (this.failures) banner(null);
  }
}

/** Server-sent events by fetch (EventSource cannot send a token), resumed at the last number. */
export class Stream {
  constructor(name, { news, state }) {
    Object.assign(this, { name, news, state });
    this.last = null;
    this.failures = 0;
    this.seen = () => this.open();
    document.addEventListener("visibilitychange", this.seen);
  }

  /** Listen, from the event after ``last`` on. */
  start(last) {
    if (this.last !== null) return;
    this.last = last;
    this.open();
  }

  /** The service is back: do not wait any longer. */
  wake() {
    if (this.waiting) this.open();
  }

  open() {
    clearTimeout(this.timer);
    this.waiting = false;
    this.line?.abort();
    if (this.stopped || this.last === null) return;
    if (document.hidden) this.state("paused");
    else this.listen(new AbortController());
  }

  async listen(line) {
    this.line = line;
    try {
      const headers = { accept: "text/event-stream", "last-event-id": String(this.last) };
      const answer = await send(path(this.name, "/stream"), { headers, signal: line.signal });
      this.state("live");
      await this.read(answer.body.pipeThrough(new TextDecoderStream()).getReader(), line);
    } catch {
      // whatever it was: below
    }
    if (this.line !== line || this.stopped || document.hidden) return;
    this.failures += 1;
    this.state("reconnecting");
    this.news(); // the page's own request tells whether the service is away
    this.waiting = true;
    this.timer = setTimeout(() => this.open(), backoff(this.failures));
  }

  async read(reader, line) {
    let text = "";
    for (;;) {
      const watchdog = setTimeout(() => line.abort(), SILENCE);
      const { value, done } = await reader.read().finally(() => clearTimeout(watchdog));
      if (done) return;
      this.failures = 0;
      const parts = (text + value).split("\n\n");
      text = parts.pop();
      parts.forEach((part) => this.message(part));
    }
  }

  message(part) {
    const number = /^id: (\d+)$/m.exec(part);
    if (!number) return; // a sign of life
    this.last = Number(number[1]);
    this.news();
  }

  stop() {
    this.stopped = true;
    clearTimeout(this.timer);
    document.removeEventListener("visibilitychange", this.seen);
    this.line?.abort();
  }
}
