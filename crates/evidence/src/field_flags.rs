//! The flag string: what one field can do, in a few characters.
//!
//! Tokens come in a fixed order, joined by commas: type, role, `g=false`, equality, range, lexical and semantic
//! search, aggregations. Text from a declaration is escaped so that it can neither end a token nor look like
//! another one.

use std::fmt::Write;

use serde_json::Value;

const AGGREGATIONS: [&str; 6] = ["count_distinct", "group_by", "group_by_time", "max", "min", "sum"];

/// The flag string of one entry of `field_capabilities`. Members of another shape than expected count as absent.
pub fn flags(capability: &Value) -> String {
    let mut tokens = Vec::new();
    tokens.extend(declared_type(capability).map(|name| format!("t={}", escaped(&name))));
    tokens.extend(declared_role(capability).map(|role| format!("role={}", escaped(role))));
    if capability.get("granted") == Some(&Value::Bool(false)) {
        tokens.push("g=false".to_owned());
    }
    tokens.extend(ability(capability, "exact_filter", "eq"));
    tokens.extend(range(capability));
    tokens.extend(ability(capability, "lexical_search", "lex"));
    tokens.extend(ability(capability, "semantic_search", "sem"));
    tokens.extend(aggregations(capability));
    if tokens.is_empty() { "declared".to_owned() } else { tokens.join(",") }
}

/// The declared display type, else the JSON type, with the members of a union joined by `|`.
fn declared_type(capability: &Value) -> Option<String> {
    let schema = capability.get("schema");
    let display = capability.get("type").or_else(|| schema?.get("x_pdpp_type")).and_then(non_empty);
    if let Some(display) = display {
        return Some(display.to_owned());
    }
    match schema?.get("type")? {
        Value::Array(union) => Some(union.iter().filter_map(non_empty).collect::<Vec<_>>().join("|")),
        single => non_empty(single).map(str::to_owned),
    }
    .filter(|name| !name.is_empty())
}

fn declared_role(capability: &Value) -> Option<&str> {
    capability.get("role").or_else(|| capability.get("schema")?.get("x_pdpp_role")).and_then(non_empty)
}

fn ability(capability: &Value, member: &str, name: &str) -> Option<String> {
    let ability = capability.get(member).filter(|ability| is_true(ability, "declared"))?;
    if is_true(ability, "usable") {
        return Some(name.to_owned());
    }
    let mut token = format!("{name}=unusable");
    if let Some(reason) = ability.get("reason").and_then(non_empty) {
        write!(token, ":{}", escaped(reason)).expect("writing to a string cannot fail");
    }
    Some(token)
}

fn range(capability: &Value) -> Option<String> {
    let token = ability(capability, "range_filter", "r")?;
    let operators = capability.get("range_filter")?.get("operators").map(names).unwrap_or_default();
    Some(if token == "r" && !operators.is_empty() { format!("r={}", operators.join("|")) } else { token })
}

fn aggregations(capability: &Value) -> Option<String> {
    let declared = capability.get("aggregation")?;
    let usable: Vec<&str> = AGGREGATIONS
        .into_iter()
        .filter(|kind| declared.get(kind).is_some_and(|ability| is_true(ability, "usable")))
        .collect();
    (!usable.is_empty()).then(|| format!("a={}", usable.join("|")))
}

fn names(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().filter_map(non_empty).map(escaped).collect()
}

fn non_empty(value: &Value) -> Option<&str> {
    value.as_str().filter(|text| !text.is_empty())
}

fn is_true(value: &Value, member: &str) -> bool {
    value.get(member) == Some(&Value::Bool(true))
}

/// Each of `; , [ ] { } =` becomes `_`, and so does each run of white space.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut in_space = false;
    for c in text.chars() {
        let space = c.is_whitespace();
        if space && in_space {
            continue;
        }
        in_space = space;
        out.push(if space || ";,[]{}=".contains(c) { '_' } else { c });
    }
    out
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(capability: Value, expected: Expect) {
        expected.assert_eq(&flags(&capability));
    }

    fn on() -> Value {
        json!({"declared": true, "usable": true})
    }

    fn off() -> Value {
        json!({"declared": true, "usable": false, "reason": "field_not_granted"})
    }

    fn undeclared() -> Value {
        json!({"declared": false, "usable": false})
    }

    #[test]
    fn types_are_declared_or_json() {
        check(json!({"type": "text", "schema": {"type": ["string", "null"]}}), expect!["t=text"]);
        check(json!({"schema": {"type": ["string", "null"]}}), expect!["t=string|null"]);
        check(json!({"schema": {"type": "integer", "x_pdpp_type": "currency"}}), expect!["t=currency"]);
        check(json!({"schema": {"type": "integer"}}), expect!["t=integer"]);
        check(json!({"schema": {"type": []}}), expect!["declared"]);
        check(json!({"schema": {"type": 5}}), expect!["declared"]);
        check(json!({"type": 5, "schema": {"type": "string"}}), expect!["t=string"]);
    }

    #[test]
    fn tokens_come_in_order() {
        check(
            json!({
                "aggregation": {"sum": on(), "max": on(), "min": off(), "group_by": undeclared(), "count_distinct": on()},
                "semantic_search": on(), "lexical_search": on(),
                "range_filter": {"declared": true, "usable": true, "operators": ["lt", "gte"]},
                "exact_filter": on(), "granted": false, "role": "amount", "type": "currency",
            }),
            expect!["t=currency,role=amount,g=false,eq,r=lt|gte,lex,sem,a=count_distinct|max|sum"],
        );
    }

    #[test]
    fn unusable_abilities_give_their_reason() {
        check(
            json!({"granted": false, "exact_filter": off(), "range_filter": off(), "lexical_search": off(), "semantic_search": off()}),
            expect![
                "g=false,eq=unusable:field_not_granted,r=unusable:field_not_granted,lex=unusable:field_not_granted,sem=unusable:field_not_granted"
            ],
        );
        check(json!({"lexical_search": {"declared": true}}), expect!["lex=unusable"]);
        check(
            json!({"exact_filter": {"declared": true, "usable": false, "reason": ""}}),
            expect!["eq=unusable"],
        );
    }

    #[test]
    fn undeclared_abilities_are_silent() {
        check(json!({"granted": true, "exact_filter": undeclared(), "aggregation": {}}), expect!["declared"]);
        check(json!({}), expect!["declared"]);
    }

    #[test]
    fn a_range_without_operators_is_bare() {
        check(json!({"range_filter": on()}), expect!["r"]);
        check(json!({"range_filter": {"declared": true, "usable": true, "operators": []}}), expect!["r"]);
        check(json!({"range_filter": {"declared": true, "usable": true, "operators": "gte"}}), expect!["r"]);
    }

    #[test]
    fn declared_text_cannot_break_out_of_its_token() {
        check(json!({"type": "a,g=false;[b]{c}"}), expect!["t=a_g_false__b__c_"]);
        check(json!({"role": "two \t\n words"}), expect!["role=two_words"]);
        check(
            json!({"range_filter": {"declared": true, "usable": true, "operators": ["g te", "a=b", 7]}}),
            expect!["r=g_te|a_b"],
        );
    }

    #[test]
    fn foreign_shapes_are_tolerated() {
        for value in
            [json!(null), json!(5), json!("x"), json!([1]), json!({"aggregation": 5, "range_filter": []})]
        {
            check(value, expect!["declared"]);
        }
    }
}
