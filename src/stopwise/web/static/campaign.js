// One campaign, live.

import { get, path, Poller, Problem, Stream, token } from "./api.js";
import { announce, chip, el, percent, plural, put, say } from "./dom.js";
import { Hero } from "./hero.js";
import { ManagePanel } from "./manage.js";
import { OptionsPanel } from "./options.js";
import { PairsPanel } from "./pairs.js";
import {
  card,
  EvidencePanel,
  hint,
  LedgerPanel,
  InFlightPanel,
  PursuitPanel,
  SharesPanel,
  WordsPanel,
} from "./panels.js";
import { RecordPanel } from "./record.js";

export function campaign(main, { name, fail, go }) {
  const view = new View(name, { changed: () => page.kick(), go });
  put(main, view.node);
  const page = new Poller((signal) => view.load(signal), {
    gap: 1000,
    back: () => stream.wake(),
    failed: (error) =>
      fail(
        error instanceof Problem && error.status === 404
          ? new Problem(404, error.kind, `There is no campaign called “${name}”.`)
          : error,
      ),
  });
  const words = new Poller((signal) => view.explain(signal), {
    gap: 10_000,
    share: 0.02,
    failed: (error) => view.words.fail(error),
  });
  const stream = new Stream(name, { news: () => page.kick(), state: (state) => view.line(state) });
  view.loaded = (last, fresh, again) => {
    page.gap = 1000 * again; // seconds: more than one when many look on
    stream.start(last);
    if (stream.last > last) page.kick(); // the answer was older than the news
    if (fresh) words.kick();
  };
  view.changed = () => words.retry();
  const clock = setInterval(() => document.hidden || view.inFlight.tick(), 5000);
  page.kick();
  return {
    title: name,
    heading: view.heading,
    stop: () => {
      clearInterval(clock);
      [page, words, stream].forEach((each) => each.stop());
    },
  };
}

class View {
  constructor(name, tools) {
    this.name = name;
    this.heading = el("h1", { tabindex: "-1" }, name);
    this.chip = el("span", {});
    this.live = el("span", { class: "line" }, "connecting");
    this.asked = el("p", { class: "lead" });
    this.hero = new Hero();
    this.start = el("div", { class: "stack", hidden: true });
    this.last = -1;
    this.words = new WordsPanel();
    this.inFlight = new InFlightPanel();
    this.record = new RecordPanel(name);
    const [options, pairs, evidence, shares, pursued, ledger] = [
      new OptionsPanel(),
      new PairsPanel(),
      new EvidencePanel(),
      new SharesPanel(),
      new PursuitPanel(),
      new LedgerPanel(),
    ];
    const manage = new ManagePanel(name, tools);
    this.panels = [options, pairs, evidence, shares, pursued, this.inFlight, ledger, this.record, manage];
    const details = el(
      "details",
      { class: "details" },
      el("summary", {}, "Details"),
      el(
        "div",
        { class: "stack" },
        el("div", { class: "pair" }, this.words.node, shares.node),
        el("div", { class: "pair" }, pursued.node, this.inFlight.node),
        ledger.node,
        this.specCard(),
      ),
    );
    this.later = [evidence.node, details]; // nothing to show before the first event, as of these:
    this.separate = [options.node, shares.node, pursued.node]; // where options have samples of their own
    this.paired = pairs.node;
    this.rest = el(
      "div",
      { class: "stack", hidden: true },
      this.start,
      options.node,
      pairs.node,
      el("div", { class: "main-pair" }, evidence.node, this.record.node),
      manage.node,
      details,
    );
    this.loading = el("p", { class: "loading", role: "status" }, "Loading…");
    setTimeout(
      () =>
        say(
          this.loading,
          "Still loading. The first time that a kind of question comes up, its code is compiled, which may take half a minute.",
        ),
      3000,
    );
    this.node = el(
      "div",
      { class: "stack" },
      el(
        "div",
        {},
        el("p", { class: "crumbs" }, el("a", { href: "#/" }, "Campaigns")),
        el(
          "div",
          { class: "title" },
          el("div", {}, this.heading, this.asked),
          el("p", { class: "states" }, this.chip, this.live),
        ),
      ),
      this.loading,
      this.hero.node,
      this.rest,
    );
  }

  specCard() {
    this.spec = el("pre", { tabindex: "0", role: "region", "aria-label": "The spec as JSON" });
    return el("details", { class: "card" }, el("summary", {}, "The spec"), this.spec);
  }

  line(state) {
    say(this.live, state);
    this.live.className = `line ${state}`;
  }

  async load(signal) {
    const page = await get(path(this.name, "/page"), signal);
    const fresh = page.last !== this.last;
    this.last = page.last;
    this.show(page);
    this.loaded(page.last, fresh, page.again);
  }

  async explain(signal) {
    const found = await get(path(this.name, "/explain"), signal, 120_000);
    this.words.update(found);
    this.inFlight.warn(found.warning);
  }

  show(page) {
    const { status, spec } = page;
    this.loading.hidden = true;
    this.rest.hidden = false;
    put(this.chip, chip(status.state));
    say(this.asked, question(page));
    say(this.spec, JSON.stringify(spec, null, 2));
    this.hero.update(page);
    const begun = page.last > 0;
    this.start.hidden = begun;
    this.later.forEach((each) => (each.hidden = !begun));
    if (!begun && !this.start.firstChild) put(this.start, firstSteps(this.name, spec.paired));
    this.panels.forEach((each) => each.update(page));
    this.separate.forEach((each) => (each.hidden = !begun || status.pairs !== null));
    this.paired.hidden = !begun || status.pairs === null;
    this.tell(status);
  }

  /** For those who listen: only what changes the state of things. */
  tell(status) {
    const text = status.decision ? `Decided: ${status.decision.text}` : `State: ${status.state}`;
    if (this.told !== undefined && this.told !== text) {
      announce(text);
      this.changed();
    }
    this.told = text;
  }
}

/** What is asked, of how many options, and how surely. */
function question({ asked, spec }) {
  const options = plural(spec.arms.length, "option");
  return `${asked} ${options}, at most ${percent(spec.delta)} risk of a wrong answer.`;
}

function firstSteps(name, paired) {
  const root = new URL(`api/${path(name)}`, document.baseURI.split("#")[0]);
  const home = new URL(".", document.baseURI.split("#")[0]).href.replace(/\/$/, "");
  const closed = token() !== null;
  const python = [
    ...(closed ? ["import os", ""] : []),
    "import stopwise as sw",
    "",
    closed
      ? `client = sw.Client("${home}", token=os.environ["STOPWISE_TOKEN"])`
      : `client = sw.Client("${home}")`,
    `campaign = client.open(${JSON.stringify(name)})`,
    "try:",
    "    while True:",
    "        (ticket,) = campaign.ask()",
    paired
      ? "        value = measure(ticket.label, ticket.item)  # the same item for every option"
      : "        value = measure(ticket.label)  # your experiment",
    "        campaign.tell(ticket.token, value)",
    "except sw.CampaignDecided as decided:",
    "    print(decided.decision.text)",
  ];
  const bearer = closed ? ` -H "authorization: Bearer $STOPWISE_TOKEN"` : "";
  const post = `curl -s${bearer} -H 'content-type: application/json'`;
  const shell = [
    "# what to try next",
    `${post} -d '{}' \\\n  "${root}/ask"`,
    "# what came out",
    `${post} -d '{"token": "…", "value": 1}' \\\n  "${root}/tell"`,
  ];
  const code = (label, lines) => [
    el("h3", {}, label),
    el("pre", { tabindex: "0", role: "region", "aria-label": label }, lines.join("\n")),
  ];
  return card(
    "Waiting for the first sample",
    hint("Workers ask which option to try, and tell what came out. As many as you like may do so at once."),
    closed
      ? hint(
          "A worker has a token of its own, in STOPWISE_TOKEN: ",
          el("code", {}, "stopwise token create NAME --role work"),
        )
      : null,
    code("A worker in Python", python),
    code("The same two requests in a shell", shell),
  );
}
