//! Makes SEG-Y files byte by byte from the standard, independently of the crate that reads them.

/// The properties of a file to generate.
#[derive(Debug, Clone)]
pub struct SegyRecipe {
    /// Whether the file is little-endian (revision 2) rather than big-endian.
    pub little: bool,
    /// The revision: major, minor.
    pub revision: (u8, u8),
    /// The code of the sample format.
    pub format: u16,
    /// The number of samples in each trace.
    pub samples: u32,
    /// The number of extended textual header records.
    pub extended: u16,
    /// The number of additional 240-byte headers of each trace.
    pub additional: u16,
    /// Whether the file begins with a tape label.
    pub label: bool,
    /// The number of 3200-byte records after the traces.
    pub trailers: u32,
    /// The inline, crossline and offset of each trace, in file order.
    pub traces: Vec<[i32; 3]>,
}

impl Default for SegyRecipe {
    fn default() -> Self {
        Self {
            little: false,
            revision: (1, 0),
            format: 1,
            samples: 7,
            extended: 0,
            additional: 0,
            label: false,
            trailers: 0,
            traces: Self::grid(3, 4),
        }
    }
}

impl SegyRecipe {
    /// Returns the traces of a full volume, sorted by inline.
    pub fn grid(inlines: i32, crosslines: i32) -> Vec<[i32; 3]> {
        (0..inlines).flat_map(|i| (0..crosslines).map(move |x| [100 + 2 * i, 7 + x, 0])).collect()
    }

    /// Returns the size of a sample in bytes.
    pub fn sample_bytes(&self) -> usize {
        match self.format {
            3 | 11 => 2,
            8 | 16 => 1,
            6 | 9 | 12 => 8,
            7 | 15 => 3,
            _ => 4,
        }
    }

    /// Encodes a number of `size` bytes in the byte order of the file.
    fn number(&self, value: u64, size: usize) -> Vec<u8> {
        let mut bytes = value.to_be_bytes()[8 - size..].to_vec();
        if self.little {
            bytes.reverse();
        }
        bytes
    }

    fn put(&self, header: &mut [u8], byte: usize, value: u64, size: usize) {
        header[byte - 1..byte - 1 + size].copy_from_slice(&self.number(value, size));
    }

    /// Returns the bytes of the file: pseudo-random samples, but normalised IBM floats and small IEEE floats.
    pub fn bytes(&self) -> Vec<u8> {
        let mut file = Vec::new();
        if self.label {
            let mut label = [b' '; 128];
            label[..4].copy_from_slice(b"   1");
            label[4..9].copy_from_slice(b"SY1.0");
            label[9..15].copy_from_slice(b"RECORD");
            file.extend(label);
        }
        // "C 1" in EBCDIC, then spaces.
        file.extend([0xC3, 0x40, 0xF1]);
        file.resize(file.len() + 3197, 0x40);
        let mut binary = [0; 400];
        self.put(&mut binary, 17, 4000, 2);
        self.put(&mut binary, 21, u64::from(self.samples.min(0xFFFF)), 2);
        self.put(&mut binary, 25, self.format.into(), 2);
        self.put(&mut binary, 55, 1, 2);
        (binary[300], binary[301]) = self.revision;
        if self.revision.0 >= 1 {
            self.put(&mut binary, 303, 1, 2);
            self.put(&mut binary, 305, self.extended.into(), 2);
        }
        if self.revision.0 >= 2 {
            self.put(&mut binary, 69, self.samples.into(), 4);
            self.put(&mut binary, 97, 0x0102_0304, 4);
            let size = if self.revision == (2, 0) { 4 } else { 2 };
            self.put(&mut binary, 307, self.additional.into(), size);
            self.put(&mut binary, 313, self.traces.len() as u64, 8);
            self.put(&mut binary, 329, self.trailers.into(), 4);
        }
        file.extend(binary);
        for record in 0..self.extended {
            let text = if record + 1 == self.extended { "((SEG: EndText))" } else { "((NOBODY: Notes 1.0))" };
            file.extend(text.bytes());
            file.resize(file.len() + 3200 - text.len(), b' ');
        }
        let mut random = 1_u32;
        let mut next = || {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            random >> 4
        };
        for (number, &[inline, crossline, offset]) in self.traces.iter().enumerate() {
            let mut header = [0; 240];
            self.put(&mut header, 1, number as u64 + 1, 4);
            self.put(&mut header, 37, u64::from(offset.cast_unsigned()), 4);
            self.put(&mut header, 71, u64::from((-10_i16).cast_unsigned()), 2);
            self.put(&mut header, 115, u64::from(self.samples.min(0xFFFF)), 2);
            self.put(&mut header, 117, 4000, 2);
            self.put(&mut header, 181, u64::from((inline * 250).cast_unsigned()), 4);
            self.put(&mut header, 185, u64::from((crossline * 125).cast_unsigned()), 4);
            self.put(&mut header, 189, u64::from(inline.cast_unsigned()), 4);
            self.put(&mut header, 193, u64::from(crossline.cast_unsigned()), 4);
            file.extend(header);
            file.extend(std::iter::repeat_n(0x5A, 240 * usize::from(self.additional)));
            for _ in 0..self.samples {
                let word = u64::from(next());
                let value = match self.format {
                    // A sign, an exponent near that of 1, and a fraction whose first digit is not zero.
                    1 => word & 0x8007_FFFF | 0x4150_0000,
                    5 => word & 0x807F_FFFF | 0x3F00_0000,
                    _ => word << 32 | word,
                };
                let size = self.sample_bytes();
                let mask = if size == 8 { u64::MAX } else { (1 << (8 * size)) - 1 };
                file.extend(self.number(value & mask, size));
            }
        }
        for _ in 0..self.trailers {
            file.extend(std::iter::repeat_n(0x7E, 3200));
        }
        file
    }
}
