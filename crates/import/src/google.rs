//! stub
use crate::{Claim, Format, Look, Sink, Stop, Tree};
use pdpp_wire::manifest::Manifest;
#[derive(Debug)]
pub struct Takeout;
impl Format for Takeout {
    fn name(&self) -> &'static str { "google" }
    fn claim(&self, _: &mut Look<'_>) -> Vec<Claim> { Vec::new() }
    fn manifest(&self, _: &mut dyn Tree, _: &Claim) -> std::io::Result<Manifest> { Err(std::io::Error::other("x")) }
    fn read(&self, _: &mut dyn Tree, _: &Claim, _: &mut dyn Sink) -> Result<(), Stop> { Ok(()) }
}
