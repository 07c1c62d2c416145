"""Recomputes the usage that a real Slurm reports (`sshare`) from the times of its jobs (`sacct`), tick by tick.

scripts/e2e_slurm.py runs this test. The last tick is read from a state file of Slurm. EVENHAND_TICKS is the number of ticks
(minutes).
"""

import json
import os
import struct
import threading
import time

TICK = 60  # seconds; PriorityCalcPeriod=1 in e2e_slurm.py
HALF_LIFE = "10m"  # PriorityDecayHalfLife in e2e_slurm.py
ACCOUNTS = ["vision", "speech", "product"]


class Ticks(threading.Thread):
    """Notes the times of all ticks while other tests run."""

    def __init__(self, folder):
        super().__init__(daemon=True)
        self.file, self.times, self.first = folder / "state" / "priority_last_decay_ran", [], None

    def run(self):
        while True:
            try:
                # Two numbers of 64 bits: the time of the last tick, and of the last reset.
                last, self.first = struct.unpack(">qq", self.file.read_bytes()[:16])
            except (OSError, struct.error):
                last = None
            if last and (not self.times or self.times[-1] != last):
                self.times.append(last)
            time.sleep(0.2)


def test(program, out, slurm, ticks):
    wanted = int(os.environ.get("EVENHAND_TICKS", "3"))
    # Jobs begin and end between ticks, and some run over several ticks.
    for seconds, account in ((17, "vision"), (75, "speech"), (300, "product"), (41, "product")):
        slurm.run("sbatch", "--parsable", f"--account={account}", "--ntasks=1", "--cpus-per-task=2", "--mem=100M", "--partition=cpu",
                  "--chdir=/", "--output=/dev/null", f"--wrap=sleep {seconds}")  # fmt: skip
    compared = 0
    begin = len(ticks.times)
    while len(ticks.times) < begin + wanted:
        before, deadline = len(ticks.times), time.monotonic() + 3 * TICK
        while len(ticks.times) == before:
            slurm.check(time.monotonic() < deadline, "Slurm reaches its next tick")
            time.sleep(0.2)
        time.sleep(2)
        tick = ticks.times[-1]
        gaps = [b - a for a, b in zip(ticks.times, ticks.times[1:])]
        if any(gap != TICK for gap in gaps):
            print(f"e2e: usage is NOT COMPARED: ticks were {gaps} seconds apart, and the law takes equal ones", flush=True)
            return
        (out / "usage-sshare.txt").write_text(slurm.run("sshare", "-a", "-P", "-o", "Account,User,RawUsage"))
        os.environ["TZ"] = "UTC"
        report = slurm.run("sacct", "-a", "-X", "-P", "-S", "2020-01-01", "-o", "JobID,Account,AllocTRES,Start,End")
        del os.environ["TZ"]
        (out / "usage-sacct.txt").write_text(report)
        options = ["--law", "slurm-ticks", "--half-life", HALF_LIFE, "--every", f"{TICK}s", "--resource-weight", "billing=1"]
        moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(tick))
        answer = slurm.run(program, "usage", str(out / "usage-sacct.txt"), *options, "--at", moment, "--reported",
                           str(out / "usage-sshare.txt"), "--format", "json")  # fmt: skip
        reported = json.loads(answer)["reported"]
        wrong = [name for name in ACCOUNTS if not reported["queues"].get(name, {}).get("equal_up_to_rounding")]
        slurm.check(not wrong, f"usage at {moment}: {reported['sentence']} Accounts that differ: {wrong}")
        compared += len(ACCOUNTS)
    print(f"e2e: the usage of {len(ACCOUNTS)} accounts is recomputed at {compared // len(ACCOUNTS)} ticks, up to whole seconds", flush=True)
