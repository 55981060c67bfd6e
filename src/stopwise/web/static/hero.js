// Where a campaign stands: the answer, how far the evidence has come, and the numbers that matter.

import { brief, count, el, Meter, NONE, percent, plural, say, span, tenths } from "./dom.js";

export class Hero {
  constructor() {
    this.kind = el("p", { class: "hero-kind" });
    this.text = el("p", { class: "hero-text" });
    this.meter = new Meter();
    this.remark = el("p", { class: "hint" });
    this.losses = el("p", { class: "about-losses", hidden: true });
    this.misfit = el("p", { class: "warned", hidden: true });
    this.stats = ["evidence", "samples", "needed", "in-flight", "costs"].map((key) => new Stat(key));
    const said = [this.kind, this.text, this.meter.node, this.remark, this.losses, this.misfit];
    const answer = el("div", { class: "hero-answer" }, said);
    const stats = el(
      "dl",
      { class: "stats" },
      this.stats.map((each) => each.node),
    );
    this.node = el(
      "section",
      { class: "hero", "aria-label": "Where it stands", hidden: true },
      answer,
      stats,
    );
  }

  update({ status, losses }) {
    const { decision } = status;
    this.node.hidden = false;
    this.node.classList.toggle("decided", decision !== null);
    const early = status.evidence === null ? "Every option needs a sample first" : "Too early to say";
    say(this.kind, decision ? "Decided" : leads(status) ? "Leading, not decided" : "Not decided");
    say(this.text, decision?.text ?? (leads(status) ? status.leading : early));
    say(this.remark, remark(status));
    say(this.losses, losses ? `${losses}.` : "");
    this.losses.hidden = !losses;
    say(this.misfit, status.misfit ? `Warning: ${status.misfit.text}.` : "");
    this.misfit.hidden = !status.misfit;
    this.meter.update(status.evidence, status.threshold);
    const found = [
      evidence(status),
      size(status),
      decision ? risk(status) : needed(status),
      ["In flight", count(status.in_flight), inFlight(status)],
      costs(status),
    ];
    this.stats.forEach((each, k) => each.update(found[k]));
  }
}

/** Whether any answer has evidence worth a word. */
export const leads = ({ evidence, leading }) => leading !== null && evidence >= 0.05;

class Stat {
  constructor(key) {
    [this.name, this.value, this.unit] = [el("dt"), el("b"), el("span")];
    this.node = el("div", { "data-stat": key }, this.name, el("dd", {}, this.value, this.unit));
  }

  update(found) {
    this.node.hidden = !found;
    [this.name, this.value, this.unit].forEach((node, k) => say(node, found?.[k]));
  }
}

function evidence({ evidence: found, threshold }) {
  if (found === null) return ["Evidence", NONE, "once every option has a sample"];
  const share = found >= threshold ? "enough" : `${percent(Math.max(0, found / threshold))} of the way`;
  return ["Evidence", `${tenths(found)} of ${tenths(threshold)}`, share];
}

function size(status) {
  const { pairs, samples } = status;
  if (!pairs) return ["Samples", count(samples), budget(status)];
  const pool = pairs.pool === null ? "" : `of a pool of ${count(pairs.pool)}, `;
  return ["Items", count(pairs.items), `${pool}${plural(samples, "result")}`];
}

const budget = (status) => (status.budget === null ? "no budget" : `of at most ${count(status.budget)}`);

function risk(status) {
  return [
    "Risk",
    brief(status.delta),
    status.proven ? "of a wrong answer, at most" : "was asked for, but is not proven",
  ];
}

function needed({ remaining, budget: most, samples, pairs }) {
  if (remaining === null) return ["Still needed", NONE, "not known yet"];
  const { low, high } = remaining;
  const each = pairs ? pairs.places.filter(({ state }) => state === "in").length : 1; // results an item
  const left = most === null ? Infinity : (most - samples) / each;
  const doubt = low > left ? "more than the budget, likely" : "perhaps more than the budget";
  const unit = pairs ? "items, in 8 of 10 campaigns" : "in 8 of 10 campaigns";
  return ["Still needed", `${count(low)}–${count(high)}`, high > left ? doubt : unit];
}

function inFlight(status) {
  if (!status.decision) return "asked, not told";
  return status.in_flight ? "their tells will be late" : "nothing is missing";
}

function costs({ arms }) {
  if (arms[0].cost === null) return null;
  return ["Costs", brief(arms.reduce((sum, arm) => sum + arm.cost, 0)), "so far"];
}

function remark(status) {
  const { decision, delta, proven } = status;
  const doubt = proven ? "" : " This stopping rule is not proven.";
  if (decision) {
    const size = status.pairs ? plural(status.pairs.items, "item") : plural(decision.samples, "sample");
    const { pairs } = status;
    const known = pairs?.items === pairs?.pool && status.evidence < status.threshold;
    const enough = pairs && known
      ? `The options that are left were asked all ${size}.`
      : `The evidence was enough after ${size}.`;
    if (status.misfit) return enough + doubt; // the promise rests on the family
    return proven
      ? `${enough} Campaigns like this end with a wrong answer with probability ${brief(delta)} at most.`
      : enough + doubt;
  }
  if (status.state === "paused" || status.state === "closed") {
    const why = status.reason ? `: ${status.reason}` : "";
    return status.state === "paused" ? `Paused${why}.${doubt}` : `Closed without an answer${why}.`;
  }
  if (status.waiting && status.oldest === null)
    return `${plural(status.waiting, "result")} ${status.waiting === 1 ? "waits" : "wait"} for other options on the same item.${doubt}`;
  if (status.waiting)
    return `${plural(status.waiting, "sample")} ${status.waiting === 1 ? "waits" : "wait"} for one that was asked earlier, ${span(status.oldest ?? 0)} ago.${doubt}`;
  if (status.state === "items used up")
    return `All items are used and the evidence is not enough: there is no decision.${doubt}`;
  if (status.state === "budget spent")
    return `The budget is spent and the evidence is not enough: there is no decision.${doubt}`;
  return `You may look at any time: looking does not spoil the guarantee.${doubt}`;
}
