//! The smallest and the largest value of each column of a chunk of records, by which a search skips chunks.
//!
//! The writer of a chunk notes them with it ([`Note`]). A reader trusts a note only
//! if its checksum proves that the stored chunk is the one that the note was written for.

use std::ops::Range;

use hyperslab_filters::blosc::{self, MAX_NOTE, Note};
use hyperslab_filters::{FilterId, FilterMask, repeated};
use hyperslab_format::datatype::{BitRange, ByteOrder, Datatype};

use super::codec::{ChunkCodec, StoredElements};

/// A column whose values have an order: a number of 1 to 8 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct OrderedColumn {
    /// The first byte of the column in a record.
    at: usize,
    kind: BoundKind,
    is_big: bool,
}

/// The kind of a column's values. The discriminants are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BoundKind {
    U8 = 1,
    U16,
    U32,
    U64,
    I8,
    I16,
    I32,
    I64,
    F32,
    F64,
}

impl BoundKind {
    fn size(self) -> usize {
        match self {
            Self::U8 | Self::I8 => 1,
            Self::U16 | Self::I16 => 2,
            Self::U32 | Self::I32 | Self::F32 => 4,
            Self::U64 | Self::I64 | Self::F64 => 8,
        }
    }

    fn integer(size: u32, signed: bool) -> Option<Self> {
        Some(match (size, signed) {
            (1, false) => Self::U8,
            (2, false) => Self::U16,
            (4, false) => Self::U32,
            (8, false) => Self::U64,
            (1, true) => Self::I8,
            (2, true) => Self::I16,
            (4, true) => Self::I32,
            (8, true) => Self::I64,
            _ => return None,
        })
    }
}

impl OrderedColumn {
    /// Returns the byte that stands for the kind and the byte order.
    fn code(self) -> u8 {
        self.kind as u8 | u8::from(self.is_big) << 7
    }
}

/// The columns of a record that have bounds: integers, bit fields, enumerations and IEEE floating-point
/// numbers of 4 and 8 bytes, also in nested records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Columns {
    record: usize,
    list: Vec<OrderedColumn>,
}

impl Columns {
    /// Returns the columns of records of `record` bytes; `None` if the datatype is no record or no column has
    /// an order.
    pub fn of(datatype: &Datatype, record: usize) -> Option<Self> {
        let mut columns = Self { record, list: Vec::new() };
        let is_record = matches!(datatype, Datatype::Compound(_));
        columns.add(datatype, 0).filter(|()| is_record && !columns.list.is_empty())?;
        Some(columns)
    }

    /// Returns the columns of an array, if it is a row of records.
    pub(in crate::engine) fn of_array(shape: &[u64], elements: &StoredElements) -> Option<Self> {
        if shape.len() == 1 { Self::of(&elements.datatype, elements.size) } else { None }
    }

    /// Appends the columns of a datatype at byte `at` of a record. Returns `None` if a column is outside the
    /// record.
    fn add(&mut self, datatype: &Datatype, at: usize) -> Option<()> {
        let (kind, order) = match datatype {
            Datatype::Compound(compound) => {
                return compound.members.iter().try_for_each(|member| {
                    self.add(&member.datatype, at.checked_add(usize::try_from(member.offset).ok()?)?)
                });
            }
            Datatype::Enumeration(enumeration) => return self.add(&enumeration.base, at),
            Datatype::Integer(number) if number.is_whole() => {
                (BoundKind::integer(number.size, number.signed), number.order)
            }
            Datatype::Bits(bits) if bits.bits == BitRange::whole(bits.size) => {
                (BoundKind::integer(bits.size, false), bits.order)
            }
            Datatype::Float(float) if float.is_ieee() => match float.size {
                4 => (Some(BoundKind::F32), float.order),
                8 => (Some(BoundKind::F64), float.order),
                _ => return Some(()),
            },
            _ => return Some(()),
        };
        let Some(kind) = kind else { return Some(()) };
        let is_inside = at.checked_add(kind.size()).is_some_and(|end| end <= self.record);
        is_inside.then(|| self.list.push(OrderedColumn { at, kind, is_big: order == ByteOrder::Big }))
    }

    /// Returns the length of a note of these columns in bytes.
    fn note_len(&self) -> usize {
        HEAD + self.list.iter().map(|column| COLUMN + 2 * column.kind.size()).sum::<usize>()
    }

    /// Returns the note of a chunk of records.
    fn note(&self, chunk: &[u8]) -> Vec<u8> {
        let mut found: Vec<Extremes> = self.list.iter().map(|column| Extremes::none(column.kind)).collect();
        // All columns of a few records are visited while these are in the cache.
        for records in chunk.chunks(GATHERED.saturating_mul(self.record)) {
            for (column, found) in self.list.iter().zip(&mut found) {
                found.visit(*column, records, self.record);
            }
        }
        let mut note = Vec::with_capacity(self.note_len());
        note.push(VERSION);
        note.extend(low_word(self.record));
        note.extend(low_word(self.list.len()));
        for (column, found) in self.list.iter().zip(&found) {
            note.extend(low_word(column.at));
            note.push(column.code());
            found.write(column.is_big, &mut note);
        }
        note
    }
}

/// Returns the note to store with a chunk, if chunks of this codec have notes and this one gains from it. A
/// chunk that repeats one record does not: it takes no time to scan.
pub(in crate::engine) fn note(codec: &ChunkCodec, chunk: &[u8]) -> Option<Vec<u8>> {
    let [only] = codec.pipeline().filters() else { return None };
    let is_blosc2 = only.id() == FilterId::BLOSC2 && only.filter().is_ok();
    if !is_blosc2 || chunk.len() / LEAST < HEAD {
        return None;
    }
    let columns = Columns::of_array(codec.shape(), codec.elements())
        .filter(|columns| columns.note_len() <= MAX_NOTE.min(chunk.len() / LEAST))?;
    repeated(chunk, columns.record).is_none().then(|| columns.note(chunk))
}

/// The smallest and the largest values of the columns of one chunk.
#[derive(Debug, Clone, Copy)]
pub struct Bounds<'a> {
    columns: &'a Columns,
    note: &'a [u8],
}

/// The values of a column in one chunk, including the values of records beyond the edge of the dataset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Bound<'a> {
    /// The smallest and the largest value, as they are stored. `None` if all values are NaN. Either may be a
    /// zero of either sign if the column has zeros of both.
    pub extremes: Option<(&'a [u8], &'a [u8])>,
    /// Whether some values are NaN.
    pub has_nan: bool,
}

impl<'a> Bounds<'a> {
    /// Decodes a note. Returns `None` if it is not a note of these columns.
    pub fn decode(note: &'a [u8], columns: &'a Columns) -> Option<Self> {
        let bounds = Self { columns, note };
        let head = [&[VERSION][..], &low_word(columns.record), &low_word(columns.list.len())].concat();
        if note.len() != columns.note_len() || !note.starts_with(&head) {
            return None;
        }
        let mut at = HEAD;
        for column in &columns.list {
            let size = column.kind.size();
            let (place, rest) = note.get(at..at + COLUMN + 2 * size)?.split_first_chunk::<4>()?;
            let (&[code, flags], values) = rest.split_first_chunk::<2>()?;
            let is_column =
                *place == low_word(column.at) && code == column.code() && flags <= HAS_NAN | IS_EMPTY;
            let (low, high) = values.split_at(size);
            if !is_column || (flags & IS_EMPTY == 0 && !column.is_ascending(low, high)) {
                return None;
            }
            at += COLUMN + 2 * size;
        }
        Some(bounds)
    }

    /// Returns the bounds as they are noted.
    pub(in crate::engine) fn note(&self) -> &'a [u8] {
        self.note
    }

    /// Returns the bounds of the column in these bytes of a record. `None` if it has none: if it is not a
    /// number, or the bytes are not one column.
    pub fn column(&self, bytes: Range<usize>) -> Option<Bound<'a>> {
        let mut at = HEAD;
        for column in &self.columns.list {
            let size = column.kind.size();
            if bytes == (column.at..column.at + size) {
                let flags = *self.note.get(at + COLUMN - 1)?;
                let values = self.note.get(at + COLUMN..at + COLUMN + 2 * size)?;
                let extremes = (flags & IS_EMPTY == 0).then(|| values.split_at(size));
                return Some(Bound { extremes, has_nan: flags & HAS_NAN != 0 });
            }
            at += COLUMN + 2 * size;
        }
        None
    }
}

/// Bounds whose note has not been compared with the chunk yet.
pub(in crate::engine) struct NotedBounds<'a> {
    pub(in crate::engine) bounds: Bounds<'a>,
    note: Note<'a>,
}

impl<'a> NotedBounds<'a> {
    /// Returns the bounds that are noted with a stored chunk of an array with these columns.
    pub(in crate::engine) fn stored(
        stored: &'a [u8],
        mask: FilterMask,
        columns: &'a Columns,
        codec: &ChunkCodec,
    ) -> Option<Self> {
        codec.pipeline().as_blosc(mask)?;
        let note = blosc::note(stored)?;
        Some(Self { bounds: Bounds::decode(note.bytes, columns)?, note })
    }

    /// Returns whether the bounds are those of the stored chunk. Reads all its stored bytes.
    pub(in crate::engine) fn are_of_chunk(&self) -> bool {
        self.note.is_intact()
    }
}

/// The version of the notes.
const VERSION: u8 = 1;
/// The bytes before the first column: the version, the bytes of a record, and the number of columns.
const HEAD: usize = 9;
/// The bytes of a column before its two values: its place in the record, its kind, and its flags.
const COLUMN: usize = 6;
/// Some values are NaN.
const HAS_NAN: u8 = 1;
/// No value is a number.
const IS_EMPTY: u8 = 2;
/// A note has at most this part of the bytes of its chunk.
const LEAST: usize = 64;

/// Returns a size as a note stores it. Records of 4 GiB and more have no notes, as their chunks have none.
fn low_word(size: usize) -> [u8; 4] {
    u32::try_from(size).unwrap_or(u32::MAX).to_le_bytes()
}

/// A number as it is stored.
trait StoredNumber: Copy + PartialOrd {
    const SIZE: usize;
    /// The bounds of no values.
    const NONE: (Self, Self);
    fn little(bytes: &[u8]) -> Self;
    fn big(bytes: &[u8]) -> Self;
    fn write(self, is_big: bool, out: &mut Vec<u8>);
}

macro_rules! numbers {
    ($($number:ty: $low:expr, $high:expr, $kind:ident;)*) => {
        $(impl StoredNumber for $number {
            const SIZE: usize = size_of::<Self>();
            const NONE: (Self, Self) = ($high, $low);

            #[inline]
            fn little(bytes: &[u8]) -> Self {
                bytes.first_chunk().map_or(Self::NONE.0, |bytes| Self::from_le_bytes(*bytes))
            }

            #[inline]
            fn big(bytes: &[u8]) -> Self {
                bytes.first_chunk().map_or(Self::NONE.0, |bytes| Self::from_be_bytes(*bytes))
            }

            fn write(self, is_big: bool, out: &mut Vec<u8>) {
                out.extend(if is_big { self.to_be_bytes() } else { self.to_le_bytes() });
            }
        })*

        /// The values of a column that were visited.
        #[derive(Debug)]
        enum Extremes {
            $($kind(Visited<$number>),)*
        }

        impl Extremes {
            fn none(kind: BoundKind) -> Self {
                match kind {
                    $(BoundKind::$kind => Self::$kind(Visited { low: <$number>::NONE.0, high: <$number>::NONE.1, has_nan: false }),)*
                }
            }

            fn visit(&mut self, column: OrderedColumn, records: &[u8], record: usize) {
                match (self, column.is_big) {
                    $((Self::$kind(visited), false) => visited.visit::<false>(column.at, records, record),
                    (Self::$kind(visited), true) => visited.visit::<true>(column.at, records, record),)*
                }
            }

            /// Appends the flags and the two values.
            fn write(&self, is_big: bool, out: &mut Vec<u8>) {
                match self {
                    $(Self::$kind(visited) => visited.write(is_big, out),)*
                }
            }
        }

        impl OrderedColumn {
            /// Returns whether two stored values are numbers in ascending order.
            fn is_ascending(self, low: &[u8], high: &[u8]) -> bool {
                match (self.kind, self.is_big) {
                    $((BoundKind::$kind, false) => <$number>::little(low) <= <$number>::little(high),
                    (BoundKind::$kind, true) => <$number>::big(low) <= <$number>::big(high),)*
                }
            }
        }
    };
}

numbers! {
    u8: Self::MIN, Self::MAX, U8;
    u16: Self::MIN, Self::MAX, U16;
    u32: Self::MIN, Self::MAX, U32;
    u64: Self::MIN, Self::MAX, U64;
    i8: Self::MIN, Self::MAX, I8;
    i16: Self::MIN, Self::MAX, I16;
    i32: Self::MIN, Self::MAX, I32;
    i64: Self::MIN, Self::MAX, I64;
    f32: Self::NEG_INFINITY, Self::INFINITY, F32;
    f64: Self::NEG_INFINITY, Self::INFINITY, F64;
}

/// The smallest and the largest of the values that were visited; `low` is above `high` before the first.
#[derive(Debug, Clone, Copy)]
struct Visited<T> {
    low: T,
    high: T,
    has_nan: bool,
}

/// The records whose values are gathered before they are compared.
const GATHERED: usize = 256;
/// The independent comparisons of a loop, which the compiler turns into vectors.
const LANES: usize = 16;

impl<T: StoredNumber> Visited<T> {
    /// Visits the values at byte `at` of at most [`GATHERED`] records.
    fn visit<const BIG: bool>(&mut self, at: usize, records: &[u8], record: usize) {
        let mut values = [T::NONE.0; GATHERED];
        let mut count = 0;
        for (value, row) in values.iter_mut().zip(records.chunks_exact(record)) {
            let bytes = &row[at..at + T::SIZE];
            *value = if BIG { T::big(bytes) } else { T::little(bytes) };
            count += 1;
        }
        self.take(&values[..count]);
    }

    /// Comparisons with NaN are false, so NaN changes neither bound.
    #[expect(clippy::eq_op, reason = "only NaN differs from itself")]
    fn take(&mut self, values: &[T]) {
        let (mut low, mut high) = ([self.low; LANES], [self.high; LANES]);
        let least = |a: T, b: T| if a < b { a } else { b };
        let most = |a: T, b: T| if a > b { a } else { b };
        let (vectors, rest) = values.as_chunks::<LANES>();
        for vector in vectors {
            for lane in 0..LANES {
                low[lane] = least(vector[lane], low[lane]);
                high[lane] = most(vector[lane], high[lane]);
            }
        }
        self.low = rest.iter().chain(&low).fold(self.low, |low, &value| least(value, low));
        self.high = rest.iter().chain(&high).fold(self.high, |high, &value| most(value, high));
        self.has_nan |= values.iter().filter(|&&value| value != value).count() > 0;
    }

    fn write(&self, is_big: bool, out: &mut Vec<u8>) {
        let is_empty = self.low > self.high;
        out.push(if self.has_nan { HAS_NAN } else { 0 } | if is_empty { IS_EMPTY } else { 0 });
        self.low.write(is_big, out);
        self.high.write(is_big, out);
    }
}
