//! Listeners and public addresses: every binding is served somewhere or nowhere, no address twice, and the card
//! never shows an address that nobody can call.

use std::net::SocketAddr;

use gateway_domain::{Binding, Version};

use crate::{
    fault::Fault,
    text::Address,
    typed::{self, Version as TypedVersion},
};

/// Where to listen.
#[derive(Debug, Clone)]
pub struct Listeners {
    /// Clients, on every binding that has no listener of its own.
    pub client: Option<ClientListener>,
    /// Clients, gRPC only.
    pub grpc: Option<ClientListener>,
    /// Clients, JSON-RPC only.
    pub jsonrpc: Option<ClientListener>,
    /// Clients, HTTP+JSON only.
    pub rest: Option<ClientListener>,
    /// Agents.
    pub agent: Option<SocketAddr>,
    /// Operators.
    pub admin: Option<SocketAddr>,
}

/// A listener for clients.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientListener {
    /// Where; port 0 lets the system choose.
    pub address: SocketAddr,
    /// The versions served, each once, the preferred one first; there is one at least.
    pub versions: Vec<Version>,
    /// The version of a request that names none.
    pub assumed_version: Version,
}

impl Listeners {
    /// The listener of a binding's own.
    pub fn own(&self, binding: Binding) -> Option<&ClientListener> {
        match binding {
            Binding::Grpc => self.grpc.as_ref(),
            Binding::JsonRpc => self.jsonrpc.as_ref(),
            Binding::HttpJson => self.rest.as_ref(),
        }
    }

    /// The listener that serves a binding, if one does.
    pub fn serving(&self, binding: Binding) -> Option<&ClientListener> {
        self.own(binding).or(self.client.as_ref())
    }
}

/// What the card says about a binding's address; nothing where the listener's own is meant.
#[derive(Debug, Clone, Default)]
pub struct PublicUrls {
    /// JSON-RPC.
    pub jsonrpc: Option<String>,
    /// HTTP+JSON.
    pub rest: Option<String>,
    /// gRPC.
    pub grpc: Option<String>,
}

impl PublicUrls {
    /// The address of a binding.
    pub fn of(&self, binding: Binding) -> Option<&str> {
        match binding {
            Binding::Grpc => self.grpc.as_deref(),
            Binding::JsonRpc => self.jsonrpc.as_deref(),
            Binding::HttpJson => self.rest.as_deref(),
        }
    }
}

/// The name of a binding in settings.
fn key(binding: Binding) -> &'static str {
    match binding {
        Binding::Grpc => "grpc",
        Binding::JsonRpc => "jsonrpc",
        Binding::HttpJson => "rest",
    }
}

pub(super) fn resolve(typed: &typed::Listeners, faults: &mut Vec<Fault>) -> Listeners {
    check_addresses(typed, faults);
    check_versions(typed, faults);
    let listeners = Listeners {
        client: client(&typed.client),
        grpc: client(&typed.grpc),
        jsonrpc: client(&typed.jsonrpc),
        rest: client(&typed.rest),
        agent: typed.agent.address.at(),
        admin: typed.admin.address.at(),
    };
    if Binding::ALL
        .into_iter()
        .all(|binding| listeners.serving(binding).is_none())
    {
        let text = "is off, and so is the listener of every binding: nobody could call; give one an address";
        faults.push(Fault::of("listeners.client.address", text));
    }
    listeners
}

fn client(typed: &typed::ClientListener) -> Option<ClientListener> {
    Some(ClientListener {
        address: typed.address.at()?,
        versions: typed.versions.iter().copied().map(version).collect(),
        assumed_version: version(typed.assumed_version),
    })
}

fn version(typed: TypedVersion) -> Version {
    match typed {
        TypedVersion::V0_3 => Version::V0_3,
        TypedVersion::V1_0 => Version::V1_0,
    }
}

fn check_versions(typed: &typed::Listeners, faults: &mut Vec<Fault>) {
    for (name, listener) in [
        ("client", &typed.client),
        ("grpc", &typed.grpc),
        ("jsonrpc", &typed.jsonrpc),
        ("rest", &typed.rest),
    ] {
        let versions = &listener.versions;
        let repeated = (1..versions.len()).any(|at| versions[..at].contains(&versions[at]));
        let fault = match versions.is_empty() {
            true => "must name a version at least: nothing would be served",
            false if repeated => "names a version twice",
            false => continue,
        };
        faults.push(Fault::of(format!("listeners.{name}.versions"), fault));
    }
}

/// Every listener's address with the path of its setting.
fn addresses(typed: &typed::Listeners) -> [(&'static str, Address); 6] {
    [
        ("listeners.client.address", typed.client.address),
        ("listeners.grpc.address", typed.grpc.address),
        ("listeners.jsonrpc.address", typed.jsonrpc.address),
        ("listeners.rest.address", typed.rest.address),
        ("listeners.agent.address", typed.agent.address),
        ("listeners.admin.address", typed.admin.address),
    ]
}

fn check_addresses(typed: &typed::Listeners, faults: &mut Vec<Fault>) {
    let addresses = addresses(typed);
    for (index, (path, address)) in addresses.iter().enumerate() {
        let Some(own) = address.at().filter(|own| own.port() != 0) else {
            continue;
        };
        let taken = addresses[..index]
            .iter()
            .find(|(_, other)| other.at() == Some(own));
        if let Some((other, _)) = taken {
            faults.push(Fault::of(*path, format!("is {own}, which {other} has already")));
        }
    }
}

pub(super) fn public_urls(
    typed: &typed::PublicUrls,
    listeners: &typed::Listeners,
    faults: &mut Vec<Fault>,
) -> PublicUrls {
    let urls = PublicUrls {
        jsonrpc: typed.jsonrpc.clone(),
        rest: typed.rest.clone(),
        grpc: typed.grpc.clone(),
    };
    for binding in Binding::ALL {
        let own = match binding {
            Binding::Grpc => &listeners.grpc,
            Binding::JsonRpc => &listeners.jsonrpc,
            Binding::HttpJson => &listeners.rest,
        };
        let listener = own.address.at().or(listeners.client.address.at());
        let fault = match (urls.of(binding), listener) {
            (Some(_), None) => Some("is given, but no listener serves that binding".into()),
            (Some(url), Some(_)) => url_fault(binding, url),
            (None, Some(listener)) if listener.ip().is_unspecified() => Some(format!(
                "must be given, since the listener {listener} says nothing about where clients reach it"
            )),
            (None, _) => None,
        };
        if let Some(fault) = fault {
            faults.push(Fault::of(format!("public_urls.{}", key(binding)), fault));
        }
    }
    urls
}

fn url_fault(binding: Binding, url: &str) -> Option<String> {
    // Clients differ in what they take for gRPC: host and port, or a URL. It is the operator's word.
    let fault = match binding {
        Binding::Grpc if has_blank(url) || url.is_empty() => {
            Some("must be what gRPC clients are to call, without blanks")
        }
        Binding::Grpc => None,
        Binding::HttpJson if url.ends_with('/') => {
            Some("must not end with a slash: paths are appended to it")
        }
        Binding::JsonRpc | Binding::HttpJson => http_url_fault(url),
    };
    fault.map(|fault| format!("{fault}, not {url:?}"))
}

/// Says what is wrong with an address on the web.
pub(super) fn http_url_fault(url: &str) -> Option<&'static str> {
    let rest = ["https://", "http://"]
        .into_iter()
        .find_map(|scheme| url.strip_prefix(scheme));
    match rest {
        _ if has_blank(url) => Some("must not have blanks"),
        Some(rest) if !rest.is_empty() && !rest.starts_with(['/', '?', '#']) && !url.contains(['?', '#']) => {
            None
        }
        _ => Some("must be an address that begins with https:// or http://, without ? and #"),
    }
}

fn has_blank(url: &str) -> bool {
    url.contains(|letter: char| letter.is_whitespace() || letter.is_control())
}
