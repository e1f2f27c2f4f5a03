//! What a file states of its members: the driver information (spec II.B). That of a split file states the
//! ends of both members, so each commit that changes an end changes it.

use std::any::Any;
use std::sync::Arc;

use hyperslab_error::{Error, RequestError, Result};
use hyperslab_format::header::{Chunk, ChunkContext, ObjectHeader};
use hyperslab_format::message::MessageBody;
use hyperslab_format::superblock::driver_information::{
    DriverBlock, DriverInformation, DriverMessage, MultiInformation,
};
use hyperslab_format::{Addr, Extent, Reader, Structure, Widths, Writer};

use super::split_space::Ends;
use crate::Store;
use crate::cache::BlockCache;
use crate::commit::dirty_blocks::{Block, Blocks, Held};

/// The ends that a split file states, in bytes from the start of each member.
#[derive(Debug)]
pub struct MemberEnds {
    /// The end of the metadata.
    pub metadata: u64,
    /// The end of the elements.
    pub elements: u64,
    /// The number of bytes of elements that the medium has.
    pub found: Result<u64>,
}

impl Store {
    /// Returns what the file states of its members.
    pub fn driver_information(&self) -> Result<Option<DriverInformation>> {
        // A new file is not written yet.
        let changed = self.writing.as_deref().map_or_else(Vec::new, |writing| writing.dirty.read().sorted());
        Ok(DriverInformationPlace::find(self, &changed)?.map(|place| place.information().clone()))
    }

    /// Returns whether the file states the members of a split file of libhdf5 1.8 or later.
    pub fn states_split(&self) -> Result<bool> {
        let stated = self.driver_information()?;
        Ok(matches!(&stated, Some(DriverInformation::Multi(multi)) if self.is_split(multi)))
    }

    /// The superblock of libhdf5 1.6 states the end of both members. Such a file does not count.
    fn is_split(&self, stated: &MultiInformation) -> bool {
        stated.is_split() && self.superblock.end_of_file() < MultiInformation::SPLIT_AT
    }

    /// Returns the ends that the file states, if the medium has elements apart.
    ///
    /// Errors: the file states other members than the medium has.
    pub fn member_ends(&self) -> Result<Option<MemberEnds>> {
        let driver = self.driver()?;
        let Some(range) = driver.elements() else { return Ok(None) };
        let found = range.len().map_err(Error::io("open", 0, 0));
        match self.driver_information()? {
            Some(DriverInformation::Multi(stated)) if self.is_split(&stated) => {
                let end = |number: usize| stated.members.get(number).map_or(0, |member| member.end);
                Ok(Some(MemberEnds { metadata: end(0), elements: end(1), found }))
            }
            _ => Err(RequestError::Members { why: OTHER_MEMBERS.to_owned() }.into()),
        }
    }

    /// Returns the number of bytes of elements that the file states, if the medium has them apart.
    ///
    /// Errors: the file states other members than the medium has, or a member is missing or too short.
    pub(crate) fn stated_elements(&self) -> Result<Option<u64>> {
        let Some(MemberEnds { elements, found, .. }) = self.member_ends()? else { return Ok(None) };
        let found = found?;
        if found < elements {
            let why = format!(
                "the member with the elements has {found} bytes, but the file states {elements}: it was cut short \
                 or replaced; restore it, or open the file for reading"
            );
            return Err(RequestError::Members { why }.into());
        }
        Ok(Some(elements))
    }
}

/// Makes the changed blocks of a commit state that the file ends at `ends`. Returns whether it did not do so
/// already.
pub(crate) fn state(store: &Store, ends: Ends, changed: &mut Blocks) -> Result<bool> {
    let Some(elements) = ends.elements else { return Ok(false) };
    let Some(mut place) = DriverInformationPlace::find(store, changed)? else { return Ok(false) };
    let DriverInformation::Multi(stated) = place.information_mut() else { return Ok(false) };
    let mut is_changed = false;
    for (member, end) in stated.members.iter_mut().zip([store.base + ends.first, elements]) {
        is_changed |= member.end != end;
        member.end = end;
    }
    if !is_changed {
        return Ok(false);
    }
    let (at, bytes) = place.encoded(store.widths());
    let found = changed.binary_search_by_key(&at, |(at, _)| *at);
    let before = found.ok().map(|number| Arc::clone(&changed[number].1.block));
    let block = (at, Held::new(Arc::new(StatedBlock { bytes, before }), store.widths()));
    match found {
        Ok(number) => changed[number] = block,
        Err(number) => changed.insert(number, block),
    }
    Ok(true)
}

/// The driver information in its place.
enum DriverInformationPlace {
    Block(Addr, DriverInformation),
    Message(Box<InHeader>),
}

/// The driver information in the superblock extension.
struct InHeader {
    header: ObjectHeader,
    /// The places of its chunk in the header, and of the message in the chunk.
    chunk: usize,
    message: usize,
    information: DriverInformation,
}

impl DriverInformationPlace {
    /// Finds the driver information in the present state of the file, of which some blocks are `changed`.
    fn find(store: &Store, changed: &Blocks) -> Result<Option<Self>> {
        if let Some(at) = store.superblock.driver_information() {
            let DriverBlock(information) = match encoded(store, changed, at) {
                Some(bytes) => Reader::new(&bytes, store.widths(), at).structure(&())?,
                None => store.read(at, &())?,
            };
            return Ok(Some(Self::Block(at, information)));
        }
        let Some(at) = store.superblock.extension() else { return Ok(None) };
        let mut header: ObjectHeader = match encoded(store, changed, at) {
            Some(bytes) => Reader::new(&bytes, store.widths(), at).structure(&())?,
            None => store.read(at, &())?,
        };
        while let Some(extent) = header.next_pending() {
            let bytes = match encoded(store, changed, extent.addr) {
                Some(bytes) => bytes,
                None => store.bytes(extent, (ObjectHeader::NAME, ObjectHeader::SPEC))?,
            };
            header.decode_continuation(&mut Reader::new(&bytes, store.widths(), extent.addr))?;
        }
        let messages = header.chunks.iter().enumerate().flat_map(|(number, chunk)| {
            chunk.messages.iter().enumerate().map(move |(message, found)| (number, message, found))
        });
        let mut own = messages.filter(|(.., found)| found.kind == DriverMessage::KIND && !found.is_shared());
        let Some((chunk, message, found)) = own.next() else { return Ok(None) };
        let DriverMessage(information) = found.decode_here(store.widths())?;
        Ok(Some(Self::Message(Box::new(InHeader { header, chunk, message, information }))))
    }

    fn information(&self) -> &DriverInformation {
        match self {
            Self::Block(_, information) => information,
            Self::Message(place) => &place.information,
        }
    }

    fn information_mut(&mut self) -> &mut DriverInformation {
        match self {
            Self::Block(_, information) => information,
            Self::Message(place) => &mut place.information,
        }
    }

    /// Returns the block that has the information, and its address. The length is that of before.
    fn encoded(self, widths: Widths) -> (Addr, Vec<u8>) {
        let mut bytes = Vec::new();
        let mut writer = Writer::new(&mut bytes, widths);
        match self {
            Self::Block(at, information) => {
                writer.structure(&DriverBlock(information), &());
                (at, bytes)
            }
            Self::Message(place) => {
                let InHeader { mut header, chunk: number, message, information } = *place;
                let mut data = Vec::new();
                Writer::new(&mut data, widths).structure(&DriverMessage(information), &());
                let found = &mut header.chunks[number].messages[message];
                // Messages of version 1 headers are padded.
                data.resize(found.data.len(), 0);
                found.data = data.into();
                let Extent { addr, len } = header.chunks[number].extent;
                match number {
                    0 => writer.structure(&header, &()),
                    number => {
                        let context = ChunkContext { framing: header.prefix.framing(), len };
                        writer.structure(&header.chunks[number], &context);
                    }
                }
                (addr, bytes)
            }
        }
    }
}

/// Returns the bytes of the block at `at` if it is one of the changed ones.
fn encoded(store: &Store, changed: &Blocks, at: Addr) -> Option<Vec<u8>> {
    let number = changed.binary_search_by_key(&at, |(at, _)| *at).ok()?;
    let mut bytes = Vec::new();
    changed[number].1.block.encode(&mut Writer::new(&mut bytes, store.widths()));
    Some(bytes)
}

/// The block of the driver information as a commit writes it. It takes the place of another block in a commit
/// only, so the cache keeps that one; [`DriverInformationPlace::find`] reads what the file has.
#[derive(Debug)]
struct StatedBlock {
    bytes: Vec<u8>,
    /// The block that has other changes of the same bytes.
    before: Option<Arc<dyn Block>>,
}

impl Block for StatedBlock {
    fn name(&self) -> &'static str {
        self.before.as_ref().map_or(Chunk::NAME, |before| before.name())
    }

    fn encode(&self, w: &mut Writer<'_>) {
        w.bytes(&self.bytes);
    }

    fn encoded_len(&self, _: Widths) -> usize {
        self.bytes.len()
    }

    fn value(&self) -> &dyn Any {
        self.before.as_ref().map_or(&() as &dyn Any, |before| before.value())
    }

    fn remember(&self, cache: &BlockCache, at: Addr, len: u64) {
        self.before.iter().for_each(|before| before.remember(cache, at, len));
    }

    fn forget(&self, cache: &BlockCache, at: Addr) {
        self.before.iter().for_each(|before| before.forget(cache, at));
    }
}

const OTHER_MEMBERS: &str = "the file states other members than those of a split file of libhdf5 1.8 or later, and \
                             is only read: repack it";
