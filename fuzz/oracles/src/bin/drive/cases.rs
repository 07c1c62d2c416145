//! The kinds of cases.

use evenhand_exact::Axiom;
use evenhand_mechanisms::filling::{Score, ServerRule};
use evenhand_mechanisms::registry;
use evenhand_mechanisms::tree::Rule;
use evenhand_oracles::grammar::{random_command, random_queues, random_reservation, random_scenario};
use evenhand_oracles::outside::End;
use evenhand_oracles::random_problem;
use rand::Rng;
use serde_json::Value;

use crate::attack::Attack;

/// The number of damaged certificates for each valid certificate.
const DAMAGED: u32 = 3;

/// The formats of output.
const FORMATS: [&str; 4] = ["table", "json", "csv", "markdown"];

const GOOGLE: &str = "0,,4815459946,0,7fd38dbc,0.5,0.25\n";
const TASKS: &str = "0,,1,0,4815459946,1,u1,0,0,0.125,0.07,0.0,0\n";
const NODES: &str = "sn,cpu_milli,memory_mib,gpu,model\nn1,64000,262144,2,P100\nn2,96000,786432,8,T4\n";
const PODS: &str = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n\
    p1,12000,16384,1,1000,,LS,Running,0,12537496,0\np2,6000,12288,1,460,T4,LS,Failed,427061,12902960,427061\n";

/// Runs a case of a random kind.
pub fn one(attack: &mut Attack<'_>) -> Result<(), String> {
    match attack.rng.random_range(0..20) {
        0..=6 => {
            let seed = attack.seed();
            let mechanism = attack.pick(&registry::names());
            allocations(attack, &random_problem(seed), mechanism)
        }
        7..=9 => {
            let seed = attack.seed();
            let mechanism = if attack.odds(0.8) { "tree" } else { "fill" };
            allocations(attack, &random_queues(seed), mechanism)
        }
        10..=13 => scenarios(attack),
        14..=15 => reservations(attack),
        16 => imports(attack),
        _ => arguments(attack),
    }
}

/// Runs the commands that lead from a problem to certificates. Some certificates are then damaged.
fn allocations(attack: &mut Attack<'_>, problem: &[u8], mechanism: &str) -> Result<(), String> {
    let problem = if attack.odds(0.3) { attack.damaged(problem) } else { problem.to_vec() };
    attack.write("problem.json", &problem)?;
    let mut solve = vec!["solve", "problem.json", "-m", mechanism, "-o", "allocation.json"];
    match mechanism {
        "alpha" => solve.extend(["--alpha", attack.pick(&["2", "1/2", "1/3", "10", "1", "0", "1000"])]),
        "slots" => solve.extend(["--slots", attack.pick(&["1", "7", "14", "0", "1000000"])]),
        "ps-dsf" if attack.odds(0.3) => solve.extend(["--method", "algorithm-1"]),
        "ps-dsf-tdm" if attack.odds(0.3) => solve.extend(["--method", "sweep"]),
        "njc" if attack.odds(0.3) => solve.push(attack.pick(&["--faces", "--reduce"])),
        "fill" => {
            solve.extend(["--score", attack.name(Score::NAMES), "--server", attack.name(ServerRule::NAMES)]);
        }
        "tree" if attack.odds(0.5) => solve.extend(["--rule", attack.name(Rule::NAMES)]),
        "drfh" | "tsf" | "asset" | "cdrf" if attack.odds(0.2) => solve.extend(["--seconds", "0"]),
        _ => {}
    }
    if attack.odds(0.2) {
        solve.push("--float");
    }
    attack.evenhand(&solve)?;
    if attack.odds(0.25) {
        more_of_a_problem(attack)?;
    }
    let Some(mut allocation) = attack.read("allocation.json") else { return Ok(()) };
    if attack.odds(0.25) {
        allocation = attack.damaged(&allocation);
        attack.write("allocation.json", &allocation)?;
    }
    let mut certify = vec!["certify", "problem.json", "allocation.json", "-o", "certificate.json"];
    if attack.odds(0.25) {
        certify.extend(["--tolerance", attack.pick(&["0", "1e-9", "1e-6", "1/2", "1"])]);
    }
    if attack.odds(0.25) {
        let with_parameters = ["max-min:tsf", "proportional:1/2"];
        let axioms: Vec<&str> = Axiom::ALL.map(Axiom::name).into_iter().chain(with_parameters).collect();
        certify.extend(["--axiom", attack.pick(&axioms)]);
    }
    attack.evenhand(&certify)?;
    if attack.odds(0.25) {
        let words = [["--user", "u0"], ["--group", "g0"], ["--levels", "--no-nominal-first"]];
        let which = attack.rng.random_range(0..words.len());
        attack.evenhand(&["explain", "problem.json", "allocation.json", words[which][0], words[which][1]])?;
    }
    let Some(certificate) = attack.read("certificate.json") else { return Ok(()) };
    let kernel = judged_twice(attack, "certificate.json", &certificate, &["--max-tolerance", "999/1000"])?;
    if kernel.status == Some(1) || kernel.status == Some(2) {
        attack.note("the kernel refuses a certificate that was written");
    }
    if attack.odds(0.2) {
        match attack.pick(&["vipr", "coq"]) {
            "vipr" => attack.evenhand(&["export", "certificate.json", "--to", "vipr", "-o", "vipr"])?,
            _ => attack.evenhand(&["export", "certificate.json", "--to", "coq", "-o", "certificate.v"])?,
        };
    }
    damaged(attack, &certificate)?;
    Ok(())
}

/// Runs further commands on the same problem.
fn more_of_a_problem(attack: &mut Attack<'_>) -> Result<(), String> {
    let format = attack.pick(&FORMATS);
    match attack.rng.random_range(0..3) {
        0 => attack.evenhand(&["compare", "problem.json", "--seconds", "5", "--format", format])?,
        1 => attack.evenhand(&["export", "problem.json", "--to", "mps", "-o", "problem.mps"])?,
        _ => attack.evenhand(&["export", "problem.json", "--to", "lp", "-o", "problem.lp"])?,
    };
    Ok(())
}

/// Checks that `evenhand-check` and `evenhand check`, which have the same kernel, end in the same way.
/// Returns the end of the first program.
fn judged_twice(
    attack: &mut Attack<'_>,
    name: &str,
    certificate: &[u8],
    more: &[&str],
) -> Result<End, String> {
    let sharing: &[&str] = if is_shared_by_time(certificate) { &["--sharing", "tdm"] } else { &[] };
    let arguments = [&[name], sharing, more].concat();
    let kernel = attack.kernel(&arguments)?;
    let command = attack.evenhand(&[&["check"], &arguments[..]].concat())?;
    if kernel.status != command.status {
        attack.note(format!("status {:?}, but evenhand-check ends with {:?}", command.status, kernel.status));
    }
    Ok(kernel)
}

/// Checks damaged versions of a certificate with both programs.
fn damaged(attack: &mut Attack<'_>, certificate: &[u8]) -> Result<(), String> {
    for number in 0..DAMAGED {
        let damaged = attack.damaged(certificate);
        let name = format!("damaged-{number}.json");
        attack.write(&name, &damaged)?;
        judged_twice(attack, &name, &damaged, &[])?;
    }
    Ok(())
}

fn is_shared_by_time(certificate: &[u8]) -> bool {
    let document: Option<Value> = serde_json::from_slice(certificate).ok();
    document.is_some_and(|document| document["allocation"]["sharing"] == "tdm")
}

/// Runs a scenario without checkpoints and with checkpoints. Some checkpoints are damaged.
fn scenarios(attack: &mut Attack<'_>) -> Result<(), String> {
    let seed = attack.seed();
    let mut scenario = random_scenario(seed);
    if attack.odds(0.3) {
        scenario = attack.damaged(&scenario);
    }
    attack.write("scenario.json", &scenario)?;
    let mut once = vec!["simulate", "scenario.json", "--format", "json", "--quiet"];
    let whole = attack.evenhand(&once)?;
    if attack.odds(0.2) {
        attack.evenhand(&["simulate", "scenario.json", "-o", "out", "--replications", "2"])?;
    }
    if whole.status != Some(0) || !String::from_utf8_lossy(&scenario).contains("\"scenario\"") {
        return Ok(());
    }
    let events = attack.pick(&["1", "7", "40"]);
    once.extend(["--resume", "checkpoint.json", "--checkpoint-every", events]);
    let kept = attack.evenhand(&once)?;
    if kept.status == Some(0) && kept.stdout != whole.stdout {
        attack.note("a run that keeps checkpoints ends otherwise");
    }
    let Some(checkpoint) = attack.read("checkpoint.json") else { return Ok(()) };
    let resumed = attack.evenhand(&once)?;
    if kept.status == Some(0) && resumed.status != Some(3) && resumed.stdout != whole.stdout {
        attack.note("a resumed run ends otherwise");
    }
    for number in 0..2 {
        let damaged = attack.damaged(&checkpoint);
        attack.write("checkpoint.json", &damaged)?;
        // The previous run may have replaced the checkpoint.
        attack.write(&format!("checkpoint-{number}.json"), &damaged)?;
        attack.evenhand(&once)?;
    }
    Ok(())
}

/// Runs `ratio` with and without worst loads, and checks the certificates.
fn reservations(attack: &mut Attack<'_>) -> Result<(), String> {
    let seed = attack.seed();
    let mut reservation = random_reservation(seed);
    if attack.odds(0.3) {
        reservation = attack.damaged(&reservation);
    }
    attack.write("reservation.json", &reservation)?;
    let mut ratio = vec!["ratio", "reservation.json"];
    match attack.rng.random_range(0..5) {
        0 => ratio.extend(["--sweep", "0:2:4", "--plot", "sweep.svg"]),
        1 => ratio.extend(["--monotone", "--output", "proof"]),
        2 => ratio.extend(["--worst-load", "--output", "certificate.json"]),
        _ => ratio.extend(["--output", "certificate.json"]),
    }
    if attack.odds(0.2) && ratio.contains(&"--output") {
        ratio.push("--trees");
    }
    attack.evenhand(&ratio)?;
    let Some(certificate) = attack.read("certificate.json") else { return Ok(()) };
    let kernel = judged_twice(attack, "certificate.json", &certificate, &[])?;
    if kernel.status == Some(1) || kernel.status == Some(2) {
        attack.note("the kernel refuses a certificate that was written");
    }
    if attack.odds(0.2) {
        attack.evenhand(&["export", "certificate.json", "--to", "vipr", "-o", "vipr"])?;
    }
    damaged(attack, &certificate)?;
    Ok(())
}

/// Imports tables of traces with damaged bytes.
fn imports(attack: &mut Attack<'_>) -> Result<(), String> {
    let (kind, first, second) =
        if attack.odds(0.5) { ("openb", NODES, PODS) } else { ("google", GOOGLE, TASKS) };
    for (name, text) in [("first.csv", first), ("second.csv", second)] {
        let text = if attack.odds(0.7) {
            evenhand_testkit::damage::damaged_text(text, &mut attack.rng)
        } else {
            text.to_owned()
        };
        attack.write(name, text.as_bytes())?;
    }
    attack.evenhand(&["import", kind, "first.csv", "second.csv", "-o", "problem.json"])?;
    if attack.path("problem.json").exists() {
        let end = attack.evenhand(&["solve", "problem.json", "-m", "drfh"])?;
        if end.status == Some(2) {
            attack.note("what was imported cannot be read or solved");
        }
    }
    Ok(())
}

/// Runs random command lines of the grammar on existing files, all in the same folder.
fn arguments(attack: &mut Attack<'_>) -> Result<(), String> {
    let [problem, queues, reservation, scenario] = [(); 4].map(|()| attack.seed());
    let problem = if attack.odds(0.5) { random_problem(problem) } else { random_queues(queues) };
    attack.write("problem.json", &problem)?;
    attack.write("input.json", &problem)?;
    attack.write("reservation.json", &random_reservation(reservation))?;
    attack.write("scenario.json", &random_scenario(scenario))?;
    attack.write("nodes.csv", NODES.as_bytes())?;
    let mechanism = attack.pick(&registry::names());
    attack.evenhand(&["solve", "problem.json", "-m", mechanism, "-o", "allocation.json"])?;
    if attack.path("allocation.json").exists() {
        attack.evenhand(&["certify", "problem.json", "allocation.json", "-o", "certificate.json"])?;
    }
    for _ in 0..5 {
        let seed = attack.seed();
        let arguments = random_command(seed);
        attack.run("evenhand", &arguments)?;
    }
    Ok(())
}
