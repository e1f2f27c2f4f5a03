//! What a process tells the one that started it, in lines of JSON.

use serde_json::{Value, json};

use crate::access::Api;
use crate::measure::{Phases, Timed};
use crate::plan::TransferCase;

/// A line.
#[derive(Debug, PartialEq)]
pub(crate) enum Message {
    /// Rank 0: an iteration is done.
    Timed(Timed),
    /// All is done.
    Done,
    /// A rank has failed, and all know it.
    Failed { rank: usize, why: String },
    /// This rank cannot go on, probably since another has ended.
    Lost { why: String },
}

impl Message {
    pub(crate) fn line(&self) -> String {
        let phases = |phases: &Phases| json!([phases.open, phases.moving, phases.close]);
        let value = match self {
            Self::Timed(Timed { case, api, write, read }) => json!({
                "timed": api.name(),
                "processes": case.processes,
                "transfer": case.transfer,
                "write": phases(write),
                "read": read.as_ref().map(phases),
            }),
            Self::Done => json!({ "done": true }),
            Self::Failed { rank, why } => json!({ "failed": why, "rank": rank }),
            Self::Lost { why } => json!({ "lost": why }),
        };
        format!("{value}\n")
    }

    /// Returns the message of a line, if it is one.
    pub(crate) fn parse(line: &str) -> Option<Self> {
        let value: Value = serde_json::from_str(line).ok()?;
        let text = |name: &str| value[name].as_str().map(str::to_owned);
        if let Some(api) = value["timed"].as_str() {
            let number = |name: &str| value[name].as_u64();
            let case = TransferCase { processes: number("processes")?, transfer: number("transfer")? };
            let read = match &value["read"] {
                Value::Null => None,
                read => Some(phases(read)?),
            };
            return Some(Self::Timed(Timed {
                case,
                api: Api::of(api)?,
                write: phases(&value["write"])?,
                read,
            }));
        }
        if let Some(why) = text("failed") {
            return Some(Self::Failed { rank: usize::try_from(value["rank"].as_u64()?).ok()?, why });
        }
        if let Some(why) = text("lost") {
            return Some(Self::Lost { why });
        }
        value["done"].as_bool().map(|_| Self::Done)
    }
}

fn phases(value: &Value) -> Option<Phases> {
    let seconds = |number: usize| value[number].as_f64();
    Some(Phases { open: seconds(0)?, moving: seconds(1)?, close: seconds(2)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_the_message() {
        let phases = Phases { open: 0.1, moving: 2.5e-7, close: 3.0 };
        let case = TransferCase { processes: 4, transfer: 1 << 20 };
        let timed = |read| Message::Timed(Timed { case, api: Api::HyperslabMpiio, write: phases, read });
        let failed = Message::Failed { rank: 3, why: "a\n\"b\"".to_owned() };
        let lost = Message::Lost { why: String::new() };
        for message in [timed(None), timed(Some(phases)), Message::Done, failed, lost] {
            let line = message.line();
            assert_eq!(line.find('\n'), Some(line.len() - 1), "one line");
            assert_eq!(Message::parse(&line), Some(message));
        }
        for other in ["", "{}", "[]", "{\"timed\":\"x\"}", "{\"failed\":\"a\"}", "text"] {
            assert_eq!(Message::parse(other), None, "{other}");
        }
    }
}
