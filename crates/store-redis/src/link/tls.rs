//! Encrypted connections to Redis: who is trusted, and by which certificate we are known.

use std::{path::Path, sync::Arc};

use gateway_domain::ports::StoreError;
use tokio_rustls::{
    TlsConnector,
    rustls::{
        ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
        client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
        crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature},
        pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime, pem::PemObject},
    },
};

use crate::Tls;

/// Reads the files that the settings name.
///
/// # Errors
/// A file that cannot be read or holds something else, by its setting; no authority to trust.
pub(super) fn connector(tls: &Tls) -> Result<TlsConnector, StoreError> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(StoreError::new)?;
    let builder = if tls.accept_any_certificate {
        builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(Anyone(provider)))
    } else {
        builder.with_root_certificates(roots(tls.ca_file.as_deref())?)
    };
    let config = match (&tls.certificate_file, &tls.key_file) {
        (Some(certificate), Some(key)) => {
            let chain = certificates("the certificate", certificate)?;
            let key =
                PrivateKeyDer::from_pem_file(key).map_err(|error| unreadable("the key", key, &error))?;
            builder.with_client_auth_cert(chain, key).map_err(|error| {
                StoreError::new(format_args!(
                    "the certificate and the key for Redis do not fit: {error}"
                ))
            })?
        }
        (None, None) => builder.with_no_client_auth(),
        _ => {
            return Err(StoreError::new(
                "a client certificate for Redis is a certificate file and a key file: set both, or none",
            ));
        }
    };
    Ok(TlsConnector::from(Arc::new(config)))
}

/// An own authority, which is then the only one, or those that the machine trusts.
fn roots(ca_file: Option<&Path>) -> Result<RootCertStore, StoreError> {
    let mut roots = RootCertStore::empty();
    let trusted = match ca_file {
        Some(file) => certificates("the authority", file)?,
        None => rustls_native_certs::load_native_certs().certs,
    };
    roots.add_parsable_certificates(trusted);
    if roots.is_empty() {
        let text =
            "no authority is trusted to vouch for Redis: name the file with its certificate (tls.ca_file)";
        return Err(StoreError::new(text));
    }
    Ok(roots)
}

fn certificates(what: &str, file: &Path) -> Result<Vec<CertificateDer<'static>>, StoreError> {
    let read = CertificateDer::pem_file_iter(file).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let read = read.map_err(|error| unreadable(what, file, &error))?;
    if read.is_empty() {
        let text = format_args!(
            "the file of {what} for Redis holds no certificate: {}",
            file.display()
        );
        return Err(StoreError::new(text));
    }
    Ok(read)
}

fn unreadable(what: &str, file: &Path, error: &impl std::fmt::Display) -> StoreError {
    StoreError::new(format_args!(
        "the file of {what} for Redis cannot be read: {}: {error}",
        file.display()
    ))
}

/// Trusts whoever answers. Only for an operator who says so in as many words: the connection is then encrypted and
/// nothing more.
#[derive(Debug)]
struct Anyone(Arc<CryptoProvider>);

impl ServerCertVerifier for Anyone {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(
            message,
            cert,
            signature,
            &self.0.signature_verification_algorithms,
        )
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(
            message,
            cert,
            signature,
            &self.0.signature_verification_algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
