//! Commands of callers who ask at the same time, gathered into one write.

use std::{
    io::{IoSlice, Result},
    pin::Pin,
    task::{Context, Poll, ready},
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A connection that lets everybody else have a turn before it writes: a caller wakes its connection right behind itself,
/// and each command would go out in a call of the system of its own, here and in the server.
pub(super) struct Gathering<S> {
    connection: S,
    gave_way: bool,
}

impl<S> Gathering<S> {
    pub(super) fn new(connection: S) -> Self {
        Self {
            connection,
            gave_way: false,
        }
    }

    /// Ready every other time.
    fn give_way(&mut self, cx: &Context<'_>) -> Poll<()> {
        self.gave_way = !self.gave_way;
        if self.gave_way {
            // It comes again when all have had their turn that are ready now.
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(())
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Gathering<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
        ready!(self.give_way(cx));
        Pin::new(&mut self.connection).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        ready!(self.give_way(cx));
        Pin::new(&mut self.connection).poll_write_vectored(cx, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.connection.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.connection).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.connection).poll_shutdown(cx)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Gathering<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<Result<()>> {
        Pin::new(&mut self.connection).poll_read(cx, buffer)
    }
}

#[cfg(test)]
mod tests {
    use std::{future::poll_fn, sync::Arc};

    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        sync::Mutex,
    };

    use super::*;

    /// As a client writes that has commands of several callers: whatever is there when it gets to it.
    async fn write_what_is_there(
        mut connection: Gathering<tokio::io::DuplexStream>,
        there: Arc<Mutex<Vec<u8>>>,
    ) {
        poll_fn(|cx| {
            let bytes = there.try_lock().unwrap().clone();
            Pin::new(&mut connection).poll_write(cx, &bytes)
        })
        .await
        .unwrap();
        connection.flush().await.unwrap();
    }

    #[tokio::test]
    async fn what_others_say_in_the_same_turn_goes_out_in_the_same_write() {
        let (connection, mut server) = tokio::io::duplex(1_024);
        let there = Arc::new(Mutex::new(b"one ".to_vec()));
        let writing = tokio::spawn(write_what_is_there(Gathering::new(connection), there.clone()));
        // It runs before those that are spawned after it.
        for more in ["two ", "three "] {
            let there = there.clone();
            tokio::spawn(async move { there.lock().await.extend(more.as_bytes()) });
        }
        writing.await.unwrap();
        let mut read = Vec::new();
        server.read_to_end(&mut read).await.unwrap();
        assert_eq!(read, b"one two three ");
    }

    #[tokio::test]
    async fn all_that_is_written_arrives_in_order() {
        let (connection, mut server) = tokio::io::duplex(7);
        let text: Vec<u8> = (0..=255).cycle().take(10_000).collect();
        let sent = text.clone();
        let writing = tokio::spawn(async move {
            let mut connection = Gathering::new(connection);
            for piece in sent.chunks(100) {
                connection.write_all(piece).await.unwrap();
            }
            connection.shutdown().await.unwrap();
        });
        let mut read = Vec::new();
        server.read_to_end(&mut read).await.unwrap();
        writing.await.unwrap();
        assert_eq!(read, text);
    }
}
