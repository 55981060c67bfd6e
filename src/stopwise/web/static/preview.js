// What a campaign would cost, from a guess of the means: worked out again while one types.

import { post, Problem } from "./api.js";
import { brief, count, el, say } from "./dom.js";
import { Field, textInput } from "./fields.js";

const REST = 700; // milliseconds without a key before it is worked out

export class CostPreview {
  constructor(read) {
    this.read = read; // the spec as it stands
    this.field = new Field("means", "Your guess of the means", {
      input: textInput({ placeholder: "5%, 6%" }),
      optional: true,
      hint: "One number for each option, in their order. Nothing but this preview depends on it.",
    });
    this.deviations = new Field("deviations", "Your guess of the standard deviations", {
      input: textInput({ placeholder: "20, 25" }),
      hint: "One number, or one for each option. Nothing but this preview depends on it.",
    });
    this.deviations.node.hidden = true; // until the service asks for it
    this.result = el("p", { class: "preview", role: "status" });
    this.beside = el("p", { class: "hint" });
    this.node = el(
      "section",
      { class: "card", "aria-label": "What it may cost" },
      el("h2", {}, "What it may cost"),
      this.field.node,
      this.deviations.node,
      this.result,
      this.beside,
    );
  }

  /** Something in the form has changed. */
  changed() {
    clearTimeout(this.timer);
    const typed = JSON.stringify([this.field.input.value, this.deviations.input.value, this.read()]);
    if (typed === this.typed) return;
    this.typed = typed;
    const wish = (this.asked = this.wish());
    say(this.result, wish && "Working it out…");
    say(this.beside, "");
    if (wish) this.timer = setTimeout(() => this.work(), REST);
  }

  /** What to ask for, as text; empty where there is nothing to ask, or a number is none. */
  wish() {
    const means = numbers(this.field);
    const spec = this.read();
    if (JSON.stringify(spec.family) !== this.spread) this.deviations.node.hidden = true;
    const deviations = this.deviations.node.hidden ? [] : numbers(this.deviations);
    if (!means?.length || !deviations || !spec.arms.length) return "";
    return JSON.stringify(deviations.length ? { spec, means, deviations } : { spec, means });
  }

  /** One at a time: the newest wish when the last one is done. */
  async work() {
    if (this.busy) return;
    this.busy = true;
    const wish = this.asked;
    try {
      const found = await post("preview", JSON.parse(wish), 60_000);
      if (wish === this.asked) this.show(found);
    } catch (error) {
      if (wish === this.asked) this.refused(error);
    } finally {
      this.busy = false;
      if (wish !== this.asked && this.asked) this.work();
    }
  }

  show(found) {
    say(this.result, inWords(found));
    say(
      this.beside,
      `A classical test for these means takes ${round(found.classical)}, may be looked at only once, and fails if they are closer.`,
    );
  }

  refused(error) {
    say(this.result, "");
    if (!(error instanceof Problem)) return;
    const [, name, text] = /^(means|deviations)(?:\[\d+\])?: (.*)/s.exec(error.message) ?? [];
    if (name === "means") this.field.complain(text);
    else if (name === "deviations") {
      const asked = !this.deviations.node.hidden;
      this.spread = JSON.stringify(JSON.parse(this.asked).spec.family); // needs them
      this.deviations.node.hidden = false;
      if (asked) this.deviations.complain(text);
    } else say(this.result, "A preview is shown when the form is complete.");
  }
}

/** The numbers in a field, between commas or spaces; 5% is 0.05. Null, and a complaint, if one is none. */
function numbers(field) {
  const words = field.input.value.split(/[\s,;]+/).filter(Boolean);
  const found = words.map((each) => (each.endsWith("%") ? Number(each.slice(0, -1)) / 100 : Number(each)));
  const wrong = words.find((_, place) => !Number.isFinite(found[place]));
  field.complain(wrong === undefined ? "" : `“${wrong}” is not a number.`);
  return wrong === undefined ? found : null;
}

/** Two digits are all that a forecast has. */
function round(value) {
  const power = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(value, 1))) - 1);
  return count(Math.round(value / power) * power);
}

function inWords({ mean, low, high, undecided, cost }) {
  if (undecided) return `Many campaigns would not end within ${round(high)} samples.`;
  const price = cost === null ? "" : ` They cost about ${brief(cost)}.`;
  const range = `nine of ten need between ${round(low)} and ${round(high)}`;
  return `About ${round(mean)} samples on average; ${range}.${price}`;
}
