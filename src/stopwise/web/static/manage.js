// What people do with a campaign beside the work: pause, close, archive, rename, a note, another budget,
// a minimum, other labels, one more option.

import { path, post, Problem } from "./api.js";
import { announce, el, OVER, put, say } from "./dom.js";
import { Field, number, textInput } from "./fields.js";
import { foldedCard, hint } from "./panels.js";

export class ManagePanel {
  constructor(name, { changed, go }) {
    Object.assign(this, { name, changed, go });
    this.text = new Field("manage-text", "Note or reason", {
      input: textInput({ maxlength: 1000 }),
      optional: true,
      hint: "Goes on record with your name and the time. To close a campaign needs one.",
    });
    this.called = new Field("manage-name", "Name", {
      input: textInput({ maxlength: 200 }),
      hint: "The old name still leads here.",
    });
    this.budget = whole("manage-budget", "Budget", "Samples at most.");
    this.minimum = whole("manage-minimum", "Minimum", "Samples of each option before a decision.");
    this.option = new Field("manage-option", "Option", { input: el("select"), hint: "Which one to call otherwise." });
    this.label = new Field("manage-label", "Label", {
      input: textInput({ maxlength: 200 }),
      hint: "Of that option, or of a new one.",
    });
    this.pause = this.button("Pause", "pause", () => this.reason());
    this.resume = this.button("Resume", "resume");
    this.close = this.button("Close without an answer", "close", () => this.reason());
    this.archive = this.button("Archive", "archive");
    this.unarchive = this.button("Bring back", "unarchive");
    this.note = this.button("Add a note", "note", () => ({ text: this.text.read() ?? "" }));
    this.rename = this.button("Rename", "rename", () => ({ name: this.called.read() ?? "" }), this.called);
    this.raise = this.button("Set the budget", "change", () => ({ budget: this.budget.read() ?? null }), this.budget);
    this.require = this.button("Set the minimum", "change", () => this.least(), this.minimum);
    this.relabel = this.button("Relabel", "change", () => ({ labels: this.labels() }), this.label);
    this.add = this.button("Add an option", "add", () => ({ label: this.label.read() ?? "" }), this.label);
    this.result = el("p", { class: "hint", role: "status" });
    this.node = foldedCard(
      "Manage",
      hint("Everything here is an event of the record. Nothing of it can spoil the guarantee."),
      this.text.node,
      el("div", { class: "actions" }, this.note, this.pause, this.resume, this.close, this.archive, this.unarchive),
      this.called.node,
      el("div", { class: "actions" }, this.rename),
      el("div", { class: "pair" }, this.budget.node, this.minimum.node),
      el("div", { class: "actions" }, this.raise, this.require),
      el("div", { class: "pair" }, this.option.node, this.label.node),
      el("div", { class: "actions" }, this.relabel, this.add),
      this.result,
    );
    this.node.open = false;
  }

  /** A verb with what it needs; a refusal stands at its field. */
  button(text, verb, body = () => ({}), field = this.text) {
    return el("button", { type: "button", class: "plain", onclick: () => this.send(verb, body(), field) }, text);
  }

  reason() {
    return { reason: this.text.read() ?? "" };
  }

  least() {
    return { minimum: this.minimum.read() ?? 0 };
  }

  labels() {
    return { [this.option.input.value]: this.label.read() ?? "" };
  }

  update({ status, spec }) {
    const over = OVER.includes(status.state);
    this.pause.hidden = over || status.state === "paused";
    this.resume.hidden = status.state !== "paused";
    this.close.hidden = over;
    this.archive.hidden = status.archived;
    this.unarchive.hidden = !status.archived;
    for (const each of [this.raise, this.budget.node, this.require, this.minimum.node]) each.hidden = over;
    this.add.hidden = over || !(spec.room > spec.arms.length);
    this.list(spec.arms);
    if (document.activeElement !== this.called.input && !this.called.input.value) this.called.input.value = status.name;
  }

  list(labels) {
    const shown = labels.join("\n");
    if (shown === this.listed) return;
    this.listed = shown;
    put(
      this.option.input,
      labels.map((each) => el("option", { value: each }, each)),
    );
  }

  async send(verb, body, field) {
    [this.text, this.called, this.budget, this.minimum, this.label].forEach((each) => each.complain(""));
    try {
      await post(path(this.name, `/${verb}`), body);
      const done = `Done: ${verb}.`;
      say(this.result, done);
      announce(done);
      this.text.input.value = this.label.input.value = "";
      if (verb === "rename") this.go(`#/campaign/${encodeURIComponent(body.name)}`);
      else this.changed();
    } catch (error) {
      say(this.result, "");
      field.complain(error instanceof Problem ? error.message : "the service does not answer.");
      field.input.focus();
    }
  }
}

const whole = (key, label, about) =>
  new Field(key, label, { input: textInput({ inputmode: "numeric" }), read: number, optional: true, hint: about });
