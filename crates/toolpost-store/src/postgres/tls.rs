//! Encryption of connections to PostgreSQL: TLS 1.2 and 1.3, with certificates that are always checked.

use crate::percent::percent_decoded;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::config::SslMode;
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream as Stream;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto};

use crate::db::Failure;

/// A server, and how connections to it are encrypted.
#[derive(Clone)]
pub(super) struct Address {
    pub(super) config: tokio_postgres::Config,
    pub(super) encryption: Encryption,
}

/// How connections are encrypted; without settings not at all.
#[derive(Clone, Default)]
pub(super) struct Encryption(Option<Arc<ClientConfig>>);

/// Reads an address. Its parameters `sslmode` and `sslrootcert` are read here: PostgreSQL's own programs know more values for
/// them than the library does.
pub(super) fn address(url: &str) -> Result<Address, Failure> {
    let (plain, mode, roots) = split(url);
    let not_understood = |error: &tokio_postgres::Error| {
        Failure::Broken(format!("its address is not understood: {}", super::told(error)))
    };
    let mut config: tokio_postgres::Config = plain.parse().map_err(|error| not_understood(&error))?;
    let encryption = match mode.as_deref() {
        None | Some("disable" | "allow" | "prefer") if roots.is_some() => {
            let why = "it has `sslrootcert` without encryption; add `sslmode=verify-full`";
            return Err(Failure::Broken(why.to_owned()));
        }
        None | Some("disable" | "allow" | "prefer") => {
            config.ssl_mode(SslMode::Disable);
            Encryption::default()
        }
        Some("require" | "verify-ca" | "verify-full") => {
            config.ssl_mode(SslMode::Require);
            Encryption(Some(settings(roots.as_deref())?))
        }
        Some(other) => {
            let why = format!(
                "`sslmode={other}` is unknown; write `sslmode=verify-full` for TLS, or `sslmode=disable` without"
            );
            return Err(Failure::Broken(why));
        }
    };
    Ok(Address { config, encryption })
}

/// The address without those two parameters, and their values.
fn split(url: &str) -> (String, Option<String>, Option<String>) {
    let Some((start, parameters)) = url.rsplit_once('?') else { return (url.to_owned(), None, None) };
    let (mut mode, mut roots, mut others) = (None, None, Vec::new());
    for parameter in parameters.split('&') {
        match parameter.split_once('=') {
            Some(("sslmode", value)) => mode = Some(percent_decoded(value)),
            Some(("sslrootcert", value)) => roots = Some(percent_decoded(value)),
            _ => others.push(parameter),
        }
    }
    if mode.is_none() && roots.is_none() {
        return (url.to_owned(), None, None);
    }
    let rest = if others.is_empty() { start.to_owned() } else { format!("{start}?{}", others.join("&")) };
    (rest, mode, roots)
}

/// Trusts the certificates in a file, or those that this machine trusts.
fn settings(file: Option<&str>) -> Result<Arc<ClientConfig>, Failure> {
    let mut roots = RootCertStore::empty();
    let certificates: Vec<CertificateDer<'static>> = match file.filter(|file| *file != "system") {
        None => rustls_native_certs::load_native_certs().certs,
        Some(file) => {
            let read = CertificateDer::pem_file_iter(Path::new(file)).and_then(Iterator::collect);
            read.map_err(|error| Failure::Broken(format!("`sslrootcert={file}` cannot be read: {error}")))?
        }
    };
    let (added, _) = roots.add_parsable_certificates(certificates);
    if added == 0 {
        let why =
            "there is no certificate to trust; name the file of the authority's with `sslrootcert=PATH`";
        return Err(Failure::Broken(why.to_owned()));
    }
    let config = ClientConfig::builder_with_provider(Arc::new(crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| Failure::Broken(format!("TLS cannot be used: {error}")))?;
    Ok(Arc::new(config.with_root_certificates(roots).with_no_client_auth()))
}

/// Why a connection could not be encrypted, and what to do; none if it failed for another reason.
pub(super) fn refusal(why: &str) -> Option<String> {
    if !why.starts_with("error performing TLS handshake") {
        return None;
    }
    let advice = if why.contains("UnknownIssuer") || why.contains("CaUsedAsEndEntity") {
        "its certificate is not of an authority that this machine trusts: name the authority's with `sslrootcert=PATH`"
    } else if why.contains("not valid for") || why.contains("NotValidForName") {
        "name the server in the address as its certificate does"
    } else if why.contains("does not support TLS") {
        "set `ssl = on` in the server's configuration, or write `sslmode=disable`"
    } else {
        "see the certificate of the server"
    };
    Some(format!("{why}; {advice}"))
}

impl<S> MakeTlsConnect<S> for Encryption
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    type Stream = Encrypted<S>;
    type TlsConnect = Handshake;
    type Error = std::io::Error;

    fn make_tls_connect(&mut self, domain: &str) -> Result<Handshake, std::io::Error> {
        // Asked for every connection, also where none is encrypted.
        Ok(Handshake { config: self.0.clone(), host: domain.to_owned() })
    }
}

/// The beginning of one encrypted connection.
pub(super) struct Handshake {
    config: Option<Arc<ClientConfig>>,
    host: String,
}

impl<S> TlsConnect<S> for Handshake
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    type Stream = Encrypted<S>;
    type Error = std::io::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Encrypted<S>, std::io::Error>> + Send>>;

    fn connect(self, stream: S) -> Self::Future {
        Box::pin(async move {
            let config = self.config.ok_or_else(|| std::io::Error::other("encryption is not configured"))?;
            let name = ServerName::try_from(self.host).map_err(std::io::Error::other)?;
            let stream = TlsConnector::from(config).connect(name, stream).await?;
            Ok(Encrypted(Box::new(stream)))
        })
    }
}

/// An encrypted connection.
pub(super) struct Encrypted<S>(Box<Stream<S>>);

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for Encrypted<S> {
    fn channel_binding(&self) -> ChannelBinding {
        // The certificate is checked, which is what binding is for.
        ChannelBinding::none()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Encrypted<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        Pin::new(&mut *self.0).poll_read(task, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Encrypted<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut *self.0).poll_write(task, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut *self.0).poll_flush(task)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut *self.0).poll_shutdown(task)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parameters_of_encryption_are_taken_out_of_an_address() {
        for (url, plain, mode, roots) in [
            ("postgres://h/d", "postgres://h/d", None, None),
            ("postgres://h/d?sslmode=require", "postgres://h/d", Some("require"), None),
            (
                "postgres://h/d?application_name=x&sslmode=verify-full&sslrootcert=%2Fa%20b",
                "postgres://h/d?application_name=x",
                Some("verify-full"),
                Some("/a b"),
            ),
            ("postgres://u:p?q@h/d", "postgres://u:p?q@h/d", None, None),
        ] {
            let found = split(url);
            assert_eq!(
                (found.0.as_str(), found.1.as_deref(), found.2.as_deref()),
                (plain, mode, roots),
                "{url}"
            );
        }
    }

    #[test]
    fn what_cannot_be_meant_is_refused_with_advice() {
        for (parameters, says) in [
            ("sslmode=strict", "write `sslmode=verify-full`"),
            ("sslrootcert=/x", "add `sslmode=verify-full`"),
            ("sslmode=require&sslrootcert=/nowhere", "`sslrootcert=/nowhere` cannot be read"),
        ] {
            let Err(Failure::Broken(why)) = address(&format!("postgres://h/d?{parameters}")) else {
                panic!("{parameters} is taken")
            };
            assert!(why.contains(says), "{why}");
        }
    }
}
