#!/usr/bin/env python3
"""Opens pages that `evenhand` writes in a headless Chromium, as people do: wide and narrow, light and dark, with and without
scripts, and says what is wrong with them. Pictures of them are kept.

    scripts/e2e.py PROGRAM EXAMPLES OUT

Needs `chromium` and `chromedriver`, which speaks WebDriver over HTTP; nothing else beside Python."""

import base64
import json
import pathlib
import subprocess
import sys
import tempfile
import time
import urllib.request

import e2e_check

#: Widths of windows in pixels: a phone, a tablet, a screen.
WIDTHS = (390, 768, 1280)
#: Problems of which pages are made, with more arguments.
PAGES = {
    "two-servers": ["two-servers.json"],
    "google-cluster": ["google-cluster.json"],
    "queues": ["queues.json"],
    "long-names": ["<long>", "-m", "drfh", "-m", "utilitarian"],
}
#: Snapshots of which pages are made, which hold no certificates: a report of who is short ends with status 1.
SNAPSHOTS = ["cluster", "schedulers/volcano"]
#: What the checker says of each certificate of a page: 0 proven, 3 not all of it is covered.
STATUSES = {
    "two-servers": [0] * 12,
    "google-cluster": [0] * 10,
    "queues": [3, 3],
    "long-names": [0, 0],
    "certificate": [0],
}
#: What must be true of a page whatever its width; each script gives a list of faults.
FAULTS = {
    "the body scrolls sideways": """
        const over = document.documentElement.scrollWidth - window.innerWidth;
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
          for (const word of n.textContent.matchAll(/[^\\s\\-\\u00ad]+/g)) {
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
    "a name stands twice": """
        const seen = new Set();
        return [...document.querySelectorAll("[id]")].map((e) => e.id).filter((id) => seen.has(id) || !seen.add(id));""",
    "a link leads nowhere": """
        return [...document.querySelectorAll("a[href^='#']")].filter((e) => !document.getElementById(e.hash.slice(1))).map((e) => e.hash);""",
}
#: What a script does: the first column of numbers is sorted, down and up.
SORTS = """
    const table = [...document.querySelectorAll("table.sorted")].find((t) => t.tBodies[0].rows.length > 1);
    const head = table.querySelector("th.number");
    const values = () => [...table.tBodies[0].rows].map((row) => Number.parseFloat(row.cells[head.cellIndex].dataset.value));
    const before = values().length;
    const up = (head.querySelector("button").click(), values());
    const down = (head.querySelector("button").click(), values());
    const sorted = (list) => list.every((v, k) => k === 0 || !(list[k - 1] > v));
    return before > 1 && sorted(up) && sorted([...down].reverse()) ? [] : ["up " + up + " down " + down];"""
#: Everything that acts is reached by the key Tab.
REACHES = """return [...document.querySelectorAll("summary, a[href], button, .wide")].filter((e) => e.tabIndex < 0).map((e) => e.outerHTML.slice(0, 60));"""
#: Cells open without a script of the page.
OPENS = """const first = document.querySelector(".matrix summary"); first.click(); return first.parentElement.open ? [] : ["a cell stays closed"];"""


#: A page on which every check of FAULTS finds something: one that finds nothing here would find nothing anywhere.
FAULTY = """<!DOCTYPE html><title>faulty</title><style>.narrow{width:3em;overflow-wrap:anywhere}</style><h1>one</h1><h3>three</h3>
<p style="font-size:9px">small</p><p style="color:#999;background:#fff">pale</p><p class="narrow">incomprehensible</p>
<div style="width:3000px">wide</div><svg class="plot"><text y="20">over</text><text y="22">lap</text></svg>
<table><tr><th>head</th></tr></table><p id="a">a</p><p id="a">a</p><a href="#nowhere">link</a>"""


class Browser:
    """A window of Chromium that is driven over HTTP."""

    def __init__(self, port):
        self.port = port
        self.driver = subprocess.Popen(["chromedriver", f"--port={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        wanted = {"goog:chromeOptions": {"args": flags}, "goog:loggingPrefs": {"browser": "ALL"}}
        for attempt in range(100):
            try:
                self.session = ""
                self.session = self.ask("POST", "", {"capabilities": {"alwaysMatch": wanted}})["sessionId"]
                return
            except OSError:
                if self.driver.poll() is not None or attempt == 99:
                    raise
                time.sleep(0.1)

    def ask(self, method, path, data=None):
        address = f"http://127.0.0.1:{self.port}/session"
        address += f"/{self.session}{path}" if self.session else path
        body = None if data is None else json.dumps(data).encode()
        request = urllib.request.Request(address, body, {"Content-Type": "application/json"}, method=method)
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.load(answer)["value"]

    def tool(self, command, **parameters):
        return self.ask("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def open(self, path, width, scheme, scripts=True, hash=""):
        self.tool("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 500)
        self.tool("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.tool("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.ask("POST", "/url", {"url": path.as_uri() + hash})
        # What drives the page may run even where its own scripts may not.
        self.tool("Emulation.setScriptExecutionDisabled", value=False)

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


def long_names(folder):
    """A problem whose names are long, of another direction, or look like markup."""
    name = "a-name-of-a-department-that-never-ends-" * 3
    users = [name, "مجموعة البحث", "<b>bold</b> & \"quoted\"", "漢字の名前"]
    problem = {
        "kind": "allocation-problem", "name": "Names of every kind", "resources": ["cpu", "memory"],
        "servers": [{"name": name + "servers", "count": 3, "capacity": {"cpu": 8, "memory": 40}}],
        "users": [{"name": user, "demand": {"cpu": 1 + k, "memory": 7 - k}} for k, user in enumerate(users)],
    }  # fmt: skip
    path = folder / "long.json"
    path.write_text(json.dumps(problem))
    return str(path)


def main():
    program, examples, out = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
    out.mkdir(parents=True, exist_ok=True)
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        pages = {}
        for name, (problem, *more) in PAGES.items():
            problem = long_names(folder) if problem == "<long>" else str(examples / problem)
            pages[name] = folder / f"{name}.html"
            command = [str(program), "report", problem, *more, "-o", str(pages[name])]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        pages["certificate"], text = e2e_check.certified(program, examples / "two-servers.json", folder)
        for name in SNAPSHOTS:
            page = folder / f"{pathlib.Path(name).name}.html"
            made = subprocess.run([str(program), "report", str(examples / f"{name}.json"), "-o", str(page)], capture_output=True)
            faults += [] if made.returncode == 1 else [f"{name}: status {made.returncode}: {made.stderr}"]
        browser = Browser(9515)
        checks = e2e_check.Pages(browser, program, folder)
        try:
            faulty = folder / "faulty.html"
            faulty.write_text(FAULTY)
            browser.open(faulty, WIDTHS[0], "light")
            faults += [f"this check finds nothing anywhere: {what}" for what, script in FAULTS.items() if not browser.run(script)]
            for name, page in pages.items():
                for width in WIDTHS:
                    for scheme in ("light", "dark"):
                        browser.open(page, width, scheme)
                        where = f"{name}, {width} pixels, {scheme}"
                        browser.run("document.getElementById('check-run').click()")
                        checks.wait(where)
                        asked = dict(FAULTS, **{"the keyboard does not reach": REACHES})
                        if name != "certificate":
                            asked["tables are not sorted"] = SORTS
                        for what, script in asked.items():
                            faults += [f"{where}: {what}: {fault}" for fault in browser.run(script)]
                        faults += [f"{where}: {error}" for error in browser.errors()]
                        browser.picture(out / f"{name}-{width}-{scheme}.png")
                browser.open(page, WIDTHS[0], "light", scripts=False)
                asked = FAULTS if name == "certificate" else dict(FAULTS, **{"without a script": OPENS})
                for what, script in asked.items():
                    faults += [f"{name}, without scripts: {what}: {fault}" for fault in browser.run(script)]
                if browser.run("return document.querySelectorAll('th button').length"):
                    faults.append(f"{name}, without scripts: a script ran")
                checks.without_scripts(name, page)
                checks.at_once(name, page)
                checks.proves(name, page, STATUSES[name])
            for name in SNAPSHOTS:
                page = folder / f"{pathlib.Path(name).name}.html"
                for width, scheme in ((width, scheme) for width in WIDTHS for scheme in ("light", "dark")):
                    browser.open(page, width, scheme)
                    for what, script in dict(FAULTS, **{"the keyboard does not reach": REACHES}).items():
                        faults += [f"{name}, {width} pixels, {scheme}: {what}: {fault}" for fault in browser.run(script)]
                    faults += [f"{name}, {width} pixels, {scheme}: {error}" for error in browser.errors()]
                    browser.picture(out / f"{page.stem}-{width}-{scheme}.png")
            checks.refuses("two-servers", pages["two-servers"], 12)
            checks.given("certificate", pages["certificate"], text)
            checks.stops("google-cluster", pages["google-cluster"])
            checks.without_workers("certificate", pages["certificate"], "0")
            checks.keyboard("two-servers", pages["two-servers"])
            checks.keyboard("certificate", pages["certificate"])
            if not checks.axe(pages, out):
                print("e2e: axe-core was not asked: npm does not install it here")
            faults += checks.faults
        finally:
            browser.close()
    for fault in faults:
        print(f"e2e: {fault}")
    print(f"e2e: {len(pages) + len(SNAPSHOTS)} pages at {len(WIDTHS)} widths, light and dark: {len(faults)} faults; pictures are in {out}")
    sys.exit(1 if faults else 0)


main()
