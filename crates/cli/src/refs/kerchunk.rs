//! References as the JSON of kerchunk, version 1.

use std::io::{self, Write};

use super::base64::{MARK, base64};
use super::{Array, Chunk, Plan, Sink, group_entries};
use crate::show::json;

/// Writes references as JSON, chunk by chunk.
///
/// Errors: those of the file and of `out`.
pub fn write(plan: &Plan, out: &mut dyn Write) -> anyhow::Result<()> {
    let mut json =
        Json { out, line: Vec::new(), prefix: String::new(), url: KnownUrl::default(), is_first: true };
    json.out.write_all(br#"{"version":1,"refs":{"#)?;
    plan.write(&mut json)?;
    Ok(json.out.write_all(b"\n}}\n")?)
}

struct Json<'o> {
    out: &'o mut dyn Write,
    line: Vec<u8>,
    /// The begin of the keys of the chunks, as JSON without the last quote.
    prefix: String,
    url: KnownUrl,
    is_first: bool,
}

/// The URL of the last chunk, and the same as JSON.
#[derive(Default)]
struct KnownUrl {
    url: String,
    json: String,
}

impl Json<'_> {
    fn begin(&mut self) -> &mut Vec<u8> {
        self.line.clear();
        self.line.extend_from_slice(if self.is_first { b"\n" } else { b",\n" });
        self.is_first = false;
        &mut self.line
    }

    /// Writes metadata: texts of JSON.
    fn texts(&mut self, entries: [(String, &str); 2]) -> io::Result<()> {
        for (key, text) in entries {
            write!(self.begin(), "{}:{}", json(&key), json(text))?;
            self.out.write_all(&self.line)?;
        }
        Ok(())
    }
}

impl Sink for Json<'_> {
    fn group(&mut self, path: &str, attributes: &str) -> anyhow::Result<()> {
        Ok(self.texts(group_entries(path, attributes))?)
    }

    fn array(&mut self, array: &Array) -> anyhow::Result<()> {
        self.texts(array.entries())?;
        self.prefix = json(&format!("{}/", array.path));
        self.prefix.pop();
        Ok(())
    }

    fn chunk(&mut self, _array: &Array, coord: &[u64], chunk: Chunk<'_>) -> anyhow::Result<()> {
        self.begin();
        self.line.extend_from_slice(self.prefix.as_bytes());
        key(coord, &mut self.line);
        match chunk {
            Chunk::Stored { url, offset, len } => {
                if self.url.url != url {
                    self.url = KnownUrl { url: url.to_owned(), json: json(url) };
                }
                write!(self.line, "\":[{},{offset},{len}]", self.url.json)?;
            }
            Chunk::Bytes(bytes) => write!(self.line, "\":\"{}\"", embedded(bytes))?,
        }
        Ok(self.out.write_all(&self.line)?)
    }
}

/// Returns embedded bytes as a text.
pub fn embedded(bytes: &[u8]) -> String {
    format!("{MARK}{}", base64(bytes))
}

/// Appends the key of a chunk in its array.
pub fn key(coord: &[u64], text: &mut Vec<u8>) {
    if coord.is_empty() {
        text.push(b'0');
    }
    for (axis, at) in coord.iter().enumerate() {
        if axis > 0 {
            text.push(b'.');
        }
        // Writing to memory does not fail.
        let _ = write!(text, "{at}");
    }
}
