#!/bin/bash
#SBATCH --job-name=sweep
#SBATCH --array=1-1000
#SBATCH --cpus-per-task=1
#SBATCH --mem=2500M
#SBATCH --time=04:00:00
#SBATCH --requeue
# Submit with: sbatch slurm.sh. A task that was ended resumes after its last line when it is queued again.
set -eu
mkdir -p out
out=out/$SLURM_ARRAY_TASK_ID.jsonl
test -e "$out" ||
  evenhand sweep grid.json --part "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT" -o "$out" ||
  test -e "$out"
