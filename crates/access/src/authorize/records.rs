//! Pages of records and of changes, single records and field windows.

use std::fmt::Write as _;

use pdpp_wire::{Code, RecordKey};

use super::Authorizer;
use crate::cursor::Binding;
use crate::filter::{check_field, parse_filter};
use crate::{
    ChangesPlan, ChangesPosition, Denial, Direction, FieldSet, Order, OrderBy, Predicate, Principal,
    ReadPlan, RecordPlan, RecordRequest, RecordsPlan, RecordsRequest, Sealer, Target, WindowPlan,
    WindowRequest,
};

/// What the records route turned out to ask for.
#[derive(Clone, Debug)]
pub enum RecordsRead {
    /// A page of records.
    Page(Box<RecordsPlan>),
    /// A page of changes.
    Changes(Box<ChangesPlan>),
}

impl Authorizer<'_> {
    /// Authorizes the records route.
    pub fn records(&self, request: &RecordsRequest, sealer: &Sealer) -> Result<RecordsRead, Denial> {
        let mut read = self.scope(&request.target)?;
        Self::project(&mut read, request.fields.as_deref(), request.view.as_deref())?;
        if request.changes_since.is_some() {
            return self.changes(read, request, sealer).map(Box::new).map(RecordsRead::Changes);
        }
        let filter = parse_filter(&read, &request.filter)?;
        let order = order(&read, request)?;
        let expand = self.expand(&read, &request.expand, &request.expand_limit)?;
        let binding = self.binding(&read, &format!("{order:?}"), &filter);
        let after = match &request.cursor {
            None => None,
            Some(token) => match sealer.open_page(&binding, token) {
                Ok(position) => Some(position),
                // The next page of a changes session is asked for by its cursor alone.
                Err(_)
                    if is_plain(request)
                        && sealer.open_changes_page(&self.changes_binding(&read), token).is_ok() =>
                {
                    return self.changes(read, request, sealer).map(Box::new).map(RecordsRead::Changes);
                }
                Err(denial) => return Err(denial),
            },
        };
        Ok(RecordsRead::Page(Box::new(RecordsPlan {
            filter,
            order,
            limit: request.limit,
            after,
            count: request.count,
            window: request.window,
            expand,
            binding,
            read,
        })))
    }

    fn changes(
        &self,
        read: ReadPlan,
        request: &RecordsRequest,
        sealer: &Sealer,
    ) -> Result<ChangesPlan, Denial> {
        for (given, param) in [
            (request.order.is_some(), "order"),
            (request.sort.is_some(), "sort"),
            (request.count, "count"),
            (request.window, "window"),
            (!request.filter.is_empty(), "filter"),
        ] {
            if given {
                return Err(Denial::invalid(
                    param,
                    format!("`{param}` cannot be combined with `changes_since`."),
                ));
            }
        }
        if !request.expand.is_empty() || !request.expand_limit.is_empty() {
            let message = "`expand` cannot be combined with `changes_since`.";
            return Err(Denial::new(Code::InvalidExpand, message).param("expand"));
        }
        let binding = self.changes_binding(&read);
        let from = match (&request.cursor, request.changes_since.as_deref()) {
            (Some(token), _) => sealer.open_changes_page(&binding, token)?,
            (None, None | Some("beginning")) => ChangesPosition::default(),
            (None, Some(token)) => ChangesPosition {
                since: Some(sealer.open_changes_since(&binding, token)?),
                ..Default::default()
            },
        };
        Ok(ChangesPlan { read, limit: request.limit, from, binding })
    }

    /// What a reader of one connection's changes would be asked to prove: the plan of a `changes_since` read from
    /// the beginning, in the whole projection. Events are announced under it, and their tokens bound to it.
    pub fn changes_of(&self, target: &Target) -> Result<ChangesPlan, Denial> {
        let read = self.scope(target)?;
        let binding = self.changes_binding(&read);
        Ok(ChangesPlan { read, limit: 1, from: ChangesPosition::default(), binding })
    }

    /// Authorizes reading one record.
    pub fn record(&self, request: &RecordRequest) -> Result<RecordPlan, Denial> {
        let mut read = self.scope(&request.target)?;
        Self::project(&mut read, request.fields.as_deref(), None)?;
        let expand = self.expand(&read, &request.expand, &request.expand_limit)?;
        Ok(RecordPlan { key: record_key(&request.key)?, read, expand })
    }

    /// Authorizes reading a window of one field, before the record is touched.
    ///
    /// Which top-level field a dotted path lives under is decided by the declared names alone, so
    /// that a record's contents cannot move a path across the border of a grant.
    pub fn window(&self, request: &WindowRequest) -> Result<WindowPlan, Denial> {
        let mut read = self.scope(&request.target)?;
        let path = request.field.as_str();
        let whole = read.declaration().find_field(path).is_some();
        let top = if whole { path } else { path.split('.').next().unwrap_or(path) }.to_owned();
        match self.principal {
            Principal::Owner(_) => {
                // An undeclared literal key such as `a.b` stays reachable for the owner.
                let tops = [path.to_owned(), top];
                for part in &mut read.parts {
                    part.shown = FieldSet::only(tops.clone());
                }
            }
            Principal::Client(_) => {
                read.parts.retain(|part| part.granted.contains(&top));
                if read.parts.is_empty() {
                    let message =
                        format!("Field '{top}' of stream '{}' is outside the grant.", request.target.stream);
                    return Err(Denial::new(Code::FieldNotGranted, message).param("field"));
                }
                for part in &mut read.parts {
                    part.shown = FieldSet::only([top.clone()]);
                }
            }
        }
        let record = RecordPlan { key: record_key(&request.key)?, read, expand: Vec::new() };
        Ok(WindowPlan { record, field: request.field.clone() })
    }

    /// What cursors over this plan are bound to.
    fn binding(&self, read: &ReadPlan, order: &str, filter: &[Predicate]) -> Binding {
        let mut parts = vec![
            read.subject_id().to_string(),
            read.source().manifest.source().id.clone(),
            read.stream().to_string(),
            order.to_owned(),
            format!("{filter:?}"),
        ];
        parts.extend(self.principal.grant_ids().iter().map(ToString::to_string));
        for part in read.parts() {
            let mut shown = format!("{}:", part.connection_id());
            match part.shown().names() {
                None => shown.push('*'),
                Some(names) => names.iter().for_each(|name| {
                    let _ = write!(shown, "{name:?},");
                }),
            }
            parts.push(shown);
        }
        Binding::of(parts.iter().map(String::as_str))
    }

    fn changes_binding(&self, read: &ReadPlan) -> Binding {
        self.binding(read, "changes", &[])
    }
}

/// Whether nothing but page size, projection and cursor was sent.
fn is_plain(request: &RecordsRequest) -> bool {
    let RecordsRequest { order, sort, filter, expand, expand_limit, count, window, .. } = request;
    order.is_none()
        && sort.is_none()
        && filter.is_empty()
        && expand.is_empty()
        && expand_limit.is_empty()
        && !count
        && !window
}

fn record_key(text: &str) -> Result<RecordKey, Denial> {
    RecordKey::parse(text).map_err(|_| Denial::new(Code::NotFound, "No such record is visible."))
}

fn order(read: &ReadPlan, request: &RecordsRequest) -> Result<Order, Denial> {
    let ordered = match request.order.as_deref() {
        None => None,
        Some("asc") => Some(Direction::Ascending),
        Some("desc") => Some(Direction::Descending),
        Some(_) => return Err(Denial::invalid("order", "`order` must be `asc` or `desc`.")),
    };
    let cursor_field = read.declaration().cursor_field();
    let refused = |message: String| Err(Denial::new(Code::InvalidSort, message).param("sort"));
    let direction = match request.sort.as_deref() {
        None => ordered.unwrap_or(Direction::Descending),
        Some(sort) => {
            let (field, direction) = match sort.strip_prefix('-') {
                Some(field) => (field, Direction::Descending),
                None => (sort, Direction::Ascending),
            };
            if cursor_field != Some(field) {
                return refused(format!("'{field}' is not advertised as sortable; check /v1/schema."));
            }
            if ordered.is_some_and(|ordered| ordered != direction) {
                return refused("`sort` and `order` disagree.".to_owned());
            }
            check_field(read, field, "sort")?;
            direction
        }
    };
    // Without the cursor field in the grant, its order would tell its values.
    let visible = |field: &&str| read.parts().iter().all(|part| part.granted().contains(field));
    let by = cursor_field.filter(visible).map_or(OrderBy::Key, |field| OrderBy::Field(field.to_owned()));
    Ok(Order { by, direction })
}
