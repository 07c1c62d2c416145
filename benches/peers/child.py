#!/usr/bin/env python3
"""Run a program and report its CPU time (wait4), its peak memory and its exit status.

    child.py LIMIT PROGRAM ARGUMENT...

LIMIT is in seconds of CPU time; the program is killed after that. Its standard output is discarded.
"""

import json
import os
import resource
import signal
import subprocess
import sys
import time


def main():
    limit = int(sys.argv[1])

    def limited():
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))

    start = time.perf_counter()
    with subprocess.Popen(
        sys.argv[2:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, preexec_fn=limited
    ) as child:
        complaint = child.stderr.read().decode(errors="replace").strip()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    cpu = usage.ru_utime + usage.ru_stime
    ended = child.returncode in (-signal.SIGXCPU, -signal.SIGKILL) and cpu > 0.9 * limit
    line = {
        "cpu": float(f"{cpu:.4g}"),
        "wall": float(f"{time.perf_counter() - start:.4g}"),
        "peak_mib": usage.ru_maxrss // 1024,
        "status": child.returncode,
        "over": limit if ended else None,
        "complaint": complaint.splitlines()[-1] if complaint else "",
    }
    print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
