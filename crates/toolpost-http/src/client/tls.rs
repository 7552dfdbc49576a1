//! Encryption: TLS 1.2 and 1.3, with certificates that are checked.

use super::connect::Transport;
use std::sync::{Arc, OnceLock};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto};

/// Which certificates are trusted.
#[derive(Debug, Clone, Default)]
pub enum Roots {
    /// Those that this machine trusts, read once per process.
    #[default]
    Machine,
    /// Only these, each in the binary form of X.509 (DER).
    Only(Vec<Vec<u8>>),
}

/// How the connections of one client are encrypted.
pub(super) struct Encryption {
    roots: Roots,
    own: Arc<OnceLock<Configured>>,
}

type Configured = Result<Arc<ClientConfig>, String>;

impl Encryption {
    pub(super) fn new(roots: Roots) -> Encryption {
        Encryption { roots, own: Arc::default() }
    }

    /// Encrypts a connection to this host.
    pub(super) async fn over(
        &self,
        transport: Box<dyn Transport>,
        host: &str,
    ) -> Result<Box<dyn Transport>, String> {
        let name = ServerName::try_from(host.to_owned()).map_err(|error| error.to_string())?;
        let connected = TlsConnector::from(self.config().await?).connect(name, transport).await;
        Ok(Box::new(connected.map_err(|error| format!("no trusted connection: {error}"))?))
    }

    /// Reading the machine's certificates takes milliseconds, so another thread does it.
    async fn config(&self) -> Configured {
        static MACHINE: OnceLock<Configured> = OnceLock::new();
        let (roots, own) = (self.roots.clone(), Arc::clone(&self.own));
        let read = move || match roots {
            Roots::Machine => MACHINE.get_or_init(of_this_machine).clone(),
            Roots::Only(roots) => own.get_or_init(|| trusting(only(roots)?)).clone(),
        };
        tokio::task::spawn_blocking(read).await.map_err(|error| error.to_string())?
    }
}

fn of_this_machine() -> Configured {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    let (added, _) = roots.add_parsable_certificates(found.certs);
    if added == 0 {
        let why = found.errors.first().map_or_else(String::new, |error| format!(" ({error})"));
        return Err(format!("this machine has no certificates to trust{why}; install ca-certificates"));
    }
    trusting(roots)
}

fn only(certificates: Vec<Vec<u8>>) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates {
        let added = roots.add(CertificateDer::from(certificate));
        added.map_err(|error| format!("a certificate to trust is invalid: {error}"))?;
    }
    Ok(roots)
}

fn trusting(roots: RootCertStore) -> Configured {
    let config = ClientConfig::builder_with_provider(Arc::new(crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(Arc::new(config))
}
