#!/usr/bin/env python3
"""Starts a real Slurm of 30 nodes on this machine (controller, accounting, node daemons), and compares verdicts of `evenhand` with
Slurm.

Three accounts submit jobs until some jobs wait. The verdicts are compared before and after the moves of `evenhand moves`.

A second scene in the same cluster has a job of two nodes, a limit on GPUs of one type and arrays with a throttle. Three verdicts
are compared with Slurm: while no waiting job could start, while jobs could start and Slurm holds them back, and after Slurm
started these jobs.

In a third scene, `evenhand watch` watches the cluster (scripts/e2e_watch.py). In a fourth scene, the usage that
Slurm reports is recomputed tick by tick (scripts/e2e_usage.py).

    scripts/e2e_slurm.py PROGRAM OUT

As root, the script installs missing Debian packages. Without root, the packages or a network, the test is skipped with a message.
All processes are ended and all files removed in every case. The dumps are saved in OUT."""

import collections
import contextlib
import ctypes
import fractions
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import e2e_usage
import e2e_watch

PACKAGES = "slurmctld slurmd slurm-client slurmdbd slurm-wlm-basic-plugins slurm-wlm-mysql-plugin munge mariadb-server".split()
PROGRAMS = ["slurmctld", "slurmd", "slurmdbd", "sbatch", "sacctmgr", "munged", "mariadbd", "mariadb-install-db", "mariadb"]
#: The numbers of nodes with and without GPUs, and the capacity of each node; memory in mebibytes.
GPU_NODES, CPU_NODES = 20, 10
GPU_NODE = {"cpu": 64, "memory": 256_000, "gres/gpu": 8}
CPU_NODE = {"cpu": 128, "memory": 512_000}
GPU_TYPE = "a100"
#: The limit of the account `vision` on GPUs of this type, in the second scene.
TYPED_LIMIT = 4
#: Tasks of each array in the second scene, and the number of them that may run at once.
ARRAY_TASKS, THROTTLE = 6, 2
#: The request of a job in the partition with GPUs.
JOB = {"cpu": 8, "memory": 10_240, "gres/gpu": 4}
#: Accounts that submit jobs, in this order, and the number of jobs of each in a round.
ROUND = {"product": 4, "vision": 1, "speech": 1}
#: The number of jobs with which an account exceeds its fair share: a third of all GPUs is enough for 13 1/3 jobs.
ENOUGH = 15
#: The fair shares, computed by hand: research has weight 2, product has weight 1, vision and speech have equal weights.
DUE = {name: fractions.Fraction(GPU_NODES * GPU_NODE["gres/gpu"], 3) for name in ROUND}
DUE["research"] = DUE["vision"] + DUE["speech"]
#: Seconds that a single step may take.
PATIENCE = 60
MEBIBYTE = 1024**2
QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
#: Options of `prctl`. With the first option, orphaned processes become children of this process. With the second option, started
#: processes end with this process.
SUBREAPER, WITH_PARENT = 36, 1
LIBC = ctypes.CDLL(None)


class Skipped(Exception):
    """The test cannot run on this machine. The message says why."""


class Fault(Exception):
    """A disagreement or a failed step."""


def check(holds, what):
    if not holds:
        raise Fault(what)


def until(holds, what):
    end = time.monotonic() + PATIENCE
    while not holds():
        check(time.monotonic() < end, f"{what}: not within {PATIENCE} seconds")
        time.sleep(0.3)


def installed():
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    missing = [name for name in PROGRAMS if not shutil.which(name)]
    if os.geteuid() != 0:
        raise Skipped("starting a cluster needs root; run the script as root")
    if not missing:
        return
    if not shutil.which("apt-get"):
        raise Skipped(f"{missing[0]} is missing, and there is no apt-get to install it")
    print(f"e2e: installing {', '.join(PACKAGES)}", flush=True)
    # In run level 1, packages do not start their daemons.
    environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive", RUNLEVEL="1")
    install = ["apt-get", "install", "-y", "-q", "--no-install-recommends", *PACKAGES]
    if subprocess.run(install, **QUIET, env=environment).returncode:
        subprocess.run(["apt-get", "update", "-q"], **QUIET)
        if subprocess.run(install, **QUIET, env=environment).returncode:
            raise Skipped(f"apt-get cannot install {' '.join(PACKAGES)}; check the network")


def free_ports(count):
    """Returns the first of `count` consecutive free ports."""
    for first in range(20_000 + os.getpid() % 1000 * 10, 60_000, count):
        with contextlib.ExitStack() as stack:
            try:
                for port in range(first, first + count):
                    stack.enter_context(socket.socket()).bind(("127.0.0.1", port))
            except OSError:
                continue
            return first
    raise Skipped(f"there are no {count} consecutive free ports")


class Cluster:
    """All processes of the cluster. On exit, all of them are ended."""

    def __init__(self, folder):
        self.folder = folder
        self.ports = free_ports(GPU_NODES + CPU_NODES + 3)
        os.environ["SLURM_CONF"] = str(folder / "slurm.conf")
        # Daemons that leave their parents become children of this process, so this process can end them.
        LIBC.prctl(SUBREAPER, 1, 0, 0, 0)

    def start(self, *command):
        name = "-".join(word for word in command if "/" not in word)
        log = (self.folder / "log" / f"{name}.out").open("w")
        ends = lambda: LIBC.prctl(WITH_PARENT, signal.SIGKILL, 0, 0, 0)  # noqa: E731
        subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True, preexec_fn=ends)

    def write(self, name, text, mode=0o600):
        (self.folder / name).write_text(text)
        (self.folder / name).chmod(mode)

    def __enter__(self):
        f, ports, host = self.folder, self.ports, socket.gethostname().split(".")[0]
        for name in ("db", "log", "run", "state", "spool", "dev"):
            (f / name).mkdir()
        for k in range(GPU_NODE["gres/gpu"]):
            (f / "dev" / f"gpu{k}").touch()
        (f / "munge.key").write_bytes(os.urandom(1024))
        (f / "munge.key").chmod(0o400)
        munge = f"{f}/run/munge.sock"
        self.start("munged", "--foreground", "--force", f"--key-file={f}/munge.key", f"--socket={munge}", f"--pid-file={f}/run/munged.pid",
                   f"--log-file={f}/log/munged.log", f"--seed-file={f}/run/munged.seed")  # fmt: skip
        run("mariadb-install-db", "--no-defaults", "--user=root", "--auth-root-authentication-method=normal", f"--datadir={f}/db")
        sock = f"--socket={f}/run/my.sock"
        self.start("mariadbd", "--no-defaults", "--user=root", f"--datadir={f}/db", sock, f"--port={ports}", "--bind-address=127.0.0.1",
                   "--innodb-buffer-pool-size=64M", "--innodb-log-file-size=16M", f"--pid-file={f}/run/my.pid")  # fmt: skip
        client = ["mariadb", "--no-defaults", "--user=root", sock, "-e"]
        until(lambda: works(*client, "select 1"), "the database answers")
        grant = "create user slurm@{0} identified by 'x'; grant all on accounts.* to slurm@{0}; "
        run(*client, f"create database accounts; {grant.format('localhost')}{grant.format(repr('127.0.0.1'))}")
        self.write("slurmdbd.conf", f"""AuthType=auth/munge
AuthInfo=socket={munge}
DbdHost=localhost
DbdPort={ports + 1}
SlurmUser=root
LogFile={f}/log/slurmdbd.log
PidFile={f}/run/slurmdbd.pid
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort={ports}
StorageUser=slurm
StoragePass=x
StorageLoc=accounts
""")  # fmt: skip
        of = lambda first, count: f"Port=[{first}-{first + count - 1}] NodeAddr=127.0.0.1 NodeHostname={host}"  # noqa: E731
        self.write("slurm.conf", f"""ClusterName=demo
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports + 2}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={munge}
StateSaveLocation={f}/state
SlurmdSpoolDir={f}/spool/%n
SlurmctldPidFile={f}/run/slurmctld.pid
SlurmdPidFile={f}/run/slurmd.%n.pid
SlurmctldLogFile={f}/log/slurmctld.log
SlurmdLogFile={f}/log/slurmd.%n.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
MpiDefault=none
ReturnToService=2
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=2,sched_interval=2,sched_min_interval=0
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=localhost
AccountingStoragePort={ports + 1}
AccountingStoragePass={munge}
AccountingStorageEnforce=associations,limits
AccountingStorageTRES=gres/gpu,gres/gpu:{GPU_TYPE}
PriorityType=priority/multifactor
PriorityWeightFairshare=10000
PriorityCalcPeriod=1
PriorityDecayHalfLife=00:10:00
GresTypes=gpu
SlurmdParameters=config_overrides
KillWait=2
NodeName=n[001-0{GPU_NODES}] CPUs={GPU_NODE["cpu"]} RealMemory={GPU_NODE["memory"]} Gres=gpu:{GPU_TYPE}:{GPU_NODE["gres/gpu"]} {of(ports + 3, GPU_NODES)}
NodeName=c[001-0{CPU_NODES}] CPUs={CPU_NODE["cpu"]} RealMemory={CPU_NODE["memory"]} {of(ports + 3 + GPU_NODES, CPU_NODES)}
PartitionName=gpu Nodes=n[001-0{GPU_NODES}] Default=YES MaxTime=INFINITE State=UP
PartitionName=cpu Nodes=c[001-0{CPU_NODES}] MaxTime=INFINITE State=UP
""", 0o644)  # fmt: skip
        self.write("gres.conf", f"NodeName=n[001-0{GPU_NODES}] Name=gpu Type={GPU_TYPE} File={f}/dev/gpu[0-{GPU_NODE['gres/gpu'] - 1}]\n", 0o644)
        self.start("slurmdbd", "-D")
        until(lambda: works("sacctmgr", "-i", "add", "cluster", "demo"), "accounting answers")
        run("sacctmgr", "-i", "add", "account", "research", "Fairshare=2")
        run("sacctmgr", "-i", "add", "account", "vision", "speech", "parent=research", "Fairshare=1")
        run("sacctmgr", "-i", "add", "account", "product", "Fairshare=1")
        for account in ROUND:
            run("sacctmgr", "-i", "add", "user", "root", f"account={account}")
        self.start("slurmctld", "-D", "-i")
        until(lambda: works("scontrol", "ping") and "UP" in run("scontrol", "ping"), "the controller answers")
        names = [f"n{k:03}" for k in range(1, GPU_NODES + 1)] + [f"c{k:03}" for k in range(1, CPU_NODES + 1)]
        for name in names:
            self.start("slurmd", "-D", "-N", name)
        idle = lambda: run("sinfo", "-h", "-N", "-t", "idle", "-o", "%N").split()  # noqa: E731
        until(lambda: len(idle()) == len(names), "all nodes are idle")
        return self

    def __exit__(self, *_):
        for command in (("scancel", "--user=root"), ("scontrol", "shutdown")):
            with contextlib.suppress(OSError, subprocess.SubprocessError):
                subprocess.run(command, **QUIET, timeout=10)
        for wanted in (signal.SIGTERM, signal.SIGKILL):
            end = time.monotonic() + 8
            while children := descendants():
                for child in children:
                    with contextlib.suppress(OSError):
                        os.kill(child, wanted)
                with contextlib.suppress(ChildProcessError):
                    while os.waitpid(-1, os.WNOHANG)[0]:
                        pass
                if wanted == signal.SIGTERM and time.monotonic() > end:
                    break
                time.sleep(0.2)


def descendants():
    """Returns all descendants of this process that still run."""
    children = collections.defaultdict(list)
    for entry in pathlib.Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError):
            state, parent = (entry / "stat").read_text().rpartition(")")[2].split()[:2]
            if state != "Z":
                children[int(parent)].append(int(entry.name))
    found = [os.getpid()]
    for process in found:
        found += children[process]
    return found[1:]


def works(*command):
    return subprocess.run(command, **QUIET, timeout=PATIENCE).returncode == 0


def run(*command, status=0, text=None):
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=PATIENCE)
    check(done.returncode == status, f"{' '.join(map(str, command))}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def submit(account, *arguments):
    asked = arguments or [f"--gres=gpu:{JOB['gres/gpu']}", f"--cpus-per-task={JOB['cpu']}", f"--mem={JOB['memory']}M"]
    sbatch(account, "--ntasks=1", *asked)


def sbatch(account, *arguments):
    """Submits a job and returns its id."""
    files = ["--chdir=/", "--output=/dev/null"]
    return run("sbatch", "--parsable", f"--account={account}", *arguments, *files, "--wrap=exec sleep 600").strip()


def jobs():
    """Returns the fields of `squeue` for every job and every task of an array."""
    form = "JobArrayID:|,Account:|,StateCompact:|,Reason:|,NodeList:|,tres-alloc:|,Name:|,NumNodes:|"
    lines = [line.split("|") for line in run("squeue", "-h", "--array", "-O", form).splitlines()]
    fields = ("id", "account", "state", "reason", "node", "tres", "name", "nodes")
    return [dict(zip(fields, map(str.strip, line))) for line in lines]


def tres(text):
    """Returns amounts like `cpu=8,mem=10G,node=1,gres/gpu=4` in cores, bytes and pieces."""
    units = {"M": MEBIBYTE, "G": 1024 * MEBIBYTE, "T": MEBIBYTE**2}
    found = {}
    for part in filter(None, text.split(",")):
        name, _, value = part.partition("=")
        unit = units.get(value[-1:], 1)
        found[{"mem": "memory"}.get(name, name)] = fractions.Fraction(value.rstrip("MGT")) * unit
    return found


def settled():
    """Waits until no job starts or ends in two rounds of the scheduler."""

    def holds():
        before = jobs()
        time.sleep(5)
        return before == jobs() and all(job["state"] in ("R", "PD") for job in before)

    until(holds, "the queue settles")


def dumped(program, out, name):
    """Saves the dumps of the cluster and returns the path of their snapshot."""
    folder = out / name
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for file, command in (
        ("nodes.txt", ["scontrol", "show", "nodes", "-o"]),
        ("squeue.json", ["squeue", "--json"]),
        ("sshare.txt", ["sshare", "-a", "-l", "-P"]),
        ("associations.txt", ["sacctmgr", "-P", "show", "assoc"]),
    ):
        (folder / file).write_text(run(*command))
        files.append(str(folder / file))
    snapshot = folder / "snapshot.json"
    run(program, "import", "slurm", *files, "-o", snapshot)
    return snapshot


def compare(snapshot, left_out=()):
    """Checks that a snapshot has the sums of `sinfo` and `squeue`, without the waiting jobs with the ids `left_out`."""
    of = json.loads(snapshot.read_text())
    number = lambda value: fractions.Fraction(str(value))  # noqa: E731
    totals, held, waits = collections.Counter(), collections.Counter(), collections.Counter()
    users = {user["name"]: user for user in of["problem"]["users"]}
    for server in of["problem"]["servers"]:
        for resource, amount in server["capacity"].items():
            totals[resource] += number(amount) * number(server.get("count", 1))
    by_node = collections.defaultdict(collections.Counter)
    for place in of["allocation"]["placements"]:
        node = of["servers"][place["server"]][place["index"]]
        for user, tasks in place["tasks"].items():
            for resource, amount in users[user]["demand"].items():
                by_node[node][resource] += number(tasks) * number(amount)
                held[users[user]["group"], resource] += number(tasks) * number(amount)
    for waiting in of.get("waiting", []):
        waits[users[waiting["user"]]["group"]] += int(waiting["tasks"])
    # sinfo: the capacities of the nodes and their usage.
    said, taken = collections.Counter(), {}
    form = "NodeList:|,CPUsState:|,Memory:|,AllocMem:|,Gres:|,GresUsed:|"
    for line in run("sinfo", "-h", "-N", "-O", form).splitlines():
        node, cpus, memory, used, gres, gres_used = (part.strip() for part in line.split("|")[:6])
        gpus = lambda text: int(text.split("(")[0].rpartition(":")[2]) if text.startswith("gpu") else 0  # noqa: E731
        said.update({"cpu": int(cpus.split("/")[3]), "memory": int(memory) * MEBIBYTE, "gres/gpu": gpus(gres)})
        taken[node] = {"cpu": int(cpus.split("/")[0]), "memory": int(used) * MEBIBYTE, "gres/gpu": gpus(gres_used)}
    if f"gres/gpu:{GPU_TYPE}" in totals:
        said[f"gres/gpu:{GPU_TYPE}"] = said["gres/gpu"]
    check(totals == said, f"the snapshot has {dict(totals)}, sinfo says {dict(said)}")
    for node, amounts in taken.items():
        for resource, amount in amounts.items():
            check(by_node[node][resource] == amount, f"{node}: the snapshot uses {by_node[node][resource]} {resource}, sinfo says {amount}")
    # squeue: the usage of accounts and their waiting jobs.
    running, pending = collections.Counter(), collections.Counter()
    for job in jobs():
        if job["state"] == "R":
            running.update({(job["account"], r): amount for r, amount in tres(job["tres"]).items() if r in totals})
        elif job["id"] not in left_out:
            pending[job["account"]] += int(job["nodes"])
    check(held == running, f"the snapshot has running {dict(held)}, squeue says {dict(running)}")
    check(waits == pending, f"the snapshot has waiting {dict(waits)}, squeue says {dict(pending)}")
    return {account: running[account, "gres/gpu"] for account in ROUND}, pending


def judge(program, snapshot, held, pending):
    """Checks the verdict against the usage and the waiting jobs of `squeue`. Returns the accounts below their fair share."""
    certificate = snapshot.with_name("verdict.json")
    held = dict(held, research=held["vision"] + held["speech"])
    waits = dict(pending, research=pending["vision"] + pending["speech"])
    short = sorted(name for name in DUE if waits[name] and held[name] + JOB["gres/gpu"] <= DUE[name])
    status = 1 if short else 0
    run(program, "verdict", snapshot, "-o", certificate, status=status)
    run(program, "check", certificate, "--require", "feasible")
    found = json.loads(run(program, "verdict", snapshot, "--format", "json", status=status))
    rows = {row["name"]: row for row in found["queues"]}
    for name, due in DUE.items():
        said = {what: fractions.Fraction(rows[name][what].get("gres/gpu", "0")) for what in ("usage", "fair_share")}
        check(said == {"usage": held[name], "fair_share": due}, f"{name}: the verdict says {said}, but squeue says that it uses {held[name]} of its fair share of {due}")
    below = found["below_fair_share"]
    check(sorted(below) == short, f"the verdict puts {below} below their fair share, expected {short}")
    check(found["work_conserving"] is True, f"a waiting job could start: {found['could_start']}")
    return short


def test(program, out):
    submit("product", "--partition=cpu", "--cpus-per-task=32", "--mem=2G")
    while min(collections.Counter(job["account"] for job in jobs()).get(account, 0) for account in ROUND) < ENOUGH:
        for account, count in ROUND.items():
            for _ in range(count):
                submit(account)
    settled()
    before = dumped(program, out, "before")
    held, pending = compare(before)
    short = judge(program, before, held, pending)
    print(f"e2e: Slurm runs {sum(job['state'] == 'R' for job in jobs())} jobs, {sum(pending.values())} wait; below their fair share: {', '.join(short)}", flush=True)
    check(short, "no account is below its fair share, although product submitted its jobs first")
    certificate, after = before.with_name("moves.json"), before.with_name("after.json")
    run(program, "moves", before, "-o", certificate, "--after", after)
    run(program, "check", certificate)
    moves = json.loads(run(program, "moves", before, "--format", "json"))
    script = run(program, "moves", before, "--format", "script")
    (before.with_name("moves.sh")).write_text(script)
    # Jobs that the script starts get the highest priority. Jobs that it stops are submitted again and wait.
    start = [task["task"] for step in moves["moves"] for task in step["start"]]
    stop = [task["task"] for step in moves["moves"] for task in step["stop"]]
    accounts = {job["id"]: job["account"] for job in jobs()}
    for job in start:
        run("scontrol", "update", f"JobId={job}", "Priority=4000000000")
    for job in stop:
        submit(accounts[job])
    run("sh", "-s", text=script)
    gone = lambda: not {job["id"] for job in jobs()} & set(stop)  # noqa: E731
    until(gone, "the jobs of the script end")
    until(lambda: {job["id"] for job in jobs() if job["state"] == "R"} >= set(start), "the jobs of the script start")
    settled()
    now = dumped(program, out, "after")
    held, pending = compare(now)
    short = judge(program, now, held, pending)
    check(not short, f"below their fair share after the moves: {short}")
    # The moves must lead to the predicted usage.
    promised = {row["name"]: row["usage"] for row in json.loads(run(program, "verdict", after, "--format", "json"))["queues"]}
    came = {row["name"]: row["usage"] for row in json.loads(run(program, "verdict", now, "--format", "json"))["queues"]}
    check(promised == came, f"after the moves the usage is {came}, but the moves predicted {promised}")
    print(f"e2e: {len(moves['moves'])} moves, {len(stop)} jobs stopped and submitted again; no account is below its fair share by a whole job", flush=True)


def states():
    """Counts the jobs by name, state and, for waiting jobs, the reason for the wait."""
    return collections.Counter((job["name"], job["state"], job["reason"] if job["state"] == "PD" else "") for job in jobs())


def become(expected):
    """Waits until the jobs of Slurm are in the expected states, and checks that the jobs stay in these states."""
    try:
        until(lambda: states() == expected, "jobs are in their expected states")
        settled()
        check(states() == expected, "jobs leave their expected states")
    except Fault as fault:
        raise Fault(f"{fault}: Slurm has {dict(states())}, expected {dict(expected)}") from fault


def waiting_ids(*names):
    """Returns the ids of the waiting jobs with these names, in order within an array."""
    return [job["id"] for job in jobs() if job["state"] == "PD" and job["name"] in names]


def judge_starts(program, snapshot, could_start):
    """Checks that according to the verdict exactly these jobs could start now, each on its number of servers."""
    certificate = snapshot.with_name("verdict.json")
    found = json.loads(said_of(program, "verdict", snapshot, "--format", "json", "-o", certificate))
    run(program, "check", certificate, "--require", "feasible")
    servers = collections.defaultdict(set)
    for start in found["could_start"]:
        servers[start["task"]].add(start["server"])
    said = {task: len(names) for task, names in servers.items()}
    check(said == could_start, f"jobs that could start, with their numbers of servers: the verdict says {said}, Slurm says {could_start}")
    conserving = found["work_conserving"]
    check(conserving is not bool(could_start), f"the verdict says work-conserving {conserving}, although the jobs that could start are {could_start}")
    for answer in ("could_start_by_model", "could_start_not_known"):
        check(not found[answer], f"the verdict has {answer}: {found[answer]}")
    # Slurm may start jobs without a GPU type beyond a limit on a type, and then counts the type that they got.
    typed, used = f"gres/gpu:{GPU_TYPE}", counted("vision")
    usage = {row["name"]: row["usage"].get(typed, "0") for row in found["queues"]}["vision"]
    check(usage == used, f"vision uses {usage} {typed} by the verdict, {used} by Slurm")
    exceeded = [("vision", typed, used, str(TYPED_LIMIT))] if int(used) > TYPED_LIMIT else []
    said = [tuple(row.get(part) for part in ("group", "resource", "usage", "limit")) for row in found["exceeded"]]
    check(said == exceeded, f"exceeded limits: the verdict says {said}, Slurm says {exceeded}")


def judge_moves(program, snapshot, expected):
    """Checks that `moves` starts exactly these jobs, each on its number of servers, and stops no job."""
    certificate = snapshot.with_name("moves.json")
    found = json.loads(said_of(program, "moves", snapshot, "--format", "json", "-o", certificate))
    run(program, "check", certificate)
    servers = collections.defaultdict(set)
    for start in (start for step in found["moves"] for start in step["start"]):
        servers[start["task"]].add(start["server"])
    said = {task: len(names) for task, names in servers.items()}
    check(said == expected, f"jobs to start, with their numbers of servers: the moves say {said}, Slurm says {expected}")
    check(found["stopped"] == 0, f"the moves stop {found['stopped']} tasks, although all jobs to start fit")


def said_of(*command):
    """Returns the output of `verdict` or `moves`. The command must end with status 0 (fair shares met) or 1 (not met)."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    check(done.returncode in (0, 1), f"{' '.join(map(str, command))}: status {done.returncode}\n{done.stderr}")
    return done.stdout


def counted(account):
    """Returns the number of GPUs of the type that Slurm counts against the limit of the account."""
    said = run("scontrol", "show", "assoc_mgr", f"accounts={account}", "flags=assoc", "-o")
    found = re.search(rf"GrpTRES=\S*gres/gpu:{GPU_TYPE}={TYPED_LIMIT}\((\d+)\)", said)
    check(found, f"Slurm counts no {GPU_TYPE} of {account} against a limit of {TYPED_LIMIT}: {said}")
    return found[1]


def compare_rules(snapshot, pair, left_out):
    """Checks that the snapshot has the job of two nodes, the limit on a type of GPUs, and the throttles.

    `left_out` counts the waiting tasks that the snapshot lists as not modelled, by a word of the reason."""
    of = json.loads(snapshot.read_text())
    gang = [waiting for waiting in of["waiting"] if pair in waiting["names"]]
    check(len(gang) == 1 and gang[0]["tasks"] == "2", f"the job of two nodes must wait as two tasks, but the snapshot has {gang}")
    wide = {job["id"] for job in jobs() if int(job["nodes"]) > 1}
    several = {waiting["user"] for waiting in of["waiting"] if wide & set(waiting["names"])}
    distinct = {entry["user"] for entry in of["constraints"] if entry.get("distinct_servers")}
    check(distinct == several, f"users whose tasks need different servers: the snapshot says {distinct}, the jobs of several nodes are of {several}")
    limits = {group["name"]: group["limit"] for group in of["problem"]["groups"] if group.get("limit")}
    stated = {"vision": {f"gres/gpu:{GPU_TYPE}": str(TYPED_LIMIT)}}
    check(limits == stated, f"the snapshot has the limits {limits}, Slurm has {stated}")
    named = {entry["what"]: int(entry["count"]) for entry in of["not_modelled"] if "waiting tasks" in entry["what"]}
    check(len(named) == len(left_out), f"waiting tasks that are not modelled: {named}, expected {left_out}")
    for word, count in left_out.items():
        counts = [counted for what, counted in named.items() if word in what]
        check(counts == [count], f"waiting tasks that are not modelled: {named}, expected {left_out}")


def test_starts(program, out):
    """Runs the second scene: a job of two nodes, a limit on a type of GPUs, and arrays with a throttle."""
    run("scancel", "--user=root")
    until(lambda: not jobs(), "all jobs end")
    run("sacctmgr", "-i", "modify", "account", "vision", "set", f"GrpTRES=gres/gpu:{GPU_TYPE}={TYPED_LIMIT}")
    # Every job requests memory, because Slurm gives a job without a request all memory of its node. Time limits let Slurm plan ahead.
    hour = ["--mem=100M", "--time=60"]
    later = ["--mem=100M", "--time=120"]
    array = f"--array=1-{ARRAY_TASKS}%{THROTTLE}"
    # One node without GPUs stays free for the tasks of an array, and for both tasks of a job that asks for two nodes.
    whole = ["--job-name=filler", "--partition=cpu", f"--cpus-per-task={CPU_NODE['cpu']}"]
    fillers = [sbatch("product", *whole, *hour) for _ in range(CPU_NODES - 1)]
    until(lambda: states() == {("filler", "R", ""): len(fillers)}, "the jobs that fill nodes start")
    sbatch("speech", "--job-name=array", "--partition=cpu", array, *hour)
    for _ in range(TYPED_LIMIT + 2):
        sbatch("vision", "--job-name=typed", f"--gres=gpu:{GPU_TYPE}:1", *hour)
    until(lambda: states()["array", "R", ""] == THROTTLE, "the first tasks of the array start")
    pair = sbatch("speech", "--job-name=pair", "--partition=cpu", "--nodes=2", "--ntasks-per-node=1", "--cpus-per-task=32", *later)
    beyond = ARRAY_TASKS - THROTTLE
    running = {("array", "R", ""): THROTTLE, ("typed", "R", ""): TYPED_LIMIT}
    limited = {("array", "PD", "JobArrayTaskLimit"): beyond, ("typed", "PD", "AssocGrpGRES"): 2}
    become({("filler", "R", ""): len(fillers), ("pair", "PD", "Resources"): 1} | running | limited)
    snapshot = dumped(program, out, "no-room")
    compare(snapshot, waiting_ids("array"))
    compare_rules(snapshot, pair, {"JobArrayTaskLimit": beyond})
    judge_starts(program, snapshot, {})
    text = f"a job of two nodes, 2 jobs beyond a limit of {TYPED_LIMIT} {GPU_TYPE}, {beyond} tasks beyond a throttle"
    print(f"e2e: these wait and could not start: {text}", flush=True)
    # Jobs with a high priority ask for all nodes, and Slurm starts no job that would delay them. A second node becomes free.
    walls = []
    for partition, nodes, cores in (("cpu", CPU_NODES, CPU_NODE["cpu"]), ("gpu", GPU_NODES, GPU_NODE["cpu"])):
        walls.append(sbatch("product", "--job-name=wall", f"--partition={partition}", f"--nodes={nodes}", "--ntasks-per-node=1",
                            f"--cpus-per-task={cores}", *hour))  # fmt: skip
        run("scontrol", "update", f"JobId={walls[-1]}", "Priority=4000000000")
    until(lambda: states()["wall", "PD", "Resources"] == len(walls), "the jobs that need all nodes wait")
    untyped = sbatch("vision", "--job-name=untyped", "--gres=gpu:1", *later)
    second = sbatch("product", "--job-name=second", "--partition=cpu", array, *later)
    run("scancel", fillers.pop())
    held_back = {("pair", "PD", "Priority"): 1, ("untyped", "PD", "Priority"): 1, ("second", "PD", "Priority"): ARRAY_TASKS}
    become({("filler", "R", ""): len(fillers), ("wall", "PD", "Resources"): len(walls)} | held_back | running | limited)
    snapshot = dumped(program, out, "room")
    compare(snapshot, [*waiting_ids("array"), *waiting_ids("second")[THROTTLE:]])
    compare_rules(snapshot, pair, {"JobArrayTaskLimit": beyond, "beyond their throttle": beyond})
    judge_starts(program, snapshot, {pair: 2, untyped: 1, f"{second}_1": 1})
    judge_moves(program, snapshot, {pair: 2, untyped: 1} | {f"{second}_{task}": 1 for task in range(1, THROTTLE + 1)})
    # Slurm starts the jobs that could start, and no other job.
    run("scancel", *walls)
    started = {("pair", "R", ""): 1, ("untyped", "R", ""): 1, ("second", "R", ""): THROTTLE}
    waits = {("second", "PD", "JobArrayTaskLimit"): beyond}
    become({("filler", "R", ""): len(fillers)} | started | waits | running | limited)
    snapshot = dumped(program, out, "started")
    compare(snapshot, waiting_ids("array", "second"))
    judge_starts(program, snapshot, {})
    text = f"the job of two nodes, a job of a GPU without a type, {THROTTLE} tasks of another array"
    print(f"e2e: these fit and could start, and Slurm starts them: {text}", flush=True)


def main():
    program, out = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2]).resolve()
    started = time.monotonic()

    def stopped(number, _):
        raise Fault(f"ended by signal {number}")

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stopped)
    try:
        installed()
        with tempfile.TemporaryDirectory(prefix="evenhand-slurm-", ignore_cleanup_errors=True) as folder:
            folder = pathlib.Path(folder)
            with contextlib.ExitStack() as stack:
                # The logs are saved even after a fault.
                stack.callback(lambda: shutil.copytree(folder / "log", out / "log", dirs_exist_ok=True))
                cluster = Cluster(folder)
                stack.push(cluster.__exit__)
                cluster.__enter__()
                ticks = e2e_usage.Ticks(folder)
                ticks.start()
                test(program, out)
                test_starts(program, out)
                e2e_watch.test(program, out, sys.modules[__name__])
                e2e_usage.test(program, out, sys.modules[__name__], ticks)
    except Skipped as why:
        print(f"e2e: NOT RUN: the test with a real Slurm: {why}")
        return
    except (Fault, subprocess.SubprocessError) as fault:
        print(f"e2e: Slurm: {fault}\ne2e: dumps and logs are in {out}")
        sys.exit(1)
    print(f"e2e: a real Slurm of {GPU_NODES + CPU_NODES} nodes agrees, in {time.monotonic() - started:.0f} seconds; dumps are in {out}")


main()
