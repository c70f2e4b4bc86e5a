# SPDX-License-Identifier: BSD-3-Clause
"""The report in a real browser: every part by mouse and keyboard, at all widths, in both schemes.

Any error or warning that the browser's console shows fails the test.
"""

import json
import shutil

import numpy as np
import pytest

from co2forest import CO2TreeClassifier
from co2forest.report import write_report
from report_pages import (
    EVIL,
    cancer_report,
    digits_report,
    document_of,
    labels_report,
    numbers_report,
)

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
CHROMEDRIVER = shutil.which("chromedriver")
if not (CHROMIUM and CHROMEDRIVER):
    pytest.skip(
        "no chromium with its chromedriver here (Debian: apt-get install chromium-driver)",
        allow_module_level=True,
    )
webdriver = pytest.importorskip("selenium.webdriver")

from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402

WIDTHS = (360, 1280, 2560)
SCALE = "document.querySelector('.stage g').getAttribute('transform').split('scale')[1]"
pytestmark = pytest.mark.plain_build  # a browser cannot live with a preloaded sanitizer


class Page:
    """A report in the browser."""

    def __init__(self, driver, pages):
        self.driver, self.pages = driver, pages

    def open(self, name, *, width=1280, dark=False, script=True):
        features = {
            "prefers-color-scheme": "dark" if dark else "light",
            "prefers-reduced-motion": "reduce",  # no waiting for the end of scrolling
        }
        self.command(
            "Emulation.setEmulatedMedia",
            features=[{"name": key, "value": value} for key, value in features.items()],
        )
        self.command("Emulation.setScriptExecutionDisabled", value=not script)
        self.resize(width)
        self.driver.get_log("browser")
        self.driver.get(self.pages[name].as_uri())
        return document_of(self.pages[name])

    def command(self, name, **parameters):
        return self.driver.execute_cdp_cmd(name, parameters)

    def resize(self, width):
        metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self.command("Emulation.setDeviceMetricsOverride", **metrics)

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def button(self, text):
        return self.driver.find_element(By.XPATH, f"//button[.='{text}']")

    def text(self, selector):
        return self.one(selector).text

    def ask(self, expression, *arguments):
        return self.driver.execute_script(f"return {expression}", *arguments)

    def press(self, *keys):
        webdriver.ActionChains(self.driver).send_keys(*keys).perform()

    def focused(self):
        return self.driver.switch_to.active_element

    def open_node(self):
        return self.one(".node[aria-selected=true]")

    def check(self):
        """Nothing on the console, and no need to scroll sideways."""
        assert self.driver.get_log("browser") == []
        wide = self.ask(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        assert wide == 0


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    reports = (digits_report, cancer_report, numbers_report, labels_report)
    pages = {make.__name__.removesuffix("_report"): make(folder)[3] for make in reports}
    X = np.random.default_rng(0).normal(size=(20, 2))
    root = CO2TreeClassifier(random_state=0).fit(X, np.zeros(20))
    pages["root"] = write_report(root, X[:1], np.zeros(1), folder / "root.html")
    return pages


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in (
        "--headless=new",
        "--no-sandbox",  # which root has none of
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--no-first-run",
        f"--user-data-dir={tmp_path_factory.mktemp('profile')}",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(CHROMEDRIVER))
    yield driver
    driver.quit()


@pytest.fixture
def page(driver, pages):
    page = Page(driver, pages)
    yield page
    page.check()


@pytest.mark.parametrize("name", ["digits", "cancer", "numbers", "labels", "root"])
def test_every_width_and_scheme(page, name):
    grounds = set()
    for dark in (False, True):
        page.open(name, dark=dark)
        for width in WIDTHS:
            page.resize(width)
            page.check()
        grounds.add(page.ask("getComputedStyle(document.body).backgroundColor"))
        page.one("input[value=light]" if dark else "input[value=dark]").click()
        grounds.add(page.ask("getComputedStyle(document.body).backgroundColor"))
    assert len(grounds) == 2  # the switch gives the same two as the system
    assert len(page.all("section")) == len(page.all(".contents a"))


def test_confusion_filters_the_table(page):
    document = page.open("digits")
    counts = np.array(document["confusion"]["counts"])
    truth, said = np.argwhere((counts > 0) & ~np.eye(10, dtype=bool))[0]
    page.one(f"td[data-truth='{truth}'][data-prediction='{said}'] button").click()
    assert page.text("#rows-status").startswith(f"True class {truth}, predicted {said}: ")
    lines = page.all("#rows tbody tr")
    assert len(lines) == counts[truth, said]
    cells = [[cell.text for cell in line.find_elements(By.TAG_NAME, "td")[:2]] for line in lines]
    assert cells == [[str(truth), str(said)]] * len(lines)
    assert len(page.all("#rows img")) == len(lines)
    page.button("Right").click()
    assert page.all("#mistakes button[aria-pressed=true]") == [page.button("Right")]
    page.button("All").click()
    assert "120 rows" in page.text("#rows-status")
    page.button("Next rows").click()
    assert "13 to 24" in page.text("#rows-status")
    page.button("Previous rows").click()
    assert "1 to 12" in page.text("#rows-status")


def test_confusion_by_keyboard(page):
    document = page.open("digits")
    first = page.one("td[data-truth='0'][data-prediction='0'] button")
    assert len(page.all("#confusion button[tabindex='0']")) == 1
    page.driver.execute_script("arguments[0].focus()", first)
    page.press(Keys.ARROW_DOWN, Keys.ARROW_RIGHT, Keys.ARROW_DOWN, Keys.ARROW_UP, Keys.ENTER)
    assert page.focused().get_attribute("aria-label").startswith("True class 1, predicted 1")
    assert page.focused().get_attribute("aria-pressed") == "true"
    assert f"of {document['confusion']['counts'][1][1]} rows in the data" in page.text(
        "#rows-status"
    )


def test_table_is_sorted(page):
    page.open("cancer")
    head = page.one("#rows thead th:nth-child(5) button")
    assert head.text == "Probability"
    for order in ("ascending", "descending"):
        page.one("#rows thead th:nth-child(5) button").click()
        assert page.one("#rows thead th:nth-child(5)").get_attribute("aria-sort") == order
        shown = [cell.text for cell in page.all("#rows tbody td:nth-child(5)")]
        values = [float(text.removesuffix("\u00a0%").removesuffix(" %")) for text in shown]
        assert values == sorted(values, reverse=order == "descending")


def test_evil_names_do_nothing(page):
    document = page.open("cancer")
    assert page.driver.title == EVIL
    assert page.text("h1") == EVIL
    assert page.all("img[onerror]") == []
    page.one("td[data-truth='0'][data-prediction='1'] button").click()
    assert EVIL in page.text("#rows-status")
    assert EVIL in [cell.text for cell in page.all("#importances th")]
    page.all("#rows tbody button")[0].click()
    assert EVIL in page.text(".followed")
    assert document["title"] == EVIL


def test_explorer_by_mouse(page):
    document = page.open("digits")
    tree = document["explorer"]["trees"][0]
    assert page.text("#node-panel h3").startswith("Node 0")
    assert len(page.all("#node-panel img")) == 1
    assert len(page.all("#node-panel .histogram svg rect")) > 10
    right = tree["nodes"][0]["left"] + 1
    page.one(f".node[data-node='{right}']").click()
    assert page.text("#node-panel h3").startswith(f"Node {tree['nodes'][right]['id']}")
    assert page.open_node().get_attribute("data-node") == str(right)
    page.button("Parent: node 0").click()
    assert page.text("#node-panel h3").startswith("Node 0")
    before = page.ask("document.querySelector('.stage g').getAttribute('transform')")
    stage = page.one(".stage svg")
    page.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", stage)
    webdriver.ActionChains(page.driver).move_to_element_with_offset(
        stage, -150, 100
    ).click_and_hold().move_by_offset(60, 40).release().perform()
    moved = page.ask("document.querySelector('.stage g').getAttribute('transform')")
    assert moved != before
    page.one("button[aria-label='Zoom in']").click()
    zoomed = page.ask("document.querySelector('.stage g').getAttribute('transform')")
    assert zoomed.split("scale")[1] != moved.split("scale")[1]
    page.one("button[aria-label='Zoom out']").click()
    page.button("Unfold all").click()
    assert len(page.all(".node")) == len(tree["nodes"])
    page.button("Fold").click()
    assert len(page.all(".node")) <= 15
    page.button("Fit").click()
    page.one("#tree-choice option[value='1']").click()
    assert "tree 1" in page.text("#node-panel h3")


def test_wheel_zooms_only_once_the_drawing_was_clicked(page):
    page.open("digits")
    turn = (
        "(() => { const turn = new WheelEvent('wheel', {deltaY: -40, cancelable: true});"
        " document.querySelector('.stage svg').dispatchEvent(turn);"
        " return turn.defaultPrevented; })()"
    )
    before = page.ask(SCALE)
    assert not page.ask(turn)  # the page scrolls
    assert page.ask(SCALE) == before
    page.one(".node[data-node='0']").click()
    assert page.ask(turn)
    assert page.ask(SCALE) != before


def test_two_fingers_zoom(page):
    page.open("digits", width=360)
    stage = page.one(".stage svg")
    page.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", stage)
    box = page.ask("arguments[0].getBoundingClientRect().toJSON()", stage)
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] - 120
    before = float(page.ask(SCALE).strip("()"))

    def touch(kind, *places):
        points = [{"x": x + dx, "y": y, "id": i} for i, dx in enumerate(places)]
        page.command("Input.dispatchTouchEvent", type=kind, touchPoints=points)

    touch("touchStart", -20, 20)
    for apart in (30, 45, 60):
        touch("touchMove", -apart, apart)
    touch("touchEnd")
    assert float(page.ask(SCALE).strip("()")) > 1.5 * before


def test_explorer_by_keyboard(page):
    document = page.open("digits")
    nodes = document["explorer"]["trees"][0]["nodes"]
    page.driver.execute_script("document.querySelector('#tree-choice').focus()")
    while page.focused().get_attribute("class") != "node":
        page.press(Keys.TAB)
    page.press(Keys.ARROW_DOWN)
    left = nodes[0]["left"]
    assert page.focused().get_attribute("data-node") == str(left)
    page.press(Keys.ARROW_RIGHT)
    assert page.focused().get_attribute("data-node") == str(left + 1)
    page.press(Keys.ARROW_LEFT, Keys.ARROW_UP)
    assert page.focused().get_attribute("data-node") == "0"
    shown = len(page.all(".node"))
    page.press(Keys.ENTER)
    assert len(page.all(".node")) == 1
    assert page.focused().get_attribute("aria-expanded") == "false"
    page.press(Keys.ARROW_DOWN)  # which unfolds it again
    assert 1 < len(page.all(".node")) <= shown
    page.press(Keys.HOME, "+", "-", "0")
    page.press(Keys.SHIFT, Keys.ARROW_LEFT)
    # Down to a leaf, past what is folded.
    webdriver.ActionChains(page.driver).key_up(Keys.SHIFT).perform()
    page.press(Keys.HOME)
    for _ in range(12):
        page.press(Keys.ARROW_DOWN)
    assert page.text("#node-panel h3").startswith("Leaf")
    status = page.one("#explorer-app [aria-live]").get_attribute("textContent")
    assert status.startswith("Leaf") == ("left" not in status)
    assert page.focused().get_attribute("aria-label") == status


@pytest.mark.parametrize("name", ["digits", "numbers", "labels", "cancer"])
def test_follow_a_row(page, name):
    document = page.open(name)
    rows, tree = document["rows"], document["explorer"]["trees"][0]
    follow = page.one("#rows tbody button")
    number = int(page.all("#rows tbody th")[0].text.split()[0])
    follow.click()
    i = rows["number"].index(number)
    way, last = [], tree["last"][i]
    while last >= 0:
        way.insert(0, last)
        last = tree["nodes"][last]["parent"]
    drawn = {int(node.get_attribute("data-node")) for node in page.all(".node.on-way")}
    assert drawn == set(way)
    assert f"Row {number}" in page.text(".followed")
    for node in way[1:]:
        assert "side" in page.text(".followed")
        assert page.all(".row-line")
        page.button("Next node").click()
        assert page.open_node().get_attribute("data-node") == str(node)
    assert not page.button("Next node").is_enabled()
    assert tree["nodes"][way[-1]].get("hidden") or "ends in this leaf" in page.text(".followed")
    if len(way) > 1:
        page.button("Previous node").click()
        assert page.open_node().get_attribute("data-node") == str(way[-2])
    page.button("Stop").click()
    assert page.all(".on-way") == []


def test_follow_a_row_by_its_number(page):
    document = page.open("digits")
    field = page.one("#row-choice")
    absent = next(i for i in range(500) if i not in document["rows"]["number"])
    for number, problem in (
        (absent, "is not in this file"),
        (5000, "rows have numbers from 0 to 499"),
        ("", "Give the number"),
    ):
        field.clear()
        field.send_keys(str(number), Keys.ENTER)
        assert problem in page.text("#row-problem")
    field.clear()
    field.send_keys(str(document["rows"]["number"][7]), Keys.ENTER)
    assert page.text("#row-problem") == ""
    assert page.all(".node.on-way")


def test_labels_filter_the_table(page):
    document = page.open("labels")
    entry = max(document["labels"], key=lambda label: label["missed"])
    page.one(f"[data-label='{entry['label']}'][data-kind=missed] button").click()
    assert f"is missed: {entry['missed']} row" in page.text("#rows-status")


def test_skip_link_and_landmarks(page):
    page.open("digits")
    page.press(Keys.TAB)
    assert page.focused().text == "Skip to the content"
    page.press(Keys.ENTER)
    assert page.focused().get_attribute("id") == "main"
    for landmark in ("header", "nav", "main", "footer"):
        assert len(page.all(landmark)) == 1
    unnamed = page.ask(
        "[...document.querySelectorAll('button, input, select, svg[role=img], img, section')]"
        ".filter(e => !(e.ariaLabel || e.textContent.trim() || e.alt || e.labels?.length"
        " || e.getAttribute('aria-labelledby'))).map(e => e.outerHTML)"
    )
    assert unnamed == []
    repeated = page.ask(
        "[...document.querySelectorAll('[id]')].map(e => e.id)"
        ".filter((id, i, all) => all.indexOf(id) !== i)"
    )
    assert repeated == []


def test_without_scripts_the_static_parts_are_there(page):
    page.open("digits", script=False)
    try:
        # Scripts of the driver do not run either, so what is shown is what a screen reader gets.
        root = page.command("DOM.getDocument", depth=0)["root"]["nodeId"]
        shown = json.dumps(page.command("Accessibility.getFullAXTree"))
        for text in ("Accuracy", "Rows by true and predicted class", "Reliability diagram"):
            assert text in shown
        assert "The explorer needs JavaScript" in shown
        hidden = page.command("DOM.querySelector", nodeId=root, selector="#explorer-app")["nodeId"]
        with pytest.raises(Exception, match="box model"):
            page.command("DOM.getBoxModel", nodeId=hidden)
    finally:
        page.command("Emulation.setScriptExecutionDisabled", value=False)
