// The page: which view is shown, the theme, the token and the service's absence.

import { Away, forget, onAway, onTokenNeeded, token, tryNow } from "./api.js";
import { campaign } from "./campaign.js";
import { announce, el, put, say, span } from "./dom.js";
import { form } from "./form.js";
import { list } from "./list.js";

const main = document.getElementById("main");
let view = null;

// -------------------------------------------------------------------------------------- routes

const go = (hash) => {
  location.hash = hash;
};

function route() {
  const hash = location.hash || "#/";
  if (!hash.startsWith("#/")) return;
  view?.stop();
  const first = view === null;
  const named = /^#\/campaign\/([^/]+)$/.exec(hash);
  const tools = { go, fail: (error) => (view.stop(), show(problemView(error))) };
  let name = null;
  try {
    name = named && decodeURIComponent(named[1]);
  } catch {
    // not a name: not found, below
  }
  if (hash === "#/") show(list(main, tools));
  else if (hash === "#/new") show(form(main, tools));
  else if (name) show(campaign(main, { ...tools, name }));
  else show(problemView(new Error("There is no such page.")));
  for (const link of document.querySelectorAll("[data-route]")) {
    const here =
      (link.dataset.route === "list" && hash === "#/") || (link.dataset.route === "new" && hash === "#/new");
    if (here) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (first) return;
  scrollTo(0, 0);
  view.heading.focus({ preventScroll: true });
}

function show(made) {
  view = made;
  document.title = `${made.title} · stopwise`;
}

/** Something that trying again will not mend by itself. */
function problemView(error) {
  const heading = el("h1", { tabindex: "-1" }, error.status === 404 ? "Not found" : "This did not work");
  const actions = [
    el("a", { class: "button plain", href: "#/" }, "All campaigns"),
    el("button", { type: "button", class: "primary", onclick: route }, "Try again"),
  ];
  const text = error instanceof Away ? "The service does not answer." : error.message;
  put(
    main,
    el(
      "div",
      { class: "empty" },
      heading,
      el("p", { role: "alert" }, text),
      el("div", { class: "actions" }, actions),
    ),
  );
  signed();
  return { title: "Problem", heading, stop: () => {} };
}

// --------------------------------------------------------------------------------------- theme

const dark = matchMedia("(prefers-color-scheme: dark)");
const button = document.getElementById("theme");
const theme = () => document.documentElement.dataset.theme ?? (dark.matches ? "dark" : "light");

function nameTheme() {
  say(
    document.getElementById("theme-name"),
    theme() === "dark" ? "Use the light theme" : "Use the dark theme",
  );
}

button.addEventListener("click", () => {
  const wanted = theme() === "dark" ? "light" : "dark";
  document.documentElement.dataset.theme = wanted;
  localStorage.setItem("stopwise-theme", wanted);
  nameTheme();
});
dark.addEventListener("change", nameTheme);
nameTheme();

// --------------------------------------------------------------------------------------- token

const dialog = document.getElementById("token");
const text = document.getElementById("token-text");

onTokenNeeded((why) => {
  say(document.getElementById("token-why"), why[0].toUpperCase() + why.slice(1));
  text.value = "";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue || null), { once: true });
    dialog.returnValue = "";
  }).finally(() => setTimeout(signed));
});

dialog.querySelector("form").addEventListener("submit", (event) => {
  event.preventDefault();
  if (text.value.trim()) dialog.close(text.value.trim());
});
document.getElementById("token-cancel").addEventListener("click", () => dialog.close(""));

function signed() {
  const leave = () => {
    forget();
    signed();
    route();
  };
  put(
    document.getElementById("signed"),
    token()
      ? el("button", { type: "button", class: "plain small", onclick: leave }, "Forget the token")
      : null,
  );
}

// ---------------------------------------------------------------------------------------- away

const banner = document.getElementById("away");
let counting = null;

onAway((why, until) => {
  clearInterval(counting);
  if (why === null) {
    if (banner.firstChild) announce("The service answers again");
    put(banner);
    return;
  }
  if (!banner.firstChild) {
    const again = el("button", { type: "button", class: "plain small", onclick: tryNow }, "Try now");
    // the seconds change too often to be read aloud
    put(banner, el("div", { class: "wide" }, el("strong", {}), el("span", { "aria-hidden": "true" }), again));
  }
  const [words, left] = banner.firstChild.children;
  say(words, `${why[0].toUpperCase()}${why.slice(1)}.`);
  const tick = () => say(left, `Trying again in ${span(Math.max(0, until - Date.now()) / 1000)}.`);
  tick();
  counting = setInterval(tick, 500);
});

// --------------------------------------------------------------------------------------- start

document.getElementById("skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
addEventListener("hashchange", route);
signed();
route();
fetch("health")
  .then((answer) => answer.json())
  .then(({ version }) => say(document.getElementById("version"), `stopwise ${version}`))
  .catch(() => {});
