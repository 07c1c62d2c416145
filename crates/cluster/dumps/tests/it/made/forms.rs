//! Writers of the dumps of a generated cluster in the format of each system.

use std::collections::BTreeMap;
use std::fmt::Write;

use evenhand_problem::snapshot::System;
use rand::Rng;
use serde_json::{Value, json};

use super::{Amounts, MIB, Made, Task};

/// The dump format of a system.
pub(super) struct Form {
    pub(super) system: System,
    pub(super) resources: [&'static str; 3],
    /// Returns the name of the group of a queue.
    pub(super) group: fn(&Made, usize) -> String,
    /// Returns the name of the group of a queue's tasks.
    pub(super) of_tasks: fn(&Made, usize) -> String,
    /// Returns the name of a task.
    pub(super) task: fn(&Task) -> String,
    pub(super) write: fn(&mut Made) -> Vec<String>,
    pub(super) has_weights: bool,
    pub(super) has_quotas: bool,
    pub(super) has_waiting: bool,
}

fn plain(made: &Made, q: usize) -> String {
    made.queues[q].name.clone()
}

fn path(made: &Made, q: usize, between: &str) -> String {
    match made.queues[q].above {
        Some(above) => format!("{}{between}{}", path(made, above, between), made.queues[q].name),
        None => made.queues[q].name.clone(),
    }
}

fn dotted(made: &Made, q: usize) -> String {
    format!("root.{}", path(made, q, "."))
}

pub(super) fn plus(a: Amounts, b: Amounts) -> Amounts {
    std::array::from_fn(|r| a[r] + b[r])
}

fn thousandths(x: u64) -> String {
    format!("{}.{:03}", x / 1000, x % 1000)
}

pub(super) const FORMS: [Form; 6] = [
    Form {
        system: System::Yunikorn,
        resources: ["vcore", "memory", "nvidia.com/gpu"],
        group: dotted,
        of_tasks: dotted,
        task: |task| format!("ns/{}", task.name),
        write: yunikorn,
        has_weights: false,
        has_quotas: true,
        has_waiting: true,
    },
    Form {
        system: System::Volcano,
        resources: ["cpu", "memory", "nvidia.com/gpu"],
        group: plain,
        of_tasks: plain,
        task: |task| format!("ns/{}", task.name),
        write: volcano,
        has_weights: true,
        has_quotas: true,
        has_waiting: true,
    },
    Form {
        system: System::Kai,
        resources: ["cpu", "memory", "nvidia.com/gpu"],
        group: plain,
        of_tasks: plain,
        task: |task| format!("ns/{}", task.name),
        write: kai,
        has_weights: true,
        has_quotas: true,
        has_waiting: true,
    },
    Form {
        system: System::Slurm,
        resources: ["cpu", "memory", "gres/gpu"],
        group: plain,
        of_tasks: plain,
        task: |task| task.name[1..].to_owned(),
        write: slurm,
        has_weights: true,
        has_quotas: false,
        has_waiting: true,
    },
    Form {
        system: System::Mesos,
        resources: ["cpus", "mem", "gpus"],
        group: |made, q| path(made, q, "/"),
        of_tasks: |made, q| format!("{}: f", path(made, q, "/")),
        task: |task| task.name.clone(),
        write: mesos,
        has_weights: true,
        has_quotas: true,
        has_waiting: false,
    },
    Form {
        system: System::Csv,
        resources: ["cpu", "memory", "gpu"],
        group: plain,
        of_tasks: plain,
        task: |task| task.name.clone(),
        write: csv,
        has_weights: true,
        has_quotas: true,
        has_waiting: true,
    },
];

fn yunikorn(made: &mut Made) -> Vec<String> {
    let amounts = |of: Amounts| json!({"vcore": of[0], "memory": of[1] * MIB, "nvidia.com/gpu": of[2]});
    let nodes = made.servers.iter().map(|server| {
        json!({"nodeID": server.name, "capacity": amounts(plus(server.has, server.foreign)), "occupied": amounts(server.foreign),
            "schedulable": server.is_open, "allocations": [{"allocationKey": "x", "resource": {"vcore": 7}}]})
    });
    let nodes: Vec<Value> = nodes.collect();
    let mut below: Vec<Vec<Value>> = vec![Vec::new(); made.queues.len() + 1];
    for (q, queue) in made.queues.iter().enumerate().rev() {
        let mut of = json!({"queuename": dotted(made, q), "partition": "default", "isLeaf": below[q].is_empty(),
            "children": std::mem::take(&mut below[q])});
        if let Some(guarantee) = queue.guarantee {
            of["guaranteedResource"] = amounts(guarantee);
        }
        if let Some(limit) = queue.limit {
            of["maxResource"] = amounts(limit);
        }
        below[queue.above.unwrap_or(made.queues.len())].push(of);
    }
    let root = json!({"queuename": "root", "partition": "default", "children": below.pop()});
    let mut applications = vec![
        json!({"applicationID": "old", "partition": "default", "queueName": "root.gone", "applicationState": "Completed"}),
    ];
    for task in &made.tasks {
        let mut ask = json!({"allocationKey": task.name, "resource": amounts(task.asks),
            "allocationTags": {"kubernetes.io/meta/namespace": "ns", "kubernetes.io/meta/podName": task.name}});
        let mut application = json!({"applicationID": format!("app-{}", task.name), "partition": "[id]default", "queueName": dotted(made, task.queue),
            "applicationState": "Running"});
        if let Some(s) = task.on {
            // Newer versions also list the requests for which an allocation exists.
            application["requests"] = json!([ask]);
            ask["nodeId"] = json!(made.servers[s].name);
            application["allocations"] = json!([ask]);
        } else {
            application["requests"] = json!([ask]);
        }
        applications.push(application);
    }
    vec![
        json!({"timestamp": 7, "partitions": [{"name": "default"}], "applications": applications,
        "nodes": [{"partitionName": "default", "nodesInfo": nodes}], "queues": [root]})
        .to_string(),
    ]
}

fn kubernetes(made: &Made, group: &str, is_fraction: bool) -> Vec<Value> {
    let amounts = |of: Amounts| json!({"cpu": format!("{}m", of[0]), "memory": format!("{}Mi", of[1]), "nvidia.com/gpu": of[2].to_string()});
    let mut objects = Vec::new();
    for server in &made.servers {
        let mut has = amounts(plus(server.has, server.foreign));
        has["pods"] = json!("110");
        objects.push(json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": server.name}, "spec": {"unschedulable": !server.is_open},
            "status": {"allocatable": has}}));
        objects.push(json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": format!("log-{}", server.name), "namespace": "kube-system"},
            "spec": {"nodeName": server.name, "containers": [{"resources": {"requests": amounts(server.foreign)}}]}, "status": {"phase": "Running"}}));
    }
    for task in &made.tasks {
        let mut annotations = json!({group: format!("group-{}", task.name)});
        let mut asks = amounts(task.asks);
        if is_fraction && task.asks[2] == 1 {
            asks["nvidia.com/gpu"] = json!("0");
            annotations["gpu-fraction"] = json!("0.5");
            annotations["gpu-fraction-num-devices"] = json!("2");
        }
        let mut spec = json!({"containers": [{"name": "main", "resources": {"requests": asks}}]});
        if let Some(s) = task.on {
            spec["nodeName"] = json!(made.servers[s].name);
        }
        objects.push(json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": task.name, "namespace": "ns", "annotations": annotations},
            "spec": spec, "status": {"phase": if task.on.is_some() { "Running" } else { "Pending" }}}));
    }
    objects
}

/// Returns the objects as two lists, one for each file, in JSON or in YAML.
fn files(made: &mut Made, mut objects: Vec<Value>) -> Vec<String> {
    let rest = objects.split_off(made.random.random_range(0..=objects.len()));
    let list =
        |items: Vec<Value>| json!({"apiVersion": "v1", "items": items, "kind": "List", "metadata": {}});
    let is_yaml = made.random.random_bool(0.5);
    let text = |value: &Value| if is_yaml { yaml(value, 0) } else { value.to_string() };
    vec![text(&list(objects)), text(&list(rest))]
}

/// Returns a value in YAML, with objects in blocks and the elements of lists after dashes.
fn yaml(value: &Value, depth: usize) -> String {
    let space = " ".repeat(depth);
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            fields.iter().fold(String::new(), |mut out, (key, inner)| {
                let is_block = matches!(inner, Value::Object(of) if !of.is_empty())
                    || matches!(inner, Value::Array(of) if !of.is_empty());
                let between = if is_block { "\n" } else { " " };
                let _ = writeln!(
                    out,
                    "{space}{}:{between}{}",
                    json!(key),
                    yaml(inner, depth + 2).trim_end_matches('\n')
                );
                out
            })
        }
        Value::Array(list) if !list.is_empty() => list.iter().fold(String::new(), |mut out, inner| {
            let _ = writeln!(out, "{space}-\n{}", yaml(inner, depth + 2).trim_end_matches('\n'));
            out
        }),
        other => format!("{other}\n"),
    }
}

fn volcano(made: &mut Made) -> Vec<String> {
    let amounts = |of: Amounts| json!({"cpu": format!("{}m", of[0]), "memory": format!("{}Mi", of[1]), "nvidia.com/gpu": of[2].to_string()});
    let mut objects = kubernetes(made, "scheduling.k8s.io/group-name", false);
    for queue in &made.queues {
        let mut spec = json!({"weight": queue.weight});
        if let Some(above) = queue.above {
            spec["parent"] = json!(made.queues[above].name);
        }
        if let Some(guarantee) = queue.guarantee {
            spec["guarantee"] = json!({"resource": amounts(guarantee)});
        }
        if let Some(limit) = queue.limit {
            spec["capability"] = amounts(limit);
        }
        objects.insert(0, json!({"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": queue.name}, "spec": spec}));
    }
    for task in &made.tasks {
        objects.push(json!({"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "metadata": {"name": format!("group-{}", task.name), "namespace": "ns"},
            "spec": {"minMember": 1, "queue": made.queues[task.queue].name}}));
    }
    files(made, objects)
}

fn kai(made: &mut Made) -> Vec<String> {
    let mut objects = kubernetes(made, "pod-group-name", true);
    let megabytes = |mib: u64| {
        let bytes = mib * MIB;
        serde_json::from_str::<Value>(&format!("{}.{:06}", bytes / 1_000_000, bytes % 1_000_000)).unwrap()
    };
    for queue in &made.queues {
        let mut resources = json!({});
        for (r, word) in ["cpu", "memory", "gpu"].into_iter().enumerate() {
            let unit = |of: Amounts| if r == 1 { megabytes(of[1]) } else { json!(of[r]) };
            resources[word] = json!({"quota": queue.guarantee.map_or(json!(0), unit), "limit": queue.limit.map_or(json!(-1), unit), "overQuotaWeight": queue.weight});
        }
        let mut spec = json!({"resources": resources});
        if let Some(above) = queue.above {
            spec["parentQueue"] = json!(made.queues[above].name);
        }
        objects.push(json!({"apiVersion": "scheduling.run.ai/v2", "kind": "Queue", "metadata": {"name": queue.name}, "spec": spec}));
    }
    for task in &made.tasks {
        objects.push(json!({"apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup", "metadata": {"name": format!("group-{}", task.name), "namespace": "ns"},
            "spec": {"minMember": 1, "queue": made.queues[task.queue].name}}));
    }
    if made.random.random_bool(0.5) {
        return files(made, objects);
    }
    // The lists of the scheduler's own snapshot do not state kinds.
    let mut lists: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for mut object in objects {
        let kind = object["kind"].as_str().unwrap().to_owned();
        let list = [("Node", "nodes"), ("Pod", "pods"), ("Queue", "queues"), ("PodGroup", "podGroups")];
        let list = list.iter().find(|(of, _)| *of == kind).unwrap().1;
        object.as_object_mut().unwrap().retain(|key, _| key != "kind" && key != "apiVersion");
        lists.entry(list).or_default().push(object);
    }
    vec![json!({"config": {}, "rawObjects": lists, "schedulerParams": {"x": []}}).to_string()]
}

fn slurm(made: &mut Made) -> Vec<String> {
    let (mut nodes, mut jobs, mut shares) =
        (String::new(), String::new(), "Account|User|RawShares\nroot||1\n".to_owned());
    for server in &made.servers {
        let gpus = if server.has[2] > 0 {
            format!("gpu:a100:{}(S:0-1)", server.has[2])
        } else {
            "(null)".to_owned()
        };
        let state = if server.is_open { "IDLE" } else { "IDLE+DRAIN" };
        let _ = writeln!(
            nodes,
            "NodeName={} CPUTot={} CPUEfctv={} RealMemory={} Gres={gpus} State={state} Partitions=p",
            server.name,
            server.has[0] / 1000 + 1,
            server.has[0] / 1000,
            server.has[1]
        );
    }
    for task in &made.tasks {
        let of = match task.on {
            Some(s) => format!("JobState=RUNNING NodeList={}", made.servers[s].name),
            None => "JobState=PENDING Reason=Resources".to_owned(),
        };
        let gpus = if task.asks[2] > 0 { format!(",gres/gpu={}", task.asks[2]) } else { String::new() };
        let _ = writeln!(
            jobs,
            "JobId={} JobName=x Account={} {of} Partition=p NumNodes=1 TRES=cpu={},mem={}M,node=1{gpus}",
            &task.name[1..],
            made.queues[task.queue].name,
            task.asks[0] / 1000,
            task.asks[1]
        );
    }
    fn below(made: &Made, above: Option<usize>, depth: usize, shares: &mut String) {
        for (q, queue) in made.queues.iter().enumerate().filter(|(_, queue)| queue.above == above) {
            let _ = writeln!(shares, "{}{}||{}", " ".repeat(depth), queue.name, queue.weight);
            below(made, Some(q), depth + 1, shares);
        }
    }
    below(made, None, 1, &mut shares);
    vec![nodes, jobs, shares]
}

fn mesos(made: &mut Made) -> Vec<String> {
    let number = |text: String| serde_json::from_str::<Value>(&text).unwrap();
    let amounts = |of: Amounts| json!({"cpus": number(thousandths(of[0])), "mem": of[1], "gpus": of[2]});
    let agents = made.servers.iter().map(|server| {
        json!({"id": server.name, "active": true, "deactivated": !server.is_open, "resources": amounts(server.has), "attributes": {}})
    });
    let agents: Vec<Value> = agents.collect();
    let frameworks = made.queues.iter().enumerate().map(|(q, _)| {
        let role = path(made, q, "/");
        let of_queue = made.tasks.iter().filter(|task| task.queue == q && task.on.is_some());
        let tasks: Vec<Value> = of_queue
            .map(|task| json!({"id": task.name, "slave_id": made.servers[task.on.unwrap()].name, "state": "TASK_RUNNING", "resources": amounts(task.asks)}))
            .chain([json!({"id": format!("old-{q}"), "slave_id": "gone", "state": "TASK_FINISHED", "resources": {"cpus": 1}})])
            .collect();
        json!({"id": format!("F{q}"), "name": "f", "roles": [role], "tasks": tasks})
    });
    let frameworks: Vec<Value> = frameworks.collect();
    let roles = made.queues.iter().enumerate().map(|(q, queue)| {
        let mut quota = json!({});
        if let Some(guarantee) = queue.guarantee {
            quota["guarantee"] = amounts(guarantee);
        }
        if let Some(limit) = queue.limit {
            quota["limit"] = amounts(limit);
        }
        json!({"name": path(made, q, "/"), "weight": queue.weight, "quota": quota})
    });
    let roles: Vec<Value> = roles.collect();
    vec![
        json!({"version": "1.11.0", "slaves": agents, "frameworks": frameworks}).to_string(),
        json!({"roles": roles}).to_string(),
    ]
}

fn csv(made: &mut Made) -> Vec<String> {
    let row = |of: Amounts| format!("{},{}Mi,{}", thousandths(of[0]), of[1], of[2]);
    let (mut servers, mut teams, mut tasks) = (
        "server,cpu,memory,gpu\n".to_owned(),
        "team,parent,weight,guarantee cpu,guarantee memory,guarantee gpu,limit cpu,limit memory,limit gpu\n"
            .to_owned(),
        "cpu,memory,gpu\n".replace("cpu", "task,team,server,cpu"),
    );
    made.servers.iter_mut().for_each(|server| server.is_open = true);
    for server in &made.servers {
        let _ = writeln!(servers, "{},{}", server.name, row(server.has));
    }
    for queue in &made.queues {
        let some = |of: Option<Amounts>| of.map_or_else(|| ",,".to_owned(), row);
        let above = queue.above.map_or("", |above| &made.queues[above].name);
        let _ = writeln!(
            teams,
            "{},{above},{},{},{}",
            queue.name,
            queue.weight,
            some(queue.guarantee),
            some(queue.limit)
        );
    }
    for task in &made.tasks {
        let on = task.on.map_or("", |s| &made.servers[s].name);
        let _ = writeln!(tasks, "{},{},{on},{}", task.name, made.queues[task.queue].name, row(task.asks));
    }
    vec![tasks, teams, servers]
}
