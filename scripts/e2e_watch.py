"""The scene of scripts/e2e_slurm.py in which `evenhand watch` watches the real Slurm, and a real Prometheus scrapes the watch.

Jobs start and end. A query of Prometheus names the account that lacks GPUs. The controller is stopped, so that its clients hang.
The watch is killed and started again. The disk of the watch becomes full and is then emptied. Without root or a network, Debian's
Prometheus may be missing. In this case, the part with Prometheus is skipped with a message, and the metrics are read from the
watch itself."""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time
import urllib.parse
import urllib.request

#: Seconds between two rounds, and the time limit of a round's commands in seconds.
EVERY, TIMEOUT = 2, 8
#: The number of jobs of product, which use all GPUs, and of the waiting jobs of vision and of speech.
FIRST, LATER = 40, 5
#: The GPUs that a job requests.
GPUS = 4


def prometheus():
    """Returns ``True`` if Prometheus is installed. As root, installs Debian's package if Prometheus is missing."""
    if shutil.which("prometheus"):
        return True
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        return False
    environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive", RUNLEVEL="1")
    install = ["apt-get", "install", "-y", "-q", "--no-install-recommends", "prometheus"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    print("e2e: installing prometheus", flush=True)
    if subprocess.run(install, **quiet, env=environment).returncode:
        subprocess.run(["apt-get", "update", "-q"], **quiet)
        subprocess.run(install, **quiet, env=environment)
    return bool(shutil.which("prometheus"))


class Scene:
    """A watch of the cluster, and a Prometheus that scrapes the watch."""

    def __init__(self, program, out, slurm):
        self.program, self.slurm = program, slurm
        self.folder = out / "watch"
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.history, self.log = self.folder / "history.sqlite", self.folder / "watch.log"
        self.port = slurm.free_ports(2)
        self.watch = self.scraper = None

    def start(self):
        """Starts the watch. All starts write to the same log and the same history."""
        command = [self.program, "watch", "slurm", f"--every={EVERY}s", f"--timeout={TIMEOUT}s", f"--history={self.history}",
                   f"--listen=127.0.0.1:{self.port}"]  # fmt: skip
        with self.log.open("a") as log:
            self.watch = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def scrape(self):
        """Starts Prometheus."""
        config = f"""global: {{scrape_interval: 1s, evaluation_interval: 1s}}
rule_files: [{pathlib.Path(__file__).resolve().parent.parent}/deploy/prometheus/evenhand.rules.yml]
scrape_configs:
  - job_name: evenhand
    static_configs: [{{targets: ["127.0.0.1:{self.port}"]}}]
"""
        (self.folder / "prometheus.yml").write_text(config)
        command = ["prometheus", f"--config.file={self.folder}/prometheus.yml", f"--storage.tsdb.path={self.folder}/tsdb",
                   f"--web.listen-address=127.0.0.1:{self.port + 1}", "--log.level=warn"]  # fmt: skip
        with (self.folder / "prometheus.log").open("w") as log:
            self.scraper = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def end(self):
        for process in (self.watch, self.scraper):
            if process and process.poll() is None:
                process.terminate()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(20)
                process.kill()
        shutil.rmtree(self.folder / "tsdb", ignore_errors=True)

    def get(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=20) as answer:
            return answer.read().decode()

    def query(self, text):
        """Returns the values of a query of Prometheus by queue. Without Prometheus, returns the values of the watch itself."""
        with contextlib.suppress(OSError, ValueError):
            if self.scraper:
                words = urllib.parse.urlencode({"query": text})
                with urllib.request.urlopen(f"http://127.0.0.1:{self.port + 1}/api/v1/query?{words}", timeout=20) as answer:
                    found = json.loads(answer.read())["data"]["result"]
                return {of["metric"].get("queue", of["metric"].get("reason", "")): float(of["value"][1]) for of in found}
            values = {}
            for line in self.get("/metrics").splitlines():
                name, _, value = line.rpartition(" ")
                labels = dict(part.split("=", 1) for part in name.partition("{")[2].rstrip("}").split(",") if "=" in part)
                labels = {label: text.strip('"') for label, text in labels.items()}
                metric = name.partition("{")[0]
                wanted = text.partition("{")[0]
                resource = labels.get("resource", "gres/gpu")
                if metric == wanted and resource == "gres/gpu":
                    values[labels.get("queue", labels.get("reason", ""))] = float(value)
            return values
        return {}

    def lacking(self):
        """Returns the number of GPUs that each account lacks."""
        found = self.query('evenhand_queue_short{resource="gres/gpu"}')
        return {queue: value for queue, value in found.items() if value > 0}

    def lines(self):
        """Returns the lines of the log that report a row of the history. Each round has one such line."""
        rounds = [line for line in self.log.read_text().splitlines() if " UTC: " in line]
        return [line for line in rounds if "not in the history" not in line]

    def rows(self):
        """Returns the numbers of rounds of the history with and without a verdict."""
        page = self.folder / "history.html"
        found = json.loads(self.slurm.run(self.program, "report", self.history, "-o", page, "--format", "json", "--quiet"))
        return found["verdicts"], found["failures"], found


def test(program, out, slurm):
    """Watches the cluster of the module `slurm` while jobs start and end."""
    scene = Scene(program, out, slurm)
    has_prometheus = prometheus()
    if not has_prometheus:
        print("e2e: NOT RUN: the part with Prometheus: it is not installed", flush=True)
    try:
        slurm.run("scancel", "--user=root")
        slurm.until(lambda: not slurm.jobs(), "all jobs end")
        slurm.run("sacctmgr", "-i", "modify", "account", "vision", "set", f"GrpTRES=gres/gpu:{slurm.GPU_TYPE}=-1")
        scene.start()
        if has_prometheus:
            scene.scrape()
        jobs_come_and_go(scene, slurm)
        clients_hang(scene, slurm)
        killed(scene, slurm)
        scene.watch.send_signal(signal.SIGTERM)
        slurm.check(scene.watch.wait(30) == 0, "the watch does not end with status 0 at TERM")
        verdicts, failures, found = scene.rows()
        below = {of["queue"]: of["below"] for of in found["queues"] if of["resource"] == "gres/gpu"}
        slurm.check(below.get("vision", 0) > 0, f"the history does not say that vision was below its fair share: {below}")
        slurm.check(failures > 0, "the history has no round without a verdict")
        disk_is_full(scene, slurm)
    finally:
        scene.end()
    by = "a real Prometheus" if has_prometheus else "its metrics"
    print(f"e2e: a watch of {verdicts + failures} rounds, read by {by}: an account lacked GPUs and got them, clients hung, the watch was killed", flush=True)


def jobs_come_and_go(scene, slurm):
    for _ in range(FIRST):
        slurm.submit("product")
    slurm.until(lambda: sum(job["state"] == "R" for job in slurm.jobs()) == FIRST, "product takes all GPUs")
    for account in ("vision", "speech"):
        for _ in range(LATER):
            slurm.submit(account)
    lacks = {"research": 2.0 * LATER * GPUS, "vision": 1.0 * LATER * GPUS, "speech": 1.0 * LATER * GPUS}
    try:
        slurm.until(lambda: scene.lacking() == lacks, "a query finds the accounts that lack GPUs")
    except slurm.Fault as fault:
        raise slurm.Fault(f"{fault}: it finds {scene.lacking()}, expected {lacks}") from fault
    below = scene.query("evenhand_queue_short_by_a_task == 1") if scene.scraper else {"vision": 1.0, "speech": 1.0, "research": 1.0}
    slurm.check(set(below) == set(lacks), f"below their fair share by a whole task: {below}")
    page = scene.get("/")
    slurm.check("vision uses 0 of its fair share" in page, "the page does not name vision")
    slurm.check(json.loads(scene.get("/healthz"))["healthy"] is True, "the watch says that it is not healthy")
    # Jobs of product end, and the waiting jobs start.
    running = [job["id"] for job in slurm.jobs() if job["account"] == "product"]
    slurm.run("scancel", *running[: 2 * LATER])
    slurm.until(lambda: not scene.lacking() and scene.query("evenhand_queue_held").get("vision"), "no account lacks GPUs")
    print("e2e: a query found the accounts that lacked GPUs, and that they got them", flush=True)


def clients_hang(scene, slurm):
    """Stops the controller, so that its clients wait for an answer."""
    controller = int((pathlib.Path(os.environ["SLURM_CONF"]).parent / "run/slurmctld.pid").read_text())
    os.kill(controller, signal.SIGSTOP)
    try:
        hung = lambda: scene.query("evenhand_failures_total").get("timeout", 0) > 0  # noqa: E731
        slurm.until(hung, "a client that hangs is counted")
        slurm.check("took longer than" in scene.log.read_text(), "the log does not say that a client hung")
        slurm.check("gave no verdict" in scene.get("/"), "the page does not say that it is old")
    finally:
        os.kill(controller, signal.SIGCONT)
    slurm.until(lambda: scene.query("evenhand_up").get("") == 1, "the watch gives verdicts again")


def killed(scene, slurm):
    """Kills the watch several times, and checks that every line of its log has a row in the history."""
    for wait in (0.1, 0.9, 1.7):
        before = len(scene.lines())
        slurm.until(lambda: len(scene.lines()) > before, "the watch goes on")
        time.sleep(wait)
        scene.watch.kill()
        scene.watch.wait()
        verdicts, failures, _ = scene.rows()
        lines = len(scene.lines())
        slurm.check(verdicts + failures >= lines, f"the history has {verdicts + failures} rounds, and the log has {lines}")
        scene.start()
    before = len(scene.lines())
    slurm.until(lambda: len(scene.lines()) > before, "the watch goes on after it was killed")


def disk_is_full(scene, slurm):
    """Fills and empties the small file system with the history."""
    disk = scene.folder / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "none", disk], **slurm.QUIET).returncode:
        print("e2e: NOT RUN: the part with a full disk: no file system can be mounted here", flush=True)
        return
    log = scene.folder / "full.log"
    try:
        with log.open("w") as errors:
            command = [scene.program, "watch", "slurm", "--every=1s", f"--history={disk}/history.sqlite"]
            watch = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=errors, stderr=errors)
        try:
            rounds = lambda word: sum(word in line for line in log.read_text().splitlines())  # noqa: E731
            slurm.until(lambda: rounds(" UTC: ") > 1, "the watch writes to the small disk")
            with contextlib.suppress(OSError), (disk / "filler").open("wb", buffering=0) as filler:
                while True:
                    filler.write(bytes(4096))
            slurm.until(lambda: rounds("not in the history") > 1, "the watch says that the disk is full")
            slurm.check(watch.poll() is None, "the watch ended on a full disk")
            (disk / "filler").unlink()
            missing = rounds("not in the history")
            done = rounds(" UTC: ")
            slurm.until(lambda: rounds(" UTC: ") > done + 3, "the watch goes on")
            slurm.check(rounds("not in the history") <= missing + 1, "rounds are missing in the history although the disk has room")
        finally:
            watch.terminate()
            watch.wait(30)
        slurm.check("disk is full" in log.read_text() or "disk I/O" in log.read_text(), f"the log gives another reason: {log}")
    finally:
        subprocess.run(["umount", disk], **slurm.QUIET)
    print("e2e: a full disk was said, and the watch went on", flush=True)
