// The parts of a campaign's page. Each is made once, and kept up to date by ``update``.

import { now } from "./api.js";
import { EvidenceChart, pursuit, shares } from "./charts.js";
import {
  brief,
  clock,
  count,
  el,
  exact,
  folded,
  NONE,
  percent,
  plural,
  put,
  say,
  span,
  svg,
  Table,
} from "./dom.js";

export const kindOf = (given) => (typeof given === "string" ? given.split(":")[0] : given.kind);

export function card(title, ...parts) {
  const id = `card-${title.toLowerCase().replace(/\W+/g, "-")}`;
  return el("section", { class: "card", "aria-labelledby": id }, el("h2", { id }, title), parts);
}

const wide = () => window.matchMedia("(min-width: 40rem)").matches;

/** A card behind its title: open where there is room. */
export function foldedCard(title, ...parts) {
  const body = el("div", { class: "folded" }, parts);
  return el("details", { class: "card", open: wide() }, el("summary", {}, el("h2", {}, title)), body);
}

/** A text that may be long, on two lines at most. */
export const clamp = (text) => el("span", { class: "clamp", title: text }, text);

export const hint = (...text) => el("p", { class: "hint" }, text);

/** Evidence against threshold over the samples. */
export class EvidencePanel {
  constructor() {
    this.chart = new EvidenceChart();
    this.empty = hint("The curve starts when every option has a sample.");
    this.words = el("span", {});
    this.level = el("span", {});
    const keys = [key("evidence", this.words), key("threshold", this.level)];
    this.legend = el("p", { class: "hint legend curves" }, keys);
    const header = ["samples", "evidence", "needed"];
    this.numbers = new Table("Evidence by samples", header, [0, 1, 2]);
    this.data = folded("The numbers", this.numbers, () => {
      const { samples, evidence, threshold } = this.series;
      return samples.map((each, k) => [count(each), exact(evidence[k]), exact(threshold[k])]).reverse();
    });
    this.node = foldedCard(
      "Evidence so far",
      hint("Once the evidence reaches what is needed, the answer stands."),
      this.legend,
      this.chart.node,
      this.empty,
      this.data.node,
    );
  }

  update({ series, status, unit }) {
    this.series = series;
    this.numbers.head([unit, "evidence", "needed"]);
    const known = series.samples.length > 0;
    this.chart.node.hidden = this.legend.hidden = !known;
    say(this.words, `evidence ${exact(series.evidence.at(-1))}`);
    say(this.level, `needed ${exact(series.threshold.at(-1))}`);
    this.empty.hidden = known;
    this.data.node.hidden = !known;
    this.chart.update(series, status.decision, unit);
    this.data.draw();
  }
}

const KEY = {
  evidence: () => svg("line", { class: "evidence-line", x2: 16, y1: 6, y2: 6 }),
  threshold: () => svg("line", { class: "threshold-line short", x2: 16, y1: 6, y2: 6 }),
  share: () => svg("rect", { class: "share", y: 1, width: 16, height: 10, rx: 2 }),
  weight: () => svg("line", { class: "weight", x1: 8, x2: 8, y1: 0, y2: 12 }),
};
const key = (name, text) =>
  el("span", {}, svg("svg", { width: 16, height: 12, "aria-hidden": "true" }, KEY[name]()), text);

const SHARES = ["option", "samples", "share", "weight"];

/** Shares beside oracle weights. */
export class SharesPanel {
  constructor() {
    this.plot = el("div", {});
    this.legend = el(
      "p",
      { class: "hint legend" },
      key("share", "share of the samples"),
      key("weight", "oracle weight at the current means"),
    );
    this.table = new Table("Shares and oracle weights", SHARES, [1, 2, 3, 4]);
    this.data = folded("The numbers", this.table, () => this.tableRows());
    this.node = card("Where samples go", this.legend, this.plot, this.data.node);
  }

  tableRows() {
    const { arms, status } = this.page;
    const costly = status.arms[0].cost !== null;
    this.table.head(costly ? [...SHARES, "cost"] : SHARES);
    return arms.map((arm, k) => {
      const cost = costly ? [brief(status.arms[k].cost)] : [];
      return [clamp(arm.label), count(arm.samples), percent(arm.share), percent(arm.weight), ...cost];
    });
  }

  update(page) {
    this.page = page;
    put(this.plot, shares(page.arms));
    this.data.draw();
  }
}

const LATEST = 4; // changes that are shown with their reasons; the table has all

/** The pursued answer over time, and why. */
export class PursuitPanel {
  constructor() {
    this.reason = hint();
    this.plot = el("div", {});
    this.list = el("ul", { class: "changes" });
    const header = ["from sample", "event", "pursued answer", "because"];
    const table = new Table("Changes of the pursued answer", header, [0, 1]);
    this.data = folded("All changes", table, () =>
      this.changes.map((each) => [
        count(each.samples),
        count(each.event),
        clamp(each.answer),
        clamp(each.because),
      ]),
    );
    this.node = card("Pursued answer", this.reason, this.plot, this.list, this.data.node);
  }

  update({ changes, status, reason, pursues }) {
    say(this.reason, reason || (pursues ? "" : "This strategy pursues no answer."));
    const some = pursues && changes.length > 0;
    this.plot.hidden = !pursues;
    this.list.hidden = this.data.node.hidden = !some;
    const none = () => hint("None yet: every arm is sampled once first.");
    put(this.plot, some ? pursuit(changes, status.samples, status.decision !== null) : none());
    this.changes = [...changes].reverse(); // the newest first
    put(
      this.list,
      this.changes.slice(0, LATEST).map((each) => change(each)),
    );
    this.data.draw();
  }
}

const change = ({ samples, answer, because }) =>
  el(
    "li",
    {},
    el("span", { class: "when" }, `from sample ${count(samples)}`),
    el("span", { class: "clamp" }, el("strong", {}, answer), because && `: ${because}`),
  );

/** The service's own account, in plain words. */
export class WordsPanel {
  constructor() {
    this.list = el("ul", { class: "words" });
    this.wait = hint("Being put into words…");
    this.node = card("In plain words", this.wait, this.list);
  }

  update(found) {
    this.wait.hidden = true;
    const lines = found.text.split("\n").slice(1); // the first line is in the title
    put(
      this.list,
      lines.map((line) =>
        el(
          "li",
          line.startsWith("warning") ? { class: "warned" } : {},
          line[0].toUpperCase() + line.slice(1),
        ),
      ),
    );
  }

  fail(error) {
    this.wait.hidden = true;
    put(this.list, el("li", {}, `No explanation: ${error.message}`));
  }
}

/** Samples in flight, and how often they come to nothing. */
export class InFlightPanel {
  constructor() {
    this.none = hint("No sample is in flight.");
    this.leases = new Table("Samples in flight", ["arm", "due", "ticket"]);
    this.more = hint();
    this.warning = el("p", { class: "warned", hidden: true });
    this.losses = new Table("Losses by arm", ["arm", "asks", "lost", "rate"], [1, 2, 3]);
    const lost = [el("h3", {}, "Asks that came to nothing"), this.warning, this.losses.node];
    this.node = card("In flight", this.none, this.leases.node, this.more, lost);
  }

  update({ leases, lost, status, spec }) {
    this.labels = spec.arms;
    this.waiting = [...leases].sort((a, b) => a.deadline - b.deadline);
    this.none.hidden = leases.length > 0;
    this.leases.node.hidden = !leases.length;
    const more = status.in_flight - leases.length;
    say(this.more, `${count(more)} more are in flight.`);
    this.more.hidden = more <= 0;
    this.tick();
    const rate = (gone, all) => (all ? percent(gone / all) : NONE);
    this.losses.update(
      lost.map(([gone, all], k) => [clamp(spec.arms[k]), count(all), count(gone), rate(gone, all)]),
    );
  }

  /** Time goes by, with news or without. */
  tick() {
    this.leases.update(
      (this.waiting ?? []).map((each) => [
        clamp(this.labels[each.arm]),
        due(each.deadline),
        el("code", { class: "ticket", title: each.token }, each.token),
      ]),
    );
  }

  warn(text) {
    say(this.warning, text);
    this.warning.hidden = !text;
  }
}

function due(deadline) {
  const left = deadline - now();
  if (left >= 0) return el("span", { class: "clock" }, `in ${span(left)}`);
  return el("span", { class: "overdue" }, `${span(left)} overdue`);
}

/** The last events. */
export class LedgerPanel {
  constructor() {
    this.about = hint();
    this.table = new Table("The last events", ["event", "time", "what", "arm", "value"], [0, 4]);
    this.node = card("Ledger", el("div", { class: "tight ledger" }, this.about, this.table.node));
    this.node.classList.add("ledger-card");
  }

  update({ ledger, last, spec }) {
    const all = last <= ledger.length;
    const shown = all
      ? "Every event so far"
      : `The last ${ledger.length} of ${plural(last, "event")}; the export has all`;
    say(this.about, `${shown}. Late events came after the decision and do not count.`);
    this.table.update(
      ledger.map((event) => [
        count(event.number),
        el("span", { class: "clock" }, clock(event.time)),
        [
          el("span", { class: `kind ${event.kind}` }, event.kind),
          event.late ? el("span", { class: "tag late" }, "late") : null,
        ],
        event.arm === null ? NONE : clamp(spec.arms[event.arm]),
        valueOf(event),
      ]),
    );
  }
}

function valueOf(event) {
  if (event.kind === "asked" && event.note) return event.note; // the item
  if (event.kind === "asked") return event.value === null ? NONE : `≤ ${span(event.value)}`;
  if (event.kind === "released") return event.note ? clamp(event.note) : NONE;
  return event.kind === "decided" ? clamp(`evidence ${exact(event.value)}`) : brief(event.value);
}
