//! One page that fits: what the server sends is measured, and asked again smaller when it costs too much.
//!
//! What rows cost is remembered, so that the next page of the same kind is asked for in the size that fits.

use std::sync::Arc;

use pdpp_client::Request;
use serde_json::Value;

use super::body::{Body, PlainPage};
use super::measured::Measured;
use crate::Adapter;
use crate::adapter::Results;
use crate::arguments::Arguments;
use crate::expand::Relation;
use crate::failure::Failure;
use crate::page_memory::{Known, Target};
use crate::tokens::Scale;

/// The most a server serves when no limit is given.
const MAX_LIMIT: usize = 100;
/// How often a page is asked again. Once is enough unless records grow in between.
const ATTEMPTS: usize = 3;

/// The largest page whose costs are first told by its bytes; of a larger one they would be told twice.
const ROUGHLY_BYTES: usize = 12 * 1024;

/// Whether the server keeps to limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Service {
    Bounded,
    /// It sent more than it was asked for, so asking for less would change nothing.
    Unbounded,
}

/// A page as the server sent it.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) body: Body,
    pub(super) request_id: Option<String>,
    pub(super) service: Service,
    /// How many records the caller would have got, when fewer were asked for.
    pub(super) wanted: Option<usize>,
    /// How many records a larger page is known to hold.
    pub(super) known: usize,
    /// How related records are read by themselves.
    pub(super) relations: Arc<[Relation]>,
}

impl Page {
    /// How many records were wanted and how many are here, when the page was made smaller.
    pub(super) fn shortened(&self) -> Option<(usize, usize)> {
        let served = self.body.count();
        let leaves_some = served < self.known || self.may_go_on();
        self.wanted.filter(|wanted| served < *wanted && leaves_some).map(|wanted| (wanted, served))
    }

    /// The argument that goes on after the page, where the server gives one.
    pub(super) fn goes_on_with(&self) -> Option<&'static str> {
        let given = [("next_cursor", "cursor"), ("next_changes_since", "changes_since")]
            .into_iter()
            .find(|(name, _)| self.member(name).is_some_and(Value::is_string));
        given.map(|(_, argument)| argument)
    }

    /// Whether more may follow, as far as the server says.
    fn may_go_on(&self) -> bool {
        self.member("has_more").is_none_or(|more| *more == true)
            || self.member("next_cursor").is_some_and(|it| !it.is_null())
    }

    fn member(&self, name: &str) -> Option<&Value> {
        let body = self.body.envelope();
        body.get(name).or_else(|| body.get("data")?.get(name))
    }
}

/// One call, and how it asks.
pub(super) struct Asking<'a> {
    pub(super) adapter: &'a Adapter,
    pub(super) arguments: &'a Arguments,
    pub(super) request: Request,
    pub(super) relations: Arc<[Relation]>,
}

impl Asking<'_> {
    /// Asks for a page that fits a result.
    pub(super) async fn fitting_page(&self) -> Result<Measured, Failure> {
        let target = self.target();
        let known = self.adapter.pages.recall(target);
        let asked = self.arguments.integer("limit").and_then(|limit| usize::try_from(limit).ok());
        let wanted = asked.or_else(|| known?.usual);
        // Only what is known to be too much is asked for in a smaller size.
        let first = known.map(|known| known.fits).filter(|fits| wanted.is_some_and(|wanted| *fits < wanted));
        let mut limit = first.or(asked);
        let mut wanted = wanted.filter(|_| first.is_some());
        let mut learnt = known;
        let mut larger = None;
        let mut seen = 0;
        for attempt in 0.. {
            // What rows cost is only remembered where a page did not fit, and then it should be right.
            let scale = if learnt.is_none() { Scale::Rough } else { Scale::Close };
            let mut page = match (self.ask(limit, wanted, scale).await, larger.take()) {
                (Ok(page), _) => page,
                // The page that was read is worth more than the refusal of a smaller one.
                (Err(_), Some(larger)) => return Ok(larger),
                (Err(failure), None) => return Err(failure),
            };
            let (rows, service) = (page.body.count(), page.service);
            page.known = seen;
            // Where nothing reaches what a smaller page leaves out, all is asked for each time.
            let pages = page.goes_on_with().is_some() || limit.is_some_and(|limit| rows < limit);
            let measured = Measured::of(self.adapter, self.arguments, page);
            let fits = measured.how_many_fit(attempt > 0);
            let fitted = service == Service::Unbounded || rows <= 1 || fits >= rows;
            learnt = match learnt {
                known if service == Service::Unbounded || rows == 0 => known,
                Some(known) => Some(known.after(rows, fits)),
                None if fitted => None,
                None => Some(Known { fits: fits.max(1), usual: None }),
            };
            if let Some(known) = &mut learnt {
                known.usual = known.usual.max(Some(rows).filter(|_| limit.is_none()));
                if pages {
                    self.adapter.pages.keep(target, *known);
                }
            }
            if fitted || attempt == ATTEMPTS {
                return Ok(measured);
            }
            larger = Some(measured);
            wanted = wanted.or(asked).or(Some(rows));
            limit = Some(fits.max(1));
            seen = seen.max(rows);
        }
        unreachable!("the last attempt is returned")
    }

    async fn ask(&self, limit: Option<usize>, wanted: Option<usize>, scale: Scale) -> Result<Page, Failure> {
        let answer = match (limit, wanted) {
            (Some(limit), Some(_)) => {
                self.adapter.send(&self.request.clone().replacing("limit", limit.to_string())).await?
            }
            _ => self.adapter.send(&self.request).await?,
        };
        // A large page does not fit by its bytes.
        let scale = if answer.body.len() > ROUGHLY_BYTES { Scale::Close } else { scale };
        let plain = (self.adapter.results == Results::Written).then(|| PlainPage::read(&answer.body, scale));
        let (body, request_id) = if let Some(page) = plain.flatten() {
            (Body::Plain(page), answer.request_id)
        } else {
            let reply = self.adapter.read(&answer)?;
            (Body::Tree(reply.body), reply.request_id)
        };
        let unbounded = body.count() > limit.unwrap_or(MAX_LIMIT);
        let service = if unbounded { Service::Unbounded } else { Service::Bounded };
        Ok(Page { body, request_id, service, wanted, known: 0, relations: Arc::clone(&self.relations) })
    }

    /// What decides the size of a row: where it comes from and what is shown of it.
    fn target(&self) -> Target {
        let text = |name| self.arguments.text(name);
        let relations =
            self.arguments.object("expand_limit").map(|limits| Value::from(limits.clone()).to_string());
        self.adapter.pages.target((
            "query_records",
            [text("stream"), text("connection_id"), text("view"), text("changes_since").map(|_| "changes")],
            self.arguments.texts("fields"),
            self.arguments.texts("expand"),
            relations,
        ))
    }
}
