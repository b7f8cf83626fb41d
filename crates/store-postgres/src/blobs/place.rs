//! Where the bytes of this database lie, so that no node looks for them, or puts them, anywhere else.
//!
//! The place carries a mark that the database knows. It is left there before the first bytes are. Places are not told
//! apart by their paths: see [`Objects::find_mark`].

use pdpp_access::{Entropy, random_hex};
use pdpp_objects::Objects;
use pdpp_store::StoreError;
use serde::{Deserialize, Serialize};

use super::of_objects;
use crate::PostgresStore;
use crate::config::DatabaseUrl;
use crate::fault::{Fault, Outcome};
use crate::session::{Session, Whose};
use crate::{Options, connect, migrate};

/// What the database says of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Known {
    mark: String,
    /// Where it was for whoever came first, for people.
    place: String,
    /// Whether the mark is there. Until it is, only this place may get it.
    is_marked: bool,
}

impl PostgresStore {
    /// Whether this node has the right place, before bytes are put there; the first to ask decides which that is.
    pub(crate) async fn claim_place(&self) -> Result<(), StoreError> {
        if self.mark.get().is_some() {
            return Ok(());
        }
        let mark = settle(self, &self.objects, self.entropy.as_ref()).await?;
        // Somebody else in this process may have been faster, and knows the same.
        let _ = self.mark.set(mark);
        Ok(())
    }

    /// The same before they are looked for. Where nobody ever put any, every place is right.
    pub(crate) async fn check_place(&self) -> Result<(), StoreError> {
        if self.mark.get().is_none() && find(self).await?.is_none() {
            return Ok(());
        }
        self.claim_place().await
    }

    /// Whether this place was ever said to be this database's. Where it was not, nothing in it may be judged; a place that
    /// belongs to another database is refused.
    pub(crate) async fn has_place(&self) -> Result<bool, StoreError> {
        let is_unknown = self.mark.get().is_none() && find(self).await?.is_none();
        if is_unknown && self.objects.find_mark().await.map_err(of_objects)?.is_none() {
            return Ok(false);
        }
        self.claim_place().await?;
        Ok(true)
    }

    /// The same as if nobody had looked yet: a directory may have been taken away since.
    pub(crate) async fn check_place_again(&self) -> Result<(), StoreError> {
        let Some(mark) = self.mark.get() else { return self.check_place().await };
        if self.objects.find_mark().await.map_err(of_objects)?.as_ref() == Some(mark) {
            return Ok(());
        }
        let known = find(self).await?;
        Err(misplaced(known.as_ref().map_or("another place", |known| &known.place), &self.objects))
    }

    /// Lets this place be the right one from now on, because everything was brought there. For whoever prepares the schema.
    pub async fn move_blobs(
        url: &DatabaseUrl,
        objects: &Objects,
        options: &Options,
    ) -> Result<(), StoreError> {
        let pool = connect::pool(url, options)?;
        migrate::check(&pool.get().await.map_err(Fault::from)?).await?;
        let session = Session::write(&pool, Whose::Provider).await?;
        let moved = async {
            let known = read(&session).await?;
            let mark = known.map_or_else(|| random_hex(options.entropy.as_ref(), 16), |known| known.mark);
            objects.put_mark(&mark).await.map_err(of_objects)?;
            write(&session, &Known { mark, place: objects.place().to_owned(), is_marked: true }).await
        };
        let moved = moved.await;
        Ok(session.end(moved).await?)
    }
}

/// Finds out whether this is the place, and leaves the mark where nothing was kept so far.
async fn settle(
    store: &PostgresStore,
    objects: &Objects,
    entropy: &dyn Entropy,
) -> Result<String, StoreError> {
    // What the database knows first: a mark it knows of is there by then.
    let mut known = find(store).await?;
    let found = objects.find_mark().await.map_err(of_objects)?;
    if known.is_none() && found.is_some() {
        // Somebody else may have left it meanwhile.
        known = find(store).await?;
    }
    let known = match known {
        Some(known) => known,
        None if found.is_some() => {
            return Err(StoreError::Misplaced(format!(
                "{} holds the attachments of another database; name another place with --blobs-url",
                objects.place()
            )));
        }
        None => {
            let (mark, place) = (random_hex(entropy, 16), objects.place().to_owned());
            begin(store, &Known { mark, place, is_marked: false }).await?
        }
    };
    // Whoever was first may have left it since it was looked for.
    let found = match found {
        None => objects.find_mark().await.map_err(of_objects)?,
        found => found,
    };
    match found {
        Some(mark) if mark == known.mark => {}
        None if !known.is_marked && known.place == objects.place() => {
            objects.put_mark(&known.mark).await.map_err(of_objects)?;
        }
        _ => return Err(misplaced(&known.place, objects)),
    }
    if !known.is_marked {
        let session = store.writing(Whose::Provider).await?;
        let written = write(&session, &Known { is_marked: true, ..known.clone() }).await;
        session.end(written).await?;
    }
    Ok(known.mark)
}

fn misplaced(kept: &str, objects: &Objects) -> StoreError {
    if kept == objects.place() {
        return StoreError::Misplaced(format!(
            "the attachments of this database were in {kept}, and are not there now: see that it is mounted, or bring \
             them back; if they are lost, `pdpp migrate --attachments-moved` begins anew"
        ));
    }
    StoreError::Misplaced(format!(
        "the attachments of this database are in {kept}, and {} is another place: say --blobs-url as it was, or copy \
         everything from there and run `pdpp migrate --attachments-moved` with the new place",
        objects.place()
    ))
}

async fn find(store: &PostgresStore) -> Outcome<Option<Known>> {
    let session = store.reading(Whose::Provider).await?;
    let known = read(&session).await;
    session.end(known).await
}

/// Of two who begin at once one is first, and both are told which.
async fn begin(store: &PostgresStore, first: &Known) -> Outcome<Known> {
    let session = store.writing(Whose::Provider).await?;
    let begun = async {
        let sql = "INSERT INTO meta (name, value) VALUES ('attachments', $1) ON CONFLICT (name) DO NOTHING";
        session.execute(sql, &[&serde_json::to_vec(first)?]).await?;
        read(&session).await?.ok_or_else(|| Fault::damaged("the place of attachments is gone again"))
    };
    let begun = begun.await;
    session.end(begun).await
}

async fn read(session: &Session) -> Outcome<Option<Known>> {
    let row = session.query_opt("SELECT value FROM meta WHERE name = 'attachments'", &[]).await?;
    let damaged = |_| Fault::damaged("the place of attachments cannot be read");
    row.map(|row| serde_json::from_slice(row.get(0)).map_err(damaged)).transpose()
}

async fn write(session: &Session, known: &Known) -> Outcome<()> {
    let sql = "INSERT INTO meta (name, value) VALUES ('attachments', $1)
               ON CONFLICT (name) DO UPDATE SET value = excluded.value";
    session.execute(sql, &[&serde_json::to_vec(known)?]).await?;
    Ok(())
}
