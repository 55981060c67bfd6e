// The options side by side: their means, the best first, and by how much they differ.

import { at, MANY_ROWS, rows, shown, strip } from "./charts.js";
import { brief, count, el, folded, NONE, percent, put, rough, say, svg, Table, ticks, within } from "./dom.js";
import { card, clamp, hint } from "./panels.js";

/** Means with intervals, sorted; the one that leads, or the answer, is marked. */
export class OptionsPanel {
  constructor() {
    this.plot = el("div", {});
    this.about = hint();
    const head = ["option", "samples", "mean", "interval", "difference"];
    const table = new Table("Means with intervals", head, [1, 2, 3, 4]);
    this.data = folded("The numbers", table, () => this.tableRows());
    this.node = card("Options", this.about, this.plot, this.data.node);
  }

  update(page) {
    const { question } = page.spec;
    this.view = compare(page);
    const level =
      typeof question === "object" && Number.isFinite(question.threshold) ? question.threshold : null;
    const limit = level === null ? "" : ` The dashed line is the limit ${brief(level)}.`;
    say(
      this.about,
      `The bars are intervals in which the true means lie: all of them, at all times, and together with the answer, with probability ${brief(1 - page.status.joint_delta)}.${limit}`,
    );
    put(this.plot, means(this.view, level));
    this.data.draw();
  }

  tableRows() {
    return this.view.sorted.map((arm) => [
      clamp(arm.label),
      count(arm.samples),
      brief(arm.mean),
      interval(arm),
      this.view.note(arm) || NONE,
    ]);
  }
}

/** The options by their means, and what to say of each; ``sense`` is 1 where the highest wins, -1 where the lowest. */
function compare({ arms, named, sense, status }) {
  const sorted = [...arms].sort((a, b) => {
    if (a.mean === null || b.mean === null) return (a.mean === null) - (b.mean === null);
    return (sense || 1) * (b.mean - a.mean);
  });
  const [first, second] = sorted;
  const compares = sense !== 0 && second !== undefined && second.mean !== null;
  const answers = named.map((k) => arms[k]);
  const tag = (arm) => {
    if (status.decision) return answers.includes(arm) ? "the answer" : null;
    return compares && arm === first && first.mean !== second.mean ? "leads" : null;
  };
  const note = (arm) => {
    if (!compares || arm.mean === null) return "";
    return arm === first ? `${lift(first, second)} ${second.label}` : lift(arm, first);
  };
  return { sorted, tag, note };
}

/** By how much an option is above or below another, also as a share where that has a meaning. */
function lift(arm, other) {
  const gap = arm.mean - other.mean;
  if (gap === 0) return "the same as";
  const share = arm.mean * other.mean > 0 ? ` (${percent(Math.abs(gap / other.mean))})` : "";
  return `${rough(Math.abs(gap))}${share} ${gap > 0 ? "above" : "below"}`;
}

function means(view, level) {
  const { drawn, remark } = shown(view.sorted);
  const known = drawn.filter((each) => each.mean !== null);
  const ends = known.flatMap((each) => [each.low ?? each.mean, each.high ?? each.mean, each.mean]);
  if (level !== null) ends.push(level);
  let [low, high] = ends.length ? [Math.min(...ends), Math.max(...ends)] : [0, 1];
  if (!(high > low)) [low, high] = [low - 0.5, high + 0.5];
  const room = 0.04 * (high - low);
  const write = within(low, high);
  const place = (value) => at((value - low + room) / (high - low + 2 * room));
  const border = () =>
    level === null
      ? null
      : svg("line", { class: "level", x1: place(level), x2: place(level), y1: 0, y2: 28 });
  const many = drawn.length > MANY_ROWS;
  const lines = drawn.map((arm, k) => ({
    label: arm.label,
    tag: view.tag(arm),
    note: many && k ? null : view.note(arm),
    values: arm.mean === null ? [NONE, "no sample"] : [el("b", {}, write(arm.mean)), interval(arm, write)],
    plot: strip(28, border(), arm.mean === null ? null : whisker(arm, place)),
  }));
  const axis = strip(
    22,
    svg("line", { class: "mark", x1: 0, x2: "100%", y1: 0.5, y2: 0.5 }),
    scale(low, high).map((value) => [
      svg("line", { class: "mark", x1: place(value), x2: place(value), y1: 0, y2: 5 }),
      svg("text", { class: "tick", x: place(value), y: 18, "text-anchor": "middle" }, brief(value)),
    ]),
  );
  const words = known.length
    ? `Means with intervals. ${known.map((arm) => `${arm.label}: ${write(arm.mean)}, ${interval(arm, write)}`).join("; ")}.`
    : "No option has a sample yet.";
  const plots = rows(words, lines, ["mean", "interval"], known.length ? axis : null);
  return [plots, remark && el("p", { class: "hint" }, remark)];
}

/** Fewer ticks where their numbers are long. */
function scale(low, high) {
  const found = ticks(low, high, 5);
  return found.some((each) => brief(each).length > 4) ? ticks(low, high, 3) : found;
}

const interval = (arm, write = brief) =>
  arm.low === null && arm.high === null
    ? NONE
    : `${arm.low === null ? "…" : write(arm.low)} – ${arm.high === null ? "…" : write(arm.high)}`;

function whisker(arm, place) {
  const from = arm.low === null ? "0%" : place(arm.low);
  const to = arm.high === null ? "100%" : place(arm.high);
  const cap = (x) => svg("line", { class: "cap", x1: x, x2: x, y1: 8, y2: 20 });
  return [
    svg("line", { class: "whisker", x1: from, x2: to, y1: 14, y2: 14 }),
    arm.low === null ? null : cap(from),
    arm.high === null ? null : cap(to),
    svg("circle", { class: "mean", cx: place(arm.mean), cy: 14, r: 5 }),
  ];
}
