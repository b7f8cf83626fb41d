//! A world in which names resolve as a test says, and every public address is a server on this machine.

use std::collections::VecDeque;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use pdpp_egress::{
    BoxStream, Connector, Egress, EgressFault, EgressUrl, Limits, PinnedAddress, Resolver, RootCertStore,
    ServerName, Settings, TcpTls, UrlPolicy,
};

use crate::site::Site;

pub(crate) const HOST: &str = "hooks.example.org";
pub(crate) const PUBLIC: &str = "93.184.215.14";

/// Answers lookups in turn; the last answer stays. Without answers it never answers.
#[derive(Default)]
pub(crate) struct Names {
    answers: Mutex<VecDeque<io::Result<Vec<IpAddr>>>>,
    asked: Mutex<Vec<String>>,
}

#[async_trait]
impl Resolver for Names {
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        self.asked.lock().unwrap().push(host.to_owned());
        let answer = {
            let mut answers = self.answers.lock().unwrap();
            if answers.len() > 1 {
                answers.pop_front()
            } else {
                answers.front().map(|last| match last {
                    Ok(addresses) => Ok(addresses.clone()),
                    Err(error) => Err(io::Error::from(error.kind())),
                })
            }
        };
        match answer {
            Some(answer) => answer,
            None => std::future::pending().await,
        }
    }
}

/// Writes down where it was sent, and goes to the one server there is.
pub(crate) struct Wires {
    tls: TcpTls,
    to: Option<SocketAddr>,
    dead: Vec<IpAddr>,
    dialled: Mutex<Vec<SocketAddr>>,
}

#[async_trait]
impl Connector for Wires {
    async fn open(&self, address: PinnedAddress) -> io::Result<BoxStream> {
        self.dialled.lock().unwrap().push(address.socket());
        if self.dead.contains(&address.socket().ip()) {
            return Err(io::ErrorKind::ConnectionRefused.into());
        }
        match self.to {
            Some(to) => Ok(Box::new(tokio::net::TcpStream::connect(to).await?)),
            None => std::future::pending().await,
        }
    }

    async fn secure(&self, stream: BoxStream, name: ServerName<'static>) -> io::Result<BoxStream> {
        self.tls.secure(stream, name).await
    }
}

pub(crate) struct World {
    pub(crate) egress: Arc<Egress>,
    names: Arc<Names>,
    wires: Arc<Wires>,
}

/// What a world is made of.
pub(crate) struct Plan {
    pub(crate) settings: Settings,
    pub(crate) answers: Vec<io::Result<Vec<IpAddr>>>,
    pub(crate) to: Option<SocketAddr>,
    pub(crate) roots: RootCertStore,
    pub(crate) dead: Vec<IpAddr>,
}

impl Plan {
    /// The host has one public address, where this server answers.
    pub(crate) fn to(site: &Site) -> Self {
        Self { to: Some(site.address), roots: site.roots.clone(), ..Self::nowhere() }
    }

    /// The host has one public address, where nobody answers.
    pub(crate) fn nowhere() -> Self {
        Self {
            settings: Settings::default(),
            answers: vec![Ok(addresses(&[PUBLIC]))],
            to: None,
            roots: RootCertStore::empty(),
            dead: Vec::new(),
        }
    }

    /// The first lookup has the first answer, and so on.
    pub(crate) fn answering(self, answers: &[&[&str]]) -> Self {
        Self { answers: answers.iter().map(|answer| Ok(addresses(answer))).collect(), ..self }
    }

    pub(crate) fn under(mut self, policy: UrlPolicy) -> Self {
        self.settings.policy = policy;
        self
    }

    pub(crate) fn make(self) -> World {
        let names = Arc::new(Names { answers: Mutex::new(self.answers.into()), ..Names::default() });
        let wires = Arc::new(Wires {
            tls: TcpTls::with_roots(self.roots),
            to: self.to,
            dead: self.dead,
            dialled: Mutex::default(),
        });
        let egress = Egress::new(
            self.settings,
            Arc::clone(&names) as Arc<dyn Resolver>,
            Arc::clone(&wires) as Arc<dyn Connector>,
        );
        World { egress: Arc::new(egress), names, wires }
    }
}

impl World {
    /// How often a name was looked up.
    pub(crate) fn lookups(&self) -> usize {
        self.names.asked.lock().unwrap().len()
    }

    /// Where connections were opened to.
    pub(crate) fn dialled(&self) -> Vec<String> {
        self.wires.dialled.lock().unwrap().iter().map(ToString::to_string).collect()
    }

    /// The body, or the fault, of a call to [`HOST`].
    pub(crate) async fn get(&self) -> Result<String, EgressFault> {
        self.get_within(&second()).await
    }

    pub(crate) async fn get_within(&self, limits: &Limits) -> Result<String, EgressFault> {
        let answer = self.egress.get(&url("https://hooks.example.org/pdpp"), limits).await;
        answer.map(|answer| String::from_utf8_lossy(&answer.body).into_owned()).map_err(|error| error.fault())
    }
}

pub(crate) fn url(text: &str) -> EgressUrl {
    EgressUrl::parse(text, UrlPolicy::default()).unwrap()
}

pub(crate) fn addresses(texts: &[&str]) -> Vec<IpAddr> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

/// Far more than a test needs that waits for nothing.
pub(crate) fn second() -> Limits {
    Limits::within(Duration::from_secs(10), 1_024)
}
