//! Differences, as lines of text and as JSON.

use std::fmt::Write as _;

use super::values::Outcome;
use crate::show::value::Value;
use crate::show::{counted, json, json_numbers, plain, tuple};

/// One difference.
#[derive(Debug)]
pub(super) struct Finding {
    /// The path of the object, followed by `@` and a name for an attribute.
    pub(super) path: String,
    pub(super) what: What,
}

/// The kind of a difference.
#[derive(Debug)]
pub(super) enum What {
    /// The object or attribute exists only in the first (0) or only in the second (1) file.
    Only(usize),
    /// A property of both, in words, under a name: "kind", "type", "shape", "link".
    Property(&'static str, [String; 2]),
    /// The values of an attribute.
    Value([String; 2]),
    /// Differing elements, and the number of all elements.
    Elements(Outcome, u64),
    /// A comparison that failed, and why.
    Trouble(String),
}

impl Finding {
    pub(super) fn is_trouble(&self) -> bool {
        matches!(self.what, What::Trouble(_))
    }

    /// Returns the difference as lines of text.
    pub(super) fn text(&self) -> String {
        let path = plain(&self.path);
        match &self.what {
            What::Only(0) => format!("{path}: only in the first"),
            What::Only(_) => format!("{path}: only in the second"),
            What::Property(name, [a, b]) => format!("{path}: {name} {a} | {b}"),
            What::Value([a, b]) => format!("{path}: {a} | {b}"),
            What::Trouble(why) => format!("{path}: not compared: {why}"),
            What::Elements(outcome, all) => {
                let mut text = format!("{path}: {} of {all} differ", counted(outcome.count, "element"));
                for element in &outcome.first {
                    let [a, b] = element.values.each_ref().map(|value: &Value| value.text(MOST_ITEMS));
                    let at = tuple(element.at.iter().map(u64::to_string));
                    // Writing to a string does not fail.
                    let _ = write!(text, "\n  {at}: {a} | {b}");
                }
                if outcome.count > outcome.first.len() as u64 {
                    text.push_str("\n  …");
                }
                text
            }
        }
    }

    /// Returns the difference as a JSON object.
    pub(super) fn json(&self) -> String {
        let path = json(&self.path);
        match &self.what {
            What::Only(which) => format!(r#"{{"path":{path},"what":"only","in":{}}}"#, which + 1),
            What::Property(name, [a, b]) => {
                format!(r#"{{"path":{path},"what":"{name}","values":[{},{}]}}"#, json(a), json(b))
            }
            What::Value([a, b]) => {
                format!(r#"{{"path":{path},"what":"value","values":[{},{}]}}"#, json(a), json(b))
            }
            What::Trouble(why) => format!(r#"{{"path":{path},"what":"trouble","why":{}}}"#, json(why)),
            What::Elements(outcome, all) => {
                let first = outcome.first.iter().map(|element| {
                    let [a, b] = element.values.each_ref().map(Value::json);
                    format!(r#"{{"at":{},"values":[{a},{b}]}}"#, json_numbers(&element.at))
                });
                let first = first.collect::<Vec<_>>().join(",");
                let count = outcome.count;
                format!(r#"{{"path":{path},"what":"elements","count":{count},"of":{all},"first":[{first}]}}"#)
            }
        }
    }
}

/// The most items of a list that are shown as text.
const MOST_ITEMS: usize = 16;
