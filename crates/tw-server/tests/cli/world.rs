//! A folder of its own, and the program on it.

use std::{
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Output, Stdio},
};

use serde_json::Value;
use tempfile::TempDir;

/// A folder, and the program on it.
pub(crate) struct World {
    home: TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        Self { home: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.home.path().join("data")
    }

    /// A command on the folder; words are separated by spaces.
    pub(crate) fn command(&self, line: &str) -> Command {
        let mut command = program(line);
        if line != "master-key" {
            command.arg("--data-dir").arg(self.folder());
        }
        command
    }

    pub(crate) fn run(&self, line: &str) -> Output {
        self.command(line).output().unwrap()
    }

    #[track_caller]
    pub(crate) fn ok(&self, line: &str) -> String {
        let output = self.run(line);
        assert!(output.status.success(), "{line}: {}", stderr(&output));
        stdout(&output)
    }

    #[track_caller]
    pub(crate) fn json(&self, line: &str) -> Value {
        serde_json::from_str(&self.ok(line)).unwrap()
    }

    #[track_caller]
    pub(crate) fn refused(&self, line: &str) -> String {
        let output = self.run(line);
        assert_eq!(output.status.code(), Some(1), "{line}: {}", stdout(&output));
        let text = stderr(&output);
        assert!(text.starts_with("error: "), "{text}");
        text
    }

    /// A server on a port that the system chose.
    pub(crate) fn serve(&self, flags: &str) -> Running {
        let mut command = self.command(&format!("serve --listen 127.0.0.1:0 {flags}"));
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut greeting: Vec<String> = Vec::new();
        let url = loop {
            let line = lines.next().expect("the server should say where it listens").unwrap();
            match line.strip_prefix("listening on ") {
                Some(url) => break url.to_owned(),
                None => greeting.push(line),
            }
        };
        let log = child.stderr.take();
        Running { child, _lines: lines, log, greeting, url }
    }
}

/// A server, until dropped.
pub(crate) struct Running {
    pub(crate) child: Child,
    _lines: std::io::Lines<BufReader<ChildStdout>>,
    pub(crate) log: Option<std::process::ChildStderr>,
    pub(crate) greeting: Vec<String>,
    pub(crate) url: String,
}

impl Running {
    /// The rest of the line that starts like this.
    #[track_caller]
    pub(crate) fn said(&self, start: &str) -> &str {
        self.greeting
            .iter()
            .find_map(|line| line.strip_prefix(start))
            .expect("the server should have said it")
    }

    pub(crate) fn ask(&self, line: &str, key: &str) -> Output {
        ask(&self.url, line, key)
    }

    #[cfg(unix)]
    /// Sends a request whose body never comes, though the server is asked to say when it waits for it.
    pub(crate) fn begin_request(&self, key: &str) -> BufReader<std::net::TcpStream> {
        let address = self.url.strip_prefix("http://").unwrap();
        let mut stream = std::net::TcpStream::connect(address).unwrap();
        write!(
            stream,
            "POST /api/tools/datetime_utils/run HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {key}\r\n\
             Content-Type: application/json\r\nContent-Length: 20\r\nExpect: 100-continue\r\n\r\n"
        )
        .unwrap();
        BufReader::new(stream)
    }

    #[cfg(unix)]
    pub(crate) fn signal(&self, name: &str) {
        let kill = format!("kill -{name} {}", self.child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn ask(url: &str, line: &str, key: &str) -> Output {
    program(line).env("TOOLWRIGHT_URL", url).env("TOOLWRIGHT_KEY", key).output().unwrap()
}

/// The program without anything of this environment.
pub(crate) fn program(line: &str) -> Command {
    let mut command = Command::new(Path::new(env!("CARGO_BIN_EXE_toolwright")));
    command.env_clear().args(line.split(' ').filter(|word| !word.is_empty())).stdin(Stdio::null());
    command
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}
