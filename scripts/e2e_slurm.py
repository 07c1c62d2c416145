#!/usr/bin/env python3
"""Starts a real Slurm of 30 nodes on this machine (controller, accounting, node daemons), lets three accounts submit jobs until
some wait, and holds what `evenhand` says of it against what Slurm says: before and after jobs are stopped and started by `moves`.

A second scene in the same cluster has a job of two nodes, a limit on GPUs of one type and arrays with a throttle. Three verdicts
are compared with Slurm: while no waiting job has room, while jobs have room and Slurm holds them back, and after Slurm started
these jobs.

    scripts/e2e_slurm.py PROGRAM OUT

Root installs Debian's packages where they are missing; without root, packages or a network the test is skipped, and says so. All
that is started is ended, and its files are removed, whatever happens; the dumps are kept in OUT."""

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

PACKAGES = "slurmctld slurmd slurm-client slurmdbd slurm-wlm-basic-plugins slurm-wlm-mysql-plugin munge mariadb-server".split()
PROGRAMS = ["slurmctld", "slurmd", "slurmdbd", "sbatch", "sacctmgr", "munged", "mariadbd", "mariadb-install-db", "mariadb"]
#: Nodes with GPUs and without: how many, and what each has; memory in mebibytes.
GPU_NODES, CPU_NODES = 20, 10
GPU_NODE = {"cpu": 64, "memory": 256_000, "gres/gpu": 8}
CPU_NODE = {"cpu": 128, "memory": 512_000}
GPU_TYPE = "a100"
#: The limit of the account `vision` on GPUs of this type, in the second scene.
TYPED_LIMIT = 4
#: Tasks of each array in the second scene, and how many of them may run at once.
ARRAY_TASKS, THROTTLE = 6, 2
#: What a job of the partition with GPUs asks for.
JOB = {"cpu": 8, "memory": 10_240, "gres/gpu": 4}
#: Accounts that submit, in this order, and how many jobs each does in a round.
ROUND = {"product": 4, "vision": 1, "speech": 1}
#: Jobs after which an account has more than its part: a third of the GPUs of all nodes are 13 jobs and a third.
ENOUGH = 15
#: What an account is due, worked out by hand: research weighs two, product one, vision and speech share alike.
DUE = {name: fractions.Fraction(GPU_NODES * GPU_NODE["gres/gpu"], 3) for name in ROUND}
DUE["research"] = DUE["vision"] + DUE["speech"]
#: Seconds that any single thing may take.
PATIENCE = 60
MEBIBYTE = 1024**2
QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
#: `prctl`: a process that is left alone becomes a child of this one; what this one started ends with it.
SUBREAPER, WITH_PARENT = 36, 1
LIBC = ctypes.CDLL(None)


class Skipped(Exception):
    """Why the test cannot be run here."""


class Fault(Exception):
    """What is wrong."""


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
        raise Skipped("to start a cluster takes root")
    if not missing:
        return
    if not shutil.which("apt-get"):
        raise Skipped(f"there is no {missing[0]}, and no apt-get to install it")
    print(f"e2e: installs {', '.join(PACKAGES)}", flush=True)
    # In run level 1 no package starts its daemon.
    environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive", RUNLEVEL="1")
    install = ["apt-get", "install", "-y", "-q", "--no-install-recommends", *PACKAGES]
    if subprocess.run(install, **QUIET, env=environment).returncode:
        subprocess.run(["apt-get", "update", "-q"], **QUIET)
        if subprocess.run(install, **QUIET, env=environment).returncode:
            raise Skipped(f"apt-get does not install {' '.join(PACKAGES)} (no network?)")


def free_ports(count):
    """The first of so many ports in a row that nobody listens on."""
    for first in range(20_000 + os.getpid() % 1000 * 10, 60_000, count):
        with contextlib.ExitStack() as stack:
            try:
                for port in range(first, first + count):
                    stack.enter_context(socket.socket()).bind(("127.0.0.1", port))
            except OSError:
                continue
            return first
    raise Skipped("there are no free ports")


class Cluster:
    """Everything that runs; ended on leaving."""

    def __init__(self, folder):
        self.folder = folder
        self.ports = free_ports(GPU_NODES + CPU_NODES + 3)
        os.environ["SLURM_CONF"] = str(folder / "slurm.conf")
        # Daemons that leave their parents become children of this process, which ends them.
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
    """All processes below this one that still run."""
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
    """Returns what `squeue` says of every job and every task of an array."""
    form = "JobArrayID:|,Account:|,StateCompact:|,Reason:|,NodeList:|,tres-alloc:|,Name:|,NumNodes:|"
    lines = [line.split("|") for line in run("squeue", "-h", "--array", "-O", form).splitlines()]
    fields = ("id", "account", "state", "reason", "node", "tres", "name", "nodes")
    return [dict(zip(fields, map(str.strip, line))) for line in lines]


def tres(text):
    """`cpu=8,mem=10G,node=1,gres/gpu=4` in cores, bytes and pieces."""
    units = {"M": MEBIBYTE, "G": 1024 * MEBIBYTE, "T": MEBIBYTE**2}
    found = {}
    for part in filter(None, text.split(",")):
        name, _, value = part.partition("=")
        unit = units.get(value[-1:], 1)
        found[{"mem": "memory"}.get(name, name)] = fractions.Fraction(value.rstrip("MGT")) * unit
    return found


def settled():
    """Nothing starts or ends any more, in two rounds of the scheduler."""

    def holds():
        before = jobs()
        time.sleep(5)
        return before == jobs() and all(job["state"] in ("R", "PD") for job in before)

    until(holds, "the queue settles")


def dumped(program, out, name):
    """A snapshot of the cluster as it is."""
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
    """Checks that the sums of a snapshot are those of `sinfo` and `squeue`, without the waiting jobs with the ids `left_out`."""
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
    # sinfo: nodes, and what of them is taken.
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
            check(by_node[node][resource] == amount, f"{node}: {by_node[node][resource]} {resource} are taken, sinfo says {amount}")
    # squeue: what accounts hold and wait for.
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
    """The verdict, which is what follows from what `squeue` says; whether somebody is short."""
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
        check(said == {"usage": held[name], "fair_share": due}, f"{name}: {said}, and it uses {held[name]} of {due}")
    below = found["below_fair_share"]
    check(sorted(below) == short, f"below their fair share are {below}, and not {short}")
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
    print(f"e2e: Slurm runs {sum(job['state'] == 'R' for job in jobs())} jobs, {sum(pending.values())} wait; short: {', '.join(short)}", flush=True)
    check(short, "nobody is short: product came first")
    certificate, after = before.with_name("moves.json"), before.with_name("after.json")
    run(program, "moves", before, "-o", certificate, "--after", after)
    run(program, "check", certificate)
    moves = json.loads(run(program, "moves", before, "--format", "json"))
    script = run(program, "moves", before, "--format", "script")
    (before.with_name("moves.sh")).write_text(script)
    # What the script says to start goes before all others; what it stops is submitted again, and waits.
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
    check(not short, f"after the moves are short: {short}")
    # What was promised is what came.
    promised = {row["name"]: row["usage"] for row in json.loads(run(program, "verdict", after, "--format", "json"))["queues"]}
    came = {row["name"]: row["usage"] for row in json.loads(run(program, "verdict", now, "--format", "json"))["queues"]}
    check(promised == came, f"after the moves queues hold {came}, and {promised} was promised")
    print(f"e2e: {len(moves['moves'])} moves, {len(stop)} jobs stopped and submitted again: nobody is short by a job", flush=True)


def states():
    """Counts the jobs by name, state and, of waiting jobs, the reason why they wait."""
    return collections.Counter((job["name"], job["state"], job["reason"] if job["state"] == "PD" else "") for job in jobs())


def become(expected):
    """Waits until the jobs of Slurm are in the expected states, and checks that they stay there."""
    try:
        until(lambda: states() == expected, "jobs are in their expected states")
        settled()
        check(states() == expected, "jobs leave their expected states")
    except Fault as fault:
        raise Fault(f"{fault}: Slurm has {dict(states())}, expected {dict(expected)}") from fault


def waiting_ids(*names):
    """Returns the ids of the waiting jobs with these names, those of an array in their order."""
    return [job["id"] for job in jobs() if job["state"] == "PD" and job["name"] in names]


def judge_starts(program, snapshot, could_start):
    """Checks that the verdict names exactly these jobs, each with its number of servers, as jobs that could start now."""
    certificate = snapshot.with_name("verdict.json")
    found = json.loads(said_of(program, "verdict", snapshot, "--format", "json", "-o", certificate))
    run(program, "check", certificate, "--require", "feasible")
    servers = collections.defaultdict(set)
    for start in found["could_start"]:
        servers[start["task"]].add(start["server"])
    said = {task: len(names) for task, names in servers.items()}
    check(said == could_start, f"by the verdict {said} could start on so many servers, by Slurm {could_start}")
    conserving = found["work_conserving"]
    check(conserving is not bool(could_start), f"work-conserving is {conserving}, and {could_start} could start")
    for answer in ("could_start_by_model", "could_start_not_known"):
        check(not found[answer], f"the verdict has {answer}: {found[answer]}")
    # Slurm starts jobs without a type beyond a limit on a type, and then counts the type that they got.
    typed, used = f"gres/gpu:{GPU_TYPE}", counted("vision")
    usage = {row["name"]: row["usage"].get(typed, "0") for row in found["queues"]}["vision"]
    check(usage == used, f"vision uses {usage} {typed} by the verdict, {used} by Slurm")
    exceeded = [("vision", typed, used, str(TYPED_LIMIT))] if int(used) > TYPED_LIMIT else []
    said = [tuple(row.get(part) for part in ("group", "resource", "usage", "limit")) for row in found["exceeded"]]
    check(said == exceeded, f"by the verdict {said} are exceeded, by Slurm {exceeded}")


def judge_moves(program, snapshot, expected):
    """Checks that `moves` starts exactly these jobs, each on its number of servers, and stops none."""
    certificate = snapshot.with_name("moves.json")
    found = json.loads(said_of(program, "moves", snapshot, "--format", "json", "-o", certificate))
    run(program, "check", certificate)
    servers = collections.defaultdict(set)
    for start in (start for step in found["moves"] for start in step["start"]):
        servers[start["task"]].add(start["server"])
    said = {task: len(names) for task, names in servers.items()}
    check(said == expected, f"moves start {said} on so many servers, Slurm {expected}")
    check(found["stopped"] == 0, f"moves stop {found['stopped']} tasks, and there is room for all that start")


def said_of(*command):
    """Returns what `verdict` or `moves` prints, whether the queues have their fair shares (status 0) or not (status 1)."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    check(done.returncode in (0, 1), f"{' '.join(map(str, command))}: status {done.returncode}\n{done.stderr}")
    return done.stdout


def counted(account):
    """Returns how many GPUs of the type the account uses, as Slurm counts them against the limit."""
    said = run("scontrol", "show", "assoc_mgr", f"accounts={account}", "flags=assoc", "-o")
    found = re.search(rf"GrpTRES=\S*gres/gpu:{GPU_TYPE}={TYPED_LIMIT}\((\d+)\)", said)
    check(found, f"Slurm counts no {GPU_TYPE} of {account} against a limit of {TYPED_LIMIT}: {said}")
    return found[1]


def compare_rules(snapshot, pair, left_out):
    """Checks what the snapshot says of the job of two nodes, of the limit on a type of GPUs, and of throttles.

    `left_out` counts the waiting tasks that the snapshot lists as not modelled, by a word of the reason."""
    of = json.loads(snapshot.read_text())
    gang = [waiting for waiting in of["waiting"] if pair in waiting["names"]]
    check(len(gang) == 1 and gang[0]["tasks"] == "2", f"the job of two nodes waits as {gang}, and not as two tasks")
    wide = {job["id"] for job in jobs() if int(job["nodes"]) > 1}
    several = {waiting["user"] for waiting in of["waiting"] if wide & set(waiting["names"])}
    distinct = {entry["user"] for entry in of["constraints"] if entry.get("distinct_servers")}
    check(distinct == several, f"tasks of {distinct} need different servers, and {several} have the jobs of several nodes")
    limits = {group["name"]: group["limit"] for group in of["problem"]["groups"] if group.get("limit")}
    stated = {"vision": {f"gres/gpu:{GPU_TYPE}": str(TYPED_LIMIT)}}
    check(limits == stated, f"the snapshot has the limits {limits}, Slurm has {stated}")
    named = {entry["what"]: int(entry["count"]) for entry in of["not_modelled"] if "waiting tasks" in entry["what"]}
    check(len(named) == len(left_out), f"waiting tasks that are not modelled: {named}, expected {left_out}")
    for word, count in left_out.items():
        counts = [counted for what, counted in named.items() if word in what]
        check(counts == [count], f"waiting tasks that are not modelled: {named}, expected {left_out}")


def test_starts(program, out):
    """The second scene: a job of two nodes, a limit on a type of GPUs, arrays with a throttle."""
    run("scancel", "--user=root")
    until(lambda: not jobs(), "all jobs end")
    run("sacctmgr", "-i", "modify", "account", "vision", "set", f"GrpTRES=gres/gpu:{GPU_TYPE}={TYPED_LIMIT}")
    # Memory is always asked for: Slurm gives a job without a request all memory of its node. Time limits let Slurm plan ahead.
    hour = ["--mem=100M", "--time=60"]
    later = ["--mem=100M", "--time=120"]
    array = f"--array=1-{ARRAY_TASKS}%{THROTTLE}"
    # One node without GPUs keeps room: for the tasks of an array, and for both tasks of a job that asks for two nodes.
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
    # Jobs of a high priority ask for all nodes, and Slurm starts no job that would delay them. A second node gets room.
    walls = []
    for partition, nodes, cores in (("cpu", CPU_NODES, CPU_NODE["cpu"]), ("gpu", GPU_NODES, GPU_NODE["cpu"])):
        walls.append(sbatch("product", "--job-name=wall", f"--partition={partition}", f"--nodes={nodes}", "--ntasks-per-node=1",
                            f"--cpus-per-task={cores}", *hour))  # fmt: skip
        run("scontrol", "update", f"JobId={walls[-1]}", "Priority=4000000000")
    until(lambda: states()["wall", "PD", "Resources"] == len(walls), "jobs of all nodes wait for room")
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
    print(f"e2e: with room these could start, and Slurm starts them: {text}", flush=True)


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
                # Logs outlive a fault.
                stack.callback(lambda: shutil.copytree(folder / "log", out / "log", dirs_exist_ok=True))
                cluster = Cluster(folder)
                stack.push(cluster.__exit__)
                cluster.__enter__()
                test(program, out)
                test_starts(program, out)
    except Skipped as why:
        print(f"e2e: a real Slurm is NOT STARTED: {why}")
        return
    except (Fault, subprocess.SubprocessError) as fault:
        print(f"e2e: Slurm: {fault}\ne2e: dumps and logs are in {out}")
        sys.exit(1)
    print(f"e2e: a real Slurm of {GPU_NODES + CPU_NODES} nodes agrees, in {time.monotonic() - started:.0f} seconds; dumps are in {out}")


main()
