//! Pages of records: visible, filtered, in order.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::scope::{Scope, Seen};
use super::{Answer, Faults, Model, NEXT_CURSOR, Token, placeholder};
use crate::archive::Data;
use crate::moment::{micros, print};
use crate::question::{Arg, OWNER, Question};
use crate::world::Kind;

/// One condition of a filter, its operand read in the field's type.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Condition {
    field: String,
    operator: Option<String>,
    operand: Operand,
}

#[derive(Clone, Debug, PartialEq)]
enum Operand {
    Missing,
    Flag(bool),
    Number(f64),
    Text(String),
}

type Tuple = (Option<f64>, String, String);

/// A record's place in an order: value, key, connection.
pub(super) fn tuple(model: &Model<'_>, seen: &Seen<'_>, field: Option<&str>) -> Tuple {
    let value = field.and_then(|field| {
        let kind = model.world.stream(seen.part.connection, &seen.row.stream)?.field(field)?.kind;
        number(kind, seen.data(), field)
    });
    (value, seen.row.key.clone(), model.id(seen.part.connection).to_owned())
}

/// How two places compare; records without a value come last in both directions.
pub(super) fn after(a: &Tuple, b: &Tuple, ascending: bool) -> Ordering {
    let directed = |ordering: Ordering| if ascending { ordering } else { ordering.reverse() };
    let value = match (a.0, b.0) {
        (Some(a), Some(b)) => directed(a.total_cmp(&b)),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => Ordering::Equal,
    };
    value.then_with(|| directed(a.1.cmp(&b.1))).then_with(|| directed(a.2.cmp(&b.2)))
}

/// A field's value as a number on its own scale, if it has one of its type.
pub(super) fn number(kind: Kind, data: &Data, field: &str) -> Option<f64> {
    let value = data.get(field)?;
    match kind {
        Kind::Whole | Kind::Number => value.as_f64(),
        #[expect(clippy::cast_precision_loss, reason = "microseconds of this century fit")]
        Kind::Moment => micros(value.as_str()?).map(|micros| micros as f64),
        Kind::Flag | Kind::Text | Kind::Json => None,
    }
}

impl Condition {
    fn holds(&self, kind: Kind, data: &Data) -> bool {
        let value = data.get(&self.field);
        let number = number(kind, data, &self.field);
        match (&self.operand, self.operator.as_deref()) {
            (Operand::Missing, _) => match kind {
                Kind::Flag => value.and_then(Value::as_bool).is_none(),
                _ => number.is_none(),
            },
            (Operand::Flag(flag), _) => value.and_then(Value::as_bool) == Some(*flag),
            (Operand::Text(text), _) => value.and_then(Value::as_str) == Some(text),
            (Operand::Number(operand), operator) => number.is_some_and(|number| match operator {
                None => (number - operand).abs() < f64::EPSILON,
                Some("gte") => number >= *operand,
                Some("gt") => number > *operand,
                Some("lte") => number <= *operand,
                Some(_) => number < *operand,
            }),
        }
    }
}

impl<'a> Model<'a> {
    pub(super) fn filter(
        &self,
        question: &Question,
        scope: &Scope<'a>,
        faults: &mut Faults,
    ) -> Vec<Condition> {
        let mut conditions = Vec::new();
        faults.add_if(question.has("filter"), "invalid_request");
        for (field, operator, operand) in question.filters() {
            if !scope.check_field(field, faults) {
                continue;
            }
            let kind = scope.stream.field(field).expect("checked").kind;
            let declared = scope.stream.ranges.iter().find(|(name, _)| *name == field);
            let allowed = match operator {
                None => kind != Kind::Json,
                Some(operator) => declared.is_some_and(|(_, operators)| operators.contains(&operator)),
            };
            let missing = operator.is_none() && operand == "null" && kind != Kind::Text;
            let operand = match kind {
                _ if missing => Some(Operand::Missing),
                Kind::Flag => operand.parse().ok().map(Operand::Flag),
                #[expect(clippy::cast_precision_loss, reason = "operands are small")]
                Kind::Whole => operand.parse::<i64>().ok().map(|whole| Operand::Number(whole as f64)),
                Kind::Number => {
                    operand.parse().ok().filter(|number: &f64| number.is_finite()).map(Operand::Number)
                }
                #[expect(clippy::cast_precision_loss, reason = "microseconds of this century fit")]
                Kind::Moment => micros(operand).map(|micros| Operand::Number(micros as f64)),
                Kind::Text => Some(Operand::Text(operand.to_owned())),
                Kind::Json => None,
            };
            match operand.filter(|_| allowed) {
                None => faults.add("invalid_request"),
                Some(operand) => {
                    let operator = operator.map(str::to_owned);
                    conditions.push(Condition { field: field.to_owned(), operator, operand });
                }
            }
        }
        conditions
    }

    pub(super) fn filtered(&self, scope: &Scope<'a>, filter: &[Condition]) -> Vec<Seen<'a>> {
        let holds = |seen: &Seen<'_>| {
            filter.iter().all(|condition| {
                let kind = scope.stream.field(&condition.field).expect("checked").kind;
                condition.holds(kind, seen.data())
            })
        };
        self.all_seen(scope).into_iter().filter(holds).collect()
    }

    pub(super) fn records(&self, question: &Question, stream: &str, mut faults: Faults) -> Answer {
        let limit = question.text("limit").map_or(25, |text| text.parse::<u64>().unwrap_or(0));
        faults.add_if(limit == 0, "invalid_request");
        let count = question.text("count");
        faults.add_if(
            count.is_some_and(|count| !["none", "estimated", "exact"].contains(&count)),
            "invalid_request",
        );
        let window = question.text("window");
        faults.add_if(window.is_some_and(|window| !["none", "exact"].contains(&window)), "invalid_request");
        let scope = match self.scope(question, stream, &mut faults) {
            Ok(scope) => scope,
            Err(answer) => return answer,
        };
        let shown = self.projection(question, &scope, &mut faults);
        if self.asks_for_changes(question) {
            return self.changes(question, &scope, shown, limit, faults);
        }
        let filter = self.filter(question, &scope, &mut faults);
        let (field, ascending) = self.order(question, &scope, &mut faults);
        let expand = self.expansions(question, &scope, &mut faults);
        let basis =
            self.basis(question.who, &scope, shown.as_ref(), &format!("{field:?} {ascending} {filter:?}"));
        let from = match question.token("cursor") {
            None => None,
            Some(Arg::Token(index)) => match &self.tokens[*index] {
                Token::Page { basis: bound, after } if *bound == basis => Some(after.clone()),
                _ => {
                    faults.add("invalid_cursor");
                    None
                }
            },
            Some(Arg::Text(text)) => {
                faults.add_if(!text.is_empty(), "invalid_cursor");
                None
            }
        };
        if faults.any() {
            return faults.answer();
        }
        let mut all = self.filtered(&scope, &filter);
        all.sort_by(|a, b| after(&tuple(self, a, field), &tuple(self, b, field), ascending));
        let later = |seen: &&Seen<'_>| {
            from.as_ref()
                .is_none_or(|from| after(from, &tuple(self, seen, field), ascending) == Ordering::Less)
        };
        let rest: Vec<&Seen<'_>> = all.iter().filter(later).collect();
        let size = usize::try_from(limit.min(100)).expect("at most 100");
        let page = &rest[..rest.len().min(size)];
        let data: Vec<Value> =
            page.iter().map(|seen| self.shown(&scope.stream.name, seen, shown.as_ref(), &expand)).collect();
        let last = page.last().filter(|_| rest.len() > size);
        let cursor = last.map(|seen| Token::Page { basis, after: tuple(self, seen, field) });
        let mut body = Self::list(question, data, cursor.is_some());
        if matches!(count, Some("exact" | "estimated")) {
            body["meta"]["count"] = json!({"kind": "exact", "value": all.len()});
        }
        if window == Some("exact") {
            body["meta"]["window"] = self.bounds(&scope, &all);
        }
        Answer::Json { body, cursor, changes: None }
    }

    /// Total, and the first and last consent time if that field may be told.
    fn bounds(&self, scope: &Scope<'a>, all: &[Seen<'a>]) -> Value {
        let field = scope.stream.time_field.filter(|field| scope.grants(field));
        let text = |seen: &Seen<'_>| Some(seen.data().get(field?)?.as_str()?.to_owned());
        let times: BTreeSet<i64> = all.iter().filter_map(text).filter_map(|text| micros(&text)).collect();
        match (times.first(), times.last()) {
            (Some(first), Some(last)) => {
                json!({"total": all.len(), "earliest_at": print(*first), "latest_at": print(*last)})
            }
            _ => json!({"total": all.len()}),
        }
    }

    /// What a page is ordered by: the cursor field if it is granted, else the key alone.
    fn order(
        &self,
        question: &Question,
        scope: &Scope<'a>,
        faults: &mut Faults,
    ) -> (Option<&'static str>, bool) {
        let order = question.text("order");
        faults.add_if(order.is_some_and(|order| order != "asc" && order != "desc"), "invalid_request");
        let mut ascending = order == Some("asc");
        if let Some(sort) = question.text("sort") {
            let field = sort.strip_prefix('-').unwrap_or(sort);
            ascending = !sort.starts_with('-');
            match scope.stream.cursor_field == Some(field) {
                true => {
                    scope.check_field(field, faults);
                }
                false => faults.add("invalid_sort"),
            }
            faults.add_if(order.is_some_and(|order| (order == "asc") != ascending), "invalid_sort");
        }
        (scope.stream.cursor_field.filter(|field| scope.grants(field)), ascending)
    }

    /// Everything a token is bound to, spelled out.
    pub(super) fn basis(
        &self,
        who: usize,
        scope: &Scope<'a>,
        shown: Option<&BTreeSet<String>>,
        asked: &str,
    ) -> String {
        let grants: Vec<&str> = match who {
            OWNER => Vec::new(),
            who => self.grants(who).iter().map(|grant| grant.id.as_str()).collect(),
        };
        let part_fields = |part: &super::scope::Part<'_>| {
            let fields = match (part.fields(), shown) {
                (Some(fields), None) => Some(fields.clone()),
                (_, shown) => shown.cloned(),
            };
            format!("{} {fields:?}", self.id(part.connection))
        };
        let parts: Vec<String> = scope.parts.iter().map(part_fields).collect();
        format!("{grants:?} {} {} {asked} {parts:?}", self.source(scope.source).uri, scope.stream.name)
    }

    /// A page of a list with its envelope.
    pub(super) fn list(question: &Question, data: Vec<Value>, has_more: bool) -> Value {
        let mut meta = Self::meta(question);
        let asked: u64 = question.text("limit").and_then(|limit| limit.parse().ok()).unwrap_or(0);
        if asked > 100 {
            let warning = json!({"code": "limit_clamped", "param": "limit",
                "detail": {"requested_limit": asked, "max_limit": 100}});
            meta["warnings"].as_array_mut().expect("a list").push(warning);
        }
        let next = has_more.then(|| question.next_uri(placeholder, NEXT_CURSOR));
        let mut body = json!({
            "object": "list", "url": question.route.path(), "data": data, "has_more": has_more,
            "links": {"self": question.uri(placeholder), "next": next}, "meta": meta,
        });
        if has_more {
            body["next_cursor"] = json!(NEXT_CURSOR);
        }
        body
    }
}
