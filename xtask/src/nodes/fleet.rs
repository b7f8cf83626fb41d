//! The nodes: each with a directory, a port and a cable of its own.

use std::fs::File;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

use anyhow::{Context, Result, bail};

use super::cable::Cable;
use super::world::World;
use crate::{http, process, server};

const READY_WITHIN: Duration = Duration::from_mins(1);

pub(super) struct Fleet {
    nodes: Vec<Node>,
}

struct Node {
    child: Child,
    address: SocketAddr,
    cable: Cable,
    data: PathBuf,
}

impl Fleet {
    pub(super) fn start(world: &World, count: usize) -> Result<Self> {
        let nodes = (1..=count).map(|number| Node::start(world, number)).collect::<Result<Vec<_>>>()?;
        let fleet = Self { nodes };
        (0..count).try_for_each(|index| fleet.wait_until_ready(index))?;
        Ok(fleet)
    }

    pub(super) fn urls(&self) -> Vec<String> {
        self.nodes.iter().map(|node| format!("http://{}", node.address)).collect()
    }

    /// The plug is pulled.
    pub(super) fn kill(&mut self, index: usize) -> Result<()> {
        let child = &mut self.nodes[index].child;
        child.kill().context("the node cannot be killed")?;
        child.wait().context("the node does not end")?;
        Ok(())
    }

    pub(super) fn start_again(&mut self, world: &World, index: usize) -> Result<()> {
        let node = &mut self.nodes[index];
        node.child = spawn(world, &node.data, node.cable.address, node.address)?;
        Ok(())
    }

    pub(super) fn cut(&self, index: usize) {
        self.nodes[index].cable.cut();
    }

    pub(super) fn mend(&self, index: usize) {
        self.nodes[index].cable.mend();
    }

    fn wait_until_ready(&self, index: usize) -> Result<()> {
        let url = format!("http://{}/readyz", self.nodes[index].address);
        let started = Instant::now();
        while started.elapsed() < READY_WITHIN {
            if http::get(&url, None).is_ok_and(|answer| answer.status == 200) {
                return Ok(());
            }
            thread::sleep(Duration::from_millis(50));
        }
        bail!("node {} was not ready within {} s:\n{}", index + 1, READY_WITHIN.as_secs(), self.logs())
    }

    /// The ends of what the nodes logged.
    pub(super) fn logs(&self) -> String {
        let tail = |node: &Node| {
            let log = fs::read_to_string(node.data.join("log")).unwrap_or_default();
            let lines: Vec<_> = log.lines().collect();
            lines[lines.len().saturating_sub(10)..].join("\n")
        };
        self.nodes.iter().map(tail).collect::<Vec<_>>().join("\n--\n")
    }

    /// Every node ends when it is asked to.
    pub(super) fn stop(mut self) -> Result<()> {
        for node in &mut self.nodes {
            process::run(std::process::Command::new("kill").args(["-TERM", &node.child.id().to_string()]))?;
            let status = node.child.wait().context("a node does not end")?;
            if !status.success() {
                bail!("a node did not end well ({status})");
            }
        }
        Ok(())
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        for node in &mut self.nodes {
            // It may have ended already.
            let _ = node.child.kill();
            let _ = node.child.wait();
        }
    }
}

impl Node {
    fn start(world: &World, number: usize) -> Result<Self> {
        let data = world.scratch.path().join(format!("node{number}"));
        fs::create_dir_all(&data)?;
        let database = world.postgres.lock().expect("nobody panics with it").address();
        let cable = Cable::lay(database)?;
        let address = server::free_address()?;
        let child = spawn(world, &data, cable.address, address)?;
        Ok(Self { child, address, cable, data })
    }
}

fn spawn(world: &World, data: &std::path::Path, cable: SocketAddr, listen: SocketAddr) -> Result<Child> {
    let log = File::options().create(true).append(true).open(data.join("log"))?;
    let database = format!("postgres://pdpp@{cable}/archive");
    let listen = listen.to_string();
    // What agents do here no single client does; that too many requests are refused has tests of its own.
    let args = ["serve", "--listen", &listen, "--requests-per-minute", "0"];
    let mut command = world.over(&database, data, &args);
    command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
    command.spawn().context("`pdpp serve` could not be started")
}
