//! The contents of the file headers: byte order, revision, sample format, and the position of the traces.

use hyperslab::driver::Driver;
use hyperslab_format::superblock::SIGNATURE;

use crate::error::{Error, Result};
use crate::field::ByteOrder;
use crate::sample::SampleFormat;
use crate::textual::{self, TEXT_BYTES};
use crate::{TRACE_HEADER_BYTES, io};

/// The length of the binary file header, in bytes.
pub const BINARY_HEADER_BYTES: usize = 400;
/// The length of a tape label (revision 1, section 4.1, and later), in bytes.
pub(crate) const LABEL_BYTES: usize = 128;
/// The most records of extended textual headers that are searched for the final stanza, more than any file
/// has.
const MOST_EXTENDED: u64 = 10_000;

/// The layout of the traces, as the file headers describe it.
#[derive(Debug, Clone, PartialEq)]
pub struct Layout {
    /// The length of the tape label in bytes: 128, or 0 without a label.
    pub label: u64,
    /// The byte order of all numbers.
    pub order: ByteOrder,
    /// The revision of the standard: major, minor.
    pub revision: (u8, u8),
    /// The format of samples.
    pub format: SampleFormat,
    /// The samples of a trace.
    pub samples: u32,
    /// The interval between samples, in microseconds or in the unit of the vertical axis.
    pub interval: f64,
    /// The number of records of extended textual headers.
    pub extended: u64,
    /// The number of trace headers of 240 bytes before the samples of each trace.
    pub headers: u32,
    /// The offset of the first trace.
    pub first_trace: u64,
    /// The number of traces, if the file header gives it.
    pub declared_traces: Option<u64>,
    /// The bytes after the last trace, if the file header gives them.
    pub trailer: Option<u64>,
    /// Whether the headers say that all traces have the same length.
    pub is_fixed: bool,
}

impl Layout {
    /// Reads the file headers.
    pub(super) fn read(driver: &dyn Driver, path: &str) -> Result<Self> {
        let len = driver.len().map_err(io(path))?;
        let read = |offset, dst: &mut [u8]| driver.read_at(offset, dst).map_err(io(path));
        let mut start = [0; LABEL_BYTES];
        if len >= LABEL_BYTES as u64 {
            read(0, &mut start)?;
        }
        not_hdf5(&start, path)?;
        // The label starts with a number, then "SY1.0", "SY2.0" or "SY2.1", then the kind of storage unit.
        let has_label = &start[4..6] == b"SY" && &start[9..15] == b"RECORD";
        let label = if has_label { LABEL_BYTES as u64 } else { 0 };
        let text_end = label + TEXT_BYTES as u64;
        let headers_end = text_end + BINARY_HEADER_BYTES as u64;
        if len < headers_end {
            return Err(Error::format(
                path,
                "file header",
                len,
                format!(
                    "the file ends here, but a SEG-Y file has {headers_end} bytes of headers before its traces"
                ),
            ));
        }
        let mut header = [0; BINARY_HEADER_BYTES];
        read(text_end, &mut header)?;
        let order = byte_order(path, &header, text_end)?;
        let (major, minor) = revision(&header, order);
        let code: i16 = order.read(&header, 25);
        let format =
            SampleFormat::from_code(code.into()).ok_or_else(|| bad_format(path, code, text_end + 24))?;
        let is_2 = major >= 2;
        let samples = match (order.read::<u16>(&header, 21), order.read::<u32>(&header, 69)) {
            // These bytes are unassigned before revision 2, and some programs store other values there.
            (0, extended) if extended < 1 << 24 => extended,
            (_, extended) if is_2 && extended > 0 => extended,
            (samples, _) => samples.into(),
        };
        let extended_interval: f64 = order.read(&header, 73);
        let interval = if is_2 && extended_interval.is_finite() && extended_interval > 0.0 {
            extended_interval
        } else {
            order.read::<u16>(&header, 17).into()
        };
        let extended = match order.read::<i16>(&header, 305) {
            // The count is unassigned in revision 0, but some files of that revision have extended headers
            // nevertheless.
            -1 if major == 0 => count_extended(driver, path, headers_end, len).unwrap_or(0),
            count if major == 0 => u64::try_from(count)
                .ok()
                .filter(|count| headers_end + count * TEXT_BYTES as u64 <= len)
                .unwrap_or(0),
            -1 => count_extended(driver, path, headers_end, len)?,
            count => u64::try_from(count).map_err(|_| {
                Error::format(
                    path,
                    "binary header",
                    text_end + 304,
                    format!("{count} is not a valid number of extended textual headers"),
                )
            })?,
        };
        let said: u64 = order.read(&header, 321);
        let first_trace = if is_2 && said > 0 { said } else { headers_end + extended * TEXT_BYTES as u64 };
        if first_trace < headers_end || first_trace > len {
            return Err(Error::format(
                path,
                "binary header",
                text_end + 320,
                format!("the first trace cannot be at byte {first_trace} of a file of {len} bytes"),
            ));
        }
        // The count has two bytes since revision 2.1 and four in 2.0. Not all files follow this, so a
        // four-byte count must be small.
        let additional: i32 = match (major, minor, order.read(&header, 307)) {
            (0 | 1, ..) => 0,
            (2, 0, count @ 0..=0xFFFF) => count,
            _ => order.read::<i16>(&header, 307).into(),
        };
        let headers = u32::try_from(additional)
            .ok()
            .and_then(|count| count.checked_add(1))
            .filter(|&count| count <= 1 << 15);
        let headers = headers.ok_or_else(|| {
            Error::format(
                path,
                "binary header",
                text_end + 306,
                format!("{additional} is not a valid number of additional trace headers"),
            )
        })?;
        let count: u64 = order.read(&header, 313);
        let stanzas = u64::try_from(order.read::<i32>(&header, 329)).ok();
        Ok(Self {
            label,
            order,
            revision: (major, minor),
            format,
            samples,
            interval,
            extended,
            headers,
            first_trace,
            declared_traces: (is_2 && count > 0).then_some(count),
            trailer: if is_2 { stanzas.map(|count| count * TEXT_BYTES as u64) } else { Some(0) },
            is_fixed: major >= 1 && order.read::<i16>(&header, 303) == 1,
        })
    }

    /// Returns the bytes before the samples of a trace.
    pub fn header_bytes(&self) -> usize {
        self.headers as usize * TRACE_HEADER_BYTES
    }

    /// Returns the bytes of a trace with this number of samples, including its headers.
    pub fn trace_bytes(&self, samples: u32) -> u64 {
        self.header_bytes() as u64 + u64::from(samples) * self.format.size() as u64
    }
}

/// Returns the byte order. Revision 2 stores a constant for it. Without the constant, the order is the one in
/// which the sample format is a small number.
fn byte_order(path: &str, header: &[u8], start: u64) -> Result<ByteOrder> {
    const CONSTANT: u32 = 0x0102_0304;
    const PAIRS: [u8; 4] = [2, 1, 4, 3];
    if header[96..100] == PAIRS {
        let why = "the bytes of this file are swapped in pairs: swap them back first (dd conv=swab)";
        return Err(Error::unsupported(path, why));
    }
    let known = |is_right: &dyn Fn(ByteOrder) -> bool| {
        [ByteOrder::Big, ByteOrder::Little].into_iter().find(|&order| is_right(order))
    };
    let constant = known(&|order| order.read::<u32>(header, 97) == CONSTANT);
    let format = || known(&|order| (1..=16).contains(&order.read::<i16>(header, 25)));
    constant.or_else(format).ok_or_else(|| bad_format(path, ByteOrder::Big.read(header, 25), start + 24))
}

/// Returns the revision. Revision 1 is the number 0x0100, whose bytes are reversed in a little-endian file.
fn revision(header: &[u8], order: ByteOrder) -> (u8, u8) {
    match (header[300], header[301], order) {
        (0, major @ 1..=2, ByteOrder::Little) => (major, 0),
        (major, minor, _) => (major, minor),
    }
}

fn bad_format(path: &str, code: i16, byte: u64) -> Error {
    if code == 4 {
        return Error::unsupported(
            path,
            "samples are fixed-point numbers with gain (format 4), obsolete since revision 1 and not handled: \
             convert the file to IEEE floats",
        );
    }
    Error::format(
        path,
        "binary header",
        byte,
        format!(
            "{code} is not a sample format (1-3, 5-12, 15, 16): the file is damaged, or it is not a SEG-Y file"
        ),
    )
}

fn not_hdf5(start: &[u8], path: &str) -> Result<()> {
    let why = "this is an HDF5 file, not a SEG-Y file";
    if start.starts_with(&SIGNATURE) { Err(Error::format(path, "file header", 0, why)) } else { Ok(()) }
}

/// Returns the number of records of extended textual headers, including the final stanza.
fn count_extended(driver: &dyn Driver, path: &str, start: u64, len: u64) -> Result<u64> {
    let mut record = [0; TEXT_BYTES];
    for count in 0..MOST_EXTENDED {
        let offset = start + count * TEXT_BYTES as u64;
        if offset + TEXT_BYTES as u64 > len {
            break;
        }
        driver.read_at(offset, &mut record).map_err(io(path))?;
        if textual::is_end(&record) {
            return Ok(count + 1);
        }
    }
    Err(Error::format(
        path,
        "extended textual headers",
        start,
        "the final stanza ((SEG: EndText)) is missing",
    ))
}
