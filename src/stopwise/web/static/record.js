// The record of a campaign: its proof, derived anew on demand, and its export.

import { download, get, path, Problem } from "./api.js";
import { announce, count, el, exact, plural, put, svg } from "./dom.js";
import { foldedCard, hint, kindOf } from "./panels.js";

const KINDS = [
  ["csv", "CSV"],
  ["jsonl", "JSON lines"],
  ["parquet", "Parquet"],
];

/** The record: derive it anew, or take it along. */
export class RecordPanel {
  constructor(name) {
    this.name = name;
    this.result = el("div", { class: "verdict", role: "status" });
    this.button = el("button", { type: "button", class: "primary", onclick: () => this.verify() }, "Verify");
    const links = KINDS.map(([kind, word]) =>
      el(
        "a",
        {
          href: `api/${path(name, `/export?kind=${kind}`)}`,
          download: `${name}.${kind}`,
          onclick: (event) => this.take(event, kind),
        },
        word,
      ),
    );
    this.facts = el("dl", { class: "facts" });
    this.node = foldedCard(
      "Proof and record",
      this.facts,
      hint(
        "Verify derives everything anew from the events alone, and names every stored row that was changed. Note the record's hash elsewhere to see later whether the record is still the same.",
      ),
      el("div", { class: "actions" }, this.button),
      this.result,
      el("p", { class: "exports" }, el("span", { class: "hint" }, "Export"), links),
    );
  }

  update({ status, hash, spec, guarantee }) {
    const { decision } = status;
    const rule = spec.paired ? "pairs" : kindOf(spec.stopping ?? spec.threshold); // what 0.2.0 called it
    const facts = decision
      ? [
          ["Evidence", exact(decision.evidence)],
          ["Needed", exact(decision.threshold)],
          ["Samples", count(decision.samples)],
          ["Decision event", count(decision.number)],
          ["Spec hash", el("code", {}, decision.key)],
          ["Record hash", el("code", {}, status.hash)],
          ["Version", decision.version],
        ]
      : [
          ["Events", count(status.events)],
          ["Stopping rule", `${rule}, ${guarantee}`],
          ["Spec hash", el("code", {}, hash)],
          ["Record hash", el("code", {}, status.hash)],
        ];
    const text = JSON.stringify([decision, status.events, status.hash]);
    if (text === this.text) return;
    this.text = text;
    put(
      this.facts,
      facts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))),
    );
  }

  async verify() {
    if (this.busy) return;
    this.busy = true;
    this.show("wait", "Deriving everything anew…");
    try {
      const found = await get(path(this.name, "/verify"), null, 600_000);
      const size = `${plural(found.events, "event")}, ${plural(found.samples, "sample")} derived anew`;
      if (found.agrees) this.show("good", `Agrees: ${size}.`);
      else this.show("bad", `Does not agree: ${size}.`, found.problems);
    } catch (error) {
      this.show("bad", `Could not be verified: ${error.message}`);
    } finally {
      this.busy = false;
    }
  }

  show(kind, text, problems = []) {
    const icon = { good: "M3 8.5l3.2 3.2L13 4.8", bad: "M4 4l8 8M12 4l-8 8", wait: "M8 3v5l3 2" }[kind];
    const shape = svg("path", { d: icon, fill: "none", stroke: "currentColor", "stroke-width": 2.2 });
    this.result.className = `verdict ${kind}`;
    put(
      this.result,
      svg("svg", { viewBox: "0 0 16 16", width: 18, height: 18, "aria-hidden": "true" }, shape),
      el(
        "div",
        {},
        el("p", {}, text),
        problems.length
          ? el(
              "ul",
              {},
              problems.map((each) => el("li", {}, each)),
            )
          : null,
      ),
    );
  }

  async take(event, kind) {
    event.preventDefault();
    try {
      await download(path(this.name, `/export?kind=${kind}`), `${this.name}.${kind}`);
      announce(`The export as ${kind} was made`);
    } catch (error) {
      this.show(
        "bad",
        error instanceof Problem
          ? `Not exported: ${error.message}`
          : "Not exported: the service does not answer.",
      );
    }
  }
}
