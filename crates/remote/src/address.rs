//! Addresses of files on servers, and what of them may be shown.

use std::io;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::percent_decode_str;
use url::Url;

/// The protocols, by the scheme of a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protocol {
    Http,
    S3,
    Google,
    Azure,
}

/// The URL of a file.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) protocol: Protocol,
    pub(crate) url: String,
    /// The value of the header `Authorization` for the user in the URL.
    pub(crate) login: Option<String>,
    /// The bucket or container, and the key of the object in it. Both are empty for HTTP.
    pub(crate) bucket: String,
    pub(crate) key: String,
}

const SCHEMES: [(&str, Protocol); 5] = [
    ("http", Protocol::Http),
    ("https", Protocol::Http),
    ("s3", Protocol::S3),
    ("gs", Protocol::Google),
    ("az", Protocol::Azure),
];

/// Returns whether `text` is the URL of a file on a server: whether it begins with `http://`, `https://`,
/// `s3://`, `gs://` or `az://`.
///
/// ```
/// assert!(hyperslab_remote::is_url("s3://bucket/climate.h5"));
/// assert!(!hyperslab_remote::is_url("climate.h5:/surface"));
/// ```
pub fn is_url(text: &str) -> bool {
    protocol(text).is_some()
}

/// Returns the scheme of `text`, if it looks like a URL of which the scheme is not one of those that
/// [`is_url`] knows.
///
/// ```
/// assert_eq!(hyperslab_remote::unknown_scheme("ftp://server/climate.h5"), Some("ftp"));
/// assert_eq!(hyperslab_remote::unknown_scheme("https://server/climate.h5"), None);
/// assert_eq!(hyperslab_remote::unknown_scheme("folder/climate.h5"), None);
/// ```
pub fn unknown_scheme(text: &str) -> Option<&str> {
    let (scheme, _) = text.split_once("://")?;
    // One letter is a drive of Windows.
    let is_scheme = scheme.len() > 1
        && scheme.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && scheme.chars().all(|letter| letter.is_ascii_alphanumeric() || "+-.".contains(letter));
    (is_scheme && protocol(text).is_none()).then_some(scheme)
}

fn protocol(text: &str) -> Option<(Protocol, &str)> {
    let (scheme, rest) = text.split_once("://")?;
    let known = SCHEMES.iter().find(|(name, _)| scheme.eq_ignore_ascii_case(name));
    known.map(|(_, protocol)| (*protocol, rest))
}

impl Address {
    /// Parses a URL. The key of an object is taken as it is written: `%`, `?` and `#` are characters of it.
    ///
    /// Errors: `InvalidInput`.
    pub(crate) fn parse(text: &str) -> io::Result<Self> {
        let wrong = |why: &str| io::Error::new(io::ErrorKind::InvalidInput, why.to_owned());
        let (protocol, rest) = protocol(text)
            .ok_or_else(|| wrong("the URL of a file begins with http://, https://, s3://, gs:// or az://"))?;
        if protocol == Protocol::Http {
            let mut url =
                Url::parse(text).map_err(|error| wrong(&format!("the URL is not valid: {error}")))?;
            let login = login(&url);
            // A URL of HTTP has a host, so it may have no user.
            let _ = url.set_username("").and_then(|()| url.set_password(None));
            if url.path() == "/" {
                return Err(wrong("the URL names a server and no file: add the path of the file"));
            }
            return Ok(Self { protocol, url: url.into(), login, bucket: String::new(), key: String::new() });
        }
        match rest.split_once('/') {
            Some((bucket, key)) if !bucket.is_empty() && !key.split('/').any(str::is_empty) => {
                let (bucket, key) = (bucket.to_owned(), key.to_owned());
                Ok(Self { protocol, url: text.to_owned(), login: None, bucket, key })
            }
            _ => Err(wrong(
                "the URL must name a bucket and a key without empty parts, as in s3://bucket/folder/file.h5",
            )),
        }
    }
}

/// Returns the value of the header for the user and the password of a URL.
fn login(url: &Url) -> Option<String> {
    let decoded = |text| percent_decode_str(text).collect::<Vec<u8>>();
    let user = decoded(url.username());
    let password = url.password().map(decoded);
    let is_given = !user.is_empty() || password.is_some();
    let text = [user, b":".to_vec(), password.unwrap_or_default()].concat();
    is_given.then(|| format!("Basic {}", STANDARD.encode(text)))
}

/// Returns `url` without user names, passwords, and queries, which may hold signatures and tokens.
///
/// ```
/// let url = "https://user:secret@example.org/climate.h5?token=secret";
/// assert_eq!(hyperslab_remote::without_secrets(url), "https://example.org/climate.h5");
/// ```
pub fn without_secrets(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let is_http = matches!(protocol(url), Some((Protocol::Http, _)) | None);
    let rest = if is_http { rest.split(['?', '#']).next().unwrap_or_default() } else { rest };
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    // The container of an Azure URL precedes the account.
    let host = if is_http { host.rsplit('@').next().unwrap_or_default() } else { host };
    format!("{scheme}://{host}{path}")
}

/// Returns a message of a server or of a library without the secrets of the URLs in it, and not too long.
pub(crate) fn scrubbed(message: &str) -> String {
    let words = message.split_inclusive(char::is_whitespace).map(|word| {
        let Some(start) = ["http://", "https://"].iter().filter_map(|scheme| word.find(scheme)).min() else {
            return word.to_owned();
        };
        let (before, url) = word.split_at(start);
        let after =
            &url[url.trim_end_matches(|c: char| c.is_whitespace() || ")]}>,;:\"'".contains(c)).len()..];
        format!("{before}{}{after}", without_secrets(&url[..url.len() - after.len()]))
    });
    words.collect::<String>().trim().chars().take(LONGEST_MESSAGE).collect()
}

/// The most characters of a message of a server, which may be a whole page.
const LONGEST_MESSAGE: usize = 500;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_parsed() {
        let parsed = |url: &str| Address::parse(url).unwrap();
        let s3 = parsed("S3://bucket/a/b c%20d?e#f.h5");
        assert_eq!((s3.bucket.as_str(), s3.key.as_str()), ("bucket", "a/b c%20d?e#f.h5"));
        assert_eq!(s3.protocol, Protocol::S3);
        let with_user = parsed("http://m%65:p%20w@host/f");
        assert_eq!(
            (with_user.url.as_str(), with_user.login.as_deref()),
            ("http://host/f", Some("Basic bWU6cCB3"))
        );
        assert_eq!(parsed("https://host/a b.h5?x=1").url, "https://host/a%20b.h5?x=1");
        assert_eq!(parsed("az://container@account/f.h5").bucket, "container@account");
        for wrong in [
            "ftp://host/f.h5",
            "climate.h5",
            "s3://bucket",
            "s3://bucket/",
            "gs:///key",
            "http://h",
            "s3://b//k",
            "s3://b/k/",
        ] {
            let error = Address::parse(wrong).err().unwrap();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{wrong}");
        }
    }

    #[test]
    fn secrets_are_not_shown() {
        let message =
            "Error performing GET http://me:pass@host:80/a/b.h5?sig=pass in 1s (https://x/y?pass): no";
        assert_eq!(scrubbed(message), "Error performing GET http://host:80/a/b.h5 in 1s (https://x/y): no");
        assert_eq!(without_secrets("http://me:pa@ss@host/f#pass"), "http://host/f");
        assert_eq!(without_secrets("s3://bucket/a?b"), "s3://bucket/a?b", "a key is no query");
        assert_eq!(scrubbed(&"é".repeat(10_000)).chars().count(), LONGEST_MESSAGE);
    }
}
