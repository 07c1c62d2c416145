#!/bin/bash
# A sweep by GNU parallel, on all cores of this machine; with MACHINES=FILE (an ssh login on every line, one folder on a
# shared disk) on those. Run again, it goes on where it stopped.
set -eu
parts=${1:-64}
mkdir -p out
seq "$parts" | parallel ${MACHINES:+--sshloginfile "$MACHINES" --workdir .} \
  "test -e out/{}.jsonl || evenhand sweep grid.json --part {}/$parts -o out/{}.jsonl || test -e out/{}.jsonl"
seq -f 'out/%.0f.jsonl' "$parts" | xargs cat >lines.jsonl
