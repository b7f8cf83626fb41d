//! Keeps bytes by name: in a directory, or in an S3-compatible store.
//!
//! [`Objects::start`] takes bytes of any amount in bounded memory, [`Upload::seal`] says what they are, and
//! [`Sealed::publish`] puts them under their name, durable and read back, before it returns. [`Objects::read`] gives a
//! range of them, or says that they are missing, damaged or out of reach. Who may read them, and which names are in use,
//! is written elsewhere: in the caller's database.
//!
//! # Garbage collection cannot race an upload
//!
//! A name is `<subject>/<first two hex digits>/<sha256>.<upload>`. It is made from the content and from a random number
//! that no other upload has, so **a name is published at most once, by one upload**. What nobody wants today nobody can
//! want tomorrow, and the moment between asking "is it wanted?" and deleting it stops being a race: there is no second
//! upload of the same bytes that could bring the same name back to life in between. With names made of the content alone
//! every sweep would need a lock that outlives its holder.
//!
//! What is left is an object that is published but not yet in the database. The caller closes that gap with a claim:
//!
//! 1. [`Upload::seal`] gives the name before there is an object of that name. If the database already has these bytes of
//!    this subject, drop the [`Sealed`] and use what is there.
//! 2. Write a claim on the name, and commit.
//! 3. [`Sealed::publish`].
//! 4. In one transaction: delete the claim, and roll back unless it was there; insert the row that refers to the name.
//!
//! [`Objects::sweep`] lists first and asks afterwards. An object in the list was published after its claim was committed,
//! so the answer finds the claim, or the row that replaced it, as long as it looks at both in one statement. A claim
//! whose node died may be deleted at any time: step 4 then fails, nothing was acknowledged, and the object is garbage. No
//! step depends on how long anything takes or on clocks that agree. The grace period is a second lock for callers that
//! make mistakes, nothing more.
//!
//! What an upload leaves behind before it has a name (`.staging/<upload>`, or the parts of a multipart upload) belongs
//! to no row. [`Upload`] removes it when it is dropped; [`Objects::sweep_staging`] removes what a killed process left. An
//! upload that is swept away under a caller who took longer than the grace period fails, and loses nothing.

mod abandoned;
mod body;
mod bucket;
mod error;
mod location;
mod mark;
mod name;
mod objects;
mod patient;
mod settings;
mod spool;
mod sweep;
mod transport;
mod upload;

pub use body::ObjectBody;
pub use error::{Damage, ObjectsError};
pub use name::{NameFault, ObjectName, Stored, UploadId};
pub use objects::Objects;
pub use rustls::RootCertStore;
pub use settings::{Credentials, Settings, Verify};
pub use sweep::{Found, GRACE, Swept, Unwanted};
pub use upload::{MAX_OBJECT_BYTES, Sealed, Upload};
