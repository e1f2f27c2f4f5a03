//! Which dataset is meant, and what its axes are called.

use hyperslab::{Dataset, File, Node, Walk};

use crate::error::Usage;
use crate::show::{plain, shape};

/// The dataset at `path`; if none is said, the only one of two or more dimensions, or the only one with one of the usual names.
pub(super) fn dataset(file: &File, path: Option<&str>) -> anyhow::Result<Dataset> {
    if let Some(path) = path {
        return Ok(file.get(path)?.into_dataset()?);
    }
    let mut found: Vec<(String, Dataset)> = Vec::new();
    for step in Walk::new(&file.root()).flatten() {
        if let Some(Node::Dataset(dataset)) = step.new_node()
            && dataset.shape().len() >= 2
        {
            found.push((step.path.to_string(), dataset.clone()));
        }
    }
    let is_usual = |path: &str| path.rsplit('/').next().is_some_and(|name| USUAL.contains(&name));
    let mut usual = found.iter().filter(|(path, _)| is_usual(path));
    match (&found[..], usual.next(), usual.next()) {
        ([(_, only)], _, _) | (_, Some((_, only)), None) => Ok(only.clone()),
        ([], _, _) => Err(Usage(
            "the file has no dataset of two or more dimensions; name one: tune FILE DATASET".to_owned(),
        )
        .into()),
        _ => {
            let shown = found
                .iter()
                .take(LISTED)
                .map(|(path, dataset)| format!("/{} {}", plain(path), shape(&dataset.shape())));
            let more = if found.len() > LISTED { ", ..." } else { "" };
            let list = shown.collect::<Vec<_>>().join(", ");
            Err(Usage(format!("the file has several datasets; name one of {list}{more}: tune FILE DATASET"))
                .into())
        }
    }
}

/// The names of a dataset's axes: of the dimension scales that are attached to them.
pub(super) fn axis_names(dataset: &Dataset) -> Vec<Option<String>> {
    // Names are a convenience: axes whose scales cannot be read have their numbers.
    let name = |axis| {
        let scales = dataset.scales(axis).ok()?;
        let path = dataset.file().path_of(scales.first()?.address()).ok()??;
        path.rsplit('/').next().map(str::to_owned)
    };
    (0..dataset.shape().len()).map(name).collect()
}

/// What the array of a file is usually called.
const USUAL: [&str; 2] = ["data", "amplitude"];
/// Datasets that are named in an error.
const LISTED: usize = 20;
