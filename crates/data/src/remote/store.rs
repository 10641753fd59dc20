//! The client of the store that an address names.

use super::{DatasetUrl, RemoteError, Scheme};
use object_store::{
    ClientConfigKey, ClientOptions, HeaderMap, HeaderValue, ObjectStore,
    aws::{AmazonS3Builder, AmazonS3ConfigKey},
    azure::{AzureConfigKey, MicrosoftAzureBuilder},
    gcp::{GoogleCloudStorageBuilder, GoogleConfigKey},
    http::HttpBuilder,
};
use std::sync::Arc;

/// The time that a request may take, and that a connection may be silent before the download
/// continues on another. By default, a download would have to end within 30 s.
const LIMITS: [(ClientConfigKey, &str); 2] =
    [(ClientConfigKey::Timeout, "7 days"), (ClientConfigKey::ReadTimeout, "60 s")];

/// Creates the client of a bucket, container or host. Credentials, regions and endpoints come from
/// the environment (`AWS_*`, `GOOGLE_*`, `AZURE_*`).
pub(super) fn connect(url: &DatasetUrl) -> Result<Arc<dyn ObjectStore>, RemoteError> {
    let bucket = format!("{}://{}", url.scheme().name(), url.authority());
    let store: Result<Arc<dyn ObjectStore>, _> = match url.scheme() {
        Scheme::S3 => {
            let set = |builder: AmazonS3Builder, (key, value)| {
                builder.with_config(AmazonS3ConfigKey::Client(key), value)
            };
            let builder = LIMITS.into_iter().fold(AmazonS3Builder::from_env(), set);
            builder.with_url(bucket).build().map(|store| Arc::new(store) as _)
        }
        Scheme::Gs => {
            let set = |builder: GoogleCloudStorageBuilder, (key, value)| {
                builder.with_config(GoogleConfigKey::Client(key), value)
            };
            let builder = LIMITS.into_iter().fold(GoogleCloudStorageBuilder::from_env(), set);
            builder.with_url(bucket).build().map(|store| Arc::new(store) as _)
        }
        Scheme::Az => {
            let set = |builder: MicrosoftAzureBuilder, (key, value)| {
                builder.with_config(AzureConfigKey::Client(key), value)
            };
            let builder = LIMITS.into_iter().fold(MicrosoftAzureBuilder::from_env(), set);
            builder.with_url(bucket).build().map(|store| Arc::new(store) as _)
        }
        Scheme::Http | Scheme::Https | Scheme::Hf => {
            let client = ClientOptions::new().with_allow_http(url.scheme() == Scheme::Http);
            return web(&bucket, client, &url.to_string());
        }
    };
    store.map_err(|source| RemoteError::Store { url: url.to_string(), source: source.into() })
}

/// Creates the client of a web server with everything under an address; `url` is its name in
/// errors.
pub(super) fn web(base: &str, client: ClientOptions, url: &str) -> Result<Arc<dyn ObjectStore>, RemoteError> {
    let client = LIMITS.into_iter().fold(client, |client, (key, value)| client.with_config(key, value));
    let store = HttpBuilder::new().with_url(base).with_client_options(client).build();
    store
        .map(|store| Arc::new(store) as _)
        .map_err(|source| RemoteError::Store { url: url.into(), source: source.into() })
}

/// Returns options that send a token with every request.
pub(super) fn with_token(client: ClientOptions, token: Option<&str>) -> ClientOptions {
    let header = token.and_then(|token| HeaderValue::from_str(&format!("Bearer {token}")).ok());
    match header {
        Some(mut header) => {
            header.set_sensitive(true);
            let mut headers = HeaderMap::new();
            headers.insert("authorization", header);
            client.with_default_headers(headers)
        }
        None => client,
    }
}
