// Charts: SVG made by hand. Each says in words what it shows, and is drawn in shapes as well as colours.

import { brief, count, el, exact, percent, plural, put, svg, tenths, ticks } from "./dom.js";

const MOST_ROWS = 24; // arms that are drawn; the table has all
export const MANY_ROWS = 10; // from so many on they stand closer together
const MOST_ANSWERS = 8;

// --------------------------------------------------------------- evidence against the threshold

const EDGE = { left: 46, right: 18, top: 14, bottom: 40 };
const LETTER = 7.6; // width of a letter of a name, about

/** The very statistic that stops, over the samples. */
export class EvidenceChart {
  constructor() {
    this.picture = svg("svg", { class: "chart", role: "img" });
    this.node = el("div", { class: "chart-box" }, this.picture);
    this.width = 0;
    new ResizeObserver(([entry]) => {
      const [width, height] = [entry.contentRect.width, entry.contentRect.height].map(Math.floor);
      if (width > 0 && (width !== this.width || height !== this.height)) {
        Object.assign(this, { width, height });
        this.draw();
      }
    }).observe(this.node);
    this.pointer = null; // where it is, from the left
    this.picture.addEventListener("pointermove", (event) => {
      this.pointer = event.clientX - this.picture.getBoundingClientRect().left;
      this.point();
    });
    this.picture.addEventListener("pointerleave", () => {
      this.pointer = null;
      this.point();
    });
  }

  /** ``unit``: what is counted along, such as samples. */
  update(series, decision, unit = "samples") {
    Object.assign(this, { series, decision, unit });
    if (this.width) this.draw();
  }

  draw() {
    const { samples, evidence, threshold } = this.series ?? { samples: [] };
    if (!samples.length) return;
    const end = samples.length - 1;
    const { height } = this;
    const top = 1.18 * Math.max(...evidence, ...threshold);
    const last = Math.max(samples[end], samples[0] + 1);
    this.x = (value) => EDGE.left + ((this.width - EDGE.left - EDGE.right) * value) / last;
    this.y = (value) => EDGE.top + (height - EDGE.top - EDGE.bottom) * (1 - Math.max(value, 0) / top);
    this.cross = svg("g", { class: "cross" });
    const line = (values) =>
      samples.map((each, k) => `${this.x(each).toFixed(1)},${this.y(values[k]).toFixed(1)}`);
    const upper = line(threshold);
    const lower = line(evidence);
    const [first, final] = [this.x(samples[0]).toFixed(1), this.x(samples[end]).toFixed(1)];
    const floor = this.y(0).toFixed(1);
    this.picture.setAttribute("viewBox", `0 0 ${this.width} ${height}`);
    this.picture.setAttribute("height", height);
    this.picture.setAttribute("aria-label", inWords(this.series, this.decision, this.unit));
    put(
      this.picture,
      this.axes(top, last, height),
      svg("polygon", {
        class: "enough",
        points: [...upper, `${final},${EDGE.top}`, `${first},${EDGE.top}`].join(" "),
      }),
      svg("polygon", {
        class: "area",
        points: [...lower, `${final},${floor}`, `${first},${floor}`].join(" "),
      }),
      svg("polyline", { class: "threshold-line", points: upper.join(" ") }),
      svg("polyline", { class: "evidence-line", points: lower.join(" ") }),
      this.thresholdName(upper, threshold[end]),
      this.end(lower, upper, evidence[end], threshold[end]),
      this.cross,
    );
    this.point();
  }

  axes(top, last, height) {
    const floor = this.y(0);
    const across = ticks(0, top, height < 300 ? 4 : 5).map((value) => [
      svg("line", {
        class: "grid",
        x1: EDGE.left,
        x2: this.width - EDGE.right,
        y1: this.y(value),
        y2: this.y(value),
      }),
      svg(
        "text",
        { class: "tick", x: EDGE.left - 8, y: this.y(value) + 4, "text-anchor": "end" },
        brief(value),
      ),
    ]);
    const along = ticks(0, last, this.width < 560 ? 4 : 8)
      .filter((value) => Number.isInteger(value))
      .map((value) => [
        svg("line", { class: "mark", x1: this.x(value), x2: this.x(value), y1: floor, y2: floor + 5 }),
        svg(
          "text",
          {
            class: "tick",
            x: this.x(value),
            y: floor + 19,
            "text-anchor": value > 0.97 * last ? "end" : "middle",
          },
          count(value),
        ),
      ]);
    const name = { class: "axis-name", x: this.width - EDGE.right, y: height - 4, "text-anchor": "end" };
    return [across, along, svg("text", name, this.unit)];
  }

  /** Above the threshold's start, where the evidence is still far below. */
  thresholdName(points, threshold) {
    const places = points.map((each) => each.split(",").map(Number));
    const x = places[0][0] + 12;
    const text = `needed: ${tenths(threshold)}`;
    const under = places.filter((each) => each[0] < x + LETTER * text.length + 10);
    const top = Math.min(...under.map((each) => each[1]));
    return svg("text", { class: "name threshold-name", x, y: Math.max(top - 10, EDGE.top + 14) }, text);
  }

  /** Where the evidence ends, with its name and number: above the curve if there is room, else below. */
  end(lower, upper, evidence, threshold) {
    const near = (points) => points.map((each) => each.split(",").map(Number)).filter(([x]) => x > end - 150);
    const [end, here] = lower.at(-1).split(",").map(Number);
    const heights = near(lower).map(([, y]) => y);
    const ceiling = Math.max(...near(upper).map(([, y]) => y));
    const crossed = evidence >= threshold;
    const above = Math.min(...heights) - 12;
    const below = Math.max(...heights) + 22;
    const y = crossed || above - 14 > ceiling || below > this.y(0) ? above : below;
    const left = end < 190; // at the start the name stands to the right of the end
    const place = left ? { x: end + 10, "text-anchor": "start" } : { x: end - 2, "text-anchor": "end" };
    const words = crossed ? `evidence ${tenths(evidence)}: decided` : `evidence ${tenths(evidence)}`;
    return [
      svg("circle", { class: crossed ? "end decided" : "end", cx: end, cy: here, r: crossed ? 6 : 4.5 }),
      svg("text", { class: "name evidence-name", ...place, y }, words),
    ];
  }

  /** What a pointer points at. */
  point() {
    const { samples, evidence, threshold } = this.series;
    const at = this.pointer;
    if (at === null) {
      put(this.cross);
      return;
    }
    let best = 0;
    samples.forEach((each, k) => {
      if (Math.abs(this.x(each) - at) < Math.abs(this.x(samples[best]) - at)) best = k;
    });
    const x = this.x(samples[best]);
    const left = Math.min(Math.max(EDGE.left, x - 84), this.width - EDGE.right - 168);
    const lines = [
      plural(samples[best], this.unit.slice(0, -1)),
      `evidence ${exact(evidence[best])}`,
      `needed ${exact(threshold[best])}`,
    ];
    put(
      this.cross,
      svg("line", { x1: x, x2: x, y1: EDGE.top, y2: this.y(0) }),
      svg("circle", { cx: x, cy: this.y(evidence[best]), r: 4 }),
      svg("rect", { x: left, y: EDGE.top, width: 168, height: 66, rx: 8 }),
      lines.map((text, k) => svg("text", { x: left + 12, y: EDGE.top + 21 + 18 * k }, text)),
    );
  }
}

function inWords({ samples, evidence, threshold }, decision, unit) {
  const end = samples.length - 1;
  const now = `Evidence ${exact(evidence[end])} of ${exact(threshold[end])} needed after ${plural(samples[end], unit.slice(0, -1))}`;
  if (decision) return `${now}: the evidence is enough.`;
  return `${now}: ${percent(Math.max(0, evidence[end] / threshold[end]))} of the way. It was at most ${exact(Math.max(...evidence))} so far.`;
}

// ------------------------------------------------------------------------------- rows of plots

/** Rows with a label, a plot and numbers; ``heads`` of these above, ``axis`` below. A row may have a note. */
export function rows(words, lines, heads, axis = null) {
  const made = lines.map(({ label, plot, values, tag, note }) =>
    el(
      "div",
      { class: "plot-row" },
      el(
        "span",
        { class: "plot-label" },
        el("span", { class: "plot-name", title: label }, label),
        tag ? el("span", { class: "tag" }, tag) : null,
        note ? el("span", { class: "plot-note" }, note) : null,
      ),
      plot,
      numbers(values),
    ),
  );
  const head = heads && el("div", { class: "plot-row plot-head" }, numbers(heads));
  const foot = axis && el("div", { class: "plot-row plot-axis" }, axis);
  const dense = lines.length > MANY_ROWS ? " dense" : "";
  const kind = `plots${dense}${heads ? "" : " one"}`;
  return el("div", { class: kind, role: "img", "aria-label": words }, head, made, foot);
}

const numbers = (values) => values.map((each) => el("span", { class: "plot-value" }, each));

export const strip = (height, ...shapes) => svg("svg", { class: "strip", height, "aria-hidden": "true" }, shapes);
export const at = (share) => `${(100 * share).toFixed(3)}%`;

/** The arms that are drawn, in their own order, and a remark if these are not all. */
export function shown(arms) {
  if (arms.length <= MOST_ROWS) return { drawn: arms, remark: null };
  const most = [...arms].sort((a, b) => b.samples - a.samples).slice(0, MOST_ROWS);
  const kept = new Set(most);
  return {
    drawn: arms.filter((each) => kept.has(each)),
    remark: `The ${MOST_ROWS} options with the most samples, of ${count(arms.length)}. The table has more.`,
  };
}

/** How the samples are shared out, beside what the oracle would do. */
export function shares(arms) {
  const { drawn, remark } = shown(arms);
  const most = Math.max(0.05, ...drawn.flatMap((arm) => [arm.share, arm.weight ?? 0]));
  const lines = drawn.map((arm) => ({
    label: arm.label,
    values: [el("b", {}, percent(arm.share)), percent(arm.weight)],
    plot: strip(
      28,
      svg("rect", { class: "lane", x: 0, y: 8, width: "100%", height: 12, rx: 3 }),
      svg("rect", { class: "share", x: 0, y: 8, width: at((0.98 * arm.share) / most), height: 12, rx: 3 }),
      arm.weight === null
        ? null
        : svg("line", {
            class: "weight",
            x1: at((0.98 * arm.weight) / most),
            x2: at((0.98 * arm.weight) / most),
            y1: 2,
            y2: 26,
          }),
    ),
  }));
  const words = `Shares of the samples. ${drawn
    .map((arm) => `${arm.label}: ${percent(arm.share)}, oracle weight ${percent(arm.weight)}`)
    .join("; ")}.`;
  return [rows(words, lines, ["share", "weight"]), remark && el("p", { class: "hint" }, remark)];
}

/** Which answer was pursued when: a row for each answer, a bar for each time. */
export function pursuit(changes, samples, over) {
  const end = Math.max(samples, 1);
  const spans = changes.map((each, k) => ({ ...each, until: changes[k + 1]?.samples ?? end }));
  const answers = [...new Set(spans.map((each) => each.answer).reverse())];
  const lines = answers.slice(0, MOST_ANSWERS).map((answer, k) => {
    const own = spans.filter((each) => each.answer === answer);
    const bars = own.map(({ samples: from, until }) =>
      svg("rect", {
        class: k ? "pursued" : "pursued now",
        x: at(from / end),
        y: 8,
        width: at(Math.max(until - from, end / 400) / end),
        height: 12,
        rx: 3,
      }),
    );
    const total = own.reduce((sum, each) => sum + each.until - each.samples, 0);
    return {
      label: answer,
      tag: k ? null : over ? "at the end" : "now",
      values: [plural(total, "sample")],
      plot: strip(28, svg("rect", { class: "lane", x: 0, y: 8, width: "100%", height: 12, rx: 3 }), bars),
    };
  });
  const words = `The pursued answer. ${spans
    .slice(-12)
    .map((each) => `From sample ${count(each.samples)} on: ${each.answer}`)
    .join("; ")}.`;
  const axis = strip(
    22,
    svg("text", { class: "tick", x: 0, y: 14 }, "0"),
    svg("text", { class: "tick", x: "100%", y: 14, "text-anchor": "end" }, plural(samples, "sample")),
  );
  const more = answers.length - MOST_ANSWERS;
  return [
    rows(words, lines, null, axis),
    more > 0 && el("p", { class: "hint" }, `${plural(more, "older answer")} in the table.`),
  ];
}
