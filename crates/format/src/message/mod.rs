//! Header messages (spec IV.A.2): one file each, named as the specification names them.

pub mod attribute;
pub mod attribute_info;
pub mod dataspace;
pub mod fill;
pub mod filters;
pub mod group_info;
pub mod link;
pub mod link_info;
pub mod shared;
pub mod small;
