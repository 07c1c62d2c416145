//! Dumps of invented clusters, as `kubectl get ... -o json` writes them. A dump has nodes whose memory
//! differs slightly, and pods. With Kueue it also has flavours, cohorts, queues and workloads.

use std::io::{self, Write};

use rand::Rng;
use rand::SeedableRng;
use rand::seq::IndexedRandom;
use rand_pcg::Pcg64Mcg;
use serde_json::{Value, json};

/// The size and the contents of a cluster.
#[derive(Debug, Clone, Copy)]
pub struct ClusterSize {
    /// The number of nodes.
    pub nodes: usize,
    /// The number of running and waiting pods, including those of daemons.
    pub pods: usize,
    /// The number of namespaces, or of cluster queues.
    pub queues: usize,
    /// The version of Kueue's API. `None` if the cluster has no Kueue.
    pub kueue: Option<&'static str>,
    /// True if the dump has oddities of real clusters: cordoned nodes, taints, pods on nodes that their
    /// selectors no longer match, init containers, and pods that are finished or request nothing.
    pub odd: bool,
}

/// The kinds of nodes: label, processors, memory in GiB, GPUs.
const TIERS: [(&str, u32, u64, u32); 4] =
    [("standard", 64, 256, 0), ("large", 128, 1_024, 0), ("a100", 96, 512, 8), ("h100", 192, 2_048, 8)];
/// The shapes of requests: millicores, memory in MiB, GPUs.
const SHAPES: [(u32, u32, u32); 8] = [
    (500, 1_024, 0),
    (1_000, 2_048, 0),
    (2_000, 8_192, 0),
    (4_000, 4_096, 0),
    (8_000, 32_768, 0),
    (4_000, 16_384, 1),
    (8_000, 65_536, 2),
    (16_000, 131_072, 4),
];

/// One pod of this many pods belongs to a daemon.
const DAEMONS: usize = 12;

struct Maker {
    random: Pcg64Mcg,
    size: ClusterSize,
    /// The free millicores, KiB and GPUs of each node, and whether tasks may start on the node.
    free: Vec<([u64; 3], bool)>,
    tiers: Vec<usize>,
}

/// Writes a dump. The same size and seed give the same dump.
///
/// # Errors
/// Errors of writing to `out`.
pub fn write_cluster(out: &mut impl Write, size: ClusterSize, seed: u64) -> io::Result<()> {
    let random = Pcg64Mcg::seed_from_u64(seed);
    let mut maker = Maker { random, size, free: Vec::new(), tiers: Vec::new() };
    let mut first = true;
    let mut put = |out: &mut dyn Write, object: Value| -> io::Result<()> {
        write!(out, "{}\n{object}", if std::mem::take(&mut first) { "" } else { "," })
    };
    write!(out, "{{\"apiVersion\": \"v1\", \"items\": [")?;
    for n in 0..size.nodes {
        let node = maker.node(n);
        put(out, node)?;
    }
    if let Some(version) = size.kueue {
        for object in maker.quotas(version) {
            put(out, object)?;
        }
    }
    let mut pods = 0;
    let mut next = 0;
    while pods < size.pods {
        for object in maker.task(next) {
            pods += usize::from(object["kind"] == "Pod");
            put(out, object)?;
        }
        next += 1;
        // Waiting workloads have no pods. So the number of pods alone may never be reached.
        if next > 4 * size.pods {
            break;
        }
    }
    writeln!(out, "\n], \"kind\": \"List\", \"metadata\": {{\"resourceVersion\": \"\"}}}}")
}

impl Maker {
    fn odd(&mut self, of: u32) -> bool {
        self.size.odd && self.random.random_range(0..of) == 0
    }

    fn node(&mut self, n: usize) -> Value {
        let tier = n % TIERS.len();
        let (label, cpu, gib, gpu) = TIERS[tier];
        let kib = gib * 1_048_576 - self.random.random_range(0..gib * 4_096);
        let mut capacity = json!({"cpu": cpu.to_string(), "memory": format!("{kib}Ki"), "pods": "250",
            "ephemeral-storage": "1Ti"});
        if gpu > 0 {
            capacity["nvidia.com/gpu"] = json!(gpu.to_string());
        }
        let (is_cordoned, is_off, is_tainted) = (self.odd(12), self.odd(20), self.odd(8));
        self.free.push(([u64::from(cpu) * 1_000, kib, gpu.into()], !is_cordoned && !is_off));
        self.tiers.push(tier);
        let mut spec = json!({});
        if is_cordoned {
            spec["unschedulable"] = json!(true);
        }
        if is_tainted {
            spec["taints"] = json!([{"key": "dedicated", "value": "lab", "effect": "NoSchedule"}]);
        }
        let ready = if is_off { "Unknown" } else { "True" };
        json!({"apiVersion": "v1", "kind": "Node",
            "metadata": {"name": format!("node-{n:05}"), "labels": {"tier": label, "kubernetes.io/hostname": format!("node-{n:05}"),
                "kubernetes.io/os": "linux", "node.kubernetes.io/instance-type": format!("{label}.{cpu}")}},
            "spec": spec, "status": {"allocatable": capacity, "conditions": [{"type": "Ready", "status": ready}],
                "images": [{"names": ["registry.example/image@sha256:0"], "sizeBytes": 1}]}})
    }

    /// Returns flavours, a tree of cohorts, and a local queue for each cluster queue.
    fn quotas(&mut self, version: &str) -> Vec<Value> {
        let api = format!("kueue.x-k8s.io/{version}");
        let is_new = version == "v1beta2";
        let flavour = |(label, ..): &(&str, u32, u64, u32)| json!({"apiVersion": api, "kind": "ResourceFlavor", "metadata": {"name": label}, "spec": {"nodeLabels": {"tier": label}}});
        let mut objects: Vec<Value> = TIERS.iter().map(flavour).collect();
        let n_cohorts = self.size.queues.div_ceil(10);
        for c in 0..n_cohorts {
            let mut spec = json!({});
            if c > 0 {
                spec[if is_new { "parentName" } else { "parent" }] = json!(format!("cohort-{}", (c - 1) / 4));
            }
            objects.push(json!({"apiVersion": api, "kind": "Cohort", "metadata": {"name": format!("cohort-{c}")}, "spec": spec}));
        }
        for q in 0..self.size.queues {
            let mut flavors = Vec::new();
            for (label, cpu, gib, gpu) in &TIERS[q % 3..q % 3 + 2] {
                let part = (self.size.nodes as u32 / TIERS.len() as u32).max(1);
                let of_one =
                    |all: u32| (u64::from(all) * u64::from(part)).div_ceil(self.size.queues.max(1) as u64);
                let mut resources = vec![
                    json!({"name": "cpu", "nominalQuota": of_one(*cpu).to_string()}),
                    json!({"name": "memory", "nominalQuota": format!("{}Gi", of_one(*gib as u32))}),
                    json!({"name": "nvidia.com/gpu", "nominalQuota": of_one(*gpu).to_string()}),
                ];
                if self.random.random_range(0..3) == 0 {
                    resources[0]["borrowingLimit"] = json!(of_one(*cpu).to_string());
                    resources[0]["lendingLimit"] = json!((of_one(*cpu) / 2).to_string());
                }
                flavors.push(json!({"name": label, "resources": resources}));
            }
            let mut spec = json!({"namespaceSelector": {}, "fairSharing": {"weight": self.random.random_range(1..4).to_string()},
                "resourceGroups": [{"coveredResources": ["cpu", "memory", "nvidia.com/gpu"], "flavors": flavors}]});
            spec[if is_new { "cohortName" } else { "cohort" }] = json!(format!("cohort-{}", q % n_cohorts));
            objects.push(json!({"apiVersion": api, "kind": "ClusterQueue", "metadata": {"name": format!("queue-{q}")}, "spec": spec}));
            objects.push(json!({"apiVersion": api, "kind": "LocalQueue", "metadata": {"name": "main", "namespace": format!("team-{q}")},
                "spec": {"clusterQueue": format!("queue-{q}")}}));
        }
        objects
    }

    /// Returns a pod, or a workload with its pods.
    fn task(&mut self, t: usize) -> Vec<Value> {
        let (cpu, mib, gpu) = *SHAPES.choose(&mut self.random).expect("shapes");
        let queue = self.random.random_range(0..self.size.queues.max(1));
        let is_daemon = t.is_multiple_of(DAEMONS);
        // Daemons are small. Otherwise the free capacity of nodes of one kind would differ too much.
        let (cpu, mib, gpu) = if is_daemon { (100, 128, 0) } else { (cpu, mib, gpu) };
        let mut spec = json!({"containers": [{"name": "main", "image": "registry.example/image",
            "env": [{"name": "CPU", "value": "8x"}], "resources": {"requests": {"cpu": format!("{cpu}m"), "memory": format!("{mib}Mi")},
            "limits": {"memory": format!("{mib}Mi")}}}], "restartPolicy": "Never", "schedulerName": "default-scheduler"});
        if gpu > 0 {
            let of = &mut spec["containers"][0]["resources"];
            of["requests"]["nvidia.com/gpu"] = json!(gpu.to_string());
            of["limits"]["nvidia.com/gpu"] = json!(gpu.to_string());
        }
        if self.odd(6) {
            spec["initContainers"] = json!([{"name": "log", "restartPolicy": "Always", "resources": {"requests": {"cpu": "100m"}}},
                {"name": "fetch", "resources": {"requests": {"cpu": format!("{}m", 2 * cpu), "memory": "64Mi"}}}]);
        }
        if self.odd(10) {
            spec["overhead"] = json!({"cpu": "250m", "memory": "120Mi"});
        }
        if self.odd(3) {
            spec["tolerations"] = json!([{"key": "dedicated", "operator": "Exists"}]);
        }
        if self.odd(25) {
            spec["containers"][0]["resources"] = json!({});
        }
        if self.size.kueue.is_some() && !is_daemon {
            return self.workload(t, queue, &spec);
        }
        let tier = self.random.random_range(0..TIERS.len());
        if !is_daemon && self.random.random_range(0..3) == 0 {
            spec["nodeSelector"] = json!({"tier": TIERS[tier].0});
        }
        let name = format!("pod-{t}");
        let node = if self.random.random_range(0..5) > 0 { self.reserve(&spec) } else { None };
        vec![self.pod(&name, queue, spec, node, if is_daemon { "DaemonSet" } else { "ReplicaSet" }, &name)]
    }

    fn workload(&mut self, t: usize, queue: usize, spec: &Value) -> Vec<Value> {
        let count = self.random.random_range(1..=4);
        let (name, owner) = (format!("workload-{t}"), format!("job-{t}"));
        let mut pods = Vec::new();
        let tier = queue % 3 + self.random.random_range(0..2);
        if self.random.random_range(0..4) > 0 {
            let mut placed = spec.clone();
            placed["nodeSelector"] = json!({"tier": TIERS[tier].0});
            for k in 0..count {
                let Some(node) = self.reserve(&placed) else { break };
                pods.push(self.pod(
                    &format!("{owner}-{k}"),
                    queue,
                    placed.clone(),
                    Some(node),
                    "Job",
                    &owner,
                ));
            }
        }
        let mut workload = json!({"apiVersion": format!("kueue.x-k8s.io/{}", self.size.kueue.unwrap_or("v1beta1")), "kind": "Workload",
            "metadata": {"name": name, "namespace": format!("team-{queue}"), "ownerReferences": [{"kind": "Job", "name": owner, "uid": owner}]},
            "spec": {"queueName": "main", "active": true, "podSets": [{"name": "main", "count": count, "template": {"spec": spec}}]}, "status": {}});
        if !pods.is_empty() {
            let flavour = TIERS[tier].0;
            let flavours = json!({"cpu": flavour, "memory": flavour});
            workload["status"] = json!({"admission": {"clusterQueue": format!("queue-{queue}"),
                "podSetAssignments": [{"name": "main", "count": pods.len(), "flavors": flavours}]}});
            workload["spec"]["podSets"][0]["count"] = json!(pods.len());
        }
        pods.push(workload);
        pods
    }

    fn pod(
        &mut self,
        name: &str,
        queue: usize,
        mut spec: Value,
        node: Option<usize>,
        owner: &str,
        of: &str,
    ) -> Value {
        let mut phase = if node.is_some() { "Running" } else { "Pending" };
        if let Some(node) = node {
            spec["nodeName"] = json!(format!("node-{node:05}"));
            if self.odd(30) {
                phase = "Succeeded";
            }
            if self.odd(40) {
                spec["nodeSelector"] = json!({"tier": "gone"});
            }
        }
        let conditions = match node {
            Some(_) => json!([]),
            None => json!([{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]),
        };
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": format!("team-{queue}"), "uid": format!("uid-{name}"),
            "labels": {"app": "app"}, "ownerReferences": [{"kind": owner, "name": of, "uid": of}],
            "managedFields": [{"manager": "kubelet", "fieldsV1": {"f:status": {}}}]},
            "spec": spec, "status": {"phase": phase, "conditions": conditions}})
    }

    /// Reserves the resources of a pod on a node that the selector allows. Only a few random nodes are tried.
    /// Returns the node, or `None` if none of them has enough free capacity.
    fn reserve(&mut self, spec: &Value) -> Option<usize> {
        const TRIES: usize = 12;
        let tier = spec["nodeSelector"]["tier"].as_str();
        let [cpu, kib, gpu] = self.asked(spec);
        for _ in 0..TRIES {
            let node = self.random.random_range(0..self.free.len().max(1));
            let (free, is_open) = self.free.get_mut(node)?;
            let is_allowed = tier.is_none_or(|tier| TIERS[self.tiers[node]].0 == tier);
            // Running tasks stay on a node that is cordoned.
            if is_allowed && (*is_open || self.size.odd) && free[0] >= cpu && free[1] >= kib && free[2] >= gpu
            {
                (free[0], free[1], free[2]) = (free[0] - cpu, free[1] - kib, free[2] - gpu);
                return Some(node);
            }
        }
        None
    }

    /// Returns an upper bound on the usage of a pod: millicores, KiB and GPUs.
    fn asked(&self, spec: &Value) -> [u64; 3] {
        let requests = &spec["containers"][0]["resources"]["requests"];
        let number = |name: &str| -> u64 {
            let text = requests[name].as_str().unwrap_or("0");
            text.trim_end_matches(|c: char| !c.is_ascii_digit()).parse().expect("a number")
        };
        // The factor 2 covers an init container, and the constants cover the overhead.
        [number("cpu") * 2 + 450, (number("memory") + 200) * 1_024, number("nvidia.com/gpu")]
    }
}
