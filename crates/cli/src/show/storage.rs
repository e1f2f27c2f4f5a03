//! Descriptions of how a dataset is stored.

use hyperslab::Dataset;
use hyperslab_filters::FilterId;
use hyperslab_filters::registry::registered_name;
use hyperslab_format::message::filters::FilterSpec;

use super::{plain, shape};

/// Returns the layout, the chunk shape and the filters: `chunks (4, 4), shuffle, deflate 6`.
pub(crate) fn summary(dataset: &Dataset) -> String {
    let mut parts = vec![match dataset.chunk_shape() {
        Some(chunk) => format!("chunks {}", shape(&chunk)),
        None => layout(dataset).to_owned(),
    }];
    parts.extend(dataset.filters().filters.iter().map(filter));
    if let Some(most) = dataset.max_shape().filter(|most| !is_fixed(most, &dataset.shape())) {
        let sizes = most.iter().map(|size| size.map_or("None".to_owned(), |size| size.to_string()));
        parts.push(format!("max {}", super::tuple(sizes)));
    }
    parts.join(", ")
}

/// Returns the name of the layout, which for chunks is that of the chunk index.
pub(crate) fn layout(dataset: &Dataset) -> &'static str {
    if dataset.has_external_files() { "external" } else { dataset.layout().name() }
}

/// Returns the usual name of a filter, with its level if it has one.
pub(crate) fn filter(filter: &FilterSpec) -> String {
    let name = match (registered_name(FilterId(filter.id)), &filter.name) {
        (Some(known), _) => known.to_owned(),
        (None, Some(name)) => format!("{} ({})", plain(name), filter.id),
        (None, None) => format!("filter {}", filter.id),
    };
    match (filter.id, &filter.client_data[..]) {
        (1 | 32015, [level, ..]) => format!("{name} {level}"),
        _ => name,
    }
}

fn is_fixed(most: &[Option<u64>], shape: &[u64]) -> bool {
    most.iter().zip(shape).all(|(most, size)| *most == Some(*size))
}
