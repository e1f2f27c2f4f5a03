//! The names of the axes of arrays, from dimension scales, as xarray expects them.

use std::collections::HashMap;

use hyperslab::{Addr, Dataset, Group, Walk};

/// The text by which netCDF-4 marks a dimension that is no variable.
const ONLY_A_DIMENSION: &[u8] = b"This is a netCDF dimension but not a netCDF variable";

/// The names of datasets, by address.
#[derive(Debug, Default)]
pub(super) struct Dims(HashMap<Addr, String>);

impl Dims {
    /// Looks up the names of all datasets below a group. Those that cannot be read have none.
    pub(super) fn of(root: &Group) -> hyperslab::Result<Self> {
        let mut names = HashMap::new();
        for step in Walk::new(root) {
            let step = step.map_err(|(_, error)| error)?;
            if let Some(node) = step.new_node() {
                names.insert(node.address(), step.link.name.clone());
            }
        }
        Ok(Self(names))
    }

    /// Returns the names of the axes of a dataset, and of `more` axes behind them.
    ///
    /// An axis has the name of its first scale, without the groups above it, for xarray finds dimensions of
    /// outer groups by name. Axes without a scale are numbered, as kerchunk does.
    pub(super) fn names(&self, path: &str, dataset: &Dataset, more: usize) -> hyperslab::Result<Vec<String>> {
        let rank = dataset.shape().len();
        let is_scale = dataset.is_scale()?;
        let mut names = Vec::with_capacity(rank + more);
        for axis in 0..rank + more {
            let phony = || format!("phony_dim_{axis}");
            names.push(if axis >= rank {
                phony()
            } else if is_scale {
                let own = path.rsplit('/').next().unwrap_or(path);
                if axis == 0 { own.to_owned() } else { phony() }
            } else {
                let scales = dataset.scales(axis)?;
                scales.first().and_then(|scale| self.0.get(&scale.address()).cloned()).unwrap_or_else(phony)
            });
        }
        Ok(names)
    }
}

/// Returns whether a dataset is nothing but the name and the length of a dimension of netCDF.
pub(super) fn is_only_a_dimension(dataset: &Dataset) -> hyperslab::Result<bool> {
    Ok(dataset.is_scale()? && dataset.scale_name()?.starts_with(ONLY_A_DIMENSION))
}
