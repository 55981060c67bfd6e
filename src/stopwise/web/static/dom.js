// Elements, texts and numbers. Whatever comes from the server becomes text, never markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, props, children) {
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  put(node, ...children);
  return node;
}

export const el = (tag, props = {}, ...children) => fill(document.createElement(tag), props, children);
export const svg = (tag, props = {}, ...children) =>
  fill(document.createElementNS(SVG, tag), props, children);

/** Replace what is in a node. */
export function put(node, ...children) {
  const found = children
    .flat(Infinity)
    .filter((each) => each !== null && each !== undefined && each !== false);
  node.replaceChildren(
    ...found.map((each) => (each instanceof Node ? each : document.createTextNode(String(each)))),
  );
  return node;
}

/** Change a text only if it differs, so that selections and screen readers are left in peace. */
export function say(node, text) {
  const wanted = text === null || text === undefined ? "" : String(text);
  if (node.textContent !== wanted) node.textContent = wanted;
}

/** Tell screen readers. */
export function announce(text) {
  const log = document.getElementById("announce");
  log.append(el("p", {}, text));
  while (log.childElementCount > 5) log.firstElementChild.remove();
}

// ------------------------------------------------------------------------------------ numbers

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const fixed = new Intl.NumberFormat("en", { minimumFractionDigits: 3, maximumFractionDigits: 3 });
const short = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });
export const NONE = "–";

const orNone = (write) => (value) =>
  value === null || value === undefined || Number.isNaN(value) ? NONE : write(value).replace("-", "\u2212");

export const count = orNone((value) => whole.format(value));
export const exact = orNone((value) => fixed.format(value));
export const tenths = orNone((value) => value.toFixed(1));
export const brief = orNone((value) =>
  value !== 0 && (Math.abs(value) >= 1e7 || Math.abs(value) < 1e-4)
    ? value.toExponential(2)
    : short.format(value),
);
const three = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });
export const rough = orNone((value) => three.format(value));
export const percent = orNone((value) => `${three.format(Math.round(1e3 * value) / 10)}%`);

/** How to write numbers of this range: all with as many decimals, enough to tell them apart. */
export function within(low, high) {
  const decimals = Math.min(8, Math.max(0, 2 - Math.floor(Math.log10(high - low))));
  const format = new Intl.NumberFormat("en", {
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  });
  return orNone((value) => format.format(value));
}

export const plural = (n, one, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;

export function clock(seconds) {
  const when = new Date(1000 * seconds);
  const time = when.toLocaleTimeString("en-GB");
  const today = new Date().toDateString() === when.toDateString();
  return today ? time : `${when.toLocaleDateString("en-CA")} ${time}`;
}

/** A time span such as "2 min". */
export function span(seconds) {
  const s = Math.abs(seconds);
  if (s < 100) return `${Math.round(s)} s`;
  if (s < 6000) return `${Math.round(s / 60)} min`;
  if (s < 172_800) return `${Math.round(s / 3600)} h`;
  return `${Math.round(s / 86_400)} days`;
}

/** A date in the reader's own way. */
export const day = (seconds) =>
  new Date(1000 * seconds).toLocaleDateString(undefined, { day: "numeric", month: "short", year: "numeric" });

/** How long ago, such as "2 min ago". */
export const ago = (then, now) => (now - then < 5 ? "just now" : `${span(now - then)} ago`);

/** Round steps of an axis: about ``wanted`` of them between low and high. */
export function ticks(low, high, wanted = 5) {
  const raw = (high - low) / Math.max(wanted, 1);
  if (!(raw > 0) || !Number.isFinite(raw)) return [low];
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find((each) => each * power >= raw * 0.8);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k += 1) {
    found.push(Number((k * step).toPrecision(12)));
  }
  return found;
}

// -------------------------------------------------------------------------------------- parts

const SHAPES = {
  running: ["circle", { cx: 8, cy: 8, r: 4, fill: "currentColor" }],
  decided: [
    "path",
    { d: "M3 8.5l3.2 3.2L13 4.8", fill: "none", stroke: "currentColor", "stroke-width": 2.2 },
  ],
  "items used up": ["rect", { x: 4, y: 4, width: 8, height: 8, fill: "currentColor" }],
  "budget spent": ["rect", { x: 4, y: 4, width: 8, height: 8, fill: "currentColor" }],
  paused: ["path", { d: "M5.5 4v8M10.5 4v8", fill: "none", stroke: "currentColor", "stroke-width": 2.6 }],
  closed: ["path", { d: "M4 4l8 8M12 4l-8 8", fill: "none", stroke: "currentColor", "stroke-width": 2.2 }],
};

export const OVER = ["decided", "closed"]; // states in which nothing more is asked

/** A state, by shape and word and colour. */
export function chip(state) {
  const [shape, props] = SHAPES[state] ?? SHAPES.running;
  const icon = svg(
    "svg",
    { viewBox: "0 0 16 16", width: 14, height: 14, "aria-hidden": "true" },
    svg(shape, props),
  );
  return el("span", { class: `chip ${state.replaceAll(" ", "-")}` }, icon, state);
}

/** How far the evidence has come. */
export class Meter {
  constructor() {
    this.part = svg("rect", { class: "meter-part", width: "0%", height: 8, rx: 4 });
    const all = svg("rect", { class: "meter-all", width: "100%", height: 8, rx: 4 });
    this.node = svg("svg", { class: "meter", role: "img", height: 8 }, all, this.part);
  }

  update(evidence, threshold) {
    const known = evidence !== null && threshold !== null;
    const share = known ? Math.min(1, Math.max(0, evidence / threshold)) : 0;
    this.part.setAttribute("width", `${(100 * share).toFixed(2)}%`);
    this.node.classList.toggle("full", share >= 1);
    this.node.setAttribute(
      "aria-label",
      known ? `evidence ${tenths(evidence)} of ${tenths(threshold)}` : "no evidence yet",
    );
  }
}

const MOST_ROWS = 500;

/** A table whose rows change while its place, its scroll position and the focus stay. */
export class Table {
  constructor(caption, header, numeric = []) {
    this.side = (k) => (numeric.includes(k) ? { class: "number" } : {});
    this.first = el("tr");
    this.body = el("tbody");
    const parts = [el("caption", { class: "hidden" }, caption), el("thead", {}, this.first), this.body];
    const props = { class: "scroll", tabindex: "0", role: "region", "aria-label": caption };
    this.node = el("div", props, el("table", {}, parts));
    this.head(header);
  }

  head(header) {
    put(
      this.first,
      header.map((each, k) => el("th", { scope: "col", ...this.side(k) }, each)),
    );
  }

  update(rows) {
    const shown = rows.slice(0, MOST_ROWS);
    if (shown.length < rows.length) shown.push([`and ${count(rows.length - shown.length)} more`]);
    put(
      this.body,
      shown.map((row) =>
        el(
          "tr",
          {},
          row.map((cell, k) => el("td", this.side(k), cell)),
        ),
      ),
    );
  }
}

/** A table behind a summary, kept up to date while it is open. */
export function folded(title, table, rows) {
  const node = el("details", { class: "data" }, el("summary", {}, title), table.node);
  const draw = () => node.open && table.update(rows());
  node.addEventListener("toggle", draw);
  return { node, draw };
}
