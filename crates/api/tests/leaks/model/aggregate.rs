//! Numbers about the visible records.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};
use serde_json::{Value, json};

use super::page::number;
use super::scope::{Scope, Seen};
use super::{Answer, Faults, Model};
use crate::moment::micros;
use crate::question::Question;
use crate::world::Kind;

const GRANULARITIES: [&str; 7] = ["minute", "hour", "day", "week", "month", "quarter", "year"];

impl<'a> Model<'a> {
    pub(super) fn aggregate(&self, question: &Question, stream: &str, mut faults: Faults) -> Answer {
        let scope = match self.scope(question, stream, &mut faults) {
            Ok(scope) => scope,
            Err(answer) => return answer,
        };
        let metric = question.text("metric").unwrap_or_default();
        let field = question.text("field");
        self.check_metric(&scope, metric, field, &mut faults);
        let (by, by_time) = (question.text("group_by"), question.text("group_by_time"));
        self.check_grouping(question, &scope, metric, &mut faults);
        let grouped = by.is_some() || by_time.is_some();
        let limit = question.text("limit").map_or(10, |text| text.parse().unwrap_or(0));
        faults.add_if(!(1..=100).contains(&limit), "invalid_request");
        faults.add_if(question.text("limit").is_some() && !grouped, "invalid_request");
        let filter = self.filter(question, &scope, &mut faults);
        if faults.any() {
            return faults.answer();
        }
        let seen = self.filtered(&scope, &filter);
        let zone = question.text("time_zone").unwrap_or("UTC");
        let mut body = json!({
            "object": "aggregation", "stream": scope.stream.name, "metric": metric, "field": field, "group_by": by,
            "group_by_time": by_time, "granularity": question.text("granularity"),
            "time_zone": by_time.map(|_| zone), "approximate": false, "filtered_record_count": seen.len(),
            "links": Self::links(question), "meta": Self::meta(question),
        });
        if !grouped {
            body["value"] = value(&scope, &seen, metric, field);
            return Answer::json(body);
        }
        let groups = match (by, by_time) {
            (Some(field), _) => by_value(&scope, &seen, field),
            (None, Some(field)) => {
                let granularity = question.text("granularity").expect("checked");
                by_moment(&seen, field, granularity, &TimeZone::get(zone).expect("checked"))
            }
            (None, None) => unreachable!("grouped by one of them"),
        };
        let other: usize = groups.iter().skip(limit).map(|(_, count)| count).sum();
        let groups = groups.iter().take(limit).map(|(key, count)| json!({"key": key, "count": count}));
        body["groups"] = groups.collect();
        body["limit"] = json!(limit);
        body["other_count"] = json!(other);
        Answer::json(body)
    }

    fn check_metric(&self, scope: &Scope<'a>, metric: &str, field: Option<&str>, faults: &mut Faults) {
        match (metric, field) {
            ("count", field) => faults.add_if(field.is_some() || !scope.stream.count, "invalid_request"),
            ("sum" | "min" | "max" | "count_distinct", Some(field)) => {
                if scope.check_field(field, faults) {
                    faults.add_if(!scope.stream.aggregated(metric).contains(&field), "invalid_request");
                }
            }
            _ => faults.add("invalid_request"),
        }
    }

    fn check_grouping(&self, question: &Question, scope: &Scope<'a>, metric: &str, faults: &mut Faults) {
        let (by, by_time) = (question.text("group_by"), question.text("group_by_time"));
        faults.add_if(by.is_some() && by_time.is_some(), "invalid_request");
        faults.add_if((by.is_some() || by_time.is_some()) && metric != "count", "invalid_request");
        for (kind, field) in [("group_by", by), ("group_by_time", by_time)] {
            if let Some(field) = field
                && scope.check_field(field, faults)
            {
                faults.add_if(!scope.stream.aggregated(kind).contains(&field), "invalid_request");
            }
        }
        let (granularity, zone) = (question.text("granularity"), question.text("time_zone"));
        if by_time.is_none() {
            faults.add_if(granularity.is_some() || zone.is_some(), "invalid_request");
            return;
        }
        let known = granularity.is_some_and(|word| GRANULARITIES.contains(&word));
        faults.add_if(!known, "invalid_request");
        faults.add_if(zone.is_some_and(|zone| TimeZone::get(zone).is_err()), "invalid_request");
    }
}

fn value(scope: &Scope<'_>, seen: &[Seen<'_>], metric: &str, field: Option<&str>) -> Value {
    let Some(field) = field else { return json!(seen.len()) };
    let kind = scope.stream.field(field).expect("checked").kind;
    let numbers =
        seen.iter().filter_map(|seen| Some((number(kind, seen.data(), field)?, &seen.data()[field])));
    match metric {
        "sum" => json!(numbers.map(|(number, _)| number).sum::<f64>()),
        "min" => numbers.min_by(|a, b| a.0.total_cmp(&b.0)).map_or(Value::Null, |(_, value)| value.clone()),
        "max" => numbers.max_by(|a, b| a.0.total_cmp(&b.0)).map_or(Value::Null, |(_, value)| value.clone()),
        _ => {
            // A text that is no date is no value of a date field.
            let is_date = |value: &Value| value.as_str().and_then(micros).is_some();
            let fits = |value: &&Value| !value.is_null() && (kind != Kind::Moment || is_date(value));
            let values = seen.iter().filter_map(|seen| seen.data().get(field)).filter(fits);
            json!(values.map(Value::to_string).collect::<BTreeSet<_>>().len())
        }
    }
}

/// By count, most first, then by the key's JSON text.
fn by_value(scope: &Scope<'_>, seen: &[Seen<'_>], field: &str) -> Vec<(Value, usize)> {
    let kind = scope.stream.field(field).expect("checked").kind;
    // A text that is no date is no value of a date field.
    let fits = |value: &&Value| kind != Kind::Moment || value.as_str().and_then(micros).is_some();
    let mut groups: Vec<(Value, usize)> = Vec::new();
    for seen in seen {
        let key = seen.data().get(field).filter(fits).cloned().unwrap_or(Value::Null);
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, count)) => *count += 1,
            None => groups.push((key, 1)),
        }
    }
    groups.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.to_string().cmp(&b.0.to_string())));
    groups
}

/// By wall-clock bucket, earliest first; records without a time last.
fn by_moment(seen: &[Seen<'_>], field: &str, granularity: &str, zone: &TimeZone) -> Vec<(Value, usize)> {
    let mut buckets: BTreeMap<String, usize> = BTreeMap::new();
    let mut without = 0;
    for seen in seen {
        match seen.data().get(field).and_then(Value::as_str).and_then(micros) {
            None => without += 1,
            Some(at) => {
                let at = Timestamp::from_microsecond(at).expect("within the calendar");
                *buckets.entry(bucket(at.to_zoned(zone.clone()).datetime(), granularity)).or_default() += 1;
            }
        }
    }
    let mut groups: Vec<(Value, usize)> =
        buckets.into_iter().map(|(key, count)| (json!(key), count)).collect();
    if without > 0 {
        groups.push((Value::Null, without));
    }
    groups
}

fn bucket(at: DateTime, granularity: &str) -> String {
    let day = at.date();
    let first = |year: i16, month: i8| Date::new(year, month, 1).expect("the first of a month").to_string();
    match granularity {
        "minute" => format!("{day}T{:02}:{:02}", at.hour(), at.minute()),
        "hour" => format!("{day}T{:02}:00", at.hour()),
        "day" => day.to_string(),
        "week" => {
            let back = i64::from(day.weekday().to_monday_zero_offset());
            day.checked_sub(back.days()).expect("within the calendar").to_string()
        }
        "month" => first(day.year(), day.month()),
        "quarter" => first(day.year(), (day.month() - 1) / 3 * 3 + 1),
        _ => first(day.year(), 1),
    }
}
