#!/usr/bin/env python3
"""Opens the pages of `evenhand` in a headless Chromium: wide and narrow, light and dark, with and without scripts. Lists the
faults of the pages and saves pictures of them.

    scripts/e2e.py PROGRAM EXAMPLES OUT

Needs `chromium`, `chromedriver` (WebDriver over HTTP) and Python, but no Python packages."""

import base64
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import urllib.request

import e2e_check

#: Seconds after which an answer counts as missing. Slow machines answer earlier.
PATIENCE = 600
#: Widths of windows in pixels: a phone, a tablet, a screen.
WIDTHS = (390, 768, 1280)
#: Problems with a page each, and further arguments.
PAGES = {
    "two-servers": ["two-servers.json"],
    "google-cluster": ["google-cluster.json"],
    "queues": ["queues.json"],
    "long-names": ["<long>", "-m", "drfh", "-m", "utilitarian"],
    "one-user": ["<one>"],
    "nobody": ["<nobody>", "-m", "drfh", "-m", "tsf"],
    "promised": ["queues-promised.json", "-m", "tree", "--allocation", "<held>"],
}
#: Other results, each with its command. `-o` names the page, or the folder whose `index.html` is the page.
RESULTS = {
    "compared": ["compare", "two-servers.json", "-m", "drfh", "-m", "tsf"],
    "cluster": ["report", "cluster.json"],
    "volcano": ["report", "schedulers/volcano.json"],
    "sweep": ["ratio", "vm-types.json", "--sweep", "0:2:21"],
    "simulated": ["simulate", "<scenario>", "--replications", "2"],
    "audited": ["audit", "mechanism", "tsf", "--instances", "200"],
    "measured": ["bench", "accuracy", "--problem", "two-servers.json", "--runs", "1", "--seconds", "5"],
    "reproduced": ["reproduce", "kesidis"],
    "history": ["report", "<history>"],
    "linear": ["check", "--page", "<linear>"],
}
#: Pages that do not fit on paper: names of 200 letters, a line of JSON for each user, a row for each run.
TOO_WIDE = ("long-names", "audited", "measured")
#: Results that are folders, and commands that end with a status other than 0.
FOLDERS = ("simulated", "audited", "measured", "reproduced")
ENDS = {"cluster": 1, "volcano": 1}
#: The checker's status for each certificate of a page: 0 proven, 3 partly not covered.
STATUSES = {
    "two-servers": [0] * 12,
    "google-cluster": [0] * 10,
    "queues": [3, 3],
    "long-names": [0, 0],
    "compared": [0, 0],
    "certificate": [0],
    "cluster": [0, 0],
    "linear": [0],
}
#: Faults that no page may have at any width; each script returns a list of them.
FAULTS = {
    "the body scrolls sideways": """
        const over = document.documentElement.scrollWidth - document.documentElement.clientWidth;
        return over > 0 ? [over + " pixels"] : [];""",
    "labels overlap": """
        const boxes = [...document.querySelectorAll(".plot text")].map((e) => [e.textContent, e.getBoundingClientRect()]);
        const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
        return boxes.flatMap(([t, a], k) => boxes.slice(k + 1).filter(([, b]) => meet(a, b)).map(([u]) => t + " / " + u));""",
    "letters are smaller than 11 pixels": """
        const small = (e) => Number.parseFloat(getComputedStyle(e).fontSize) < 11;
        const has = (e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
        return [...document.body.querySelectorAll("*")].filter((e) => has(e) && small(e)).map((e) => e.textContent.slice(0, 40));""",
    "a word is broken": """
        const faults = [];
        const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        for (let n = walk.nextNode(); n; n = walk.nextNode()) {
          if (n.parentElement.closest(".hash, script, style")) continue;
          for (const word of n.textContent.matchAll(/[^\\s\\-\\u00ad{}<>\\\\]+/g)) {
            const range = document.createRange();
            range.setStart(n, word.index);
            range.setEnd(n, word.index + word[0].length);
            const tops = new Set([...range.getClientRects()].filter((r) => r.width > 0).map((r) => Math.round(r.top)));
            if (tops.size > 1) faults.push(word[0]);
          }
        }
        return faults;""",
    "text has too little contrast": """
        const of = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
        const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
          .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
          .reduce((sum, v, k) => sum + v * [0.2126, 0.7152, 0.0722][k], 0);
        const behind = (e) => {
          for (; e; e = e.parentElement) {
            const c = of(getComputedStyle(e).backgroundColor);
            if (c.length === 3 || c[3] > 0) return c;
          }
          return [255, 255, 255];
        };
        const has = (e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
        return [...document.querySelectorAll("body *")].filter((e) => has(e) && !e.closest("script, title")).flatMap((e) => {
          const style = getComputedStyle(e);
          const [a, b] = [light(of(e.closest("svg") ? style.fill : style.color)), light(behind(e))];
          const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
          return ratio < 4.5 ? [ratio.toFixed(2) + " " + e.textContent.slice(0, 30)] : [];
        });""",
    "a picture has no text": """
        return [...document.querySelectorAll("svg")].filter((e) => !e.getAttribute("aria-label") && !e.getAttribute("aria-hidden"))
          .map((e) => e.outerHTML.slice(0, 60));""",
    "a header has no scope": """
        return [...document.querySelectorAll("th")].filter((e) => !e.scope).map((e) => e.textContent);""",
    "headings skip a level": """
        const levels = [...document.querySelectorAll("h1, h2, h3, h4")].map((e) => [Number(e.tagName[1]), e.textContent]);
        return levels.filter(([level], k) => k > 0 && level > levels[k - 1][0] + 1).map(([, text]) => text);""",
    "an id is used twice": """
        const seen = new Set();
        return [...document.querySelectorAll("[id]")].map((e) => e.id).filter((id) => seen.has(id) || !seen.add(id));""",
    "a link leads nowhere": """
        return [...document.querySelectorAll("a[href^='#']")].filter((e) => !document.getElementById(e.hash.slice(1))).map((e) => e.hash);""",
}
#: The script of the page must sort the first column of numbers, up and down.
SORTS = """
    const can = (t) => t.tBodies[0].rows.length > 1 && t.querySelector("th.number");
    const table = [...document.querySelectorAll("table.sorted")].find(can);
    if (!table) return [];
    const head = table.querySelector("th.number");
    const values = () => [...table.tBodies[0].rows].map((row) => Number.parseFloat(row.cells[head.cellIndex].dataset.value ?? row.cells[head.cellIndex].textContent));
    const before = values().length;
    const up = (head.querySelector("button").click(), values());
    const down = (head.querySelector("button").click(), values());
    const sorted = (list) => list.every((v, k) => k === 0 || !(list[k - 1] > v));
    return before > 1 && sorted(up) && sorted([...down].reverse()) ? [] : ["up " + up + " down " + down];"""
#: The Tab key must reach every control.
REACHES = """return [...document.querySelectorAll("summary, a[href], button, .wide")].filter((e) => e.tabIndex < 0).map((e) => e.outerHTML.slice(0, 60));"""
#: Cells must open without a script of the page.
OPENS = """const first = document.querySelector(".matrix summary"); first?.click(); return !first || first.parentElement.open ? [] : ["a cell stays closed"];"""


#: Elements that are wider than the paper, which cuts them off.
CUT = """
    const most = document.documentElement.clientWidth + 1;
    const seen = (e) => e.checkVisibility() && !e.closest("svg") && e.getBoundingClientRect().right > most;
    return [...document.querySelectorAll("body *")].filter(seen).map((e) => e.tagName + " " + e.textContent.slice(0, 40)).slice(0, 3);"""
#: The width of A4 between margins of 1 cm, in pixels.
PAPER = 718


#: A page with every fault of FAULTS. A check that finds no fault here does not work.
FAULTY = """<!DOCTYPE html><title>faulty</title><style>.narrow{width:3em;overflow-wrap:anywhere}</style><h1>one</h1><h3>three</h3>
<p style="font-size:9px">small</p><p style="color:#999;background:#fff">pale</p><p class="narrow">incomprehensible</p>
<div style="width:3000px">wide</div><svg class="plot"><text y="20">over</text><text y="22">lap</text></svg>
<table><tr><th>head</th></tr></table><p id="a">a</p><p id="a">a</p><a href="#nowhere">link</a>"""


class Browser:
    """A window of Chromium, controlled over HTTP."""

    def __init__(self):
        # The system chooses a free port. The driver prints the port as soon as it listens.
        command = ["chromedriver", "--port=0"]
        self.driver = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        said = (re.search(r"started successfully on port (\d+)", line) for line in self.driver.stdout)
        found = next((match for match in said if match), None)
        if found is None:
            raise OSError("chromedriver does not start: run it by hand to see why")
        self.port, self.session = int(found.group(1)), ""
        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"]
        wanted = {"goog:chromeOptions": {"args": flags}, "goog:loggingPrefs": {"browser": "ALL"}}
        try:
            self.session = self.ask("POST", "", {"capabilities": {"alwaysMatch": wanted}})["sessionId"]
        except BaseException:
            self.driver.terminate()
            raise

    def ask(self, method, path, data=None):
        address = f"http://127.0.0.1:{self.port}/session"
        address += f"/{self.session}{path}" if self.session else path
        body = None if data is None else json.dumps(data).encode()
        request = urllib.request.Request(address, body, {"Content-Type": "application/json"}, method=method)
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return json.load(answer)["value"]

    def tool(self, command, **parameters):
        return self.ask("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def open(self, path, width, scheme, scripts=True, hash=""):
        self.tool("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 500)
        self.tool("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.tool("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.ask("POST", "/url", {"url": path.as_uri() + hash})
        # The scripts of this test run even if the page's own scripts are disabled.
        self.tool("Emulation.setScriptExecutionDisabled", value=False)

    def print(self, path):
        """Returns the elements that paper cuts off when the page is printed."""
        self.open(path, PAPER, "light")
        self.tool("Emulation.setEmulatedMedia", media="print", features=[])
        cut = self.run(CUT)
        self.tool("Emulation.setEmulatedMedia", media="", features=[])
        return cut

    def run(self, script):
        return self.ask("POST", "/execute/sync", {"script": script, "args": []})

    def errors(self):
        return [entry["message"] for entry in self.ask("POST", "/se/log", {"type": "browser"}) if entry["level"] == "SEVERE"]

    def picture(self, path):
        size = self.tool("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 12_000), "scale": 1}
        shot = self.tool("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)
        path.write_bytes(base64.b64decode(shot["data"]))

    def close(self):
        try:
            self.ask("DELETE", "")
        finally:
            self.driver.terminate()


SEEN = "\u202eevil\u2066\u200b\x1b[31m\n<script>alert(1)</script>"


def files(program, examples, folder):
    """Writes the test files and returns their paths by name.

    The files are a problem with long, right-to-left, invisible and markup-like names, a problem with one user, a problem
    without tasks, a scenario and an allocation of queues."""
    name = "a-name-of-a-department-that-never-ends-" * 5
    users = [name, "مجموعة البحث", "<b>bold</b> & \"quoted\"", "漢字の名前", SEEN]
    problem = {
        "kind": "allocation-problem", "name": "Names of <i>every</i> kind " + SEEN, "resources": ["cpu", "<u>memory</u>" + SEEN],
        "servers": [{"name": name + "servers", "count": 3, "capacity": {"cpu": 8, "<u>memory</u>" + SEEN: 40}}],
        "users": [{"name": user, "demand": {"cpu": 1 + k, "<u>memory</u>" + SEEN: 7 - k}} for k, user in enumerate(users)],
    }  # fmt: skip
    one = {"kind": "allocation-problem", "resources": ["cpu"], "servers": [{"name": "s", "capacity": {"cpu": 8}}],
        "users": [{"name": "only", "demand": {"cpu": "3"}}]}  # fmt: skip
    nobody = dict(one, users=[{"name": f"u{k}", "demand": {"cpu": "3"}, "tasks": 0} for k in range(3)])
    scenario = {"kind": "scenario", "name": "two users", "resources": ["cpu", "memory"], "horizon": 30, "every": 1,
        "servers": [{"name": "s", "count": 5, "capacity": {"cpu": 4, "memory": 9}}], "policy": {"server": "best-fit"},
        "users": [{"name": user, "demand": {"cpu": 1 + k, "memory": 2},
            "poisson": {"rate": 2, "tasks": 2, "duration": {"exponential": 4}}} for k, user in enumerate(users[:2])]}  # fmt: skip
    made = {}
    for kind, value in {"long": problem, "one": one, "nobody": nobody, "scenario": scenario}.items():
        made[f"<{kind}>"] = str(folder / f"{kind}.json")
        pathlib.Path(made[f"<{kind}>"]).write_text(json.dumps(value))
    made["<held>"] = str(folder / "held.json")
    run(program, "solve", examples / "queues-promised.json", "-m", "fill", "-o", made["<held>"])
    made["<linear>"] = str(folder / "linear.json")
    run(program, "lp", "solve", examples / "blend.mps", "--certificate", made["<linear>"])
    made["<history>"] = str(folder / "history.sqlite")
    for round_of_watch in ("cluster.json", "cluster-fragmented.json", "cluster.json"):
        run(program, "watch", "--command", f"cat {examples / round_of_watch}", "--once", "--history", made["<history>"], status=1)
    return made


def run(program, *arguments, status=0):
    command = [str(argument) for argument in (program, *arguments, "--quiet")]
    ended = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if ended.returncode != status:
        raise RuntimeError(f"{' '.join(command)} ends with status {ended.returncode}, expected {status}: {ended.stderr}")


def made(program, examples, folder):
    """Writes all pages and returns their paths by name."""
    known = files(program, examples, folder)
    named = lambda word: known.get(word) or (str(examples / word) if word.endswith(".json") else word)
    pages = {}
    for name, arguments in PAGES.items():
        pages[name] = folder / f"{name}.html"
        run(program, "report", *map(named, arguments), "-o", pages[name])
    for name, arguments in RESULTS.items():
        to = folder / (name if name in FOLDERS else f"{name}.html")
        run(program, *map(named, arguments), "-o", to, status=ENDS.get(name, 0))
        pages[name] = to / "index.html" if name in FOLDERS else to
    return pages


def main():
    program, examples, out = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
    out.mkdir(parents=True, exist_ok=True)
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        pages = made(program, examples, folder)
        pages["certificate"], text = e2e_check.certified(program, examples / "two-servers.json", folder)
        browser = Browser()
        checks = e2e_check.Pages(browser, program, folder)
        try:
            faulty = folder / "faulty.html"
            faulty.write_text(FAULTY)
            browser.open(faulty, WIDTHS[0], "light")
            faults += [f"this check does not detect its fault on the faulty page: {what}" for what, script in FAULTS.items() if not browser.run(script)]
            if not browser.print(faulty):
                faults.append("the check of printed pages does not detect its fault on the faulty page")
            for name, page in pages.items():
                for width in WIDTHS:
                    for scheme in ("light", "dark"):
                        browser.open(page, width, scheme)
                        where = f"{name}, {width} pixels, {scheme}"
                        checks.press_check(where)
                        asked = dict(FAULTS, **{"the keyboard does not reach a control": REACHES, "tables are not sorted": SORTS})
                        for what, script in asked.items():
                            faults += [f"{where}: {what}: {fault}" for fault in browser.run(script)]
                        faults += [f"{where}: {error}" for error in browser.errors()]
                        browser.picture(out / f"{name}-{width}-{scheme}.png")
                if name not in TOO_WIDE:
                    faults += [f"{name}, printed: cut off: {cut}" for cut in browser.print(page)]
                browser.open(page, WIDTHS[0], "light", scripts=False)
                for what, script in dict(FAULTS, **{"without a script": OPENS}).items():
                    faults += [f"{name}, without scripts: {what}: {fault}" for fault in browser.run(script)]
                if browser.run("return document.querySelectorAll('th button').length"):
                    faults.append(f"{name}, without scripts: a script ran")
                if browser.run(e2e_check.CHECKS):
                    checks.without_scripts(name, page)
                    checks.at_once(name, page)
                    checks.proves(name, page, STATUSES.get(name))
                    checks.numbers(name, page)
            checks.refuses("two-servers", pages["two-servers"], 12)
            checks.given("certificate", pages["certificate"], text)
            checks.stops("google-cluster", pages["google-cluster"])
            checks.without_workers("certificate", pages["certificate"], "0")
            for name in ("two-servers", "certificate", "simulated", "audited"):
                checks.keyboard(name, pages[name])
            if not checks.axe(pages, out):
                print("e2e: axe-core NOT RUN: npm cannot install it here; install npm and check the network")
            faults += checks.faults
        finally:
            browser.close()
    for fault in faults:
        print(f"e2e: {fault}")
    print(f"e2e: {len(pages)} pages at {len(WIDTHS)} widths, light and dark: {len(faults)} faults; pictures are in {out}")
    sys.exit(1 if faults else 0)


main()
