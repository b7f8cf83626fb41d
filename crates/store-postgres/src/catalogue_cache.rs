//! Remembers parsed catalogues by the generation they were read at.
//!
//! The generation is asked for each time, so another node's change is seen at once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use pdpp_access::{Catalogue, Source};
use pdpp_wire::SubjectId;
use pdpp_wire::manifest::Manifest;

use crate::connections;
use crate::fault::{Fault, Outcome};
use crate::session::Session;
use crate::subject_row::SubjectRow;

/// Subjects whose catalogue is remembered.
const REMEMBERED: usize = 1_024;

/// The catalogues this process has read.
#[derive(Debug, Default)]
pub(crate) struct CatalogueCache {
    known: Mutex<HashMap<SubjectId, (i64, Arc<Catalogue>)>>,
}

impl CatalogueCache {
    /// The catalogue as a reader's transaction sees it.
    pub(crate) async fn load(&self, session: &Session, subject_id: &SubjectId) -> Outcome<Arc<Catalogue>> {
        let row = SubjectRow::find(session, subject_id).await?;
        self.load_at(session, subject_id, row).await
    }

    /// The catalogue of a row just read: of a locked one when the transaction writes. Not to be asked for inside a
    /// transaction that has changed it: what is rolled back must not be remembered.
    pub(crate) async fn load_at(
        &self,
        session: &Session,
        subject_id: &SubjectId,
        row: SubjectRow,
    ) -> Outcome<Arc<Catalogue>> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(subject_id).cloned();
        if let Some((at, catalogue)) = known
            && at == row.generation
        {
            return Ok(catalogue);
        }
        let catalogue = Arc::new(read(session, subject_id).await?);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= REMEMBERED {
            known.clear();
        }
        known.insert(subject_id.clone(), (row.generation, Arc::clone(&catalogue)));
        Ok(catalogue)
    }
}

async fn read(session: &Session, subject_id: &SubjectId) -> Outcome<Catalogue> {
    let sql = "SELECT c.connector_key, c.version, s.document FROM connectors AS c
               JOIN snapshots AS s ON s.subject_id = c.subject_id AND s.version = c.version
               WHERE c.subject_id = $1 ORDER BY c.connector_key";
    let rows = session.query(sql, &[&subject_id.as_str()]).await?;
    let mut made = connections::by_connector(session, subject_id).await?;
    let mut sources = Vec::with_capacity(rows.len());
    for row in rows {
        let (key, document): (&str, &str) = (row.get(0), row.get(2));
        let manifest = Manifest::parse(document).map_err(|fault| {
            Fault::damaged(format!("the manifest of connector {key} does not parse: {fault}"))
        })?;
        let (manifest, connections) = (Arc::new(manifest), made.remove(key).unwrap_or_default());
        sources.push(Arc::new(Source { manifest, declaration_version: row.get(1), connections }));
    }
    Ok(Catalogue { subject_id: subject_id.clone(), sources })
}
