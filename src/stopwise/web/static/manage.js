// What people do with a campaign beside the work: pause, close, archive, rename, a note, another budget.

import { path, post, Problem } from "./api.js";
import { announce, el, OVER, say } from "./dom.js";
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
    this.budget = new Field("manage-budget", "Budget", {
      input: textInput({ inputmode: "numeric" }),
      read: number,
      optional: true,
      hint: "Samples at most.",
    });
    this.pause = this.button("Pause", () => this.send("pause", this.reason()));
    this.resume = this.button("Resume", () => this.send("resume", {}));
    this.close = this.button("Close without an answer", () => this.send("close", this.reason()));
    this.archive = this.button("Archive", () => this.send("archive", {}));
    this.unarchive = this.button("Bring back", () => this.send("unarchive", {}));
    this.note = this.button("Add a note", () => this.send("note", { text: this.text.read() ?? "" }));
    this.rename = this.button("Rename", () => this.send("rename", { name: this.called.read() ?? "" }));
    this.raise = this.button("Set the budget", () => this.send("change", { budget: this.budget.read() ?? null }));
    this.result = el("p", { class: "hint", role: "status" });
    this.node = foldedCard(
      "Manage",
      hint("Everything here is an event of the record. Nothing of it can spoil the guarantee."),
      this.text.node,
      el("div", { class: "actions" }, this.note, this.pause, this.resume, this.close, this.archive, this.unarchive),
      el("div", { class: "pair" }, this.called.node, this.budget.node),
      el("div", { class: "actions" }, this.rename, this.raise),
      this.result,
    );
    this.node.open = false;
  }

  button(text, onclick) {
    return el("button", { type: "button", class: "plain", onclick }, text);
  }

  reason() {
    return { reason: this.text.read() ?? "" };
  }

  update({ status }) {
    const over = OVER.includes(status.state);
    this.pause.hidden = over || status.state === "paused";
    this.resume.hidden = status.state !== "paused";
    this.close.hidden = over;
    this.archive.hidden = status.archived;
    this.unarchive.hidden = !status.archived;
    this.raise.hidden = this.budget.node.hidden = over;
    if (document.activeElement !== this.called.input && !this.called.input.value) this.called.input.value = status.name;
  }

  async send(verb, body) {
    [this.text, this.called, this.budget].forEach((each) => each.complain(""));
    try {
      await post(path(this.name, `/${verb}`), body);
      const done = `Done: ${verb}.`;
      say(this.result, done);
      announce(done);
      this.text.input.value = "";
      if (verb === "rename") this.go(`#/campaign/${encodeURIComponent(body.name)}`);
      else this.changed();
    } catch (error) {
      this.refused(verb, error);
    }
  }

  refused(verb, error) {
    const text = error instanceof Problem ? error.message : "the service does not answer.";
    const field = { rename: this.called, change: this.budget }[verb] ?? this.text;
    say(this.result, "");
    field.complain(text);
    field.input.focus();
  }
}
