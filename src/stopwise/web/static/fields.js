// Fields of the form, made from the JSON Schema of a campaign's spec: titles and descriptions are its words.

import { el, put, say } from "./dom.js";

const title = (name) => name[0].toUpperCase() + name.slice(1).replaceAll("_", " ");

/** One label, input, hint and place for an error. */
export class Field {
  constructor(key, label, { input, hint = "", optional = false, read = words }) {
    Object.assign(this, { key, input, reader: read });
    const id = `field-${key.replace(/\W+/g, "-")}`;
    this.input.id = id;
    this.error = el("p", { class: "error", id: `${id}-error`, hidden: true });
    const about = hint ? el("p", { class: "hint", id: `${id}-hint` }, hint) : null;
    this.described = hint ? `${id}-hint` : "";
    if (this.described) input.setAttribute("aria-describedby", this.described);
    const name = el(
      "label",
      { for: id },
      label,
      optional ? el("span", { class: "optional" }, " optional") : null,
    );
    this.node = el("div", { class: "field" }, name, input, about, this.error);
  }

  read() {
    return this.reader(this.input.value);
  }

  complain(text) {
    complain(this.input, this.error, this.described, text);
  }
}

function complain(input, error, described, text) {
  say(error, text);
  error.hidden = !text;
  const about = [text ? error.id : "", described].filter(Boolean).join(" ");
  if (text) input.setAttribute("aria-invalid", "true");
  else input.removeAttribute("aria-invalid");
  if (about) input.setAttribute("aria-describedby", about);
  else input.removeAttribute("aria-describedby");
}

// What is not a number or not JSON goes to the service as it is: its message says what is allowed.
const words = (text) => (text.trim() === "" ? undefined : text.trim());
export const number = (text) => {
  const given = words(text);
  const value = given?.endsWith("%") ? Number(`${Number(given.slice(0, -1))}e-2`) : Number(given);
  return given === undefined || Number.isNaN(value) ? given : value;
};
const json = (text) => {
  const given = words(text);
  for (const each of [given, `[${given}]`]) {
    try {
      if (given !== undefined) return JSON.parse(each);
    } catch {
      // try the next reading
    }
  }
  return given;
};

export const textInput = (props = {}) =>
  el("input", { type: "text", autocomplete: "off", spellcheck: "false", ...props });

/** A field for an option, by its schema. */
function optionField(key, name, schema, needed) {
  const common = { optional: !needed, hint: schema.description ?? "" };
  if (schema.enum) {
    const choices = [...(needed ? [] : ["usual"]), ...schema.enum];
    const input = el(
      "select",
      {},
      choices.map((each) => el("option", { value: each === "usual" ? "" : each }, each)),
    );
    return new Field(key, title(name), { input, ...common });
  }
  if (schema.type === "array" || schema.type === "object") {
    const input = el("textarea", { rows: 2, spellcheck: "false" });
    return new Field(key, title(name), { input, read: json, ...common });
  }
  if (schema.anyOf) {
    // one number, or one for each arm, or a word
    const input = textInput({ value: schema.default ?? "" });
    return new Field(key, title(name), { input, read: json, ...common });
  }
  return new Field(key, title(name), { input: textInput({ inputmode: "decimal" }), read: number, ...common });
}

/** A kind with its options: a question, a family, a stopping rule or a strategy. */
export class Choice {
  constructor(key, label, schema, { hint = "", usual = null, changed = () => {} } = {}) {
    this.key = key;
    this.kinds = new Map(
      schema.oneOf.filter((each) => each.type === "object").map((each) => [each.properties.kind.const, each]),
    );
    const options = [...this.kinds].map(([kind, { title }]) =>
      el("option", { value: kind }, usual ? `${kind}: ${title}` : `${title} (${kind})`),
    );
    if (usual) options.unshift(el("option", { value: "" }, usual));
    this.select = el("select", { onchange: () => (this.draw(), changed()) }, options);
    this.main = new Field(key, label, { input: this.select, hint, optional: Boolean(usual) });
    this.box = el("div", { class: "options" });
    this.node = el("div", { class: "choice" }, this.main.node, this.box);
    this.draw();
  }

  choose(kind) {
    this.select.value = kind;
    this.draw();
    return this;
  }

  draw() {
    const { properties = {}, required = [] } = this.kinds.get(this.select.value) ?? {};
    const names = Object.keys(properties).filter((name) => name !== "kind");
    this.fields = names.map((name) =>
      optionField(`${this.key}.${name}`, name, properties[name], required.includes(name)),
    );
    put(
      this.box,
      this.fields.map((each) => each.node),
    );
    this.box.hidden = !this.fields.length;
  }

  get all() {
    return [this.main, ...this.fields];
  }

  read() {
    const kind = this.select.value;
    if (!kind) return undefined;
    const given = this.fields
      .map((each) => [each.key.split(".").pop(), each.read()])
      .filter(([, value]) => value !== undefined);
    return given.length ? { kind, ...Object.fromEntries(given) } : kind;
  }
}

/** The arms: a label each, and a cost if wanted. */
export class Arms {
  constructor(changed = () => {}) {
    this.changed = changed;
    this.rows = [];
    this.box = el("ol", { class: "arms" });
    this.costly = el("input", { type: "checkbox", id: "arms-costly", onchange: () => this.draw() });
    this.error = el("p", { class: "error", id: "arms-error", hidden: true });
    const add = el(
      "button",
      { type: "button", class: "plain", onclick: () => this.add().label.focus() },
      "Add an option",
    );
    this.node = el(
      "fieldset",
      { class: "arms-box" },
      el("legend", {}, "Options"),
      el(
        "p",
        { class: "hint" },
        "The options that can be tried. Enter goes to the next one; a list can be pasted.",
      ),
      this.box,
      this.error,
      el(
        "div",
        { class: "actions" },
        add,
        (this.priced = el("label", { class: "check" }, this.costly, " Samples have costs")),
      ),
    );
    this.add();
    this.add();
  }

  add(text = "", after = this.rows.length - 1) {
    const row = {};
    row.label = textInput({
      value: text,
      onkeydown: (event) => this.press(event, row),
      onpaste: (event) => this.paste(event, row),
    });
    row.cost = textInput({ class: "cost", inputmode: "decimal", placeholder: "cost" });
    row.remove = el("button", { type: "button", class: "quiet", onclick: () => this.remove(row) }, "×");
    row.error = el("p", { class: "error", hidden: true });
    row.node = el("li", {}, row.label, row.cost, row.remove, row.error);
    this.rows.splice(after + 1, 0, row);
    this.draw();
    return row;
  }

  draw() {
    this.rows.forEach((row, k) => {
      row.error.id = `arms-error-${k}`;
      row.label.setAttribute("aria-label", `Option ${k + 1}`);
      row.cost.setAttribute("aria-label", `Cost of a sample of option ${k + 1}`);
      row.remove.setAttribute("aria-label", `Remove option ${k + 1}`);
      row.remove.disabled = this.rows.length < 2;
      row.cost.hidden = !this.costly.checked;
    });
    this.rows.forEach(
      (row, k) =>
        this.box.children[k] !== row.node && this.box.insertBefore(row.node, this.box.children[k] ?? null),
    );
    this.changed();
  }

  press(event, row) {
    if (event.key !== "Enter") return;
    event.preventDefault();
    const place = this.rows.indexOf(row);
    (this.rows[place + 1] ?? this.add()).label.focus();
  }

  paste(event, row) {
    const lines = event.clipboardData
      .getData("text")
      .split(/\r?\n/)
      .map((each) => each.trim())
      .filter(Boolean);
    if (lines.length < 2) return;
    event.preventDefault();
    const place = this.rows.indexOf(row);
    row.label.value = lines[0];
    lines.slice(1).forEach((line, k) => this.add(line, place + k));
  }

  remove(row) {
    const place = this.rows.indexOf(row);
    this.rows.splice(place, 1);
    row.node.remove();
    this.draw();
    this.rows[Math.min(place, this.rows.length - 1)].label.focus();
  }

  /** Rows that say something. */
  get used() {
    return this.rows.filter((row) => row.label.value.trim() !== "");
  }

  read() {
    return this.used.map((row) => row.label.value.trim());
  }

  /** Whether nobody asks for costs. */
  costless(on) {
    this.priced.hidden = on;
    if (on) this.costly.checked = false;
    this.draw();
  }

  costs() {
    return this.costly.checked ? this.used.map((row) => number(row.cost.value) ?? null) : undefined;
  }

  clear() {
    this.complain("arms", "");
  }

  /** Say what is wrong with ``arms``, ``arms[2]`` or ``costs[1]``; returns where. */
  complain(name, text) {
    this.rows.forEach((row) => [row.label, row.cost].forEach((input) => complain(input, row.error, "", "")));
    say(this.error, "");
    this.error.hidden = true;
    const place = /\[(\d+)\]/.exec(name);
    const row = place && this.used[Number(place[1])];
    if (text && row) {
      const input = name.startsWith("costs") ? row.cost : row.label;
      complain(input, row.error, "", text);
      return input;
    }
    say(this.error, text);
    this.error.hidden = !text;
    return this.rows[0].label;
  }
}
