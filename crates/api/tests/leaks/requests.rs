//! Random requests over every read route: valid and invalid, inside and outside the grants.

use std::collections::BTreeSet;

use crate::archive::{Archive, Row};
use crate::blobs;
use crate::model::{Token, window_paths};
use crate::question::{Arg, OWNER, Question, Route};
use crate::rng::Rng;
use crate::world::{
    DATES, DAYS, Field, Kind, MOMENTS, Place, Relation, Stream, UNDECLARED, World, canonical, keys_of,
};

/// A token an earlier answer gave out, with the request that continues it.
#[derive(Debug)]
pub(crate) struct Issued {
    pub(crate) index: usize,
    pub(crate) question: Question,
}

pub(crate) struct Asker<'a> {
    pub(crate) world: &'a World,
    pub(crate) archive: &'a Archive,
    pub(crate) tokens: &'a [Token],
    pub(crate) issued: &'a [Issued],
}

/// The stream a request is about, as far as the asker knows.
struct Subject<'a> {
    name: String,
    stream: Option<&'a Stream>,
    /// Fields the caller was granted somewhere.
    granted: BTreeSet<String>,
    connections: Vec<usize>,
}

impl<'a> Asker<'a> {
    pub(crate) fn question(&self, rng: &mut Rng) -> Question {
        let who = match rng.below(20) {
            0..=14 => 0,
            15..=17 => 1,
            _ => OWNER,
        };
        if !self.issued.is_empty() && rng.chance(30) {
            return self.follow(rng, who);
        }
        let subject = self.subject(rng, who);
        let question = match rng.below(100) {
            0..=4 => self.select(rng, &subject, Question::new(who, Route::Streams)),
            5..=9 => self.select(rng, &subject, Question::new(who, Route::Stream(subject.name.clone()))),
            10..=14 => self.schema(rng, &subject, who),
            15..=16 => Question::new(who, Route::Connectors),
            17..=46 => self.records(rng, &subject, who),
            47..=54 => self.changes(rng, &subject, who),
            55..=64 => self.record(rng, &subject, who),
            65..=76 => self.window(rng, &subject, who),
            77..=93 => self.aggregate(rng, &subject, who),
            _ => self.blob(rng, &subject, who),
        };
        match rng.chance(1) {
            true => question.with("surprise", "1"),
            false => question,
        }
    }

    fn subject(&self, rng: &mut Rng, who: usize) -> Subject<'a> {
        let streams: Vec<(usize, &'a str)> = match who {
            OWNER => {
                let own = self.world.connections.iter().enumerate();
                let own =
                    own.filter(|(_, connection)| connection.place == Place::Both && connection.subject == 0);
                let streams = own.flat_map(|(index, connection)| {
                    let streams = &self.world.sources[connection.source].streams;
                    streams.iter().map(move |stream| (index, stream.name.as_str()))
                });
                streams.collect()
            }
            who => {
                let entries = self.world.clients[who].grants.iter().flat_map(|grant| &grant.streams);
                entries
                    .flat_map(|entry| entry.connections.iter().map(|index| (*index, entry.name.as_str())))
                    .collect()
            }
        };
        let (connection, name) = *rng.pick(&streams);
        let mut subject = Subject {
            name: name.to_owned(),
            stream: self.world.stream(connection, name),
            granted: BTreeSet::new(),
            connections: streams
                .iter()
                .filter(|(_, known)| *known == name)
                .map(|(index, _)| *index)
                .collect(),
        };
        if let (true, Some(entry)) = (who != OWNER, self.world.cover(who.min(1), connection, name)) {
            subject.granted.clone_from(&entry.fields);
        } else if let Some(stream) = subject.stream {
            subject.granted = stream.fields.iter().map(|field| field.name.to_owned()).collect();
        }
        match rng.below(100) {
            0..=3 => "nope".clone_into(&mut subject.name),
            4..=7 => (*rng.pick(&["notes", "mail", "items"])).clone_into(&mut subject.name),
            _ => {}
        }
        subject
    }

    /// Chooses a connection, or none, or one that is not there to be chosen.
    fn select(&self, rng: &mut Rng, subject: &Subject<'_>, question: Question) -> Question {
        let any = |rng: &mut Rng| self.world.connections[rng.below(self.world.connections.len())].id.clone();
        let question = match rng.below(100) {
            0..=44 => question,
            45..=81 => {
                let index = *rng.pick(&subject.connections);
                question.with("connection_id", self.world.connections[index].id.clone())
            }
            82..=89 => {
                let id = any(rng);
                question.with("connection_id", id)
            }
            90..=92 => question.with("connection_id", *rng.pick(&["cin_nope", "../x", "*"])),
            93..=95 => {
                let index = *rng.pick(&subject.connections);
                question.with("connector_instance_id", self.world.connections[index].id.clone())
            }
            96 => {
                let (one, other) = (any(rng), any(rng));
                question.with("connection_id", one).with("connector_instance_id", other)
            }
            _ => question.with("connector_id", *rng.pick(&["alpha", "omega", "nope"])),
        };
        // The owner of several sources must say which one is meant.
        if question.who == OWNER
            && !question.has("connection_id")
            && !question.has("connector_id")
            && rng.chance(80)
        {
            let source = &self.world.sources[self.world.connections[*rng.pick(&subject.connections)].source];
            let id = if rng.chance(70) { &source.key } else { &source.uri };
            return question.with("connector_id", id.clone());
        }
        question
    }

    /// A field name: mostly granted, sometimes only declared, rarely unknown.
    fn name(&self, rng: &mut Rng, subject: &Subject<'_>) -> String {
        let declared: Vec<&str> =
            subject.stream.map_or(vec!["id"], |s| s.fields.iter().map(|f| f.name).collect());
        let granted: Vec<&String> =
            subject.granted.iter().filter(|name| declared.contains(&name.as_str())).collect();
        match rng.below(100) {
            0..=88 if !granted.is_empty() => (*rng.pick(&granted)).clone(),
            0..=96 => (*rng.pick(&declared)).to_owned(),
            97..=98 => UNDECLARED.to_owned(),
            _ => "nope".to_owned(),
        }
    }

    /// A granted field among some, if possible.
    fn name_among(&self, rng: &mut Rng, subject: &Subject<'_>, names: &[&str]) -> String {
        let granted: Vec<&&str> = names.iter().filter(|name| subject.granted.contains(**name)).collect();
        match rng.below(100) {
            0..=84 if !granted.is_empty() => (**rng.pick(&granted)).to_owned(),
            0..=94 if !names.is_empty() => (*rng.pick(names)).to_owned(),
            _ => self.name(rng, subject),
        }
    }

    fn fields(&self, rng: &mut Rng, subject: &Subject<'_>, question: Question) -> Question {
        if !rng.chance(30) {
            return question;
        }
        if rng.chance(2) {
            return question.with("fields", ",");
        }
        let names: Vec<String> = (0..=rng.below(3)).map(|_| self.name(rng, subject)).collect();
        question.with("fields", names.join(","))
    }

    fn filter(&self, rng: &mut Rng, subject: &Subject<'_>, mut question: Question) -> Question {
        if !rng.chance(30) {
            return question;
        }
        for _ in 0..=rng.below(2) {
            let ranged: Vec<&str> =
                subject.stream.map_or(Vec::new(), |s| s.ranges.iter().map(|(name, _)| *name).collect());
            let range = rng.chance(50);
            let name = if range { self.name_among(rng, subject, &ranged) } else { self.name(rng, subject) };
            let field = subject.stream.and_then(|stream| stream.field(&name));
            let declared = subject.stream.and_then(|s| s.ranges.iter().find(|(known, _)| **known == *name));
            let operator = match declared {
                _ if !range => String::new(),
                Some((_, operators)) if rng.chance(90) => format!("[{}]", rng.pick(operators)),
                _ => format!("[{}]", rng.pick(&["gte", "gt", "lte", "lt", "like"])),
            };
            let operand = operand(rng, field);
            question = question.with(format!("filter[{name}]{operator}"), operand);
        }
        question
    }

    fn records(&self, rng: &mut Rng, subject: &Subject<'_>, who: usize) -> Question {
        let mut question =
            self.select(rng, subject, Question::new(who, Route::Records(subject.name.clone())));
        question = self.fields(rng, subject, question);
        question = self.filter(rng, subject, question);
        if rng.chance(10) {
            question = question.with("view", *rng.pick(&["view0", "view0", "view1", "view9"]));
        }
        if rng.chance(30) {
            question = question.with("order", *rng.pick(&["asc", "asc", "desc", "desc", "desc", "up"]));
        }
        if rng.chance(15) {
            let cursor_field = subject.stream.and_then(|stream| stream.cursor_field);
            let field = match cursor_field.filter(|_| rng.chance(80)) {
                Some(field) => field.to_owned(),
                None => self.name(rng, subject),
            };
            question = question.with("sort", format!("{}{field}", rng.pick(&["", "-"])));
        }
        question = limit(rng, question);
        if rng.chance(20) {
            question =
                question.with("count", *rng.pick(&["exact", "exact", "estimated", "none", "none", "many"]));
        }
        if rng.chance(15) {
            question = question.with("window", *rng.pick(&["exact", "exact", "exact", "none", "open"]));
        }
        self.expand(rng, subject, question)
    }

    fn expand(&self, rng: &mut Rng, subject: &Subject<'_>, mut question: Question) -> Question {
        if !rng.chance(35) {
            return question;
        }
        let relations = subject.stream.map_or(&[][..], |stream| stream.relations.as_slice());
        let usable = |relation: &&Relation| {
            let covered = |connection: &usize| match question.who {
                OWNER => true,
                who => self
                    .world
                    .cover(who, *connection, &relation.stream)
                    .is_some_and(|entry| entry.fields.contains(relation.foreign_key)),
            };
            relation.expand.is_some() && subject.connections.iter().any(covered)
        };
        let any = rng.chance(20);
        let declared: Vec<&str> = relations
            .iter()
            .filter(|relation| any || usable(relation))
            .map(|relation| relation.name)
            .collect();
        let relation = match rng.below(20) {
            0 => "nope",
            1 => "children.children",
            _ if declared.is_empty() => return question,
            _ => *rng.pick(&declared),
        };
        question = question.with(*rng.pick(&["expand", "expand[]"]), relation);
        if rng.chance(25) {
            let limit = *rng.pick(&["1", "1", "2", "3", "0", "99", "x"]);
            question = question.with(format!("expand_limit[{relation}]"), limit);
        }
        if rng.chance(2) {
            question = question.with("expand_limit[other]", "1");
        }
        question
    }

    fn changes(&self, rng: &mut Rng, subject: &Subject<'_>, who: usize) -> Question {
        let question = self.select(rng, subject, Question::new(who, Route::Records(subject.name.clone())));
        let question = self.fields(rng, subject, question);
        let question = limit(rng, question);
        let question = question.with("changes_since", if rng.chance(97) { "beginning" } else { "bm9wZQ" });
        match rng.below(25) {
            0 => question.with("order", "asc"),
            1 => question.with("count", "exact"),
            2 => question.with("expand", "children"),
            _ => question,
        }
    }

    /// Continues what an earlier answer offered, faithfully or not.
    fn follow(&self, rng: &mut Rng, who: usize) -> Question {
        let issued = rng.pick(self.issued);
        let mut question = issued.question.clone();
        let name = match self.tokens[issued.index] {
            Token::ChangesSince { .. } => "changes_since",
            Token::Page { .. } | Token::ChangesPage { .. } => "cursor",
        };
        question.query.retain(|(name, _)| name != "cursor" && name != "changes_since");
        match rng.below(24) {
            // The page size may change.
            0..=5 => {
                question.query.retain(|(name, _)| name != "limit");
                question = limit(rng, question);
            }
            6 => {
                question.query.retain(|(name, _)| name != "order");
                question = question.with("order", *rng.pick(&["asc", "desc"]));
            }
            7 => {
                question.query.retain(|(name, _)| name != "fields" && name != "view");
                question = question.with("fields", "id");
            }
            8 => question.query.retain(|(name, _)| !name.starts_with("filter[")),
            9 => question.who = who,
            10 => question.query.retain(|(name, _)| name != "connection_id"),
            11 => question.route = Route::Records((*rng.pick(&["notes", "mail", "items"])).to_owned()),
            12 => {
                let wrong = if name == "cursor" { "changes_since" } else { "cursor" };
                question.query.push((wrong.to_owned(), Arg::Token(issued.index)));
                return question;
            }
            _ => {}
        }
        question.query.push((name.to_owned(), Arg::Token(issued.index)));
        question
    }

    /// A live record of the stream, mostly one the caller can see.
    fn row(&self, rng: &mut Rng, subject: &Subject<'_>, who: usize) -> Option<&'a Row> {
        let visible = |row: &&Row| match (who, row.data()) {
            (_, None) => false,
            (OWNER, Some(_)) => true,
            (who, Some(data)) => self
                .world
                .cover(who, row.connection, &row.stream)
                .is_some_and(|entry| entry.shows(&row.key, data)),
        };
        let known = |row: &&Row| row.stream == subject.name && subject.connections.contains(&row.connection);
        let rows: Vec<&Row> = self.archive.rows.iter().filter(known).collect();
        let seen: Vec<&Row> = rows.iter().copied().filter(visible).collect();
        match rng.below(10) {
            0 => None,
            1 => (!rows.is_empty()).then(|| *rng.pick(&rows)),
            _ => (!seen.is_empty()).then(|| *rng.pick(&seen)),
        }
    }

    /// A question about one record, and perhaps its connection.
    fn one(&self, rng: &mut Rng, subject: &Subject<'_>, row: Option<&Row>, question: Question) -> Question {
        match row.filter(|_| rng.chance(80)) {
            Some(row) => question.with("connection_id", self.world.connections[row.connection].id.clone()),
            None => self.select(rng, subject, question),
        }
    }

    fn key(rng: &mut Rng, subject: &Subject<'_>, row: Option<&Row>) -> String {
        match (row, subject.stream) {
            (Some(row), _) => row.key.clone(),
            (None, Some(stream)) if rng.chance(90) => canonical(rng.pick(&keys_of(stream)).as_slice()),
            _ => (*rng.pick(&["nobody", "k0", "[\"k0\",\"p\"]", "."])).to_owned(),
        }
    }

    fn record(&self, rng: &mut Rng, subject: &Subject<'_>, who: usize) -> Question {
        let row = self.row(rng, subject, who);
        let route = Route::Record(subject.name.clone(), Self::key(rng, subject, row));
        let question = self.one(rng, subject, row, Question::new(who, route));
        let question = self.fields(rng, subject, question);
        self.expand(rng, subject, question)
    }

    fn window(&self, rng: &mut Rng, subject: &Subject<'_>, who: usize) -> Question {
        let row = self.row(rng, subject, who);
        let route = Route::Window(subject.name.clone(), Self::key(rng, subject, row));
        let question = self.one(rng, subject, row, Question::new(who, route));
        let texts = row.and_then(Row::data).into_iter().flatten();
        let texts = texts.filter(|(name, value)| subject.granted.contains(*name) && !value.is_number());
        let texts: BTreeSet<String> = texts.map(|(name, _)| name.clone()).collect();
        let path = match rng.below(100) {
            0..=69 if !texts.is_empty() => rng.pick(&window_paths(&texts)).clone(),
            0..=84 => rng.pick(&window_paths(&subject.granted)).clone(),
            85..=95 => {
                let declared = subject.stream.map_or(BTreeSet::from(["id".to_owned()]), |stream| {
                    stream.fields.iter().map(|field| field.name.to_owned()).collect()
                });
                rng.pick(&window_paths(&declared)).clone()
            }
            96 => String::new(),
            _ => self.name(rng, subject),
        };
        // A few letters of the field itself, in the other case.
        let text = row.and_then(Row::data).and_then(|data| data.get(&path)?.as_str()).unwrap_or_default();
        let (skip, take) = (rng.below(text.chars().count() + 1), 1 + rng.below(4));
        let piece: String = text.chars().skip(skip).take(take).flat_map(char::to_uppercase).collect();
        let piece = Some(piece).filter(|piece| !piece.is_empty() && rng.chance(80));
        let question = question.with("field", path);
        let chars = |rng: &mut Rng| rng.below(14).to_string();
        match rng.below(40) {
            0..=12 => question,
            13..=23 => {
                question.with("offset_chars", chars(rng)).with("limit_chars", (1 + rng.below(9)).to_string())
            }
            24..=25 => question.with("cursor", chars(rng)),
            26 => question.with("limit_chars", *rng.pick(&["99999", "99999", "0", "-1", "x"])),
            27 => question.with("before_chars", "3"),
            28 => question.with("q", "a").with("offset_chars", "1"),
            29 => question.with("q", ""),
            _ => {
                let words = ["cafe", "CAFÉ", "uber", "ok", "o", "words", "NULL", "ete a", "zzz", "k"];
                let mut question = question.with("q", piece.as_deref().unwrap_or(*rng.pick(&words)));
                for name in ["before_chars", "after_chars", "limit_chars"] {
                    if rng.chance(40) {
                        question = question.with(name, (1 + rng.below(9)).to_string());
                    }
                }
                question
            }
        }
    }

    fn aggregate(&self, rng: &mut Rng, subject: &Subject<'_>, who: usize) -> Question {
        let mut question =
            self.select(rng, subject, Question::new(who, Route::Aggregate(subject.name.clone())));
        let declared =
            |kind: &str| subject.stream.map_or(Vec::new(), |stream| stream.aggregated(kind).to_vec());
        match rng.below(20) {
            0..=3 => question = question.with("metric", "count"),
            4..=9 => {
                question = question.with("metric", "count");
                let mut fields = declared("group_by");
                if rng.chance(40) && fields.iter().any(|name| DATES.contains(name)) {
                    fields.retain(|name| DATES.contains(name));
                }
                question = question.with("group_by", self.name_among(rng, subject, &fields));
            }
            10..=14 => {
                let field = self.name_among(rng, subject, &declared("group_by_time"));
                question = question.with("metric", "count").with("group_by_time", field);
                if rng.chance(95) {
                    let sizes = ["minute", "hour", "day", "week", "month", "quarter", "year", "era"];
                    question = question.with("granularity", *rng.pick(&sizes));
                }
                if rng.chance(50) {
                    let zones = ["Europe/Berlin", "America/New_York", "Asia/Kolkata", "UTC", "Nowhere/Town"];
                    question = question.with("time_zone", *rng.pick(&zones));
                }
            }
            15 if rng.chance(50) => question = question.with("metric", "mean"),
            _ => {
                let metric = *rng.pick(&["sum", "min", "max", "count_distinct"]);
                let field = self.name_among(rng, subject, &declared(metric));
                question = question.with("metric", metric);
                if rng.chance(96) {
                    question = question.with("field", field);
                }
            }
        }
        let grouped = question.has("group_by") || question.has("group_by_time");
        if (grouped && rng.chance(60)) || rng.chance(2) {
            question = question.with("limit", *rng.pick(&["1", "1", "2", "2", "3", "100", "0", "101"]));
        }
        self.filter(rng, subject, question)
    }

    fn schema(&self, rng: &mut Rng, subject: &Subject<'_>, who: usize) -> Question {
        let mut question = Question::new(who, Route::Schema);
        match rng.below(10) {
            0..=4 => question = question.with("view", *rng.pick(&["compact", "Compact", "other"])),
            5..=6 => question = question.with("detail", "full"),
            _ => {}
        }
        if rng.chance(60) {
            question = question.with("stream", subject.name.clone());
        }
        if rng.chance(40) {
            let connections = &self.world.connections;
            let id = match rng.below(10) {
                0..=5 => connections[*rng.pick(&subject.connections)].id.clone(),
                6..=8 => connections[rng.below(connections.len())].id.clone(),
                _ => "cin_nope".to_owned(),
            };
            question = question.with("connection_id", id);
        }
        question
    }

    fn blob(&self, rng: &mut Rng, subject: &Subject<'_>, who: usize) -> Question {
        let row = self.row(rng, subject, who);
        let referred = row.and_then(Row::data).and_then(|data| data.get("blob_ref")?["blob_id"].as_str());
        let id = match (referred, rng.below(20)) {
            (_, 0) => format!("blob_sha256_{}", "0".repeat(64)),
            (_, 1) => "nope".to_owned(),
            (Some(id), 2..=16) => id.to_owned(),
            _ => rng.pick(&blobs::all()).0.to_owned(),
        };
        let mut question = self.one(rng, subject, row, Question::new(who, Route::Blob(id)));
        question.range = rng.chance(25).then(|| *rng.pick(&["bytes=2-4", "bytes=2-4", "bytes=900-"]));
        question.head = question.range.is_none() && rng.chance(10);
        question
    }
}

fn limit(rng: &mut Rng, question: Question) -> Question {
    match rng.below(100) {
        0..=29 => question,
        30..=92 => question.with("limit", (1 + rng.below(5)).to_string()),
        93..=96 => question.with("limit", *rng.pick(&["100", "101", "5000"])),
        _ => question.with("limit", *rng.pick(&["0", "-1", "x"])),
    }
}

fn operand(rng: &mut Rng, field: Option<&Field>) -> String {
    if rng.chance(4) {
        return (*rng.pick(&["null", "~~", "1e999"])).to_owned();
    }
    let words: &[&str] = match field.map(|field| (field.kind, field.name)) {
        Some((Kind::Flag, _)) => &["true", "false"],
        Some((Kind::Whole, _)) => &["-2", "-1", "0", "1", "2", "3", "4"],
        Some((Kind::Number, _)) => &["0", "1", "2", "0.875", "1.625", "2.0", "2.375"],
        Some((Kind::Moment, "day")) => &DAYS,
        Some((Kind::Moment, _)) => &MOMENTS,
        Some((_, "id")) => &["k0", "k1", "k/5", "ü 6", "h0"],
        Some((_, "part")) => &["p", "q"],
        Some((_, "kind")) => &["red", "green", "RED"],
        Some((_, "parent")) => &["k0", "k1", "h0"],
        _ => &["Invoice", "café", "null", "zebra"],
    };
    (*rng.pick(words)).to_owned()
}
