// All campaigns at a glance.

import { get, now, path, Poller, post } from "./api.js";
import { leads } from "./hero.js";
import { ago, announce, chip, count, day, el, Meter, NONE, OVER, percent, plural, put, say, tenths } from "./dom.js";

const MANY = 7; // from so many campaigns on there is a search box
const SHOWN = 100; // rows before "show more"

export function list(main, { fail }) {
  const rows = new Map(); // a row for each name, kept while it is there
  const heading = el("h1", { tabindex: "-1" }, "Campaigns");
  const summary = el("p", { class: "lead", role: "status" }, "Loading…");
  const search = el("input", {
    type: "search",
    id: "search",
    autocomplete: "off",
    spellcheck: "false",
    placeholder: "Name, state or answer",
    oninput: draw,
  });
  const searching = el(
    "div",
    { class: "search", hidden: true },
    el("label", { for: "search", class: "hidden" }, "Search campaigns"),
    search,
  );
  const box = el("ul", { class: "glance" });
  const old = el("input", { type: "checkbox", id: "show-archived", onchange: () => poller.kick() });
  const tidy = el("button", { type: "button", class: "plain small", onclick: archiveAll });
  const archive = el(
    "div",
    { class: "actions archive" },
    el("label", { class: "check" }, old, " Show archived"),
    tidy,
  );
  const more = el("button", { type: "button", class: "plain", hidden: true, onclick: showMore }, "Show more");
  const empty = el("div", { class: "empty", hidden: true });
  let known = null;
  let limit = SHOWN;
  const create = el("a", { class: "button primary", href: "#/new" }, "New campaign");
  put(
    main,
    el("div", { class: "title" }, el("div", {}, heading, summary), create),
    searching,
    box,
    more,
    empty,
    archive,
  );

  async function load(signal) {
    known = await get(`campaigns${old.checked ? "?archived=true" : ""}`, signal);
    draw();
  }

  function showMore() {
    limit += SHOWN;
    draw();
  }

  /** Out of the list with all that are over; the record stays. */
  async function archiveAll() {
    const over = known.filter((each) => OVER.includes(each.state) && !each.archived);
    tidy.disabled = true;
    try {
      for (const each of over) await post(path(each.name, "/archive"), {});
      announce(`${plural(over.length, "campaign")} archived`);
    } catch (error) {
      announce(`Not archived: ${error.message}`);
      fail(error);
    } finally {
      tidy.disabled = false;
      poller.kick();
    }
  }

  /** Out of the list with one that cannot be opened. */
  async function archiveOne(name) {
    try {
      await post(path(name, "/archive"), {});
      announce(`${name} archived`);
    } catch (error) {
      announce(`Not archived: ${error.message}`);
      fail(error);
    } finally {
      poller.kick();
    }
  }

  function draw() {
    if (!known) return;
    const words = search.value.trim().toLowerCase();
    const found = known.filter((each) => matches(each, words));
    const over = known.filter((each) => OVER.includes(each.state) && !each.archived).length;
    tidy.hidden = !over;
    say(tidy, `Archive ${over === 1 ? "the one" : `all ${count(over)}`} that ${over === 1 ? "is" : "are"} over`);
    searching.hidden = known.length < MANY && !words;
    say(summary, words ? `${count(found.length)} of ${plural(known.length, "campaign")}` : tally(known));
    const wanted = found.slice(0, limit).map((each) => {
      if (!rows.has(each.name)) rows.set(each.name, new Row(each.name, archiveOne));
      return rows.get(each.name).update(each);
    });
    // only what moved is touched: the focus stays where it is
    wanted.forEach((node, k) => box.children[k] !== node && box.insertBefore(node, box.children[k] ?? null));
    while (box.childElementCount > wanted.length) box.lastElementChild.remove();
    more.hidden = found.length <= limit;
    empty.hidden = found.length > 0;
    if (!found.length) put(empty, words ? nothingFound(search.value) : nothingYet());
  }

  const poller = new Poller(load, { gap: 2000, idle: 3000, failed: fail });
  poller.kick();
  return { title: "Campaigns", heading, stop: () => poller.stop() };
}

const matches = (each, words) =>
  [each.name, each.state, each.decision ?? each.leading ?? ""].some((text) =>
    text.toLowerCase().includes(words),
  );

function tally(known) {
  if (!known.length) return "None yet";
  const states = ["running", "paused", "decided", "closed", "budget spent", "items used up", "cannot be opened"];
  const counts = states.map((state) => [known.filter((each) => each.state === state).length, state]);
  return counts
    .filter(([n]) => n)
    .map(([n, state]) => `${count(n)} ${state}`)
    .join(", ");
}

class Row {
  constructor(name, archive) {
    this.away = el(
      "button",
      { type: "button", class: "plain small", hidden: true, onclick: () => archive(name) },
      "Archive",
      el("span", { class: "hidden" }, ` ${name}`),
    );
    this.state = el("span", {});
    this.answer = el("p", { class: "glance-answer" });
    this.meter = new Meter();
    this.numbers = el("span", {});
    this.share = el("span", { class: "glance-share" });
    this.samples = el("span", { class: "glance-samples" });
    this.dates = el("p", { class: "hint" });
    const link = el("a", { href: `#/campaign/${encodeURIComponent(name)}` }, name);
    this.node = el(
      "li",
      {},
      el("div", { class: "glance-what" }, el("h2", {}, link), this.answer, this.dates, this.away),
      el("div", { class: "glance-state" }, this.state, this.samples),
      el("div", { class: "glance-evidence" }, el("p", {}, this.numbers, this.share), this.meter.node),
    );
  }

  update(each) {
    const active = each.active === null ? "nothing yet" : `last active ${ago(each.active, now())}`;
    say(this.dates, `Created ${day(each.created)}, ${active}${each.archived ? ", archived" : ""}`);
    const text = JSON.stringify(each);
    if (text === this.text) return this.node;
    this.text = text;
    put(this.state, chip(each.state));
    this.meter.update(each.evidence, each.threshold);
    const leading = leads(each) ? `Leading: ${each.leading}` : "Too early to say";
    say(this.answer, each.problem || (each.decision ?? leading));
    this.away.hidden = !each.problem || each.archived;
    this.node.classList.toggle("problem", Boolean(each.problem));
    this.answer.classList.toggle("proven", each.decision !== null);
    const known = each.evidence !== null;
    say(this.numbers, known ? `Evidence ${tenths(each.evidence)} of ${tenths(each.threshold)}` : "No evidence yet");
    say(this.share, known ? percent(Math.max(0, Math.min(1, each.evidence / each.threshold))) : NONE);
    say(
      this.samples,
      each.problem ? "" : plural(each.samples, "sample") + (each.in_flight ? ` · ${count(each.in_flight)} in flight` : ""),
    );
    return this.node;
  }
}

const nothingFound = (text) => [
  el("h2", {}, "Nothing found"),
  el("p", {}, `No campaign has “${text}” in its name, state or answer.`),
];

const nothingYet = () => [
  el("h2", {}, "No campaign yet"),
  el(
    "p",
    {},
    "A campaign is a question about some options, such as which of them is best. Workers ask it what to try next and tell it what came out; it says when there is enough evidence to stop.",
  ),
  el("p", {}, el("a", { class: "button primary", href: "#/new" }, "Create the first one")),
];
