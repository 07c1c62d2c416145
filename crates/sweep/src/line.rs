//! What a line says.

use evenhand_problem::{Rational, number};
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::fault::Fault;
use crate::text::spaced;

/// What a line is about.
#[derive(Debug, Clone)]
pub struct Head {
    /// The name of the problem, and its hash; none where the problem cannot be read.
    pub problem: Option<(String, String)>,
    /// The number of the problem in the grid, from 0.
    pub number: u64,
    /// The values of what is varied, JSON by its pointer.
    pub varied: Vec<(String, Box<RawValue>)>,
    /// What the mechanism is called.
    pub mechanism: String,
    /// Its settings, an object of JSON with numbers as texts.
    pub settings: Box<RawValue>,
}

/// A line.
#[derive(Debug, Clone)]
pub struct Line {
    /// What it is about.
    pub head: Head,
    /// What came of it.
    pub found: Result<Found, Fault>,
}

/// What a mechanism gives, summed up.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// How it ended.
    pub status: &'static str,
    /// Tasks of every user that has any.
    pub tasks: Vec<(String, Rational)>,
    /// Tasks of all users.
    pub total: Rational,
    /// The least dominant share of a user.
    pub least: Rational,
    /// Jain's index of the dominant shares; none where all are 0.
    pub jain: Option<Rational>,
    /// By resource the part that is used; none where there is none of it.
    pub utilisation: Vec<(String, Option<Rational>)>,
    /// The verdicts, where axioms were examined.
    pub axioms: Option<Vec<Verdict>>,
}

/// What was found of an axiom.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// The axiom, with its parameters.
    pub name: String,
    /// Whether it holds; none where it does not apply or was not decided.
    pub holds: Option<bool>,
    /// The same in a word.
    pub verdict: &'static str,
    /// Its margin.
    pub margin: Option<Rational>,
}

impl Line {
    /// Its text, without the line break.
    #[must_use]
    pub fn to_json(&self) -> String {
        // Texts, truth values and whole numbers are all there is.
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

/// An object whose fields stand in this order.
struct Entries<'a, K, V>(&'a [(K, V)]);

impl<K: Serialize, V: Serialize> Serialize for Entries<'_, K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

/// A line that is read back: what it is about and how it ended, numbers as texts.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadLine {
    /// The name of the problem.
    pub problem: Option<String>,
    /// Its number in the grid.
    pub number: u64,
    /// Its hash.
    pub sha256: Option<String>,
    /// The values of what is varied.
    pub varied: Option<Box<RawValue>>,
    /// What the mechanism is called.
    pub mechanism: String,
    /// Its settings.
    pub settings: Box<RawValue>,
    /// How the mechanism ended.
    pub status: Option<String>,
    /// Tasks by user.
    pub tasks: Option<Box<RawValue>>,
    /// Tasks of all users.
    pub total_tasks: Option<String>,
    /// The least dominant share.
    pub least_dominant_share: Option<String>,
    /// Jain's index.
    pub jain: Option<String>,
    /// By resource the part that is used.
    pub utilisation: Option<Box<RawValue>>,
    /// The verdicts.
    pub axioms: Option<Box<RawValue>>,
    /// Why the mechanism is not defined for the problem.
    pub not_applicable: Option<String>,
    /// Why there is no result.
    pub failed: Option<String>,
    /// What is to blame for that.
    pub cause: Option<String>,
}

impl ReadLine {
    /// Reads a line.
    ///
    /// # Errors
    /// It is none.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// Whether it is about this, a problem of this name and hash included.
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
