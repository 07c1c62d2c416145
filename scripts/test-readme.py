#!/usr/bin/env python3
"""Runs the commands and Python programs of a page in one shell, in their order. scripts/test-readme.sh calls this script.

A block with lines that begin with `$ ` is a session: the standard output of each command must be the text below it. A line
`...` in this text stands for any omitted lines. Any other block without a language is a list of commands, and each command
must succeed. A block of Python is a program.
"""

import pathlib
import re
import shlex
import subprocess
import sys
import time

END = "-- end of a command --"


def steps(text):
    """Yields each command with the output that it must print (None: any output)."""
    for language, block in re.findall(r"^```(\w*)\n(.*?)^```$", text, re.M | re.S):
        if language == "python":
            yield "python3 -c " + shlex.quote(block), None
        elif not language and block.startswith("$ "):
            for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
                command, _, printed = part.partition("\n")
                yield command, printed
        elif not language:
            for line in block.splitlines():
                yield line, None


def lines(text):
    return [line.rstrip() for line in text.rstrip().splitlines()]


def shows(printed, said):
    """Returns ``True`` if the page shows this output. A line `...` of the page stands for any lines."""
    pattern = "".join(r"(.*\n)*" if line == "..." else re.escape(line) + r"\n" for line in printed)
    return re.fullmatch(pattern, "".join(line + "\n" for line in said)) is not None


def main(page):
    shell = subprocess.Popen(["bash"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    count = 0
    for command, printed in steps(pathlib.Path(page).read_text()):
        shown = command if len(command) < 100 else command[:97] + "..."
        print("test-readme: $", shown.replace("\n", "; "), flush=True)
        start = time.monotonic()
        shell.stdin.write(f"{command}\nprintf '\\n%s %s\\n' {shlex.quote(END)} $?\n")
        shell.stdin.flush()
        said = []
        for line in shell.stdout:
            if line.startswith(END):
                status = int(line[len(END):])
                break
            said.append(line)
        else:
            sys.exit(f"test-readme: error: the shell ended at `{shown}`")
        said = "".join(said)
        if printed is not None and not shows(lines(printed), lines(said)):
            sys.exit(f"test-readme: error: `{shown}` prints\n{said}\nbut {page} shows\n{printed}")
        if printed is None and status != 0:
            sys.exit(f"test-readme: error: `{shown}` ends with status {status}:\n{said[-4000:]}")
        print(f"test-readme:   {time.monotonic() - start:.0f} s", flush=True)
        count += 1
    print(f"test-readme: all {count} commands of {page} ran and printed the text of the page")


main(sys.argv[1])
