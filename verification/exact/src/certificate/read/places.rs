//! Evidence about places: bottlenecks by class, tasks on single servers.

use evenhand_problem::Placement;
use evenhand_problem::format::{FormatError, Object};
use serde_json::value::RawValue;

use super::Reader;
use crate::axiom::integer_feasible::SingleLimit;
use crate::axiom::ps_dsf::{Standing, Unblocked};
use crate::axiom::work_conserving::{Room, Short};
use crate::evidence::Evidence;

impl<'t> Reader<'_, 't> {
    pub fn single_limit(&self, object: &Object<'t>) -> Result<Evidence, FormatError> {
        let document = self.document;
        object.only(document, &["server", "index", "resource", "user", "slack"])?;
        let slack = document.result_number(object.need(document, "slack")?)?;
        let user = object.get("user").map(|raw| self.user(&document.string(raw)?, raw)).transpose()?;
        let server = object.get("server").map(|raw| self.server(&document.string(raw)?, raw)).transpose()?;
        let index = object.get("index").map(|raw| self.index(raw)).transpose()?;
        let limit = match (user, server, index, object.get("resource")) {
            (None, Some(i), Some(index), Some(raw)) => {
                SingleLimit::Row { row: self.row(i, &document.string(raw)?, raw)?, index }
            }
            (Some(n), None, None, None) => SingleLimit::Tasks(n),
            (Some(user), Some(server), Some(index), None) => SingleLimit::Entry { user, server, index },
            _ => {
                let message =
                    "expected `server`, `index` and `resource`, or `user`, or `user`, `server` and `index`";
                return Err(document.error(object.raw(), message));
            }
        };
        Ok(Evidence::SingleLimit { limit, slack })
    }

    fn index(&self, raw: &'t RawValue) -> Result<u64, FormatError> {
        let value = self.document.number(raw)?;
        let index = if value.is_integer() { value.numer().to_u64() } else { None };
        index.ok_or_else(|| self.document.error(raw, "expected an integer of at least 0"))
    }

    pub fn envy_up_to_one(&self, object: &Object<'t>) -> Result<Evidence, FormatError> {
        let (pair, gain) = self.tightest(object, &["user", "envied", "server"], "gain")?;
        let (user, envied) = (self.named_user(&pair, "user")?, self.named_user(&pair, "envied")?);
        let server = |raw: &'t RawValue| self.server(&self.document.string(raw)?, raw);
        let removed = pair.get("server").map(server).transpose()?;
        Ok(Evidence::EnvyUpToOne { user, envied, removed, gain })
    }

    pub fn ps_dsf(&self, object: &Object<'t>) -> Result<Evidence, FormatError> {
        let document = self.document;
        if let Some(raw) = object.get("bottlenecks") {
            object.only(document, &["bottlenecks"])?;
            let mut standings = vec![None; self.problem.n_users()];
            for (user, raw) in document.object(raw)?.fields() {
                standings[self.user(user, raw)?] = Some(self.standing(raw)?);
            }
            return Ok(Evidence::Bottlenecks(standings));
        }
        object.only(document, &["user", "server", "lacks"])?;
        let server = object.need(document, "server")?;
        let i = self.server(&document.string(server)?, server)?;
        let mut lacks = Vec::new();
        for (resource, raw) in document.object(object.need(document, "lacks")?)?.fields() {
            lacks.push((self.row(i, resource, raw)?, document.result_number(raw)?));
        }
        lacks.sort_by_key(|(row, _)| *row);
        Ok(Evidence::Unblocked(Unblocked { user: self.named_user(object, "user")?, server: i, lacks }))
    }

    /// `{"short": {user: {server: resource or [resources]}}}`, or `{"user", "server", "index"}`.
    pub fn work_conserving(&self, object: &Object<'t>) -> Result<Evidence, FormatError> {
        let document = self.document;
        if let Some(raw) = object.get("short") {
            object.only(document, &["short"])?;
            let mut short = Vec::new();
            for (user, raw) in document.object(raw)?.fields() {
                short.push((self.user(user, raw)?, self.short(raw)?));
            }
            short.sort_by_key(|(n, _)| *n);
            return Ok(Evidence::Short(short));
        }
        object.only(document, &["user", "server", "index"])?;
        let server = object.need(document, "server")?;
        Ok(Evidence::Room(Room {
            user: self.named_user(object, "user")?,
            server: self.server(&document.string(server)?, server)?,
            index: object.get("index").map(|raw| self.index(raw)).transpose()?,
        }))
    }

    fn short(&self, raw: &'t RawValue) -> Result<Short, FormatError> {
        let document = self.document;
        let mut short = Vec::new();
        for (server, raw) in document.object(raw)?.fields() {
            let i = self.server(server, raw)?;
            let names = if raw.get().starts_with('[') { document.list(raw)? } else { vec![*raw] };
            let row = |raw: &'t RawValue| self.row(i, &document.string(raw)?, raw);
            let mut rows = names.into_iter().map(row).collect::<Result<Vec<_>, _>>()?;
            rows.sort_unstable();
            short.push((i, rows));
        }
        short.sort_by_key(|(i, _)| *i);
        Ok(short)
    }

    fn standing(&self, raw: &'t RawValue) -> Result<Standing, FormatError> {
        let document = self.document;
        if raw.get().starts_with('"') {
            return match &*document.string(raw)? {
                "satisfied" => Ok(Standing::Satisfied),
                _ => Err(document.error(raw, "expected `satisfied`, or a resource by server")),
            };
        }
        let mut rows = Vec::new();
        for (server, raw) in document.object(raw)?.fields() {
            let i = self.server(server, raw)?;
            rows.push(self.row(i, &document.string(raw)?, raw)?);
        }
        rows.sort_unstable();
        Ok(Standing::Bottlenecks(rows))
    }

    pub fn placements(&self, raw: &'t RawValue) -> Result<Vec<Placement>, FormatError> {
        let document = self.document;
        let mut placements = Vec::new();
        for raw in document.list(raw)? {
            let object = document.object(raw)?;
            object.only(document, &["server", "index", "tasks"])?;
            let server = object.need(document, "server")?;
            let server = self.server(&document.string(server)?, server)?;
            let index = self.index(object.need(document, "index")?)?;
            let mut tasks = Vec::new();
            for (user, raw) in document.object(object.need(document, "tasks")?)?.fields() {
                tasks.push((self.user(user, raw)?, document.result_number(raw)?));
            }
            tasks.sort_by_key(|(n, _)| *n);
            placements.push(Placement { server, index, tasks });
        }
        Ok(placements)
    }
}
