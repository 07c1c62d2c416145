#!/usr/bin/env python3
"""Judge the VIPR files of `evenhand lp solve --vipr` with viprchk, the checker of the format's authors.

    vipr.py FOLDER... [--evenhand PROGRAM] [--viprchk PROGRAM] [--only NAME,...] [--limit SECONDS]

Each FOLDER holds files *.mps or *.mps.gz. viprchk is built from github.com/ambros-gleixner/VIPR. A line is printed for each
programme: what viprchk concludes, and its processor time in seconds. The exit status is 1 if it refuses a file or does not end.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", nargs="+")
    parser.add_argument("--evenhand", default="target/release/evenhand")
    parser.add_argument("--viprchk", default="viprchk")
    parser.add_argument("--only", default="")
    parser.add_argument("--limit", type=int, default=120)
    call = parser.parse_args()
    only = set(filter(None, call.only.split(",")))
    paths = [os.path.join(folder, name) for folder in call.folder for name in sorted(os.listdir(folder)) if ".mps" in name]
    accepted = refused = 0
    for path in paths:
        name = os.path.basename(path).split(".mps")[0]
        if only and name not in only:
            continue
        with tempfile.TemporaryDirectory() as folder:
            proof = os.path.join(folder, "proof.vipr")
            subprocess.run([call.evenhand, "lp", "solve", path, "--vipr", proof, "--quiet"], check=True, stdout=subprocess.DEVNULL)
            limited = [sys.executable, os.path.join(HERE, "child.py"), str(call.limit), call.viprchk, proof]
            # viprchk ends with status 0 if it accepts every line, and with another status otherwise.
            cost = json.loads(subprocess.run(limited, capture_output=True, check=True, text=True).stdout)
        is_accepted = cost["status"] == 0 and not cost["over"]
        accepted, refused = accepted + is_accepted, refused + (not is_accepted)
        conclusion = "accepted" if is_accepted else f"not accepted ({cost['complaint'] or 'time is up'})"
        print(f"{name:12} {conclusion} {cost['cpu']:8.2f}", flush=True)
    print(f"accepted: {accepted}; not accepted: {refused}")
    sys.exit(refused > 0)


if __name__ == "__main__":
    main()
