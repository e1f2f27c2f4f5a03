//! What the store needs to know of links and attributes in dense storage.

use hyperslab_error::Result;
use hyperslab_format::btree2::dense::DenseItem;
use hyperslab_format::message::attribute::Attribute;
use hyperslab_format::message::group_info::{GroupInfo, PhaseChange};
use hyperslab_format::message::link::Link;
use hyperslab_format::message::shared::{MaybeShared, SharedLocation};
use hyperslab_store::heap::fractal::HeapParameters;
use hyperslab_store::{Store, Txn};

use crate::object::header::edit::add_reference;
use crate::object::header::read::Header;
use crate::object::shared;

/// A link or an attribute.
pub(in crate::object) trait Dense: DenseItem {
    /// The parameters of the heap, as libhdf5 chooses them.
    const HEAP: HeapParameters;

    /// Returns the numbers at which links or attributes move between messages and the heap.
    fn phase_change(header: &Header, store: &Store) -> Result<PhaseChange>;

    /// Makes the value of a shared message one that can be stored on its own.
    fn make_own(&mut self, txn: &mut Txn<'_>) -> Result<()>;
}

impl Dense for Link {
    const HEAP: HeapParameters = HeapParameters::LINKS;

    fn phase_change(header: &Header, store: &Store) -> Result<PhaseChange> {
        let stated = header.find::<GroupInfo>(store)?.and_then(|info| info.phase_change);
        Ok(stated.unwrap_or(PhaseChange::DEFAULT))
    }

    /// Links are never shared.
    fn make_own(&mut self, _: &mut Txn<'_>) -> Result<()> {
        Ok(())
    }
}

impl Dense for Attribute {
    const HEAP: HeapParameters = HeapParameters::ATTRIBUTES;

    fn phase_change(header: &Header, _: &Store) -> Result<PhaseChange> {
        Ok(header.phase_change())
    }

    /// Copies the parts that are shared messages, and counts the use of a committed datatype.
    fn make_own(&mut self, txn: &mut Txn<'_>) -> Result<()> {
        match self.datatype {
            MaybeShared::Here(_) => {}
            MaybeShared::Shared(SharedLocation::Header(datatype)) => add_reference(txn, datatype, 1)?,
            MaybeShared::Shared(SharedLocation::Heap(id)) => {
                self.datatype = MaybeShared::Here(shared::read(txn.store(), id)?);
            }
        }
        if let MaybeShared::Shared(SharedLocation::Heap(id)) = self.dataspace {
            self.dataspace = MaybeShared::Here(shared::read(txn.store(), id)?);
        }
        Ok(())
    }
}
