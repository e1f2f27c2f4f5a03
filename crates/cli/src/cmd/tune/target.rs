//! Finds the dataset of the command, and the names of its axes.

use hyperslab::{Dataset, File, Node, Walk};

use crate::error::Usage;
use crate::indexes::Indexes;
use crate::show::{plain, shape};

/// Returns the dataset at `path`. Without a path, returns the only dataset of two or more dimensions, or the
/// only one of these with a usual name. The arrays of indexes count only if they are named.
pub(super) fn dataset(file: &File, path: Option<&str>) -> anyhow::Result<Dataset> {
    if let Some(path) = path {
        return Ok(file.get(path)?.into_dataset()?);
    }
    let mut found: Vec<(String, Dataset)> = Vec::new();
    let mut indexes = Indexes::default();
    for step in Walk::new(&file.root()).flatten() {
        if indexes.have(&step) {
            continue;
        }
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

/// Returns the names of a dataset's axes, from the attached dimension scales.
pub(super) fn axis_names(dataset: &Dataset) -> Vec<Option<String>> {
    // Names are a convenience. An axis whose scales cannot be read has only a number.
    let name = |axis| {
        let scales = dataset.scales(axis).ok()?;
        let path = dataset.file().path_of(scales.first()?.address()).ok()??;
        path.rsplit('/').next().map(str::to_owned)
    };
    (0..dataset.shape().len()).map(name).collect()
}

/// The usual names of the main array of a file.
const USUAL: [&str; 2] = ["data", "amplitude"];
/// The most datasets that an error lists.
const LISTED: usize = 20;
