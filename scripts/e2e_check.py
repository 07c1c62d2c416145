"""Tests the button that checks the certificates of a page, pressed as by a user. scripts/e2e.py runs this test."""

import base64
import gzip
import json
import pathlib
import random
import re
import shutil
import subprocess
import time
import unicodedata
import urllib.parse
from fractions import Fraction

#: The links of a page that contain its certificates.
LINKS = """return [...document.querySelectorAll("a[data-certificate]")].map((e) =>
    ({name: e.dataset.certificate, address: e.getAttribute("href"), sharing: e.dataset.sharing}));"""
#: True if the page can check certificates.
CHECKS = "return document.getElementById('check') !== null;"
STATUS = "return document.getElementById('check').dataset.status ?? null;"
#: The answer for each certificate: the name of the certificate and the lines.
SAID = """return [...document.querySelectorAll("#check-said details")].map((e) =>
    [e.querySelector("bdi").textContent, [...e.querySelectorAll("pre > span")].map((line) => line.textContent)]);"""
#: The tables of verdicts: for each row the axiom, the displayed number and the exact number.
TABLES = """return [...document.querySelectorAll("a[data-certificate]")].map((link) => {
    let table = link.closest("p").previousElementSibling;
    while (table && !table.querySelector("table")) table = table.previousElementSibling;
    if (!table) return null;
    const head = [...table.querySelectorAll("thead th")].findIndex((e) => e.textContent === "margin");
    if (head < 0) return null;
    return [...table.querySelectorAll("tbody tr")].map((row) =>
      [row.cells[0].textContent, row.cells[head].textContent, row.cells[head].title]);
  });"""
#: The cells of axioms: mechanism, axiom, word, displayed margin and exact margin (null if no margin is stated).
CELLS = """return [...document.querySelectorAll("table.matrix")].flatMap((table) => {
    const names = [...table.querySelectorAll("thead th")].map((e) => e.textContent);
    return [...table.querySelectorAll("tbody tr")].flatMap((row) => [...row.querySelectorAll("td")].map((cell, k) => {
      const margin = cell.querySelector("p span");
      return [names[k], row.querySelector("th").textContent, cell.querySelector("summary").textContent,
        margin && margin.textContent, margin && margin.title];
    }));
  });"""
#: The tables of tasks: mechanism, user, displayed number and exact number.
TASKS = """return [...document.querySelectorAll("[aria-label^='Tasks that each user gets'] table")].flatMap((table) => {
    const names = [...table.querySelectorAll("thead th")].map((e) => e.textContent);
    return [...table.querySelectorAll("tbody tr")].flatMap((row) => [...row.querySelectorAll("td")].map((cell, k) =>
      [names[k], row.querySelector("th").textContent, cell.textContent, cell.title]));
  });"""
#: The number of visible controls.
CONTROLS = """const all = [...document.querySelectorAll("a[href], button, input, summary, [tabindex='0']")];
  return all.filter((e) => e.checkVisibility({visibilityProperty: true}) && !e.disabled).length;"""
#: The number of controls that had the focus so far.
FOCUS = """window.reached ??= new Set(); if (document.activeElement !== document.body) reached.add(document.activeElement);
  return reached.size;"""
DROP = """const data = new DataTransfer(); data.items.add(new File([arguments[0]], "given.json"));
  document.body.dispatchEvent(new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true}));"""
#: The version of axe-core that npm installs, and the impacts that count as faults.
AXE, SERIOUS = "axe-core@4.14.1", ("serious", "critical")


def certificate(link):
    """Returns the text of the certificate in a link."""
    kind, text = re.match(r"data:application/(json|gzip)(?:;base64)?,(.*)$", link["address"], re.S).groups()
    return urllib.parse.unquote(text) if kind == "json" else gzip.decompress(base64.b64decode(text)).decode()


def rational(number):
    return Fraction(str(number))


def named(claim):
    """Returns the name of a claim as the checker prints it, without the parameter of a share."""
    return claim["axiom"] + (":" + claim["share"] if "share" in claim else "")


def titled(claim):
    """Returns the name of a claim as pages show it."""
    more = [claim[key] for key in ("share", "alpha") if key in claim]
    return ":".join([claim["axiom"], *(rational(part).__str__() if re.match(r"[\d.]", str(part)) else part for part in more)])


def seen(name):
    """Returns a name as pages show it."""
    ignorable = [(0x34f, 0x34f), (0x115f, 0x1160), (0x17b4, 0x17b5), (0x180b, 0x180f), (0x2060, 0x206f), (0x2800, 0x2800),
                 (0x3164, 0x3164), (0xfe00, 0xfe0f), (0xffa0, 0xffa0), (0xfff0, 0xfff8), (0xe0000, 0xe0fff)]
    hidden = lambda c: (unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp")
                        or any(first <= ord(c) <= last for first, last in ignorable))
    return "".join("\\u{%x}" % ord(c) if hidden(c) else c for c in name)


def agrees(text, exact, stated):
    """Returns ``True`` if a page shows this number. A rounded number comes with the exact number, unless that number is too long."""
    if exact:
        return rational(exact.split(" ")[0]) == stated
    shown = rational(re.sub(r"^.* = ", "", text).split(" ")[0])
    digits = 3 if "e" in text else 5
    return abs(shown - stated) <= abs(stated) / 10**digits


def short(number):
    text = str(number)
    return text if len(text) <= 60 else text[:40] + "..."


class Pages:
    """Pages in a browser, and their faults."""

    def __init__(self, browser, program, folder):
        self.browser, self.program, self.folder = browser, program, folder
        self.faults = []

    def fault(self, where, what):
        self.faults.append(f"{where}: {what}")

    def wait(self, where, seconds=600):
        """Returns the statuses after all certificates are checked."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            status = self.browser.run(STATUS)
            if status is not None:
                return status
            time.sleep(0.05)
        self.fault(where, f"the check does not end within {seconds} seconds")
        return ""

    def open(self, page, hash="", **how):
        self.browser.ask("POST", "/url", {"url": "about:blank"})
        self.browser.open(page, 1280, "light", hash=hash, **how)

    def errors(self, where):
        for error in self.browser.errors():
            self.fault(where, error)

    def press(self, key):
        code = {"Tab": 9, "Enter": 13}[key]
        more = {"text": "\r"} if key == "Enter" else {}
        for kind in ("keyDown", "keyUp"):
            self.browser.tool("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **more)

    def press_check(self, where):
        """Presses the button of the page, if it exists, and waits for the result."""
        if self.browser.run(CHECKS):
            self.browser.run("document.getElementById('check-run').click()")
            self.wait(where)

    def numbers(self, name, page):
        """Checks that the cells of a page agree with its certificates."""
        self.open(page)
        cells, tasks = self.browser.run(CELLS), self.browser.run(TASKS)
        compared = 0
        for link in self.browser.run(LINKS):
            stated = json.loads(certificate(link))
            words = {(axiom, word): (margin, exact) for of, axiom, word, margin, exact in cells if of == link["name"]}
            for claim in stated["claims"] if words else []:
                word = {True: ("holds", "within"), False: ("violated",), None: ("n/a",)}[claim["holds"]]
                found = [value for (axiom, text), value in words.items() if axiom == titled(claim) and any(w in text for w in word)]
                if len(found) != 1:
                    self.fault(name, f"{link['name']}: {titled(claim)}: {len(found)} cells say {word}, expected 1")
                elif claim.get("margin") is not None and not (found[0][0] and agrees(*found[0], rational(claim["margin"]))):
                    self.fault(name, f"{link['name']}: {titled(claim)}: the cell says {found[0]}, the certificate states {claim['margin']}")
                compared += 1
            shown = {user: (text, exact) for of, user, text, exact in tasks if of == link["name"]}
            for user in stated["problem"]["users"] if shown else []:
                held = stated["allocation"]["tasks"].get(user["name"], {})
                total = sum((rational(value) for value in (held.values() if isinstance(held, dict) else [held])), Fraction(0))
                if seen(user["name"]) not in shown or not agrees(*shown[seen(user["name"])], total):
                    self.fault(name, f"{link['name']}: {user['name']}: the page shows {shown.get(seen(user['name']))} tasks, the certificate states {total}")
                compared += 1
        if cells and not compared:
            self.fault(name, "no number of the page was compared with a certificate")

    def proves(self, name, page, expected):
        """Checks that the button, pressed by the keyboard, proves the expected certificates and reports all numbers of the certificates."""
        where = f"{name}, checked"
        self.open(page)
        self.browser.run("document.getElementById('check-run').focus();")
        self.press("Enter")
        status = self.wait(where)
        links = self.browser.run(LINKS)
        said = self.browser.run(SAID)
        found = [int(s) for s in status.split()]
        # A better status than expected is fine: later versions may cover more claims.
        if any(s in (1, 2) for s in found) or any(e == 0 and s != 0 for e, s in zip(expected or [], found)):
            self.fault(where, f"status {status}, expected {expected}: {[lines[-1] for _, lines in said if lines]}")
        if len(said) != len(links):
            self.fault(where, f"{len(said)} answers for {len(links)} certificates")
        for link, (_, lines), table in zip(links, said, self.browser.run(TABLES)):
            stated = json.loads(certificate(link))
            # A certificate of a linear programme states its status instead of claims.
            claims = stated.get("claims", [])
            text = "\n".join(lines)
            if stated.get("status") == "optimal" and f"({stated['objective']})" not in text:
                self.fault(where, f"{link['name']}: no line about the optimum {stated['objective']}: {text[:200]}")
            if table is not None and len(table) < len(claims):
                self.fault(where, f"{link['name']}: the page shows {len(table)} of {len(claims)} claims")
            for claim, row in zip(claims, table or [None] * len(claims)):
                margin = None if claim.get("margin") is None else rational(claim["margin"])
                shown = row and (row[2].split(" ")[0] or row[1].split(" ")[0])
                if row and margin is not None and len(str(margin)) < 60 and rational(shown) != margin:
                    self.fault(where, f"{link['name']}: {row[0]}: the page shows {row[1:]}, the certificate states {margin}")
                line = [line for line in lines if re.match(rf"(proven|not covered): {re.escape(named(claim))}[ :(]", line)]
                if not line:
                    self.fault(where, f"{link['name']}: no line about {named(claim)}: {text[:200]}")
                elif margin is not None and not any(f"margin {short(margin)}:" in l or l.startswith("not covered") for l in line):
                    self.fault(where, f"{link['name']}: {named(claim)}: the margin is {margin}, but the answer is {line}")
        self.errors(where)

    def at_once(self, name, page):
        self.open(page, hash="#check")
        self.wait(f"{name}, opened with #check")
        self.errors(f"{name}, opened with #check")

    def refuses(self, name, page, times):
        """Checks that a page with one changed digit in the allocation, a margin or the problem is refused."""
        text = page.read_text()
        link = re.search(r'href="(data:application/json,[^"]*)" data-certificate', text).group(1)
        stated = certificate({"address": link})
        whole = json.loads(stated)
        rng = random.Random(1)
        # Digits in numbers, not in names.
        places = [m.start() for m in re.finditer(r"\d", stated) if re.search(r'[:\[,"/\d.-]$', stated[: m.start()])]
        tried = 0
        while tried < times:
            at = rng.choice(places)
            digit = str((int(stated[at]) + rng.randint(1, 9)) % 10)
            damaged = stated[:at] + digit + stated[at + 1 :]
            try:
                now = json.loads(damaged)
            except json.JSONDecodeError:
                continue
            same = lambda key: now.get(key) == whole.get(key)
            margins = [c.get("margin") for c in now["claims"]] == [c.get("margin") for c in whole["claims"]]
            # Changed evidence may still be a proof. Another allocation with the same repair may also be proven.
            if same("problem") and margins:
                continue
            tried += 1
            changed = self.folder / "damaged.html"
            changed.write_text(text.replace(link, "data:application/json," + urllib.parse.quote(damaged, safe="-_.~")))
            self.open(changed, hash="#check")
            status = self.wait(f"{name}, damaged").split()
            if not status or status[0] == "0":
                self.fault(name, f"the page is proven, although digit {at} was changed: {stated[at - 30 : at + 10]}")
        self.errors(f"{name}, damaged")

    def given(self, name, page, text):
        """Checks that the page judges a certificate file that is dropped on the page or chosen in the dialog."""
        self.open(page)
        self.browser.ask("POST", "/execute/sync", {"script": DROP, "args": [text]})
        if self.wait(f"{name}, dropped") != "0":
            self.fault(name, f"a dropped certificate is not proven: {self.browser.run(SAID)}")
        self.open(page)
        several = '{"kind": "verdict-certificate", "version": 1, "tolerance": "0", "held": %s, "due": {"rule": "kai"}, "queues": []}' % text
        self.browser.ask("POST", "/execute/sync", {"script": DROP, "args": [several]})
        if self.wait(f"{name}, a certificate of a verdict") != "3":
            self.fault(name, f"a certificate of a verdict is not partly proven: {self.browser.run(SAID)}")
        path = self.folder / "chosen.json"
        path.write_text(text)
        self.browser.run("document.querySelector('#check details').open = true;")
        found = self.browser.ask("POST", "/element", {"using": "css selector", "value": "#check-file"})
        self.browser.run("delete document.getElementById('check').dataset.status;")
        self.browser.ask("POST", f"/element/{next(iter(found.values()))}/value", {"text": str(path)})
        if self.wait(f"{name}, chosen") != "0" or self.browser.run(SAID)[0][0] != "chosen.json":
            self.fault(name, f"a chosen certificate is not proven: {self.browser.run(SAID)}")
        self.errors(f"{name}, given")

    def stops(self, name, page):
        self.open(page)
        self.browser.run("document.getElementById('check-run').click(); document.getElementById('check-stop').click();")
        if self.wait(f"{name}, stopped") != "stopped" or self.browser.run(SAID):
            self.fault(name, "the check does not stop")
        self.browser.run("document.getElementById('check-run').click();")
        if self.wait(f"{name}, after a stop") == "stopped":
            self.fault(name, "the check does not start again after a stop")
        self.errors(f"{name}, stopped")

    def without_workers(self, name, page, expected):
        made = self.browser.tool("Page.addScriptToEvaluateOnNewDocument", source="delete window.Worker;")
        self.at_once(f"{name}, without workers", page)
        if self.browser.run(STATUS) != expected:
            self.fault(name, f"without workers the status is {self.browser.run(STATUS)}, expected {expected}")
        self.browser.tool("Page.removeScriptToEvaluateOnNewDocument", identifier=made["identifier"])

    def without_scripts(self, name, page):
        self.open(page, scripts=False, hash="#check")
        shown = self.browser.run("return document.getElementById('check-run').checkVisibility();")
        if shown or self.browser.run(STATUS) is not None:
            self.fault(f"{name}, without scripts", "the page shows the button or a status")
        self.errors(f"{name}, without scripts")

    def keyboard(self, name, page):
        """Checks that the Tab key reaches every control, also after a check."""
        self.open(page, hash="#check")
        if self.browser.run(CHECKS):
            self.wait(name)
        self.browser.run("for (const e of document.querySelectorAll('details')) e.open = true; document.activeElement.blur();")
        controls = self.browser.run(CONTROLS)
        reached = 0
        for _ in range(controls + 20):
            self.press("Tab")
            reached = self.browser.run(FOCUS)
        if reached < controls:
            self.fault(name, f"the keyboard reaches {reached} of {controls} controls")

    def axe(self, pages, out):
        """Adds the faults that axe-core reports, and returns ``True`` if axe-core could run."""
        source = out / "axe/node_modules/axe-core/axe.min.js"
        if not source.exists():
            npm = shutil.which("npm")
            command = [npm, "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(out / "axe"), AXE]
            if not npm or subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
                return False
        for name, page in pages.items():
            for scheme in ("light", "dark"):
                self.browser.open(page, 1280, scheme)
                self.press_check(name)
                self.browser.tool("Runtime.evaluate", expression=source.read_text())
                asked = "axe.run(document, {resultTypes: ['violations']}).then((r) => r.violations.map((v) => [v.impact, v.id, v.nodes.map((n) => n.html.slice(0, 90)).slice(0, 3)]))"
                found = self.browser.tool("Runtime.evaluate", expression=asked, awaitPromise=True, returnByValue=True)
                for impact, rule, nodes in found["result"].get("value", [["critical", str(found)[:200], []]]):
                    if impact in SERIOUS:
                        self.fault(f"{name}, {scheme}, axe-core", f"{impact}: {rule}: {nodes}")
        return True


def certified(program, problem, folder):
    """Writes a page with one certificate, the smallest page that can prove a claim. Returns its path and the certificate."""
    allocation, text, page = folder / "allocation.json", folder / "one.json", folder / "certificate.html"
    run = lambda *arguments: subprocess.run([str(program), *arguments], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    run("solve", str(problem), "-m", "drfh", "-o", str(allocation), "--quiet")
    run("certify", str(problem), str(allocation), "-o", str(text), "--quiet")
    run("check", "--page", str(text), "-o", str(page), "--quiet")
    return page, text.read_text()
