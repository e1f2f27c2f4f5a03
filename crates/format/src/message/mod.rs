//! Header messages (spec IV.A.2). Each message has a file with its name in the specification.

pub mod attribute;
pub mod dataspace;
pub mod dense_info;
pub mod external_files;
pub mod file_space;
pub mod fill;
pub mod filters;
pub mod group_info;
pub mod link;
pub mod shared;
pub mod small;

use crate::datatype::Datatype;
use crate::layout::{Layout, LayoutMessage};
use crate::structure::Structure;
use crate::superblock::driver_information::DriverMessage;

/// The numbers of the message types.
pub mod kind {
    /// NIL: space that readers ignore.
    pub const NIL: u16 = 0x00;
    /// Dataspace.
    pub const DATASPACE: u16 = 0x01;
    /// Link info.
    pub const LINK_INFO: u16 = 0x02;
    /// Datatype.
    pub const DATATYPE: u16 = 0x03;
    /// Fill value, old.
    pub const OLD_FILL_VALUE: u16 = 0x04;
    /// Fill value.
    pub const FILL_VALUE: u16 = 0x05;
    /// Link.
    pub const LINK: u16 = 0x06;
    /// External data files.
    pub const EXTERNAL_FILES: u16 = 0x07;
    /// Data layout.
    pub const LAYOUT: u16 = 0x08;
    /// Bogus: only for tests of libhdf5.
    pub const BOGUS: u16 = 0x09;
    /// Group info.
    pub const GROUP_INFO: u16 = 0x0a;
    /// Filter pipeline.
    pub const FILTER_PIPELINE: u16 = 0x0b;
    /// Attribute.
    pub const ATTRIBUTE: u16 = 0x0c;
    /// Object comment.
    pub const COMMENT: u16 = 0x0d;
    /// Object modification time, old.
    pub const OLD_MODIFICATION_TIME: u16 = 0x0e;
    /// Shared message table.
    pub const SHARED_MESSAGE_TABLE: u16 = 0x0f;
    /// Object header continuation.
    pub const CONTINUATION: u16 = 0x10;
    /// Symbol table.
    pub const SYMBOL_TABLE: u16 = 0x11;
    /// Object modification time.
    pub const MODIFICATION_TIME: u16 = 0x12;
    /// B-tree K values.
    pub const BTREE_K: u16 = 0x13;
    /// Driver info.
    pub const DRIVER_INFO: u16 = 0x14;
    /// Attribute info.
    pub const ATTRIBUTE_INFO: u16 = 0x15;
    /// Object reference count.
    pub const REFERENCE_COUNT: u16 = 0x16;
    /// File space info.
    pub const FILE_SPACE_INFO: u16 = 0x17;
    /// Metadata cache image.
    pub const METADATA_CACHE_IMAGE: u16 = 0x18;

    /// Returns whether programs know this type. The bogus message is unknown to libhdf5, too.
    pub const fn is_known(kind: u16) -> bool {
        kind <= METADATA_CACHE_IMAGE && kind != BOGUS
    }
}

/// A structure that is the body of a header message.
pub trait MessageBody: Structure<Context = ()> {
    /// The number of the message type, one of [`kind`].
    const KIND: u16;
}

/// Implements [`MessageBody`] for each body with the number of its message type.
macro_rules! bodies {
    ($($body:ty => $kind:ident,)*) => {
        $(impl MessageBody for $body { const KIND: u16 = kind::$kind; })*
    };
}

bodies! {
    attribute::Attribute => ATTRIBUTE,
    dataspace::Dataspace => DATASPACE,
    dataspace::DataspaceMessage => DATASPACE,
    Datatype => DATATYPE,
    DriverMessage => DRIVER_INFO,
    external_files::ExternalFiles => EXTERNAL_FILES,
    file_space::FileSpaceInfo => FILE_SPACE_INFO,
    fill::FillValue => FILL_VALUE,
    fill::OldFillValue => OLD_FILL_VALUE,
    filters::FilterPipeline => FILTER_PIPELINE,
    group_info::GroupInfo => GROUP_INFO,
    Layout => LAYOUT,
    LayoutMessage => LAYOUT,
    link::Link => LINK,
    small::BTreeK => BTREE_K,
    small::CacheImageMessage => METADATA_CACHE_IMAGE,
    small::Comment => COMMENT,
    small::Continuation => CONTINUATION,
    small::ModificationTime => MODIFICATION_TIME,
    small::OldModificationTime => OLD_MODIFICATION_TIME,
    small::ReferenceCount => REFERENCE_COUNT,
    small::SharedMessages => SHARED_MESSAGE_TABLE,
    small::SymbolTable => SYMBOL_TABLE,
}
