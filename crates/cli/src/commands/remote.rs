//! Datasets at remote addresses: downloaded before anything else, with a progress bar.

use crate::commands::output::note;
use indicatif::{HumanBytes, ProgressBar, ProgressStyle};
use isochrone::data::{
    HubFolders,
    remote::{CacheOptions, DatasetUrl, fetch},
};
use std::{
    borrow::Cow,
    path::{Path, PathBuf},
};

/// Returns the local path of a dataset. A path on this machine is returned as it is, and an id of
/// the Hugging Face hub is looked up on this machine, without any access to the network; an address
/// is downloaded into the cache, unless it is there already.
pub fn local(path: &Path) -> anyhow::Result<Cow<'_, Path>> {
    match DatasetUrl::of_path(path).map_err(isochrone::data::DataError::from)? {
        Some(url) => download(&url).map(Cow::Owned),
        None => Ok(HubFolders::from_env().resolve(path)?),
    }
}

/// Returns the path of a dataset; an id of the Hugging Face hub is looked up on this machine. An
/// address stays an address.
#[cfg(feature = "learn")]
pub fn found(path: &Path) -> anyhow::Result<Cow<'_, Path>> {
    match DatasetUrl::of_path(path).map_err(isochrone::data::DataError::from)? {
        Some(_) => Ok(path.into()),
        None => Ok(HubFolders::from_env().resolve(path)?),
    }
}

/// Returns the local path of the data that a run was trained on; `hint` names what to do if they
/// are not there anymore.
#[cfg(feature = "learn")]
pub fn trained_on<'a>(path: &'a Path, hint: &str) -> anyhow::Result<Cow<'a, Path>> {
    let path = local(path)?;
    let name = path.display();
    anyhow::ensure!(path.exists(), "{name}: the training data of the run are not there; hint: {hint}");
    Ok(path)
}

fn download(url: &DatasetUrl) -> anyhow::Result<PathBuf> {
    let style = "{spinner} {msg} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left";
    let style = ProgressStyle::with_template(style).expect("the template is well formed");
    let bar = ProgressBar::new(0).with_style(style).with_message(url.to_string());
    let fetched = fetch(url, &CacheOptions::from_env()?, &mut |progress| {
        bar.set_length(progress.bytes_total);
        bar.set_position(progress.bytes_done);
    });
    bar.finish_and_clear();
    let fetched = fetched?;
    for name in &fetched.replaced {
        note(&format!("{url}: {name} was corrupt in the cache and was downloaded again"));
    }
    if fetched.downloaded_bytes > 0 {
        let (new, files) = (HumanBytes(fetched.downloaded_bytes), fetched.files);
        let before = HumanBytes(fetched.cached_bytes + fetched.resumed_bytes);
        note(&format!("{url}: {files} files, {new} downloaded, {before} from the cache"));
    }
    Ok(fetched.path)
}
