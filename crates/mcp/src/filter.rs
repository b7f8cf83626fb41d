//! A typed filter on its way into a query string: `filter[field]=v` and `filter[field][op]=v`.

use pdpp_client::Request;
use serde_json::{Map, Value};

use crate::arguments::scalar_text;

/// The request with the filter's parameters. The filter has passed the check of its arguments.
pub(crate) fn filtered(request: Request, filter: Option<&Map<String, Value>>) -> Request {
    let Some(filter) = filter else { return request };
    filter.iter().fold(request, |request, (field, wanted)| match wanted {
        Value::Object(range) => range.iter().fold(request, |request, (operator, bound)| {
            request.query(format!("filter[{field}][{operator}]"), scalar_text(bound))
        }),
        scalar => request.query(format!("filter[{field}]"), scalar_text(scalar)),
    })
}
