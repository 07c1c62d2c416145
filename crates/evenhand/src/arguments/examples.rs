//! The examples and exit statuses below the help of every command.

pub const ROOT: &str = "\
Exit status:
  0  done, and everything asked about holds
  1  an examined axiom is violated, or a certificate is wrong
  2  usage, or unreadable input
  3  a solver failed or reached a limit

An input named - is standard input; an output named - is standard output.

A first session:
  evenhand solve problem.json --mechanism drfh -o allocation.json
  evenhand certify problem.json allocation.json -o certificate.json
  evenhand check certificate.json --problem problem.json
  evenhand compare problem.json";

pub const SOLVE: &str = "\
Examples:
  evenhand solve problem.json -m drfh
  evenhand solve problem.json -m tsf -o allocation.json
  evenhand solve problem.json -m alpha --alpha 2 --format json
  evenhand solve problem.json -m fill --score ps-dsf --server best-fit
  evenhand solve problem.json -m drfh --float --format csv > holdings.csv";

pub const CERTIFY: &str = "\
Examples:
  evenhand certify problem.json allocation.json -o certificate.json
  evenhand certify problem.json allocation.json --axiom pareto-optimal --axiom envy-free
  evenhand certify problem.json mine.json --tolerance 1e-9";

pub const CHECK: &str = "\
Examples:
  evenhand check certificate.json
  evenhand check certificate.json --problem problem.json
  evenhand check certificate.json --format json
  evenhand check certificate.json --page -o certificate.html";

pub const EXPORT: &str = "\
Examples:
  evenhand export certificate.json --to vipr -o proofs
  evenhand export certificate.json --to coq -o certificate.v
  evenhand export problem.json --to lp -o problem.lp
  evenhand export problem.json --to mps > problem.mps";

pub const EXPLAIN: &str = "\
Examples:
  evenhand explain problem.json allocation.json --user alice
  evenhand explain queues.json allocation.json --levels --rule kueue
  evenhand explain snapshot.json --task research/train-3
  evenhand explain snapshot.json --stopped team/train
  evenhand explain snapshot.json --promises
  evenhand explain snapshot.json --settings --group research";

pub const VERDICT: &str = "\
Examples:
  evenhand verdict snapshot.json
  evenhand verdict snapshot.json -o verdict.cert.json
  evenhand verdict slurm.sqlite --window 7d --half-life 7d --weight research=2 --tolerance 0.05
  evenhand verdict snapshot.json --format prometheus";

pub const WHAT_IF: &str = "\
Examples:
  evenhand what-if snapshot.json --set research.weight=2 --set research.guarantee.gpu=16
  evenhand what-if snapshot.json --add gpu-node=4 --remove n017 --verdict
  evenhand what-if snapshot.json --submit job.json";

pub const MOVES: &str = "\
Examples:
  evenhand moves snapshot.json
  evenhand moves snapshot.json --most 10 --pinned serving -o moves.cert.json
  evenhand moves snapshot.json --for training --cost priority
  evenhand moves snapshot.json --format script";

pub const PLAN: &str = "\
Examples:
  evenhand plan snapshot.json --offer a100=8 --offer t4 --until starts=training
  evenhand plan snapshot.json --offer gpu-node --until fair
  evenhand plan snapshot.json --removable";
pub const WATCH: &str = "\
Examples:
  evenhand watch slurm --history slurm.sqlite --listen 127.0.0.1:9464
  evenhand watch kueue --once --format json
  evenhand watch kubernetes --command 'ssh login kubectl get nodes,pods -A -o json'
  evenhand watch --command 'cat snapshot.json' --every 5min --history cluster.sqlite
  evenhand report cluster.sqlite -o cluster.html";
pub const USAGE: &str = "\
Examples:
  evenhand usage history.csv --law slurm --half-life 7d --weight research=2
  evenhand usage history.csv --law kueue --half-life 7d --every 5m --resource-weight gpu=16
  evenhand usage history.csv --law kai --window 7d --capacity gpu=16
  evenhand usage demands.csv --law karma --capacity gpu=6 --alpha 1/2 --credits 6 --every 1h
  sacct -a -X -P -o Account,AllocTRES,Start,End | evenhand usage - --law slurm-ticks --half-life 7d";

pub const COMPARE: &str = "\
Examples:
  evenhand compare problem.json
  evenhand compare problem.json -m drfh -m tsf -m ps-dsf -o compared.html
  evenhand compare problem.json --format markdown";

pub const REPORT: &str = "\
Examples:
  evenhand report problem.json -o report.html
  evenhand report problem.json -m drfh -m ps-dsf --allocation theirs.json -o report.html
  evenhand report history.sqlite -o history.html";

pub const RATIO: &str = "\
Examples:
  evenhand ratio reservation.json
  evenhand ratio reservation.json --trees -o certificate.json
  evenhand ratio reservation.json --sweep 0:2:41 --plot sweep.svg -o sweep.html
  evenhand ratio reservation.json --worst-load -o certificate.json
  evenhand ratio reservation.json --monotone -o proof";

pub const SWEEP: &str = "\
Examples:
  evenhand sweep grid.json -o lines.jsonl
  evenhand sweep grid.json --part 3/100 -o lines-3.jsonl
  evenhand sweep grid.json -o lines.parquet";

pub const AUDIT: &str = "\
Examples:
  evenhand audit mechanism drfh
  evenhand audit matrix -o matrix --resume matrix.state
  evenhand audit preemption";

pub const AUDIT_MECHANISM: &str = "\
Examples:
  evenhand audit mechanism drfh
  evenhand audit mechanism tsf --axiom envy-free --instances 10000 -o found
  evenhand audit mechanism alpha --alpha 2 --users 2 --servers 1";

pub const AUDIT_MATRIX: &str = "\
Examples:
  evenhand audit matrix -o matrix
  evenhand audit matrix -o matrix --resume matrix.state
  evenhand audit matrix --positive --unlimited --everywhere";

pub const AUDIT_PREEMPTION: &str = "\
Examples:
  evenhand audit preemption
  evenhand audit preemption --queues 3 --workloads 3 -o found";

pub const HUNT: &str = "\
Examples:
  evenhand hunt --types 3 --resources 2 --steps 100000
  evenhand hunt --types 2 --resources 2 --capacity 3 --exhaustive -o worst.json
  evenhand hunt --seconds 60 --resume hunt.json";

pub const SIMULATE: &str = "\
Examples:
  evenhand simulate scenario.json
  evenhand simulate scenario.json --seed 7 -o results
  evenhand simulate scenario.json --replications 200 --format json
  evenhand simulate snapshot.json --durations limits
  evenhand simulate snapshot.json --durations exponential:2h --job training --horizon 24h";

pub const REPRODUCE: &str = "\
Examples:
  evenhand reproduce
  evenhand reproduce drfh ps-dsf
  evenhand reproduce kesidis --format csv";

pub const BENCH: &str = "\
Examples:
  evenhand bench speed
  evenhand bench accuracy -o measurements
  evenhand bench accuracy --problem problem.json --solver 'mine=./mine {problem} {answer}'
  evenhand bench accuracy --suite netlib --data netlib -o measurements
  evenhand bench accuracy --problem afiro.mps --solver 'mine=./mine {mps} {answer}'";

pub const LP: &str = "\
Examples:
  evenhand lp solve afiro.mps --certificate afiro.cert.json
  evenhand lp check afiro.mps afiro.sol
  evenhand lp check afiro.mps afiro.sol --exact";

pub const IMPORT: &str = "\
Examples:
  evenhand import openb nodes.csv pods.csv -o problem.json
  evenhand import google machine_events.csv.gz task_events.csv.gz --time 600000000 -o problem.json
  zcat tasks.csv.gz | evenhand import google machines.csv - > problem.json
  evenhand import slurm nodes.txt squeue.json sshare.txt -o snapshot.json
  kubectl get nodes,pods -A -o json | evenhand import kubernetes - -o snapshot.json";

pub const SCHEMA: &str = "\
Examples:
  evenhand schema
  evenhand schema allocation-problem > problem.schema.json";

pub const COMPLETIONS: &str = "\
Examples:
  evenhand completions bash > ~/.local/share/bash-completion/completions/evenhand
  evenhand completions zsh > ~/.zfunc/_evenhand
  evenhand completions fish > ~/.config/fish/completions/evenhand.fish";

pub const MAN: &str = "\
Examples:
  evenhand man | man -l -
  evenhand man -o ~/.local/share/man/man1";
