//! h5py's driver "ros3", which reads from S3, in terms of files on servers.

use pyo3::exceptions::{PyNotImplementedError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

/// The keywords of the driver, and the settings of a store that they are. The first is that of the region.
const KEYWORDS: [(&str, &str); 4] = [
    ("aws_region", "aws_region"),
    ("secret_id", "aws_access_key_id"),
    ("secret_key", "aws_secret_access_key"),
    ("session_token", "aws_session_token"),
];

/// Replaces the keywords of the driver by `storage_options`. As in h5py, access without `secret_id` is
/// anonymous, whatever the environment has.
pub(super) fn resolve(url: &str, kwds: &Bound<'_, PyDict>) -> PyResult<()> {
    let settings = PyDict::new(kwds.py());
    for (keyword, setting) in KEYWORDS {
        let Some(value) = kwds.get_item(keyword)? else { continue };
        kwds.del_item(keyword)?;
        let text = match value.cast::<PyBytes>() {
            Ok(bytes) => String::from_utf8_lossy(bytes.as_bytes()).into_owned(),
            Err(_) => value.extract()?,
        };
        if !text.is_empty() {
            settings.set_item(setting, text)?;
        }
    }
    let is_signed = settings.contains("aws_access_key_id")?;
    if url.starts_with("s3://") {
        if !settings.contains("aws_region")? {
            return Err(PyValueError::new_err("AWS region required for s3:// location"));
        }
        if !is_signed {
            settings.set_item("skip_signature", true)?;
        }
        kwds.set_item("storage_options", settings)?;
    } else if is_signed {
        return Err(PyNotImplementedError::new_err(
            "signed requests to an https:// URL: name the object by s3://bucket/key, with the keyword aws_region",
        ));
    }
    Ok(())
}
