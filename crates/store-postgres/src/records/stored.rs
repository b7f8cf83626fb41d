//! Values as records have them, where the field's bytes do not say how they were spelled.

use pdpp_store::PAGE_BYTES;
use serde_json::{Map, Value};

use super::tally::Sample;
use super::target::Target;
use crate::fault::{Fault, Outcome};
use crate::session::Session;

/// A field of some records, as it was stored.
pub(super) async fn stored_values(
    session: &Session,
    target: &Target<'_>,
    samples: &[Sample<'_>],
    field: &str,
) -> Outcome<Vec<Value>> {
    let damaged = || Fault::damaged("a field row has no record");
    // The first with its data, those after it as far as the bytes go.
    let sql = "SELECT CASE WHEN x.n = 1 OR x.through <= $4 THEN x.data END
               FROM (SELECT w.n, r.data, (sum(octet_length(r.data)) OVER (ORDER BY w.n))::bigint AS through
                     FROM unnest($2::bigint[], $3::text[]) WITH ORDINALITY AS w(scope_id, key, n)
                     CROSS JOIN LATERAL (
                         SELECT s.data, s.deleted_seq FROM records AS s
                         WHERE s.subject_id = $1 AND s.scope_id = w.scope_id AND s.key = w.key OFFSET 0) AS r
                     WHERE r.deleted_seq IS NULL) AS x ORDER BY x.n";
    let mut values = Vec::with_capacity(samples.len());
    while let Some(rest) = samples.get(values.len()..).filter(|rest| !rest.is_empty()) {
        let (mut scopes, mut keys) = (Vec::with_capacity(rest.len()), Vec::with_capacity(rest.len()));
        for (key, part) in rest {
            scopes.push(part.scope.ok_or_else(damaged)?.id);
            keys.push(key.as_str());
        }
        let rows = session.query(sql, &[&target.subject_id.as_str(), &scopes, &keys, &PAGE_BYTES]).await?;
        if rows.len() != rest.len() || rows.first().is_none_or(|row| row.get::<_, Option<&str>>(0).is_none())
        {
            return Err(damaged());
        }
        for json in rows.iter().map_while(|row| row.get::<_, Option<&str>>(0)) {
            let mut data: Map<String, Value> =
                serde_json::from_str(json).map_err(|_| Fault::damaged("a stored record is not JSON"))?;
            values.push(data.remove(field).unwrap_or_default());
        }
    }
    Ok(values)
}
