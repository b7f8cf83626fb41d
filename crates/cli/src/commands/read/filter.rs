//! Filters as people write them, `author=Ana` or `sent_at>=2025-09-01`, as the parameters a server takes.

use clap::Args;
use pdpp_client::Request;
use serde_json::Value;

use super::command::Flag;
use super::target::wrong;
use crate::exit::Ended;

/// Which records.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct FilterArgs {
    /// Only records where this holds: 'FIELD=VALUE', 'FIELD>=VALUE', '>', '<=' or '<', in quotes; may be repeated
    #[arg(long, value_name = "FILTER")]
    filter: Vec<String>,
    /// The same as JSON: `{"author": "Ana", "sent_at": {"gte": "2025-09-01"}}`
    #[arg(long, value_name = "JSON")]
    filter_json: Option<String>,
}

impl FilterArgs {
    /// Adds the parameters.
    pub(super) fn apply(&self, mut request: Request) -> Result<Request, Ended> {
        for (name, value) in self.parameters()? {
            request = request.query(name, value);
        }
        Ok(request)
    }

    /// The options as they were given, for printed commands.
    pub(super) fn flags(&self) -> Vec<Flag> {
        let own = self.filter.iter().map(|filter| ("filter", Some(filter.clone())));
        own.chain([("filter-json", self.filter_json.clone())]).collect()
    }

    fn parameters(&self) -> Result<Vec<(String, String)>, Ended> {
        let mut found = Vec::new();
        for filter in &self.filter {
            found.push(parse(filter)?);
        }
        if let Some(text) = &self.filter_json {
            let bad =
                || wrong(r#"--filter-json is an object of fields: {"author": "Ana", "stars": {"gte": 2}}"#);
            let value: Value = serde_json::from_str(text).map_err(|_| bad())?;
            for (field, wanted) in value.as_object().ok_or_else(bad)? {
                match wanted {
                    Value::Object(operators) => {
                        for (operator, operand) in operators {
                            found.push((
                                format!("filter[{field}][{operator}]"),
                                plain(operand).ok_or_else(bad)?,
                            ));
                        }
                    }
                    wanted => found.push((format!("filter[{field}]"), plain(wanted).ok_or_else(bad)?)),
                }
            }
        }
        Ok(found)
    }
}

fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        _ => None,
    }
}

fn parse(filter: &str) -> Result<(String, String), Ended> {
    let at = filter.find(['=', '<', '>']).filter(|at| *at > 0);
    let at =
        at.ok_or_else(|| wrong(format!("'{filter}' is no filter; write 'FIELD=VALUE' or 'FIELD>=VALUE'")))?;
    let (field, rest) = filter.split_at(at);
    let field = field.trim();
    for (sign, operator) in [(">=", "[gte]"), ("<=", "[lte]"), (">", "[gt]"), ("<", "[lt]"), ("=", "")] {
        if let Some(value) = rest.strip_prefix(sign) {
            return Ok((format!("filter[{field}]{operator}"), value.trim().to_owned()));
        }
    }
    Err(wrong(format!("'{filter}' is no filter")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_become_parameters() {
        for (filter, expected) in [
            ("author=Ana", "filter[author]=Ana"),
            ("sent_at>=2025-09-01", "filter[sent_at][gte]=2025-09-01"),
            ("stars < 3", "filter[stars][lt]=3"),
            ("a<=b=c", "filter[a][lte]=b=c"),
            ("text=x>y", "filter[text]=x>y"),
        ] {
            let (name, value) = parse(filter).unwrap();
            assert_eq!(format!("{name}={value}"), expected);
        }
        assert!(parse("author").is_err() && parse("=x").is_err());
    }

    #[test]
    fn json_filters_mean_the_same() {
        let args = FilterArgs {
            filter_json: Some(r#"{"a":"x","n":{"gte":2,"lt":5}}"#.to_owned()),
            ..FilterArgs::default()
        };
        let found: Vec<String> =
            args.parameters().unwrap().into_iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(found, ["filter[a]=x", "filter[n][gte]=2", "filter[n][lt]=5"]);
        for bad in ["[]", "{", r#"{"a":[1]}"#, r#"{"a":null}"#] {
            let args = FilterArgs { filter_json: Some(bad.to_owned()), ..FilterArgs::default() };
            assert!(args.parameters().is_err(), "{bad}");
        }
    }
}
