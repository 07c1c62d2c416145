//! A line of a sweep, and its JSON text.

use evenhand_problem::{Rational, number};
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::fault::Fault;
use crate::text::spaced;

/// The problem, parameters and mechanism of a line.
#[derive(Debug, Clone)]
pub struct Head {
    /// The name and the hash of the problem. `None` if the problem cannot be read.
    pub problem: Option<(String, String)>,
    /// The number of the problem in the grid. The first problem has number 0.
    pub number: u64,
    /// The JSON value of each varied parameter, with the pointer to its position.
    pub varied: Vec<(String, Box<RawValue>)>,
    /// The name of the mechanism in the line.
    pub mechanism: String,
    /// The settings of the mechanism, as a JSON object in which numbers are strings.
    pub settings: Box<RawValue>,
}

/// A line with its result.
#[derive(Debug, Clone)]
pub struct Line {
    /// The problem, parameters and mechanism.
    pub head: Head,
    /// The result, or the reason why there is no result.
    pub found: Result<Found, Fault>,
}

/// A summary of a mechanism's result.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The status with which the mechanism ended.
    pub status: &'static str,
    /// The number of tasks of each user that has tasks.
    pub tasks: Vec<(String, Rational)>,
    /// The number of tasks of all users together.
    pub total: Rational,
    /// The least dominant share of all users.
    pub least: Rational,
    /// Jain's index of the dominant shares. `None` if all shares are 0.
    pub jain: Option<Rational>,
    /// The used fraction of each resource. `None` if no server has the resource.
    pub utilisation: Vec<(String, Option<Rational>)>,
    /// The verdicts. `None` if no axioms were examined.
    pub axioms: Option<Vec<Verdict>>,
}

/// The verdict on an axiom.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// The name of the axiom with its parameters.
    pub name: String,
    /// True if the axiom holds. `None` if it does not apply or was not decided.
    pub holds: Option<bool>,
    /// The verdict as a single word.
    pub verdict: &'static str,
    /// The margin of the axiom.
    pub margin: Option<Rational>,
}

impl Line {
    /// Returns the text of the line without its line break.
    #[must_use]
    pub fn to_json(&self) -> String {
        // The line contains only strings, booleans and whole numbers, so it can always be serialised.
        spaced(self).unwrap_or_default()
    }
}

impl Serialize for Line {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Head { problem, number, varied, mechanism, settings } = &self.head;
        let (name, sha256) = problem.as_ref().map(|(name, sha256)| (name, sha256)).unzip();
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("problem", &name)?;
        map.serialize_entry("number", number)?;
        map.serialize_entry("sha256", &sha256)?;
        if !varied.is_empty() {
            map.serialize_entry("varied", &Entries(varied))?;
        }
        map.serialize_entry("mechanism", mechanism)?;
        map.serialize_entry("settings", settings)?;
        match &self.found {
            Ok(found) => found.serialize_into(&mut map)?,
            Err(Fault { cause: None, what, .. }) => map.serialize_entry("not_applicable", what)?,
            Err(Fault { cause: Some(cause), what, .. }) => {
                map.serialize_entry("failed", what)?;
                map.serialize_entry("cause", cause.name())?;
            }
        }
        map.end()
    }
}

impl Found {
    fn serialize_into<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry("status", self.status)?;
        map.serialize_entry("tasks", &Entries(&exact(&self.tasks)))?;
        map.serialize_entry("total_tasks", &number::format(&self.total))?;
        map.serialize_entry("least_dominant_share", &number::format(&self.least))?;
        map.serialize_entry("jain", &self.jain.as_ref().map(number::format))?;
        let used = self.utilisation.iter().map(|(name, part)| (name, part.as_ref().map(number::format)));
        map.serialize_entry("utilisation", &Entries(&used.collect::<Vec<_>>()))?;
        if let Some(axioms) = &self.axioms {
            let axioms: Vec<_> = axioms.iter().map(|of| (&of.name, of)).collect();
            map.serialize_entry("axioms", &Entries(&axioms))?;
        }
        Ok(())
    }
}

fn exact(of: &[(String, Rational)]) -> Vec<(&String, String)> {
    of.iter().map(|(name, value)| (name, number::format(value))).collect()
}

impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(3))?;
        map.serialize_entry("holds", &self.holds)?;
        map.serialize_entry("verdict", self.verdict)?;
        map.serialize_entry("margin", &self.margin.as_ref().map(number::format))?;
        map.end()
    }
}

/// A JSON object whose fields are in the order of the list.
struct Entries<'a, K, V>(&'a [(K, V)]);

impl<K: Serialize, V: Serialize> Serialize for Entries<'_, K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

/// A line that was read from a file: its problem, mechanism and status. Numbers are strings.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadLine {
    /// The name of the problem.
    pub problem: Option<String>,
    /// The number of the problem in the grid.
    pub number: u64,
    /// The hash of the problem.
    pub sha256: Option<String>,
    /// The values of the varied parameters.
    pub varied: Option<Box<RawValue>>,
    /// The name of the mechanism in the line.
    pub mechanism: String,
    /// The settings of the mechanism.
    pub settings: Box<RawValue>,
    /// The status with which the mechanism ended.
    pub status: Option<String>,
    /// The number of tasks of each user, as JSON.
    pub tasks: Option<Box<RawValue>>,
    /// The number of tasks of all users together.
    pub total_tasks: Option<String>,
    /// The least dominant share.
    pub least_dominant_share: Option<String>,
    /// Jain's index of the dominant shares.
    pub jain: Option<String>,
    /// The used fraction of each resource.
    pub utilisation: Option<Box<RawValue>>,
    /// The verdicts on the axioms.
    pub axioms: Option<Box<RawValue>>,
    /// The reason why the mechanism is not defined for the problem.
    pub not_applicable: Option<String>,
    /// The reason why there is no result.
    pub failed: Option<String>,
    /// The cause of the failure.
    pub cause: Option<String>,
}

impl ReadLine {
    /// Reads a line.
    ///
    /// # Errors
    /// If the text is not a line of a sweep.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// Returns `true` if the line has this problem (by name and hash), these parameters and this mechanism.
    #[must_use]
    pub fn is_about(&self, head: &Head) -> bool {
        let varied = (!head.varied.is_empty()).then(|| spaced(&Entries(&head.varied)).unwrap_or_default());
        let (name, sha256) = head.problem.as_ref().map(|(name, sha256)| (name, sha256)).unzip();
        self.number == head.number
            && self.problem.as_ref() == name
            && self.sha256.as_ref() == sha256
            && self.varied.as_ref().map(|raw| raw.get()) == varied.as_deref()
            && self.mechanism == head.mechanism
            && self.settings.get() == head.settings.get()
    }
}
