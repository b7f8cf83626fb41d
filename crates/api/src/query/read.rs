//! Typed readings of parameters. An empty value counts as absent unless a reading says otherwise.

use pdpp_wire::Code;

use super::MAX_INDEX;
use super::parse::{Pair, QueryString};
use crate::ApiError;

/// One `filter[...]` condition as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FilterParam {
    pub(crate) field: String,
    pub(crate) operator: Option<String>,
    pub(crate) value: String,
}

impl QueryString {
    /// The one value of a parameter, even if it is empty.
    pub(crate) fn given(&self, name: &str) -> Result<Option<&str>, ApiError> {
        let mut pairs = self.named(name);
        match (pairs.next(), pairs.next()) {
            (None, _) => Ok(None),
            (Some(pair), None) if pair.path.is_empty() => Ok(Some(&pair.value)),
            (Some(_), None) => Err(refused(name, "takes one value, without brackets")),
            (Some(_), Some(_)) => Err(refused(name, "is given more than once")),
        }
    }

    /// The one non-empty value of a parameter.
    pub(crate) fn text(&self, name: &str) -> Result<Option<&str>, ApiError> {
        Ok(self.given(name)?.filter(|value| !value.is_empty()))
    }

    /// One of a closed set of words.
    pub(crate) fn choice<T: Copy>(&self, name: &str, words: &[(&str, T)]) -> Result<Option<T>, ApiError> {
        let Some(value) = self.text(name)? else { return Ok(None) };
        if let Some((_, meaning)) = words.iter().find(|(word, _)| *word == value) {
            return Ok(Some(*meaning));
        }
        let listed: Vec<_> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
        Err(refused(name, &format!("must be one of {}", listed.join(", "))))
    }

    /// A whole number of at least 1.
    pub(crate) fn positive(&self, name: &str) -> Result<Option<u64>, ApiError> {
        match self.text(name)?.map(parse_whole) {
            None => Ok(None),
            Some(Some(number)) if number > 0 => Ok(Some(number)),
            Some(_) => Err(refused(name, "must be a whole number of at least 1")),
        }
    }

    /// Every value of a parameter that may repeat: `x=a&x=b`, `x[]=a`, `x[0]=a`; blanks dropped.
    pub(crate) fn list(&self, name: &str) -> Result<Vec<&str>, ApiError> {
        let mut values = Vec::new();
        for pair in self.named(name) {
            match pair.path.as_slice() {
                [] => {}
                [index] if index.is_empty() || parse_whole(index).is_some_and(|index| index <= MAX_INDEX) => {
                }
                [_] => return Err(refused(name, &format!("takes list indexes up to {MAX_INDEX}"))),
                _ => return Err(refused(name, "takes a plain list")),
            }
            if !pair.value.trim().is_empty() {
                values.push(pair.value.trim());
            }
        }
        Ok(values)
    }

    /// Field names: comma lists, repetition, or both. Present but empty is an error.
    pub(crate) fn fields(&self) -> Result<Option<Vec<String>>, ApiError> {
        if self.named("fields").next().is_none() {
            return Ok(None);
        }
        let mut names: Vec<String> = Vec::new();
        for name in self.list("fields")?.iter().flat_map(|value| value.split(',')).map(str::trim) {
            if !name.is_empty() && !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
        if names.is_empty() {
            return Err(refused("fields", "names no field; leave it out to read every granted field"));
        }
        Ok(Some(names))
    }

    /// The conditions of `filter[...]`.
    pub(crate) fn filters(&self) -> Result<Vec<FilterParam>, ApiError> {
        self.named("filter").map(filter).collect()
    }

    /// `name[key]=value` pairs, each key once.
    pub(crate) fn map(&self, name: &str) -> Result<Vec<(&str, &str)>, ApiError> {
        let mut entries: Vec<(&str, &str)> = Vec::new();
        for pair in self.named(name) {
            let [key] = pair.path.as_slice() else {
                return Err(refused(name, "is written as `name[key]=value`"));
            };
            if entries.iter().any(|(known, _)| known == key) {
                return Err(refused(name, "names a key twice"));
            }
            entries.push((key, &pair.value));
        }
        Ok(entries)
    }

    fn named<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a Pair> {
        self.pairs.iter().filter(move |pair| pair.name == name)
    }
}

fn filter(pair: &Pair) -> Result<FilterParam, ApiError> {
    let (field, operator) = match pair.path.as_slice() {
        [field] if !field.is_empty() => (field, None),
        [field, operator] if !field.is_empty() && !operator.is_empty() => (field, Some(operator.clone())),
        [] => {
            return Err(refused(
                "filter",
                "is written as `filter[field]=value` or `filter[field][gte]=value`",
            ));
        }
        _ => return Err(refused("filter", "takes one field and at most one operator")),
    };
    Ok(FilterParam { field: field.clone(), operator, value: pair.value.clone() })
}

/// A whole number in plain decimal digits.
pub(crate) fn parse_whole(text: &str) -> Option<u64> {
    let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    // More digits than u64 holds still mean "very many", and are clamped like any other large number.
    plain.then(|| text.parse().unwrap_or(u64::MAX))
}

fn refused(name: &str, what: &str) -> ApiError {
    ApiError::new(Code::InvalidRequest, format!("The parameter `{name}` {what}.")).param(name)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::super::parse;
    use super::*;

    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "`expect!` makes a value")]
    fn check<T: std::fmt::Debug>(
        raw: &str,
        read: impl Fn(&QueryString) -> Result<T, ApiError>,
        expected: Expect,
    ) {
        let query = parse(raw).unwrap();
        let outcome = match read(&query) {
            Ok(value) => format!("{value:?}"),
            Err(error) => error.message().to_owned(),
        };
        expected.assert_eq(&outcome);
    }

    #[test]
    fn scalars_are_given_once() {
        check("a=1", |q| q.text("a").map(|v| v.map(str::to_owned)), expect![[r#"Some("1")"#]]);
        check("a=", |q| q.text("a").map(|v| v.map(str::to_owned)), expect!["None"]);
        check("a=1&a=2", |q| q.text("a").map(drop), expect!["The parameter `a` is given more than once."]);
        check(
            "a[b]=1",
            |q| q.text("a").map(drop),
            expect!["The parameter `a` takes one value, without brackets."],
        );
    }

    #[test]
    fn numbers_are_whole_and_positive() {
        check("n=25", |q| q.positive("n"), expect!["Some(25)"]);
        check("n=", |q| q.positive("n"), expect!["None"]);
        check("n=99999999999999999999999", |q| q.positive("n"), expect!["Some(18446744073709551615)"]);
        for bad in ["n=0", "n=-1", "n=1.5", "n=abc", "n=%2B1", "n=1e3"] {
            check(
                bad,
                |q| q.positive("n"),
                expect!["The parameter `n` must be a whole number of at least 1."],
            );
        }
    }

    #[test]
    fn fields_mix_commas_and_repetition() {
        check("fields=a,b&fields=c&fields[]=a", QueryString::fields, expect![[r#"Some(["a", "b", "c"])"#]]);
        check("fields=%20a%20,,", QueryString::fields, expect![[r#"Some(["a"])"#]]);
        check("x=1", QueryString::fields, expect!["None"]);
        check(
            "fields=,",
            QueryString::fields,
            expect!["The parameter `fields` names no field; leave it out to read every granted field."],
        );
        check(
            "fields[65]=a",
            QueryString::fields,
            expect!["The parameter `fields` takes list indexes up to 64."],
        );
    }

    #[test]
    fn filters_have_one_field_and_one_operator() {
        check(
            "filter[a]=1&filter[b][gte]=2",
            QueryString::filters,
            expect![[
                r#"[FilterParam { field: "a", operator: None, value: "1" }, FilterParam { field: "b", operator: Some("gte"), value: "2" }]"#
            ]],
        );
        check(
            "filter=x",
            QueryString::filters,
            expect![
                "The parameter `filter` is written as `filter[field]=value` or `filter[field][gte]=value`."
            ],
        );
        check(
            "filter[a][gte][x]=1",
            QueryString::filters,
            expect!["The parameter `filter` takes one field and at most one operator."],
        );
    }

    #[test]
    fn words_outside_a_closed_set_are_refused() {
        check(
            "order=up",
            |q| q.choice("order", &[("asc", 1), ("desc", 2)]),
            expect!["The parameter `order` must be one of `asc`, `desc`."],
        );
        check("order=asc", |q| q.choice("order", &[("asc", 1), ("desc", 2)]), expect!["Some(1)"]);
    }
}
