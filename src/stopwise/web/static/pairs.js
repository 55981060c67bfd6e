// Options on the same items: by how much they differ, who is out, and the evidence of all pairs.

import { at, rows, strip } from "./charts.js";
import { brief, count, el, folded, NONE, percent, plural, put, rough, say, svg, Table } from "./dom.js";
import { card, clamp, hint } from "./panels.js";

const MOST = 12; // options whose pairs are drawn

/** The options from the best down, each against one of them: the leader, or the control. */
export class PairsPanel {
  constructor() {
    this.about = hint();
    this.plot = el("div", {});
    this.table = el("table", { class: "beats" });
    const box = { class: "scroll", tabindex: "0", role: "region", "aria-label": "Who beats whom" };
    this.matrix = el("div", box, this.table);
    const head = ["option", "results", "mean", "difference", "at least", "place"];
    this.numbers = folded("The numbers", new Table("Differences in numbers", head, [1, 2, 3, 4]), () =>
      this.view.order.map((k) => this.view.row(k)),
    );
    const agreed = new Table("Equal results", ["option", "against", "items with equal results"], [2]);
    this.agreement = folded("How often two have the same result", agreed, () => this.view.agreed());
    this.node = card(
      "Options on the same items",
      this.about,
      this.plot,
      el("h3", {}, "Who beats whom"),
      hint("How much there is of the evidence that a decision needs: that the option of the row is better than that of the column."),
      this.matrix,
      this.numbers.node,
      this.agreement.node,
    );
  }

  update(page) {
    this.node.hidden = !page.status.pairs;
    if (!page.status.pairs) return;
    this.view = new View(page);
    say(this.about, this.view.words());
    put(this.plot, this.view.ladder());
    put(this.table, this.view.matrix());
    this.numbers.draw();
    this.agreement.draw();
  }
}

class View {
  constructor(page) {
    Object.assign(this, page, { pairs: page.status.pairs, labels: page.spec.arms });
    const control = this.labels.indexOf(this.pairs.control);
    this.base = control >= 0 ? control : (this.leads[0]?.arm ?? 0);
    this.order = this.labels.map((_, k) => k).sort((a, b) => this.rank(a) - this.rank(b));
  }

  /** Chosen and in before out, and those by when they went; the better mean first. */
  rank(k) {
    const { state, since } = this.pairs.places[k];
    const last = this.pairs.items + 1;
    const better = (this.sense || 1) * (this.gap(k) ?? 0);
    const worst = Math.max(1e-300, ...this.labels.map((_, j) => Math.abs(this.gap(j) ?? 0)));
    return (state === "out" ? 2 * (last - since) + 10 : k === this.base ? 0 : 2) - better / worst;
  }

  /** The mean difference from the base. */
  gap(k) {
    return k === this.base ? 0 : this.pairs.differences[k][this.base];
  }

  /** The confidence bound of the difference from the base; null: not bounded. */
  bound(k) {
    const found = this.leads.find((each) => each.arm === k && each.other === this.base);
    const other = this.leads.find((each) => each.arm === this.base && each.other === k);
    const least = found ? found.at_least : other ? other.at_least && -other.at_least : null;
    return least === null ? null : (this.sense || 1) * least;
  }

  words() {
    const { items, pool, deterministic } = this.pairs;
    const claim = deterministic ? "just these items" : "items like these";
    const about = pool === null ? "" : ` of a pool of ${count(pool)}`;
    const answer = pool === null ? "" : ` The answer is about ${claim}.`;
    const base = this.labels[this.base];
    return `${plural(items, "item")}${about} so far.${answer} The dots are mean differences from ${base} on the items that both had; lines end at confidence bounds. All bounds, at all times, and the answer hold together with probability ${brief(1 - this.status.joint_delta)}.`;
  }

  place(k) {
    const { state, since, by } = this.pairs.places[k];
    if (this.status.decision && this.named.includes(k)) return "the answer";
    if (state === "out") return `out after ${plural(since, "item")}${by ? `: ${by} is ahead` : ""}`;
    if (state === "chosen") return `proven after ${plural(since, "item")}`;
    return k === this.base ? (this.pairs.control === null ? "leads" : "the control") : "in";
  }

  tag(k) {
    const { state } = this.pairs.places[k];
    const place = this.place(k);
    if (state === "out" || place === "in") return null; // the note says the former
    return state === "chosen" && place !== "the answer" ? "proven" : place;
  }

  row(k) {
    const { samples, mean } = this.arms[k];
    const other = k === this.base;
    const gap = other ? NONE : signed(this.gap(k));
    return [clamp(this.labels[k]), count(samples), brief(mean), gap, signed(this.bound(k)), clamp(this.place(k))];
  }

  ladder() {
    const drawn = this.order.slice(0, 2 * MOST);
    const ends = drawn.flatMap((k) => [this.gap(k), this.bound(k), 0]).filter((each) => each !== null);
    let [low, high] = [Math.min(...ends), Math.max(...ends)];
    if (!(high > low)) [low, high] = [low - 0.5, high + 0.5];
    const room = 0.06 * (high - low);
    const place = (value) => at((value - low + room) / (high - low + 2 * room));
    const zero = () => svg("line", { class: "level", x1: place(0), x2: place(0), y1: 0, y2: 28 });
    const lines = drawn.map((k) => ({
      label: this.labels[k],
      tag: this.tag(k),
      note: this.pairs.places[k].state === "in" ? null : this.place(k),
      values: [el("b", {}, brief(this.arms[k].mean)), k === this.base ? NONE : signed(this.gap(k))],
      plot: strip(28, zero(), this.gap(k) === null || k === this.base ? null : this.whisker(k, place)),
    }));
    const said = drawn.map((k) => `${this.labels[k]}: ${signed(this.gap(k))}, ${this.place(k)}`).join("; ");
    return rows(`Mean differences from ${this.labels[this.base]}. ${said}.`, lines, ["mean", "difference"]);
  }

  whisker(k, place) {
    const [gap, bound] = [this.gap(k), this.bound(k)];
    const out = this.pairs.places[k].state === "out" ? " faded" : "";
    return [
      bound === null
        ? null
        : [
            svg("line", { class: `whisker${out}`, x1: place(gap), x2: place(bound), y1: 14, y2: 14 }),
            svg("line", { class: `cap${out}`, x1: place(bound), x2: place(bound), y1: 8, y2: 20 }),
          ],
      svg("circle", { class: `mean${out}`, cx: place(gap), cy: 14, r: 5 }),
    ];
  }

  matrix() {
    const drawn = this.order.slice(0, MOST);
    const head = drawn.map((k) => el("th", { scope: "col" }, clamp(this.labels[k])));
    const cells = (i) => drawn.map((j) => this.cell(i, j));
    return [
      el("caption", { class: "hidden" }, "Evidence that the row's option beats the column's"),
      el("thead", {}, el("tr", {}, el("td", {}), head)),
      el(
        "tbody",
        {},
        drawn.map((i) => el("tr", {}, el("th", { scope: "row" }, clamp(this.labels[i])), cells(i))),
      ),
    ];
  }

  cell(i, j) {
    const found = i === j ? null : this.pairs.evidence[i][j];
    if (found === null) return el("td", { class: "number" }, i === j ? "" : NONE);
    const share = Math.min(1, Math.max(0, found / this.status.threshold));
    const cell = el("td", { class: `number beat${share >= 1 ? " complete" : ""}` }, percent(share));
    cell.style.setProperty("--share", share.toFixed(3));
    return cell;
  }

  agreed() {
    const found = [];
    this.order.forEach((i, place) =>
      this.order.slice(place + 1).forEach((j) => {
        const share = this.pairs.agreement[i][j];
        if (share !== null) found.push([clamp(this.labels[i]), clamp(this.labels[j]), percent(share)]);
      }),
    );
    return found;
  }
}

const signed = (value) => (value === null ? NONE : `${value > 0 ? "+" : ""}${rough(value)}`);
