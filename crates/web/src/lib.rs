//! Shows the owner what is asked, granted, read and revocable, and takes the answer.
//!
//! Pages are made on the server and work without script. Nothing is decided here: what would be granted is computed by
//! `pdpp-auth`, and an approval names the digest of what was shown. Like the authorization server's endpoints, a page
//! is a function from one HTTP value to another; [`PAGES`] names them all, and [`answer`] serves them.
//!
//! Four kinds of words stand on these pages and never look alike: what the server enforces, what a structured policy
//! declares, how a source describes its data, and what a client claims. Each block says which it is, to the eye and in
//! its `data-authorship`.

mod activity;
mod artifact;
mod assets;
mod authorize;
mod browser;
mod consent;
mod cookies;
mod device;
mod first_run;
mod form;
mod frame;
mod grant_words;
mod home;
mod login;
mod manage;
mod moment;
mod pages;
mod passkeys;
mod purpose;
mod respond;
mod return_to;
mod stop;
mod stranger;
mod told;
mod visit;

pub use pages::{MAX_FORM, PAGES, Page, Pages, answer};
