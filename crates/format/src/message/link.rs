//! Link message, type 6 (spec IV.A.2.g): one link of a group.

use crate::addr::Addr;
use crate::datatype::Charset;

/// A link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// Position in the order of creation, if the group tracks it.
    pub creation_order: Option<u64>,
    /// The character set of the name.
    pub charset: Charset,
    /// The name, without any `/`.
    pub name: String,
    /// What it points to.
    pub target: LinkTarget,
}

/// What a link points to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkTarget {
    /// An object header in this file.
    Hard(Addr),
    /// A path in this file.
    Soft(String),
    /// A path in another file.
    External {
        /// The file's name.
        file: String,
        /// The object's path in it.
        path: String,
    },
    /// A type of link that an application defined.
    User {
        /// Its type, 65 to 255.
        kind: u8,
        /// Its data.
        data: Vec<u8>,
    },
}
