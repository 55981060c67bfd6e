"""The page in a real browser: a whole campaign by keyboard, live, with nothing from elsewhere."""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from browser import Service, Window, browser
from serving import until
from stopwise.campaign.storage.store import Store
from stopwise.web.tokens import Tokens

LABEL = "<script>alert(1)</script>"
STATIC = Path(__file__).parents[2] / "src" / "stopwise" / "web" / "static"
Opener = Callable[..., Window]


def unfold(page: Page) -> None:
    """Open all that is folded, from the outside in."""
    closed = page.locator("details:not([open]) > summary:visible")
    while closed.count():
        closed.first.click()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as found:
        yield found


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """With campaigns in all states."""
    with Service(f"sqlite:///{tmp_path_factory.mktemp('page')}/store.db") as found:
        found.create("settled", arms=["tails", "heads"], order="told")  # the spare is late
        (spare,) = found.campaign("settled", "/ask", {})
        assert found.work("settled", lambda _, arm: float(arm), 200)
        found.campaign("settled", "/tell", {"token": spare["token"], "value": 1.0})  # late
        found.create("open", arms=[LABEL, "b" * 200, "short"], costs=[1, 2, 3], budget=1000)
        found.work("open", lambda place, arm: float((place + arm) % 3 == 0), 20)
        (ticket, _) = found.campaign("open", "/ask", {"n": 2, "lease": 600})
        found.campaign("open", "/release", {"token": ticket["token"], "reason": "<b>gone</b>"})
        found.create("empty & new", arms=["a", "b"])
        found.create("pairs", arms=["short", "long", LABEL], paired=True, items=500)
        found.work_items("pairs", lambda item, arm: float((7 * item) % 10 < (6, 7, 2)[arm]), 120)
        found.campaign("pairs", "/ask", {"n": 2})
        yield found


@pytest.fixture
def opened(chromium: Browser, service: Service) -> Iterator[Opener]:
    """New windows, each with an empty profile; all are checked at the end."""
    made: list[tuple[Any, Window, bool]] = []

    def window(address: str = service.url, strict: bool = True, **options: Any) -> Window:
        context = chromium.new_context(**options)
        made.append((context, Window(context, address), strict))
        return made[-1][1]

    yield window
    for context, each, strict in made:
        if strict:
            each.check()
        context.close()


def test_a_whole_campaign_with_the_keyboard_alone(service: Service, opened: Opener) -> None:
    """Create, watch live while a worker tells, decide, verify: never a mouse."""
    window = opened()
    page, press = window.page, window.page.keyboard.press
    window.open("")
    window.tab_to("Skip to the content")
    window.tab_to("New campaign")
    press("Enter")
    expect(page.get_by_role("heading", name="New campaign", level=1)).to_be_focused()
    window.tab_to("Name")
    page.keyboard.type("by keyboard")
    window.tab_to("Option 1")
    page.keyboard.type(LABEL)
    press("Enter")  # the next arm
    page.keyboard.type("plain")
    window.tab_to("Create the campaign")
    press("Enter")
    expect(page.get_by_role("heading", name="by keyboard", level=1)).to_be_focused()
    expect(page.get_by_text("Waiting for the first sample")).to_be_visible()
    expect(page.locator(".line")).to_have_text("live")

    samples = page.locator("[data-stat=samples] b")
    for told in (2, 5, 8):  # the page follows, at whatever pace
        most = told - service.campaign("by keyboard")["samples"]
        assert not service.work("by keyboard", lambda place, arm: float(arm == 0), most)
        expect(samples).to_have_text(str(told))
    assert service.work("by keyboard", lambda place, arm: float((place % 5 == 0) == arm), 300)
    expect(page.locator(".hero.decided")).to_be_visible()
    expect(page.locator(".hero-text")).to_have_text(f"{LABEL} is best")
    expect(page.locator("#announce")).to_contain_text(f"Decided: {LABEL} is best")
    decision = service.campaign("by keyboard")["decision"]
    facts = page.locator(".facts")
    for fact in (f"{decision['evidence']:.3f}", f"{decision['threshold']:.3f}", decision["key"]):
        expect(facts).to_contain_text(fact)
    window.tab_to("Verify")
    press("Enter")
    expect(page.locator(".verdict")).to_contain_text("Agrees")
    assert window.sizes, "no page was loaded"
    print(f"\nlargest page update: {max(window.sizes):,} bytes of {len(window.sizes)}")


def test_script_in_a_label_is_text(opened: Opener) -> None:
    window = opened()
    window.page.on("dialog", lambda dialog: pytest.fail(dialog.message))
    window.open("#/campaign/open")
    page = window.page
    expect(page.locator(".plot-name", has_text=LABEL).first).to_be_visible()
    unfold(page)
    expect(page.locator(".ledger").get_by_text("<b>gone</b>")).to_be_visible()
    expect(page.locator(".words li").first).to_be_visible()
    assert page.locator("main script, main b b, td b").count() == 0
    window.open("#/")
    expect(page.locator(".glance li")).not_to_have_count(0)
    assert page.locator("main script").count() == 0


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(theme: str, opened: Opener) -> None:
    window = opened(color_scheme=theme, reduced_motion="reduce")
    page = window.page
    window.open("#/")
    expect(page.locator(".glance li").first).to_be_visible()
    assert window.violations() == []
    for name in ("open", "settled", "pairs", "empty%20%26%20new"):
        window.open(f"#/campaign/{name}")
        expect(page.locator(".stats")).to_be_visible()
        expect(page.locator(".words li").first).to_be_attached()
        unfold(page)
        page.get_by_role("button", name="Verify").click()
        expect(page.locator(".verdict")).to_contain_text("Agrees")
        assert window.violations() == [], name
    window.open("#/new")
    page.get_by_text("Stopping rule, strategy and budget").click()
    page.get_by_label("Samples have costs").check()
    assert window.violations() == []
    page.get_by_label("Every option gets the same items").check()
    assert window.violations() == []
    window.open("#/campaign/nobody")
    expect(page.get_by_text("There is no campaign called “nobody”.")).to_be_visible()
    assert window.violations() == []
    window.complaints = [each for each in window.complaints if "404" not in each]


REFUSED = [
    ({"Risk of a wrong answer (delta)": "2"}, "delta", "probability strictly between 0 and 1"),
    ({"Risk of a wrong answer (delta)": "no"}, "delta", "got 'no'; allowed: a finite number"),
    ({"Name": ""}, "name", "at least 1 character"),
    ({"Option 2": "one"}, "arms[1]", "different texts"),
    ({"Epsilon optional": "-1"}, "question.epsilon", "at least 0"),
    ({"Budget optional": "1.5"}, "budget", "whole number"),
    ({"Cost of a sample of option 2": "0"}, "costs[1]", "above 0"),
]


def test_the_services_own_messages_stand_next_to_their_fields(opened: Opener) -> None:
    window = opened()
    page = window.page
    for changes, name, message in REFUSED:
        window.open("#/")
        window.open("#/new")
        page.get_by_text("Stopping rule, strategy and budget").click()
        page.get_by_label("Samples have costs").check()
        usual = {"Name": "refused", "Option 1": "one", "Option 2": "two"}
        usual |= {"Cost of a sample of option 1": "1", "Cost of a sample of option 2": "1"}
        for label, text in {**usual, **changes}.items():
            page.get_by_label(label, exact=True).fill(text)
        page.get_by_role("button", name="Create the campaign").click()
        field = page.get_by_label(next(iter(changes)), exact=True)
        expect(field).to_be_focused()
        expect(field).to_have_attribute("aria-invalid", "true")
        expect(field).to_have_accessible_description(re.compile(re.escape(message)))
        expect(page.get_by_role("alert")).to_contain_text(f"{name}: ")
    assert window.violations() == []
    window.complaints = [each for each in window.complaints if "422" not in each]


def test_verify_says_when_the_record_does_not_agree(service: Service, opened: Opener) -> None:
    service.create("forged", arms=["a", "b"])
    service.work("forged", lambda _, arm: float(arm), 200)
    change = "update stopwise_events set value = 1 - value where kind = 'told' and campaign = "
    which = "(select id from stopwise_campaigns where name = 'forged')"
    with sqlite3.connect(service.storage.removeprefix("sqlite:///")) as connection:
        connection.execute(change + which)
    window = opened()
    window.open("#/campaign/forged")
    window.page.get_by_role("button", name="Verify").click()
    expect(window.page.locator(".verdict.bad")).to_contain_text("Does not agree")
    assert window.page.locator(".verdict li").count() > 0
    assert window.violations() == []


def test_late_events_are_marked(opened: Opener) -> None:
    window = opened()
    window.open("#/campaign/settled")
    expect(window.page.locator(".ledger tbody tr").first).to_contain_text("late")


def test_readable_on_a_phone(opened: Opener) -> None:
    window = opened(viewport={"width": 360, "height": 740})
    page = window.page
    for route in ("#/", "#/new", "#/campaign/pairs", "#/campaign/open", "#/campaign/settled"):
        window.open(route)
        expect(page.locator(".glance li, .stats, form .card").first).to_be_visible()
        page.wait_for_timeout(200)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, route
    assert page.evaluate("document.documentElement.scrollHeight") < 3 * 740


def test_who_beats_whom_on_the_same_items(service: Service, opened: Opener) -> None:
    """A ladder with who is out, a matrix of evidence, and what is asked of workers."""
    window = opened()
    page = window.page
    window.open("#/campaign/pairs")
    panel = page.get_by_role("region", name="Options on the same items")
    expect(panel).to_contain_text("of a pool of 500 so far")
    ladder = panel.locator(".plot-row .plot-name")
    expect(ladder).to_have_text(["long", "short", LABEL])
    expect(panel.locator(".plot-note").last).to_contain_text("is ahead")
    expect(panel.locator(".beats tbody tr").first).to_contain_text("100%")
    expect(page.locator("[data-stat=samples]")).to_contain_text("Items")
    unfold(page)
    expect(page.locator(".ledger")).to_contain_text("item ")
    expect(page.get_by_role("region", name="Equal results")).to_contain_text("%")
    for title in ("Where samples go", "Pursued answer"):
        expect(page.get_by_role("heading", name=title)).to_be_hidden()
    service.create("pairs to come", arms=["a", "b"], paired=True)
    window.open("#/campaign/pairs%20to%20come")
    expect(page.get_by_text("measure(ticket.label, ticket.item)")).to_be_visible()


def test_a_paired_campaign_is_created_with_the_form(service: Service, opened: Opener) -> None:
    window = opened()
    page = window.page
    window.open("#/new")
    page.get_by_label("Name", exact=True).fill("made in pairs")
    page.get_by_label("Option 1", exact=True).fill("one")
    page.get_by_label("Option 2", exact=True).fill("two")
    page.get_by_label("Every option gets the same items").check()
    expect(page.get_by_text("Your guess of the means")).to_be_hidden()
    page.get_by_label("Items in the pool").fill("0")
    page.get_by_role("button", name="Create the campaign").click()
    expect(page.locator("#field-items-error")).to_contain_text("at least 1")
    page.get_by_label("Items in the pool").fill("40")
    page.get_by_role("button", name="Create the campaign").click()
    expect(page.get_by_role("heading", name="made in pairs", level=1)).to_be_visible()
    window.complaints = [each for each in window.complaints if "422" not in each]
    spec = service.campaign("made in pairs", "/page")["spec"]
    assert (spec["paired"], spec["items"]) == (True, 40)


OUTLINED = """() => {
  const found = [null, "::after"].map((part) => getComputedStyle(document.activeElement, part));
  return found.some((each) => each.outlineStyle !== "none" && parseFloat(each.outlineWidth) >= 2);
}"""


def test_the_focus_is_visible_everywhere(opened: Opener) -> None:
    window = opened()
    page = window.page
    for route in ("#/", "#/new", "#/campaign/open"):
        window.open(route)
        expect(page.locator(".glance li, .stats, form .card").first).to_be_visible()
        names = []
        for _ in range(60):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement === document.body"):
                break
            names.append(window.focused())
            assert page.evaluate(OUTLINED), f"{route}: {names[-1]}"
        assert len(names) >= 5, route


@pytest.mark.parametrize("wish", ["reduce", "no-preference"])
def test_nothing_moves_where_that_is_not_wanted(wish: str, opened: Opener) -> None:
    window = opened(reduced_motion=wish)
    page = window.page
    window.open("#/campaign/open")
    expect(page.locator(".line.live")).to_be_visible()
    moving = page.evaluate("document.getAnimations().length")
    assert (moving > 0) == (wish == "no-preference")
    window.open("#/")
    expect(page.locator(".glance li").first).to_be_visible()
    slow = """[...document.querySelectorAll("*")].filter(
      (each) => parseFloat(getComputedStyle(each).transitionDuration) > 0).length"""
    assert (page.evaluate(slow) > 0) == (wish == "no-preference")


def test_fifty_arms_with_long_labels(service: Service, opened: Opener) -> None:
    labels = [f"configuration {k}, " + "a rather long description of it " * 4 for k in range(50)]
    service.create("fifty", arms=[label.strip() for label in labels])
    service.work("fifty", lambda place, arm: float((place + arm) % 3 == 0), 60)
    window = opened(viewport={"width": 360, "height": 740})
    page = window.page
    window.open("#/campaign/fifty")
    unfolded = page.locator("summary", has_text=re.compile("^(Evidence so far|Details)$"))
    for place in range(2):
        unfolded.nth(place).click()
    expect(page.locator(".chart")).to_have_accessible_name(re.compile("^Evidence .* after 60 samp"))
    pictures = page.locator(".plots")
    for place, start in enumerate(("Means with intervals. conf", "Shares of the samples. conf")):
        expect(pictures.nth(place)).to_have_role("img")
        expect(pictures.nth(place)).to_have_accessible_name(re.compile(f"^{start}"))
    expect(page.get_by_text("The 24 options with the most samples, of 50")).to_have_count(2)
    page.locator("summary:visible", has_text="The numbers").first.click()
    expect(page.locator("details.data[open] tbody tr")).to_have_count(50)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert window.violations() == []


def test_why_the_pursued_answer_changed(service: Service, opened: Opener) -> None:
    window = opened()
    page = window.page
    window.open("#/campaign/settled")
    first = page.locator(".changes li").last
    expect(first).to_contain_text("the means favoured it once every arm had a sample")
    service.create("steady", arms=["a", "b"], strategy="uniform")
    service.work("steady", lambda place, arm: float(place % 2 == arm), 6)
    window.open("#/campaign/steady")
    expect(page.get_by_role("heading", name="steady", level=1)).to_be_visible()
    expect(page.locator(".stats")).to_be_visible()
    unfold(page)
    expect(page.get_by_text("Uniform sampling pursues no answer")).to_be_visible()
    expect(page.locator(".changes, .plots.one")).to_have_count(1)
    expect(page.locator(".changes")).to_be_hidden()


def test_the_first_screen_has_no_jargon_and_does_not_contradict_itself(opened: Opener) -> None:
    window = opened()
    page = window.page
    for name in ("open", "settled"):
        window.open(f"#/campaign/{name}")
        expect(page.get_by_role("heading", name=name, level=1)).to_be_visible()
        expect(page.locator(".stats")).to_be_visible()
        seen = page.locator("main").inner_text().lower()
        for word in ("oracle", "pursued", "weight", "threshold", "sticky", "martingale"):
            assert word not in seen, (name, word)
    expect(page.locator("[data-stat=evidence] b")).to_have_text(re.compile(r"^\d+\.\d of \d+\.\d$"))
    marked = page.locator(".plots").first.locator(".plot-row", has=page.locator(".tag"))
    expect(marked).to_have_count(1)
    expect(marked).to_contain_text("heads")
    expect(marked).to_contain_text("the answer")
    expect(page.locator(".hero-text")).to_have_text("heads is best")


def test_options_are_sorted_by_their_means_and_say_by_how_much_they_differ(
    service: Service, opened: Opener
) -> None:
    service.create("shares", arms=["few", "most", "some"], strategy="uniform")
    service.work("shares", lambda place, arm: float(place % 10 < [2, 8, 5][arm]), 60)
    window = opened()
    window.open("#/campaign/shares")
    rows = window.page.locator(".plots").first.locator(".plot-row:has(.plot-name)")
    expect(rows).to_have_count(3)
    means = dict(zip(["few", "most", "some"], window_means(service, "shares"), strict=True))
    wanted = sorted(means, key=lambda label: -means[label])
    for place, label in enumerate(wanted):
        expect(rows.nth(place).locator(".plot-name")).to_have_text(label)
    expect(rows.first).to_contain_text("leads")
    share = means[wanted[0]] / means[wanted[1]] - 1.0
    expect(rows.first).to_contain_text(f"({100 * share:.3g}%) above {wanted[1]}")
    expect(rows.nth(2)).to_contain_text("below")


def window_means(service: Service, name: str) -> list[float]:
    return [arm["mean"] for arm in service.campaign(name)["arms"]]


def test_a_guess_of_the_means_shows_what_it_may_cost(opened: Opener) -> None:
    window = opened()
    page = window.page
    window.open("#/new")
    page.get_by_label("Option 1", exact=True).fill("old")
    page.get_by_label("Option 2", exact=True).fill("new")
    guess = page.get_by_label("Your guess of the means optional", exact=True)
    guess.fill("20%, 60%")
    shown = page.locator(".preview")
    expect(shown).to_have_text(
        re.compile(r"^About \d+ samples on average; nine of ten need between")
    )
    expect(
        page.get_by_text(re.compile(r"^A classical test for these means takes \d+, may be"))
    ).to_be_visible()
    first = shown.inner_text()
    page.get_by_label("Risk of a wrong answer (delta)", exact=True).fill("0.1%")
    expect(shown).not_to_have_text(first)
    expect(shown).to_have_text(re.compile(r"^About \d+ samples on average"))
    guess.fill("0.5, 0.5")
    expect(guess).to_have_accessible_description(re.compile("no test ever ends"))
    guess.fill("20%, sixty")  # nothing is left out: the means would move to other options
    expect(guess).to_have_accessible_description(re.compile("“sixty” is not a number"))
    expect(shown).to_be_empty()
    guess.fill("20%, 60%")
    expect(shown).to_have_text(re.compile(r"^About \d+ samples on average"))
    expect(guess).not_to_have_accessible_description(re.compile("not a number"))
    assert window.violations() == []
    window.complaints = [each for each in window.complaints if "422" not in each]


def test_a_campaign_is_paused_renamed_closed_and_archived(service: Service, opened: Opener) -> None:
    service.create("errand", arms=["a", "b"], budget=100, room=3)
    service.work("errand", lambda place, arm: float(place % 2 == arm), 4)
    window = opened()
    page = window.page
    window.open("#/campaign/errand")
    page.locator("summary", has_text="Manage").click()
    reason = page.get_by_label("Note or reason optional", exact=True)
    page.get_by_role("button", name="Close without an answer").click()
    expect(reason).to_have_attribute("aria-invalid", "true")  # to close needs a reason
    reason.fill("the lab is shut")
    page.get_by_role("button", name="Pause", exact=True).click()
    expect(page.locator(".chip")).to_have_text("paused")
    expect(page.locator(".hero")).to_contain_text("Paused: the lab is shut.")
    page.get_by_role("button", name="Resume").click()
    expect(page.locator(".chip")).to_have_text("running")
    page.get_by_label("Budget optional", exact=True).fill("500")
    page.get_by_role("button", name="Set the budget").click()
    expect(page.locator("[data-stat=samples]")).to_contain_text("of at most 500")
    page.get_by_label("Minimum optional", exact=True).fill("7")
    page.get_by_role("button", name="Set the minimum").click()
    until(lambda: any("minimum" in each["note"] for each in service.campaign("errand", "/events")))
    options = page.locator("section", has=page.get_by_role("heading", name="Options", exact=True))
    page.get_by_label("Option", exact=True).select_option("b")
    page.get_by_label("Label", exact=True).fill("bee")
    page.get_by_role("button", name="Relabel").click()
    expect(options).to_contain_text("bee")
    page.get_by_label("Label", exact=True).fill("bee")
    page.get_by_role("button", name="Add an option").click()
    label = page.get_by_label("Label", exact=True)
    expect(label).to_have_attribute("aria-invalid", "true")  # there is one
    label.fill("sea")
    page.get_by_role("button", name="Add an option").click()
    expect(options).to_contain_text("sea")
    expect(page.get_by_role("button", name="Add an option")).to_be_hidden()  # no room for more
    page.get_by_label("Name", exact=True).fill("errand of May")
    page.get_by_role("button", name="Rename").click()
    expect(page.get_by_role("heading", name="errand of May", level=1)).to_be_visible()
    page.locator("summary", has_text="Manage").click()
    page.get_by_label("Note or reason optional", exact=True).fill("not worth it")
    page.get_by_role("button", name="Close without an answer").click()
    expect(page.locator(".hero")).to_contain_text("Closed without an answer: not worth it.")
    assert window.violations() == []
    window.open("#/")
    row = page.locator(".glance li", has_text="errand of May")
    expect(row).to_contain_text("last active")
    page.get_by_role("button", name=re.compile("^Archive .* over$")).click()
    expect(row).to_have_count(0)
    page.get_by_label("Show archived").check()
    expect(row).to_contain_text("archived")
    assert window.violations() == []
    kinds = [event["kind"] for event in service.campaign("errand of May", "/events")]
    for verb in ("paused", "resumed", "changed", "renamed", "closed", "archived"):
        assert verb in kinds, kinds
    window.complaints = [each for each in window.complaints if "422" not in each]


def test_theme_is_remembered(opened: Opener) -> None:
    window = opened(color_scheme="light")
    page = window.page
    window.open("")
    page.get_by_role("button", name="Use the dark theme").click()
    page.reload()
    dark = page.evaluate("getComputedStyle(document.body).colorScheme")
    assert dark == "dark"
    expect(page.get_by_role("button", name="Use the light theme")).to_be_visible()


def test_a_hidden_tab_rests(service: Service, opened: Opener) -> None:
    window = opened()
    page = window.page
    window.open("#/campaign/open")
    expect(page.locator(".line")).to_have_text("live")
    hide = """hidden => {
      Object.defineProperty(document, "hidden", {value: hidden, configurable: true});
      document.dispatchEvent(new Event("visibilitychange"));
    }"""
    page.evaluate(hide, True)
    expect(page.locator(".line")).to_have_text("paused")
    page.wait_for_timeout(1200)
    before = len(window.requests)
    service.campaign("open", "/record", {"arm": 2, "value": 1.0})
    page.wait_for_timeout(1500)
    assert len(window.requests) == before
    page.evaluate(hide, False)
    expect(page.locator(".line")).to_have_text("live")
    expect(page.locator(".ledger td").first).to_have_text(str(service.campaign("open")["events"]))


def test_export_and_first_paint(service: Service, opened: Opener) -> None:
    window = opened(accept_downloads=True)
    page = window.page
    window.open("#/campaign/settled")
    with page.expect_download() as waiting:
        page.get_by_role("link", name="JSON lines").click()
    lines = Path(waiting.value.path()).read_text().splitlines()
    assert len(lines) >= service.campaign("settled")["events"]
    paint = "performance.getEntriesByType('paint').map(e => [e.name, Math.round(e.startTime)])"
    page.reload()
    expect(page.locator(".stats")).to_be_visible()
    whole = page.evaluate("Math.round(performance.now())")
    print(f"\npaint (ms): {dict(page.evaluate(paint))}; campaign shown after {whole} ms")


def test_the_service_goes_and_comes_back(tmp_path: Path, opened: Opener) -> None:
    storage = f"sqlite:///{tmp_path}/store.db"
    with Service(storage) as first:
        first.create("patient", arms=["a", "b"])
        first.work("patient", lambda _, arm: float(arm), 3)
        window = opened(first.url, strict=False)
        page = window.page
        window.open("#/campaign/patient")
        expect(page.locator(".line")).to_have_text("live")
        first.kill()
    expect(page.locator("#away")).to_contain_text("The service does not answer.")
    expect(page.locator(".line")).to_have_text("reconnecting")
    with Service(storage, first.port) as second:
        page.get_by_role("button", name="Try now").click()
        expect(page.locator("#away")).to_be_empty()
        expect(page.locator(".line")).to_have_text("live")
        second.campaign("patient", "/record", {"arm": 1, "value": 1.0})
        last = str(second.campaign("patient")["events"])
        expect(page.locator(".ledger td").first).to_have_text(last)
        page.goto("about:blank")  # open streams are waited for when a service ends


def test_a_closed_service_asks_for_a_token(tmp_path: Path, opened: Opener) -> None:
    storage = f"sqlite:///{tmp_path}/store.db"
    reader = Tokens(Store(storage)).create("reader", "read")
    with Service(storage) as closed:
        window = opened(closed.url, strict=False)
        page = window.page
        window.open("")
        dialog = page.get_by_role("dialog", name="A token, please")
        expect(dialog).to_contain_text("A token is needed")
        assert window.violations() == []
        page.keyboard.type("sw_wrong_token")
        page.keyboard.press("Enter")
        expect(dialog).to_contain_text("not known, or was revoked")
        page.keyboard.type(reader)
        page.keyboard.press("Enter")
        expect(page.get_by_text("No campaign yet")).to_be_visible()
        assert page.evaluate("Object.keys(localStorage)") == []
        window.open("#/new")
        page.get_by_label("Name", exact=True).fill("mine")
        page.get_by_label("Option 1", exact=True).fill("a")
        page.get_by_role("button", name="Create the campaign").click()
        expect(page.get_by_role("alert")).to_contain_text("the token may read; this needs admin")
        page.get_by_role("button", name="Forget the token").click()
        expect(dialog).to_be_visible()


def test_the_page_makes_no_markup_from_text() -> None:
    """No sink for markup, no inline script or style, no address elsewhere."""
    bad = re.compile(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|new Function")
    elsewhere = re.compile(r"(?:https?:)?//(?!www\.w3\.org/2000/svg)[a-z0-9]", re.IGNORECASE)
    for path in STATIC.iterdir():
        text = path.read_text(encoding="utf-8")
        assert len(text.splitlines()) <= 420, path
        assert not bad.search(text), path
        code = "\n".join(line.split("// ")[0] for line in text.splitlines())
        assert not elsewhere.search(code), path
    html = (STATIC / "index.html").read_text(encoding="utf-8")
    assert not re.search(r"<script>|<style|\sstyle=|\son\w+=", html)


def test_samples_that_contradict_the_family_are_said_so(service: Service, opened: Opener) -> None:
    """On the first screen, decided or not; and a decision does not promise what it cannot."""
    known = {"kind": "gaussian", "variance": 1}
    service.create("latency", arms=["a", "b"], family=known, minimum=4)
    assert service.work("latency", lambda place, arm: 100.0 + 40.0 * ((7 * place + arm) % 5), 12)
    page = (window := opened()).page
    window.open("#/campaign/latency")
    warning = page.locator(".hero .warned")
    expect(warning).to_contain_text("lie further apart than Gaussian(variance=1.0) allows")
    expect(warning).to_contain_text("the probability of that by chance is")
    expect(page.locator(".hero .hint")).not_to_contain_text("with probability")
    assert window.violations() == []
    window.open("#/campaign/open")
    expect(page.locator(".hero .warned")).to_be_hidden()


def test_missing_values_are_said(service: Service, opened: Opener) -> None:
    service.create("missing", arms=["a", "b"])
    service.campaign("missing", "/ask", {"n": 1, "lease": 0.05})
    time.sleep(0.1)
    service.campaign("missing", "/ask", {"n": 1})  # notices that the lease is over
    page = (window := opened()).page
    window.open("#/campaign/missing")
    expect(page.locator(".about-losses")).to_contain_text(
        "1 value is missing: until it comes, it counts as"
    )
    assert window.violations() == []


def test_the_form_leaves_a_variance_to_the_samples(opened: Opener) -> None:
    """Unknown, unless somebody writes a number; an empty field is refused where it is."""
    page = (window := opened()).page
    window.open("#/new")
    page.get_by_label("Name", exact=True).fill("times")
    page.get_by_label("Option 1", exact=True).fill("old")
    page.get_by_label("Option 2", exact=True).fill("new")
    page.get_by_label("One sample is", exact=True).select_option("gaussian")
    variance = page.get_by_label("Variance", exact=True)
    expect(variance).to_have_value("unknown")
    page.get_by_label("Your guess of the means optional", exact=True).fill("120, 140")
    spread = page.get_by_label("Your guess of the standard deviations", exact=True)
    spread.fill("20")
    expect(page.locator(".preview")).to_have_text(re.compile(r"^About \d+ samples on average"))
    variance.fill("")
    page.get_by_role("button", name="Create the campaign").click()
    expect(variance).to_have_accessible_description(re.compile('variance = "unknown"'))
    assert window.violations() == []
    variance.fill("unknown")
    page.get_by_role("button", name="Create the campaign").click()
    expect(page.get_by_role("heading", name="times", level=1)).to_be_visible()
    window.complaints = [each for each in window.complaints if "422" not in each]
