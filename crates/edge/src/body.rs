//! Reading request bodies within the bounds: size, time, and the bytes that the process holds at once.
//!
//! Bodies are never unpacked: one with a Content-Encoding is refused, so that what arrives is what is counted.

use std::{
    fmt,
    future::Future,
    ops::Deref,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use gateway_domain::{Error, ErrorKind};
use http::{HeaderMap, header};
use http_body::{Body as _, Frame, SizeHint};
use http_body_util::BodyExt;
use pin_project_lite::pin_project;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::Sleep,
};

use crate::Settings;

/// A share of the budget is counted in these.
const UNIT: usize = 1 << 10;

/// Reads a whole body within the bounds. A body that declares itself too large is refused unread.
///
/// # Errors
/// PayloadTooLarge; UnsupportedMediaType, where it has a Content-Encoding; DeadlineExceeded, where it took longer
/// than `body_timeout` to arrive; Unavailable, where the process holds as many bytes as it may; InvalidRequest, where
/// it broke off.
pub async fn read_body(settings: &Settings, headers: &HeaderMap, body: Body) -> Result<HeldBytes, Error> {
    let mut body = std::pin::pin!(bounded(settings, headers, body)?);
    let Some(first) = data(body.frame().await)? else {
        return Ok(body.held(Bytes::new()));
    };
    let Some(second) = data(body.frame().await)? else {
        return Ok(body.held(first));
    };
    let mut whole = BytesMut::with_capacity(first.len() + second.len());
    whole.extend_from_slice(&first);
    whole.extend_from_slice(&second);
    while let Some(next) = data(body.frame().await)? {
        whole.extend_from_slice(&next);
    }
    Ok(body.held(whole.freeze()))
}

/// Puts the bounds around a body. Its share of the budget goes back when it is dropped.
fn bounded(settings: &Settings, headers: &HeaderMap, body: Body) -> Result<Bounded, Error> {
    plain(headers)?;
    let most = settings.body_bytes;
    if body.size_hint().lower() > most as u64 {
        return Err(too_large(most));
    }
    Ok(Bounded {
        body,
        late: tokio::time::sleep(settings.body_timeout),
        timeout: settings.body_timeout,
        read: 0,
        most,
        budget: settings.held.clone(),
        share: None,
    })
}

/// How many bytes of bodies are held at once. Clones share it.
#[derive(Clone)]
pub struct Budget(Arc<Semaphore>);

impl Budget {
    /// So many bytes, rounded up to KiB.
    pub fn new(bytes: usize) -> Self {
        Self(Arc::new(Semaphore::new(bytes.div_ceil(UNIT))))
    }

    /// Bytes that may still be taken.
    pub fn free(&self) -> usize {
        self.0.available_permits() * UNIT
    }

    /// Makes a share large enough for so many bytes.
    fn enlarge(&self, share: &mut Option<OwnedSemaphorePermit>, bytes: usize) -> Result<(), Error> {
        let held = share.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        let more = bytes.div_ceil(UNIT).saturating_sub(held);
        if more == 0 {
            return Ok(());
        }
        let taken = u32::try_from(more)
            .ok()
            .and_then(|more| self.0.clone().try_acquire_many_owned(more).ok())
            .ok_or_else(|| Error::unavailable("as many bytes of request bodies are held as may be"))?;
        match share {
            Some(share) => share.merge(taken),
            None => *share = Some(taken),
        }
        Ok(())
    }
}

impl fmt::Debug for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Budget({} bytes free)", self.free())
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

pin_project! {
    /// A body within the bounds.
    struct Bounded {
        body: Body,
        #[pin]
        late: Sleep,
        timeout: Duration,
        read: usize,
        most: usize,
        budget: Budget,
        share: Option<OwnedSemaphorePermit>,
    }
}

impl Bounded {
    /// These bytes, with the share that was taken while they were read.
    fn held(self: Pin<&mut Self>, bytes: Bytes) -> HeldBytes {
        HeldBytes {
            bytes,
            _share: self.project().share.take(),
        }
    }
}

impl http_body::Body for Bounded {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let this = self.project();
        let Poll::Ready(frame) = Pin::new(&mut *this.body).poll_frame(cx) else {
            ready!(this.late.poll(cx));
            return Poll::Ready(Some(Err(too_late(*this.timeout))));
        };
        let frame = match frame {
            None => return Poll::Ready(None),
            Some(Ok(frame)) => frame,
            Some(Err(cause)) => return Poll::Ready(Some(Err(broken_off(cause)))),
        };
        *this.read += frame.data_ref().map_or(0, Bytes::len);
        if *this.read > *this.most {
            return Poll::Ready(Some(Err(too_large(*this.most))));
        }
        let enlarged = this.budget.enlarge(this.share, *this.read);
        Poll::Ready(Some(enlarged.map(|()| frame)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// The bytes of a frame; nothing at the end or where trailers begin.
fn data(frame: Option<Result<Frame<Bytes>, Error>>) -> Result<Option<Bytes>, Error> {
    Ok(frame.transpose()?.and_then(|frame| frame.into_data().ok()))
}

fn plain(headers: &HeaderMap) -> Result<(), Error> {
    let encoded = crate::negotiate::list(headers, &header::CONTENT_ENCODING)
        .any(|encoding| !encoding.eq_ignore_ascii_case("identity"));
    if encoded {
        let text = "bodies with a Content-Encoding are not taken; send the body as it is";
        return Err(Error::new(ErrorKind::UnsupportedMediaType, text));
    }
    Ok(())
}

fn too_large(most: usize) -> Error {
    let text = format!("the body is larger than {most} bytes; send less, or a part by its URL");
    Error::new(ErrorKind::PayloadTooLarge, text)
}

fn too_late(timeout: Duration) -> Error {
    let text = format!("the body did not arrive within {timeout:?}; send it faster or send less");
    Error::new(ErrorKind::DeadlineExceeded, text)
}

fn broken_off(cause: axum::Error) -> Error {
    Error::new(ErrorKind::InvalidRequest, "the body broke off before its end").because(cause)
}

#[cfg(test)]
mod tests;
