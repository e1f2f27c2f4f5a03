//! Connections: a store for an address, with the settings that the caller and the environment give.

use std::io;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::http::HttpBuilder;
use object_store::path::Path;
use object_store::{
    BackoffConfig, ClientConfigKey, ClientOptions, HeaderMap, HeaderValue, ObjectStore, RetryConfig,
};
use rustls::crypto::{CryptoProvider, ring};

use crate::address::{Address, Protocol, scrubbed};
use crate::options::RemoteOptions;

/// A store, and the place of the file in it.
#[derive(Debug, Clone)]
pub(crate) struct Connection {
    pub(crate) store: Arc<dyn ObjectStore>,
    pub(crate) path: Path,
}

impl Connection {
    /// Makes a store for the file at `address`. Nothing is requested yet.
    ///
    /// Errors: `InvalidInput` for a setting that is unknown or has a wrong value.
    pub(crate) fn new(address: &Address, options: &RemoteOptions) -> io::Result<Self> {
        choose_cryptography();
        let (retry, settings) = split(options)?;
        let path = Path::parse(&address.key).map_err(|error| invalid(&error))?;
        let store: Arc<dyn ObjectStore> = match address.protocol {
            Protocol::Http => Arc::new(http(address, &settings, retry)?),
            Protocol::S3 => {
                let mut builder =
                    AmazonS3Builder::from_env().with_bucket_name(&address.bucket).with_retry(retry);
                for (key, value) in defaults() {
                    builder = builder.with_config(AmazonS3ConfigKey::Client(key), value);
                }
                for (name, value) in settings {
                    builder = builder.with_config(key(name)?, value);
                }
                Arc::new(builder.build().map_err(|error| invalid(&error))?)
            }
            Protocol::Google => {
                let mut builder =
                    GoogleCloudStorageBuilder::from_env().with_bucket_name(&address.bucket).with_retry(retry);
                for (key, value) in defaults() {
                    builder = builder.with_config(GoogleConfigKey::Client(key), value);
                }
                for (name, value) in settings {
                    builder = builder.with_config(key(name)?, value);
                }
                Arc::new(builder.build().map_err(|error| invalid(&error))?)
            }
            Protocol::Azure => {
                let mut builder = MicrosoftAzureBuilder::from_env()
                    .with_url(format!("az://{}/", address.bucket))
                    .with_retry(retry);
                for (key, value) in defaults() {
                    builder = builder.with_config(AzureConfigKey::Client(key), value);
                }
                for (name, value) in settings {
                    builder = builder.with_config(key(name)?, value);
                }
                Arc::new(builder.build().map_err(|error| invalid(&error))?)
            }
        };
        Ok(Self { store, path })
    }
}

/// Gives TLS the cryptography of ring in this process, unless the program has chosen one.
fn choose_cryptography() {
    if CryptoProvider::get_default().is_none() {
        // An error says that another thread was faster: it has chosen then.
        drop(ring::default_provider().install_default());
    }
}

/// Returns the store of one file on a web server: its URL is that of the file, with the query.
fn http(
    address: &Address,
    settings: &[(&str, &str)],
    retry: RetryConfig,
) -> io::Result<object_store::http::HttpStore> {
    let mut client = ClientOptions::new().with_allow_http(true);
    let mut authorization = address.login.clone();
    for (key, value) in defaults() {
        client = client.with_config(key, value);
    }
    for &(name, value) in settings {
        if name == "bearer_token" {
            authorization = Some(format!("Bearer {value}"));
        } else {
            client = client.with_config(key(name)?, value);
        }
    }
    if let Some(value) = authorization {
        let mut value = HeaderValue::from_str(&value).map_err(|_| wrong_value("bearer_token"))?;
        value.set_sensitive(true);
        let mut headers = HeaderMap::new();
        headers.insert("authorization", value);
        client = client.with_default_headers(headers);
    }
    let builder = HttpBuilder::new().with_url(&address.url).with_client_options(client).with_retry(retry);
    builder.build().map_err(|error| invalid(&error))
}

/// The timeouts that a caller does not set. No limit is set for a whole response: a large range over a slow
/// connection may take long, as long as bytes arrive.
fn defaults() -> [(ClientConfigKey, &'static str); 3] {
    [
        (ClientConfigKey::ConnectTimeout, "10 seconds"),
        (ClientConfigKey::ReadTimeout, "30 seconds"),
        (ClientConfigKey::Timeout, "1 hour"),
    ]
}

/// Splits the settings into those of retries and those of the store.
fn split(options: &RemoteOptions) -> io::Result<(RetryConfig, Vec<(&str, &str)>)> {
    let backoff = BackoffConfig { max_backoff: Duration::from_secs(5), ..BackoffConfig::default() };
    let mut retry = RetryConfig { backoff, max_retries: 5, retry_timeout: Duration::from_secs(60) };
    let mut settings = Vec::new();
    for (name, value) in &options.storage {
        match name.as_str() {
            "max_retries" => retry.max_retries = value.parse().map_err(|_| wrong_value(name))?,
            "retry_timeout" => {
                let seconds: f64 = value.parse().map_err(|_| wrong_value(name))?;
                retry.retry_timeout = Duration::try_from_secs_f64(seconds).map_err(|_| wrong_value(name))?;
            }
            _ => settings.push((name.as_str(), value.as_str())),
        }
    }
    Ok((retry, settings))
}

/// Returns the setting of a store with this name.
fn key<K: FromStr>(name: &str) -> io::Result<K> {
    name.to_ascii_lowercase().parse().map_err(|_| {
        let why = format!("storage_options: {name:?} is not an option of this kind of server");
        io::Error::new(io::ErrorKind::InvalidInput, why)
    })
}

fn wrong_value(name: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidInput,
        format!("storage_options: the value of {name:?} is not valid"),
    )
}

fn invalid(error: &dyn std::error::Error) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, scrubbed(&error.to_string()))
}
