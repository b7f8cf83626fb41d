//! The owner's pages, mounted beside the REST surface. Where a page and an endpoint share a path, the page decides who
//! answers.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::routing::MethodRouter;
use pdpp_api::ApiState;
use pdpp_web::{MAX_FORM, PAGES, Pages, answer};

use crate::value_route::value_route;

/// Every path that has a page.
pub(crate) fn paths() -> BTreeSet<&'static str> {
    PAGES.iter().map(|page| page.path).collect()
}

/// Every page by its path.
pub(crate) fn endpoints(pages: &Pages) -> Vec<(&'static str, MethodRouter<Arc<ApiState>>)> {
    let route = |path| {
        let pages = pages.clone();
        value_route(path, MAX_FORM, move |asked| {
            let pages = pages.clone();
            async move { answer(&pages, asked).await }
        })
    };
    paths().into_iter().map(|path| (path, route(path))).collect()
}
