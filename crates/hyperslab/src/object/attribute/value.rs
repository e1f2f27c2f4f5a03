//! Attribute values as Rust types.

use hyperslab_error::{Error, RequestError, Result};
use hyperslab_format::message::dataspace::Dataspace;

use super::Attribute;
use crate::object::element::Element;
use crate::object::{File, Object};

/// A value for an attribute: a number, `bool`, a string, a struct or enum with `#[derive(Element)]`, or an
/// array, slice or vector of these, which makes one dimension.
pub trait AttributeValue {
    /// Returns the attribute `name` with this value. Data of variable length are written to the file.
    #[doc(hidden)]
    fn attribute(&self, name: &str, file: &File) -> Result<Attribute>;
}

/// Returns a scalar attribute with the value of one element.
pub fn scalar<T: Element>(name: &str, file: &File, element: &[T]) -> Result<Attribute> {
    let (name, data) = (name.to_owned(), T::encode(file, element)?);
    Ok(Attribute { name, datatype: T::datatype(), dataspace: Dataspace::Scalar, data })
}

fn list<T: Element>(name: &str, file: &File, elements: &[T]) -> Result<Attribute> {
    let dataspace = Dataspace::Simple { shape: vec![elements.len() as u64], max_shape: None };
    Ok(Attribute { dataspace, ..scalar(name, file, elements)? })
}

macro_rules! scalars {
    ($($kind:ty)*) => {$(
        impl AttributeValue for $kind {
            fn attribute(&self, name: &str, file: &File) -> Result<Attribute> {
                scalar(name, file, std::slice::from_ref(self))
            }
        }
    )*};
}

scalars! { i8 u8 i16 u16 i32 u32 i64 u64 half::f16 half::bf16 f32 f64 bool String }

impl AttributeValue for &str {
    fn attribute(&self, name: &str, file: &File) -> Result<Attribute> {
        scalar(name, file, &[(*self).to_owned()])
    }
}

impl AttributeValue for &String {
    fn attribute(&self, name: &str, file: &File) -> Result<Attribute> {
        self.as_str().attribute(name, file)
    }
}

impl AttributeValue for Vec<&str> {
    fn attribute(&self, name: &str, file: &File) -> Result<Attribute> {
        self.as_slice().attribute(name, file)
    }
}

impl AttributeValue for &[&str] {
    fn attribute(&self, name: &str, file: &File) -> Result<Attribute> {
        list(name, file, &self.iter().map(|&text| text.to_owned()).collect::<Vec<_>>())
    }
}

impl<const N: usize> AttributeValue for [&str; N] {
    fn attribute(&self, name: &str, file: &File) -> Result<Attribute> {
        self.as_slice().attribute(name, file)
    }
}

impl<T: Element> AttributeValue for &[T] {
    fn attribute(&self, name: &str, file: &File) -> Result<Attribute> {
        list(name, file, self)
    }
}

impl<T: Element, const N: usize> AttributeValue for [T; N] {
    fn attribute(&self, name: &str, file: &File) -> Result<Attribute> {
        list(name, file, self)
    }
}

impl<T: Element> AttributeValue for Vec<T> {
    fn attribute(&self, name: &str, file: &File) -> Result<Attribute> {
        list(name, file, self)
    }
}

impl Object {
    /// Sets the attribute `name`. Replaces an attribute of the same name.
    ///
    /// ```
    /// # fn main() -> hyperslab::Result<()> {
    /// # let file = hyperslab::File::in_memory()?;
    /// let root = file.root();
    /// root.set_attribute("station", "Hohenpeißenberg")?;
    /// root.set_attribute("height", 977)?;
    /// root.set_attribute("position", [47.8, 11.0])?;
    /// assert_eq!(root.attribute_value::<String>("station")?, "Hohenpeißenberg");
    /// assert_eq!(root.attribute_values::<f32>("position")?, [47.8, 11.0]);
    /// # Ok(()) }
    /// ```
    ///
    /// Errors: `Request` if the name is empty or the value too large; `Io` if the medium fails.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "values are written in the call: 1.5, \"text\", [1, 2]"
    )]
    pub fn set_attribute(&self, name: &str, value: impl AttributeValue) -> Result<()> {
        let _storing = self.file().storing();
        let attribute = value.attribute(name, self.file()).map_err(|error| error.at(self.path()))?;
        self.put_attribute(&attribute)
    }

    /// Returns the single element of the attribute `name`, converted to `T` if it has another type.
    ///
    /// Errors: `Request` if there is no such attribute, if it has not exactly one element, if the element
    /// cannot be converted, if it lacks a member of a record, if an enum lacks a stored name, or if a number
    /// is not a variant ([`NotAValue`](RequestError::NotAValue)).
    ///
    /// ```
    /// let file = hyperslab::File::in_memory()?;
    /// file.root().set_attribute("scale", 0.5_f32)?;
    /// assert_eq!(file.root().attribute_value::<f64>("scale")?, 0.5);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn attribute_value<T: Element>(&self, name: &str) -> Result<T> {
        let values = self.attribute_values(name)?;
        let (count, mut values) = (values.len(), values.into_iter());
        if let (Some(value), None) = (values.next(), values.next()) {
            return Ok(value);
        }
        let what = format!("attribute {name:?} of {count} elements");
        let why = "not exactly one element: read it with `attribute_values`";
        Err(Error::from(RequestError::Argument { what, why }).at(self.path()))
    }

    /// Returns the elements of the attribute `name` in row-major order, converted to `T` if they have another
    /// type.
    ///
    /// Errors: `Request` if there is no such attribute, if its elements cannot be converted, if they lack a
    /// member of a record, if an enum lacks a stored name, or if a number is not a variant
    /// ([`NotAValue`](RequestError::NotAValue)).
    ///
    /// ```
    /// let file = hyperslab::File::in_memory()?;
    /// file.root().set_attribute("authors", ["Ada", "Grace"])?;
    /// assert_eq!(file.root().attribute_values::<String>("authors")?, ["Ada", "Grace"]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn attribute_values<T: Element>(&self, name: &str) -> Result<Vec<T>> {
        let _kept = self.file().reading_vlen();
        let attribute = self.attribute(name)?;
        T::decode(self.file(), &attribute.datatype, &attribute.data).map_err(|error| error.at(self.path()))
    }
}
