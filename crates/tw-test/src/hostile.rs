//! An upstream that does what no upstream should.
//!
//! It speaks TCP and not HTTP, because a library would refuse to send most of this. The path of a request
//! says what happens to it, see [`tricks`]; so a test of the client can use it as well as one that
//! writes the URL into a tool. It counts what it sees: a test of what must not be called asserts a zero.

pub mod tricks;

use std::{
    collections::VecDeque,
    fmt, io,
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinHandle,
};

/// A server on a loopback port of its own, gone when dropped.
#[derive(Debug)]
pub struct Upstream {
    address: SocketAddr,
    seen: Arc<Seen>,
    task: JoinHandle<()>,
}

#[derive(Debug, Default)]
struct Seen {
    connections: watch::Sender<usize>,
    hang_ups: watch::Sender<usize>,
    requests: Mutex<Vec<Received>>,
    script: Mutex<VecDeque<(Vec<u8>, Then)>>,
    handler: Handler,
}

/// What answers where the script has nothing to say.
#[derive(Default)]
struct Handler(Option<Box<Handle>>);

type Handle = dyn Fn(&Received) -> (Vec<u8>, Then) + Send + Sync;

impl fmt::Debug for Handler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Handler").field(&self.0.is_some()).finish()
    }
}

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Received {
    pub method: String,
    /// Path and query.
    pub path: String,
    /// Request line and headers, without the empty line.
    pub head: String,
    pub body: Vec<u8>,
}

impl Received {
    /// The first header of that name.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let headers = self.head.lines().skip(1).filter_map(|line| line.split_once(':'));
        headers.into_iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    }
}

impl Upstream {
    pub async fn start() -> Self {
        Self::start_on("127.0.0.1:0").await
    }

    /// On an address of one's own, such as one of IPv6.
    pub async fn start_on(address: &str) -> Self {
        Self::start_with(address, Handler::default()).await
    }

    /// One that answers every request by what it says, in place of its path.
    pub async fn start_answering(
        handle: impl Fn(&Received) -> (Vec<u8>, Then) + Send + Sync + 'static,
    ) -> Self {
        Self::start_with("127.0.0.1:0", Handler(Some(Box::new(handle)))).await
    }

    async fn start_with(address: &str, handler: Handler) -> Self {
        let listener = TcpListener::bind(address).await.expect("a port of this machine is free");
        let address = listener.local_addr().expect("a listener knows its address");
        let seen = Arc::new(Seen { handler, ..Seen::default() });
        let task = tokio::spawn(accept(listener, Arc::clone(&seen)));
        Self { address, seen, task }
    }

    #[must_use]
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// What to put on an allow list.
    #[must_use]
    pub fn host_and_port(&self) -> String {
        self.address.to_string()
    }

    #[must_use]
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Answers the next requests with these bytes, as they stand and whatever their path says.
    pub fn script<A: Into<Vec<u8>>>(&self, answers: impl IntoIterator<Item = A>) {
        let mut script = self.seen.script.lock().unwrap_or_else(PoisonError::into_inner);
        script.extend(answers.into_iter().map(|answer| (answer.into(), Then::NextRequest)));
    }

    /// Answers the next request of the script with these bytes, and then does something else than to go on.
    pub fn script_then(&self, answer: impl Into<Vec<u8>>, then: Then) {
        let mut script = self.seen.script.lock().unwrap_or_else(PoisonError::into_inner);
        script.push_back((answer.into(), then));
    }

    /// How many connections were accepted so far.
    #[must_use]
    pub fn connections(&self) -> usize {
        *self.seen.connections.borrow()
    }

    /// Every request that was read, in order.
    #[must_use]
    pub fn requests(&self) -> Vec<Received> {
        self.seen.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits until this many connections were accepted.
    pub async fn connected(&self, count: usize) {
        let mut connections = self.seen.connections.subscribe();
        let _ = connections.wait_for(|seen| *seen >= count).await;
    }

    /// Waits until the other side has closed this many connections.
    pub async fn hung_up(&self, count: usize) {
        let mut hang_ups = self.seen.hang_ups.subscribe();
        let _ = hang_ups.wait_for(|seen| *seen >= count).await;
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn accept(listener: TcpListener, seen: Arc<Seen>) {
    let mut open = tokio::task::JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        seen.connections.send_modify(|count| *count += 1);
        let seen = Arc::clone(&seen);
        open.spawn(async move {
            // Every error here is the other side going away, which is what a test may want to see.
            let _ = serve(stream, &seen).await;
            seen.hang_ups.send_modify(|count| *count += 1);
        });
    }
}

async fn serve(mut stream: TcpStream, seen: &Seen) -> io::Result<()> {
    let mut unread = Vec::new();
    while let Some(asked) = read(&mut stream, &mut unread).await? {
        seen.requests.lock().unwrap_or_else(PoisonError::into_inner).push(asked.clone());
        let scripted = seen.script.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        let handled = || seen.handler.0.as_ref().map(|handle| handle(&asked));
        let then = match scripted.or_else(handled) {
            Some((answer, then)) => {
                say(&mut stream, answer).await?;
                then
            }
            None => tricks::play(&mut stream, &asked).await?,
        };
        match then {
            Then::NextRequest => {}
            Then::Close => return stream.shutdown().await,
            Then::Reset => return stream.set_zero_linger(),
            Then::Hold => return hold(&mut stream).await,
            Then::Drip => return tricks::drip(&mut stream).await.map(drop),
            Then::Flood => {
                return tricks::flood(&mut stream, b"x".repeat(64 << 10).as_slice(), usize::MAX)
                    .await
                    .map(drop);
            }
        }
    }
    Ok(())
}

/// What becomes of the connection behind an answer.
#[derive(Clone, Copy, Debug)]
pub enum Then {
    NextRequest,
    Close,
    Reset,
    /// Say nothing more until the other side goes.
    Hold,
    /// Say a byte now and then, as chunks of a body, until the other side goes.
    Drip,
    /// Say as much as can be said, until the other side goes.
    Flood,
}

async fn hold(stream: &mut TcpStream) -> io::Result<()> {
    let mut ignored = [0; 1024];
    while stream.read(&mut ignored).await? != 0 {}
    Ok(())
}

async fn read(stream: &mut TcpStream, unread: &mut Vec<u8>) -> io::Result<Option<Received>> {
    let end = loop {
        if let Some(end) = unread.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
        if stream.read_buf(unread).await? == 0 {
            return Ok(None);
        }
    };
    let head = String::from_utf8_lossy(&unread[..end]).into_owned();
    unread.drain(..end + 4);
    let mut line = head.split(' ');
    let (method, path) = (line.next().unwrap_or_default(), line.next().unwrap_or_default());
    let (method, path) = (method.to_owned(), path.to_owned());
    let mut asked = Received { method, path, head, body: Vec::new() };
    let length = asked.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    while unread.len() < length {
        if stream.read_buf(unread).await? == 0 {
            return Ok(None);
        }
    }
    asked.body = unread.drain(..length).collect();
    Ok(Some(asked))
}

/// Sends as it is and at once.
async fn say(stream: &mut (impl AsyncWrite + Unpin), text: impl AsRef<[u8]>) -> io::Result<()> {
    stream.write_all(text.as_ref()).await?;
    stream.flush().await
}
