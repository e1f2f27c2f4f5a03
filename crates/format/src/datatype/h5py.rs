//! The datatypes that h5py makes of NumPy's booleans and complex numbers, which HDF5 has not, or had not.

use super::{Compound, Datatype, Enumeration, Float};

impl Enumeration {
    /// Returns whether this is h5py's boolean type: FALSE and TRUE in one byte.
    pub fn is_bool(&self) -> bool {
        let is = |index: usize, name: &str, value: u8| matches!(self.members.get(index), Some((found, bytes)) if found == name && bytes[..] == [value]);
        self.members.len() == 2 && is(0, "FALSE", 0) && is(1, "TRUE", 1)
    }
}

impl Compound {
    /// Returns the type of the parts, if this is h5py's complex type: `r` and `i`, two equal floats.
    pub fn complex_parts(&self) -> Option<&Float> {
        let [re, im] = &self.members[..] else { return None };
        match (&re.datatype, &im.datatype) {
            (Datatype::Float(a), Datatype::Float(b)) if a == b && re.offset == 0 && im.offset == a.size => {
                Some(a).filter(|a| re.name == "r" && im.name == "i" && self.size == 2 * a.size)
            }
            _ => None,
        }
    }
}
