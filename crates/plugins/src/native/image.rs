//! A shared library as bytes (ELF, 64 bits, little-endian). Symbols that it wants of libhdf5 become absolute
//! symbols of its own, at addresses in this process, before the system loads it. So the library finds our
//! functions whatever else the process has, and nothing else finds them (decision 0041).

/// Offsets in the header of the file.
const TYPE: usize = 16;
const MACHINE: usize = 18;
const SEGMENTS: usize = 32;
const SECTIONS: usize = 40;
const SEGMENT_SIZE: usize = 54;
const SEGMENT_COUNT: usize = 56;
const SECTION_COUNT: usize = 60;
const SECTION_NAMES: usize = 62;

/// The type of shared libraries.
const SHARED: u16 = 3;
/// The kinds of segments.
const LOAD: u32 = 1;
const DYNAMIC: u32 = 2;

/// The tags of the dynamic section.
const NEEDED: u64 = 1;
const PLT_RELOCATIONS_SIZE: u64 = 2;
const STRINGS: u64 = 5;
const SYMBOLS: u64 = 6;
const RELOCATIONS: u64 = 7;
const RELOCATIONS_SIZE: u64 = 8;
const RUN_PATH_OLD: u64 = 15;
/// A tag that loaders leave to debuggers.
const DEBUG: u64 = 21;
const PLT_RELOCATIONS: u64 = 23;
const RUN_PATH: u64 = 29;
const VERSIONS_NEEDED: u64 = 0x6fff_fffe;

/// The bytes of a relocation with an addend, and of a symbol.
const RELOCATION: u64 = 24;
const SYMBOL: u64 = 24;
/// The section of absolute symbols.
const ABSOLUTE: u16 = 0xfff1;
/// The visibility of symbols that are not looked up elsewhere.
const HIDDEN: u8 = 2;

/// The machine that this program runs on.
const fn machine() -> u16 {
    if cfg!(target_arch = "x86_64") {
        62
    } else if cfg!(target_arch = "aarch64") {
        183
    } else if cfg!(target_arch = "riscv64") {
        243
    } else {
        0
    }
}

/// The bytes of a library, as far as the system loads them.
#[derive(Debug)]
pub(crate) struct Image {
    bytes: Vec<u8>,
    /// Addresses in the library, sizes, and places in the file.
    segments: Vec<(u64, u64, u64)>,
    /// The places of the tags of the dynamic section, with tags and values.
    dynamic: Vec<(usize, u64, u64)>,
}

impl Image {
    /// Takes the bytes of a file. Returns what is wrong with them if they are no library for this machine.
    pub(crate) fn new(mut bytes: Vec<u8>) -> Result<Self, &'static str> {
        if !bytes.starts_with(b"\x7fELF\x02\x01") {
            return Err("it is not a shared library (ELF, 64 bits)");
        }
        let short = "it ends early";
        if number::<2>(&bytes, TYPE).ok_or(short)? != u64::from(SHARED) {
            return Err("it is not a shared library");
        }
        if number::<2>(&bytes, MACHINE).ok_or(short)? != u64::from(machine()) {
            return Err("it is for another kind of processor");
        }
        let first = number::<8>(&bytes, SEGMENTS).ok_or(short)?;
        let size = number::<2>(&bytes, SEGMENT_SIZE).ok_or(short)?;
        let count = number::<2>(&bytes, SEGMENT_COUNT).ok_or(short)?;
        let (mut segments, mut dynamic_at) = (Vec::new(), None);
        for index in 0..count {
            let at = index.checked_mul(size).and_then(|at| at.checked_add(first)).ok_or(short)?;
            let field = |offset: u64| number::<8>(&bytes, place(at.checked_add(offset)?)?);
            let kind = number::<4>(&bytes, place(at).ok_or(short)?).ok_or(short)?;
            let (offset, address, len) = (field(8), field(16), field(32));
            let (offset, address, len) = (offset.ok_or(short)?, address.ok_or(short)?, len.ok_or(short)?);
            if kind == u64::from(LOAD) {
                segments.push((address, len, offset));
            } else if kind == u64::from(DYNAMIC) {
                dynamic_at = Some((offset, len));
            }
        }
        // What lies behind the segments is for debuggers, and may be most of the file.
        let ends = segments.iter().map(|(_, len, offset)| offset.checked_add(*len));
        let end = ends.max().flatten().and_then(place).ok_or(short)?;
        if segments.iter().any(|(_, len, offset)| offset.checked_add(*len).is_none()) || end > bytes.len() {
            return Err(short);
        }
        bytes.truncate(end);
        for (at, len) in [(SECTIONS, 8), (SECTION_COUNT, 2), (SECTION_NAMES, 2)] {
            bytes.get_mut(at..at + len).ok_or(short)?.fill(0);
        }
        let (offset, len) = dynamic_at.ok_or("it is not a shared library")?;
        let mut dynamic = Vec::new();
        for index in 0..len / 16 {
            let at = offset.checked_add(index * 16).and_then(place).ok_or(short)?;
            let tag = number::<8>(&bytes, at).ok_or(short)?;
            let value = number::<8>(&bytes, at + 8).ok_or(short)?;
            if tag == 0 {
                break;
            }
            dynamic.push((at, tag, value));
        }
        Ok(Self { bytes, segments, dynamic })
    }

    /// Returns the bytes for the system.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the place in the file of an address in the library.
    fn place_of(&self, address: u64) -> Option<usize> {
        let inside = |(start, len, _): &&(u64, u64, u64)| {
            address.checked_sub(*start).is_some_and(|offset| offset < *len)
        };
        let (start, _, offset) = self.segments.iter().find(inside)?;
        place((address - start).checked_add(*offset)?)
    }

    fn tag(&self, tag: u64) -> Option<u64> {
        self.dynamic.iter().find(|(_, found, _)| *found == tag).map(|(_, _, value)| *value)
    }

    fn text(&self, offset: u64) -> Option<&str> {
        let at = self.place_of(self.tag(STRINGS)?.checked_add(offset)?)?;
        let rest = self.bytes.get(at..)?;
        let len = rest.iter().position(|&byte| byte == 0)?;
        std::str::from_utf8(&rest[..len]).ok()
    }

    /// Returns the names of the libraries that this one needs.
    pub(crate) fn needed(&self) -> impl Iterator<Item = &str> {
        self.dynamic.iter().filter(|(_, tag, _)| *tag == NEEDED).filter_map(|(_, _, name)| self.text(*name))
    }

    /// Returns the folders where they are looked for first.
    pub(crate) fn run_path(&self) -> impl Iterator<Item = &str> {
        let paths = self.tag(RUN_PATH).or_else(|| self.tag(RUN_PATH_OLD)).and_then(|path| self.text(path));
        paths.unwrap_or_default().split(':').filter(|path| !path.is_empty())
    }

    /// Gives the undefined symbols for which `address` knows an address that address. Returns what is wrong
    /// with the library if a table of relocations leads out of it.
    pub(crate) fn bind(&mut self, mut address: impl FnMut(&str) -> Option<u64>) -> Result<(), &'static str> {
        let tables = [(RELOCATIONS, RELOCATIONS_SIZE), (PLT_RELOCATIONS, PLT_RELOCATIONS_SIZE)];
        let tables = tables.map(|(start, size)| Some((self.tag(start)?, self.tag(size)?)));
        for (start, size) in tables.into_iter().flatten() {
            for index in 0..size / RELOCATION {
                let info = start.checked_add(index * RELOCATION + 8).and_then(|info| self.place_of(info));
                let symbol = info.and_then(|info| number::<4>(&self.bytes, info.checked_add(4)?));
                let symbol = symbol.ok_or("its relocations are not in the file")?;
                // A symbol that is defined, or that is for the system to find, stays as it is.
                let _is_bound = self.bind_symbol(symbol, &mut address);
            }
        }
        Ok(())
    }

    fn bind_symbol(&mut self, symbol: u64, address: &mut impl FnMut(&str) -> Option<u64>) -> Option<()> {
        let at = self.place_of(self.tag(SYMBOLS)?.checked_add(symbol * SYMBOL)?)?;
        let is_defined = number::<2>(&self.bytes, at + 6)? != 0;
        if symbol == 0 || is_defined {
            return None;
        }
        let address = address(self.text(number::<4>(&self.bytes, at)?)?)?;
        let entry = self.bytes.get_mut(at..at.checked_add(24)?)?;
        entry[4] &= 0x0f; // the symbol is local; its type stays
        entry[5] = HIDDEN;
        entry[6..8].copy_from_slice(&ABSOLUTE.to_le_bytes());
        entry[8..16].copy_from_slice(&address.to_le_bytes());
        Some(())
    }

    /// Drops the need for a library whose symbols are all bound. A library that has versions is still needed:
    /// the system looks for each version.
    pub(crate) fn drop_needed(&mut self, is_dropped: impl Fn(&str) -> bool) {
        let has_versions = |name: &str| self.versioned().iter().any(|library| library == name);
        let dropped = |(_, tag, value): &(usize, u64, u64)| {
            *tag == NEEDED && self.text(*value).is_some_and(|name| is_dropped(name) && !has_versions(name))
        };
        let places: Vec<usize> =
            self.dynamic.iter().filter(|entry| dropped(entry)).map(|entry| entry.0).collect();
        for at in places {
            self.bytes[at..at + 8].copy_from_slice(&DEBUG.to_le_bytes());
        }
        self.dynamic.iter_mut().for_each(|(at, tag, _)| {
            if self.bytes[*at..*at + 8] == DEBUG.to_le_bytes() {
                *tag = DEBUG;
            }
        });
    }

    /// Returns the libraries of which versions are needed.
    fn versioned(&self) -> Vec<String> {
        let mut names = Vec::new();
        let mut next = self.tag(VERSIONS_NEEDED);
        while let Some(address) = next {
            let Some(at) = self.place_of(address) else { break };
            let (Some(name), Some(step)) =
                (number::<4>(&self.bytes, at + 4), number::<4>(&self.bytes, at + 12))
            else {
                break;
            };
            names.extend(self.text(name).map(str::to_owned));
            next = (step > 0).then(|| address.saturating_add(step));
        }
        names
    }
}

/// Reads a number of N bytes.
fn number<const N: usize>(bytes: &[u8], at: usize) -> Option<u64> {
    let mut wide = [0; 8];
    wide[..N].copy_from_slice(bytes.get(at..at.checked_add(N)?)?);
    Some(u64::from_le_bytes(wide))
}

fn place(at: u64) -> Option<usize> {
    usize::try_from(at).ok()
}
