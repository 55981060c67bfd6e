// A new campaign. The service checks the spec; its messages are shown where they belong.

import { Away, get, Poller, post, Problem } from "./api.js";
import { announce, el, put, say } from "./dom.js";
import { Arms, Choice, Field, number, textInput } from "./fields.js";
import { CostPreview } from "./preview.js";

export function form(main, { fail, go }) {
  const heading = el("h1", { tabindex: "-1" }, "New campaign");
  const body = el("div", {}, el("p", { class: "loading" }, "Loading…"));
  put(
    main,
    el(
      "div",
      { class: "title" },
      el(
        "div",
        {},
        heading,
        el(
          "p",
          { class: "lead" },
          "What do you want to know, about which options, and how sure must you be?",
        ),
      ),
    ),
    body,
  );
  const load = async (signal) => {
    const schema = await get("schema", signal);
    poller.stop(); // once is enough
    put(body, new Form(schema, go).node);
  };
  const poller = new Poller(load, { failed: fail });
  poller.kick();
  return { title: "New campaign", heading, stop: () => poller.stop() };
}

class Form {
  constructor(schema, go) {
    this.go = go;
    const { question, family, stopping, strategy, budget, paired, items, deterministic } = schema.properties;
    const resolved = question.oneOf ? question : schema.$defs[question.$ref.split("/").pop()];
    const redraw = () => this.preview();
    this.name = new Field("name", "Name", {
      input: textInput({ maxlength: 200, placeholder: "checkout-button" }),
      hint: "How workers and colleagues will call it.",
    });
    this.question = new Choice("question", "Question", resolved, { changed: redraw }).choose("best-arm");
    this.arms = new Arms(() => this.spec && redraw());
    this.family = new Choice("family", "One sample is", family, {
      hint: family.description,
      changed: redraw,
    }).choose("bernoulli");
    this.delta = new Field("delta", "Risk of a wrong answer (delta)", {
      input: textInput({ inputmode: "decimal", value: "0.05" }),
      read: number,
      hint: "0.05: of 100 campaigns like this, at most 5 on average may end with a wrong answer.",
    });
    this.paired = el("input", { type: "checkbox", id: "paired", onchange: () => (this.pair(), redraw()) });
    this.items = new Field("items", "Items in the pool", {
      input: textInput({ inputmode: "numeric" }),
      read: number,
      optional: true,
      hint: items.description,
    });
    this.deterministic = el("input", { type: "checkbox", id: "deterministic", onchange: redraw });
    this.pairing = el(
      "div",
      { class: "choice" },
      el(
        "div",
        {},
        el("label", { class: "check" }, this.paired, " Every option gets the same items (paired)"),
        el("p", { class: "hint" }, paired.description),
      ),
      el(
        "div",
        { class: "options" },
        this.items.node,
        el(
          "div",
          {},
          el("label", { class: "check" }, this.deterministic, " Results are deterministic"),
          el("p", { class: "hint" }, deterministic.description),
        ),
      ),
    );
    this.stopping = new Choice("stopping", "Stopping rule", stopping, {
      usual: "usual for the data",
      hint: stopping.description,
      changed: redraw,
    });
    this.strategy = new Choice("strategy", "Strategy", strategy, {
      usual: "usual for the question",
      hint: strategy.description,
      changed: redraw,
    });
    this.budget = new Field("budget", "Budget", {
      input: textInput({ inputmode: "numeric" }),
      read: number,
      optional: true,
      hint: budget.description,
    });
    this.more = el(
      "details",
      { class: "more" },
      el("summary", {}, "Stopping rule, strategy and budget"),
      this.stopping.node,
      this.strategy.node,
      this.budget.node,
    );
    this.cost = new CostPreview(() => this.read());
    this.spec = el("pre", { tabindex: "0", role: "region", "aria-label": "The spec as JSON" });
    this.alert = el("div", { class: "alert", role: "alert" });
    this.button = el("button", { type: "submit", class: "primary" }, "Create the campaign");
    const cancel = el("a", { class: "button plain", href: "#/" }, "Cancel");
    this.node = el(
      "form",
      { novalidate: true, class: "columns", onsubmit: (event) => this.submit(event), oninput: redraw },
      el(
        "div",
        { class: "stack" },
        el("div", { class: "card" }, this.name.node, this.question.node),
        el("div", { class: "card" }, this.arms.node, this.pairing),
        el("div", { class: "card" }, this.family.node, this.delta.node, this.more),
        this.alert,
        el("div", { class: "actions" }, this.button, cancel),
      ),
      el(
        "aside",
        { class: "stack aside", "aria-label": "Preview" },
        this.cost.node,
        el(
          "details",
          { class: "card" },
          el("summary", {}, "The spec"),
          el(
            "p",
            { class: "hint" },
            "What will be sent. The same can be kept in a file, and created from Python or the command line.",
          ),
          this.spec,
        ),
      ),
    );
    this.pair();
    this.preview();
  }

  /** On the same items there is a pool, and no strategy, stopping rule or cost to choose. */
  pair() {
    const on = this.paired.checked;
    this.items.node.parentNode.hidden = !on;
    this.stopping.node.hidden = this.strategy.node.hidden = this.cost.node.hidden = on;
    this.arms.costless(on);
  }

  get fields() {
    return [
      this.name,
      ...this.question.all,
      ...this.family.all,
      this.delta,
      ...this.stopping.all,
      ...this.strategy.all,
      this.budget,
      this.items,
    ];
  }

  read() {
    const keys = ["question", "arms", "family", "delta", "stopping", "strategy", "budget"];
    const found = Object.fromEntries(keys.map((key) => [key, this[key].read()]));
    found.costs = this.arms.costs();
    if (this.paired.checked) {
      Object.assign(found, { paired: true, items: this.items.read() });
      if (this.deterministic.checked) found.deterministic = true;
      for (const key of ["stopping", "strategy", "costs"]) delete found[key];
    }
    return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined));
  }

  preview() {
    say(this.spec, JSON.stringify(this.read(), null, 2));
    if (!this.paired.checked) this.cost.changed();
  }

  async submit(event) {
    event.preventDefault();
    if (this.busy) return;
    this.clear();
    this.busy = true;
    say(this.button, "Creating…");
    try {
      const made = await post("campaigns", { name: this.name.read() ?? "", spec: this.read() });
      announce(`Campaign ${made.name} was created`);
      this.go(`#/campaign/${encodeURIComponent(made.name)}`);
    } catch (error) {
      this.refused(error);
    } finally {
      this.busy = false;
      say(this.button, "Create the campaign");
    }
  }

  clear() {
    this.fields.forEach((each) => each.complain(""));
    this.arms.clear();
    put(this.alert);
  }

  /** The message's own name, before its first colon, says which field is meant. */
  refused(error) {
    const known = error instanceof Problem || error instanceof Away;
    const text = known ? error.message : `something went wrong: ${error.message}`;
    put(this.alert, el("p", {}, el("strong", {}, "Not created. "), text));
    if (error.kind === "CampaignExists") {
      this.name.complain(text);
      this.name.input.focus();
      return;
    }
    const [, name, rest] = /^([\w.[\]]+): (.*)$/s.exec(text) ?? [];
    if (name === undefined) return;
    if (/^(arms|costs)\b/.test(name)) {
      this.arms.complain(name, rest).focus();
      return;
    }
    const field = this.locate(name);
    if (!field) return;
    field.complain(rest);
    if (this.more.contains(field.node)) this.more.open = true;
    field.input.focus();
  }

  /** The field of this name, or of what it is a part of. */
  locate(name) {
    for (let key = name; key; key = key.replace(/(\.\w+|\[\d+\]|\w+)$/, "")) {
      const found = this.fields.find((each) => each.key === key);
      if (found) return found;
    }
    return null;
  }
}
