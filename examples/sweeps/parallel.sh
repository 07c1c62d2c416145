#!/bin/bash
# Runs a sweep with GNU parallel on all cores of this machine. With MACHINES=FILE (an ssh login on every line, with the folder on a
# shared disk), it runs on those machines. Run the script again to resume an interrupted sweep.
set -eu
parts=${1:-64}
mkdir -p out
seq "$parts" | parallel ${MACHINES:+--sshloginfile "$MACHINES" --workdir .} \
  "test -e out/{}.jsonl || evenhand sweep grid.json --part {}/$parts -o out/{}.jsonl || test -e out/{}.jsonl"
seq -f 'out/%.0f.jsonl' "$parts" | xargs cat >lines.jsonl
