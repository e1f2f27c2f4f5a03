//! The names of the axes of datasets, by the rules of the netCDF library ("NetCDF-4 Format" of the netCDF
//! User's Guide): those of dimension scales, and `phony_dim_N` where there is no scale.
//!
//! A dimension of a group is a scale in it. An axis without a scale takes the first dimension of its group
//! that has its length and its limit, and that no other axis of the dataset has. If there is none, the group
//! gets a new dimension, whose number is that of the dimensions in the whole file. Groups below another take
//! theirs before it, and the datasets of a group do in the order of its links.

use std::collections::{HashMap, HashSet};

use hyperslab_error::{Error, Result};
use hyperslab_format::Addr;
use hyperslab_format::datatype::Datatype;
use hyperslab_io::os;

use super::{Dataset, File, Group, Node};

/// The number that netCDF-4 gives to a dimension.
const NUMBER: &str = "_Netcdf4Dimid";
/// The numbers of the dimensions of a scale with several axes.
const NUMBERS: &str = "_Netcdf4Coordinates";

/// The text by which netCDF-4 marks a dimension that is no variable.
const ONLY_A_DIMENSION: &[u8] = b"This is a netCDF dimension but not a netCDF variable";

impl Dataset {
    /// Returns whether the dataset is nothing but the name and the length of a netCDF dimension.
    pub fn is_only_a_dimension(&self) -> Result<bool> {
        Ok(self.is_scale()? && self.scale_name()?.starts_with(ONLY_A_DIMENSION))
    }
}

/// The names of the axes of all datasets below a group.
///
/// ```
/// use hyperslab::{AxisNames, File};
///
/// let file = File::in_memory()?;
/// let root = file.root();
/// root.new_dataset::<f32>("t2m").shape([4, 3]).create()?;
/// root.new_dataset::<f64>("time").shape([4]).create()?.make_scale("time")?;
/// file.dataset("t2m")?.attach_scale(0, &file.dataset("time")?)?;
/// let mut names = AxisNames::below(&root)?;
/// assert_eq!(names.of(&root, "t2m", &[]).unwrap(), ["time", "phony_dim_1"]);
/// # Ok::<(), hyperslab::Error>(())
/// ```
#[derive(Debug)]
pub struct AxisNames {
    /// The groups, each before those below it.
    groups: Vec<Members>,
    by_address: HashMap<FileAddr, usize>,
    /// What identifies each file: the root's own, and those behind external links. A file that is not on a
    /// disk can only be the first.
    files: Vec<Option<(u64, u64)>>,
    /// The number of the next dimension.
    next: u64,
}

/// The number of a file, and an address in it.
type FileAddr = (usize, Addr);

/// The dimensions and the datasets of a group.
#[derive(Debug, Default)]
struct Members {
    above: Option<usize>,
    below: Vec<usize>,
    dimensions: Vec<Dimension>,
    /// The places of the dimensions of each length and limit.
    by_extent: HashMap<(u64, bool), Vec<usize>>,
    /// The names of the dimensions.
    taken: HashSet<String>,
    datasets: Vec<(String, Axes)>,
    by_name: HashMap<String, usize>,
}

impl Members {
    fn add(&mut self, dimension: Dimension) {
        let extent = (dimension.len, dimension.is_unlimited);
        self.by_extent.entry(extent).or_default().push(self.dimensions.len());
        self.taken.insert(dimension.name.clone());
        self.dimensions.push(dimension);
    }
}

#[derive(Debug)]
struct Dimension {
    name: String,
    len: u64,
    is_unlimited: bool,
    number: u64,
    /// The dimension scale, if there is one.
    scale: Option<FileAddr>,
}

impl Dimension {
    /// Returns whether an axis of this length may be the dimension: an unlimited one may be longer.
    fn may_have(&self, len: u64) -> bool {
        self.is_unlimited || self.len == len
    }
}

/// What names the axes of a dataset, and in the end their names.
#[derive(Debug)]
struct Axes {
    /// The length of each axis, and whether it is unlimited.
    lens: Vec<(u64, bool)>,
    source: AxisSource,
    /// Whether the netCDF library reads the datatype. It skips the other datasets.
    is_known: bool,
    names: Vec<String>,
}

#[derive(Debug)]
enum AxisSource {
    /// The file of the dataset, and the scales of each axis.
    Scales(usize, Vec<Vec<Addr>>),
    /// A scale itself, whose first axis has its name.
    Itself,
    /// The numbers of dimensions.
    Numbers(Vec<u64>),
}

impl AxisNames {
    /// Reads the names of the axes of all datasets below a group, which is the root for those of the whole
    /// file. Datasets that cannot be read have none. Files behind external links count as parts of it.
    ///
    /// Errors: those of the medium.
    pub fn below(root: &Group) -> Result<Self> {
        let files = vec![identity(root.file())];
        let mut found = Self { groups: Vec::new(), by_address: HashMap::new(), files, next: 0 };
        // An explicit stack, because groups may be nested more deeply than calls.
        let mut waiting = vec![(root.clone(), 0, None)];
        while let Some((group, file, above)) = waiting.pop() {
            if found.by_address.contains_key(&(file, group.address())) {
                continue;
            }
            let number = found.groups.len();
            found.by_address.insert((file, group.address()), number);
            found.groups.push(Members { above, ..Members::default() });
            if let Some(above) = above {
                found.groups[above].below.push(number);
            }
            let groups = found.members(number, &group, file)?;
            waiting.extend(groups.into_iter().rev().map(|(group, file)| (group, file, Some(number))));
        }
        for number in found.innermost_first() {
            for at in 0..found.groups[number].datasets.len() {
                found.name(number, at, true);
            }
        }
        for number in found.innermost_first() {
            for at in 0..found.groups[number].datasets.len() {
                found.name(number, at, false);
            }
        }
        Ok(found)
    }

    /// Returns the names of the axes of the dataset `name` in a group, and of axes of these lengths behind
    /// them. `None` if the dataset was not there or could not be read.
    pub fn of(&mut self, group: &Group, name: &str, more: &[u64]) -> Option<Vec<String>> {
        let file = identity(group.file());
        let file = self.files.iter().position(|known| *known == file)?;
        let number = *self.by_address.get(&(file, group.address()))?;
        let members = &self.groups[number];
        let mut names = members.datasets[*members.by_name.get(name)?].1.names.clone();
        for &len in more {
            names.push(self.phony(number, (len, false), &names));
        }
        Some(names)
    }

    /// Reads the members of a group in a file, and returns the groups among them with their files.
    fn members(&mut self, number: usize, group: &Group, file: usize) -> Result<Vec<(Group, usize)>> {
        let mut groups = Vec::new();
        for link in readable(group.links())?.unwrap_or_default() {
            let Some(node) = readable(group.open_link(&link))? else { continue };
            let file = if node.file().is_same(group.file()) { file } else { self.file(node.file()) };
            match node {
                Node::Group(group) => groups.push((group, file)),
                Node::Dataset(dataset) => self.dataset(number, link.name, &dataset, file)?,
                Node::Datatype(_) => {}
            }
        }
        Ok(groups)
    }

    /// Returns the number of a file.
    fn file(&mut self, file: &File) -> usize {
        let file = identity(file);
        self.files.iter().position(|known| *known == file).unwrap_or_else(|| {
            self.files.push(file);
            self.files.len() - 1
        })
    }

    /// Reads what names the axes of a dataset of a group, which may be in another file.
    fn dataset(&mut self, number: usize, name: String, dataset: &Dataset, file: usize) -> Result<()> {
        let limits = dataset.max_shape();
        let is_unlimited = |axis: usize| limits.as_ref().is_some_and(|limits| limits[axis].is_none());
        let shape = dataset.shape();
        let lens: Vec<_> = shape.iter().enumerate().map(|(axis, &len)| (len, is_unlimited(axis))).collect();
        let is_scale = readable(dataset.is_scale())?.unwrap_or_default();
        let source = match lens.first() {
            Some(&(len, is_unlimited)) if is_scale => {
                let number_of = readable(dataset.attribute_value::<i64>(NUMBER))?;
                let given = number_of.and_then(|number| u64::try_from(number).ok());
                // Its length is that of its variables, and none of them is known yet.
                let is_open = is_unlimited && readable(dataset.is_only_a_dimension())?.unwrap_or_default();
                let dimension = Dimension {
                    name: name.clone(),
                    len: if is_open { 0 } else { len },
                    is_unlimited,
                    number: given.unwrap_or(self.next),
                    scale: Some((file, dataset.address())),
                };
                self.next = self.next.max(dimension.number.saturating_add(1));
                self.groups[number].add(dimension);
                match readable(dataset.attribute_values::<i64>(NUMBERS))? {
                    Some(numbers) if lens.len() > 1 && numbers.len() == lens.len() => AxisSource::Numbers(
                        numbers.into_iter().map(|number| u64::try_from(number).unwrap_or(u64::MAX)).collect(),
                    ),
                    _ => AxisSource::Itself,
                }
            }
            _ => AxisSource::Scales(file, readable(dataset.addresses_of_scales())?.unwrap_or_default()),
        };
        let datatype = dataset.datatype();
        let is_known =
            !datatype.any(&|t| matches!(t, Datatype::Reference(_) | Datatype::Bits(_) | Datatype::Time(_)));
        let members = &mut self.groups[number];
        members.by_name.insert(name.clone(), members.datasets.len());
        members.datasets.push((name, Axes { lens, source, is_known, names: Vec::new() }));
        Ok(())
    }

    /// Returns the numbers of the groups: those below a group before it.
    fn innermost_first(&self) -> Vec<usize> {
        // Backwards, each group is before those below it, and the last of these is the first.
        let (mut order, mut waiting) = (Vec::new(), vec![0]);
        while let Some(number) = waiting.pop() {
            order.push(number);
            waiting.extend(&self.groups[number].below);
        }
        order.reverse();
        order
    }

    /// Names the axes of a dataset.
    fn name(&mut self, number: usize, at: usize, is_known: bool) {
        let (name, axes) = &self.groups[number].datasets[at];
        if axes.is_known != is_known {
            return;
        }
        let lens = axes.lens.clone();
        let mut found: Vec<Option<String>> = match &axes.source {
            AxisSource::Itself => vec![Some(name.clone())],
            AxisSource::Numbers(numbers) => {
                let dims = numbers.iter().zip(&lens);
                dims.map(|(&dim, &(len, _))| {
                    self.nearest(number, |dimension| dimension.number == dim && dimension.may_have(len))
                })
                .collect()
            }
            AxisSource::Scales(file, scales) => scales
                .iter()
                .map(|scales| scales.iter().find_map(|&scale| self.scale(number, (*file, scale))))
                .collect(),
        };
        found.resize(lens.len(), None);
        let mut used: Vec<String> = found.iter().flatten().cloned().collect();
        let mut names = Vec::with_capacity(lens.len());
        for (known, len) in found.into_iter().zip(lens) {
            names.push(known.unwrap_or_else(|| {
                let name = self.phony(number, len, &used);
                used.push(name.clone());
                name
            }));
        }
        self.groups[number].datasets[at].1.names = names;
    }

    /// Returns the name of a scale: one that the group can see, or any.
    fn scale(&self, number: usize, scale: FileAddr) -> Option<String> {
        let is_it = |dimension: &Dimension| dimension.scale == Some(scale);
        self.nearest(number, is_it).or_else(|| {
            let all = self.groups.iter().flat_map(|group| &group.dimensions);
            all.clone().find(|dimension| is_it(dimension)).map(|dimension| dimension.name.clone())
        })
    }

    /// Returns the name of the first dimension for which `test` holds, in a group or those above it.
    fn nearest(&self, number: usize, test: impl Fn(&Dimension) -> bool) -> Option<String> {
        let mut at = Some(number);
        while let Some(group) = at.map(|at| &self.groups[at]) {
            if let Some(found) = group.dimensions.iter().find(|dimension| test(dimension)) {
                return Some(found.name.clone());
            }
            at = group.above;
        }
        None
    }

    /// Returns the name of a dimension for an axis without a scale, which has none of the `used` names.
    fn phony(&mut self, number: usize, (len, is_unlimited): (u64, bool), used: &[String]) -> String {
        let group = &mut self.groups[number];
        let alike = group.by_extent.get(&(len, is_unlimited)).into_iter().flatten();
        let mut names = alike.map(|&place| &group.dimensions[place].name);
        if let Some(name) = names.find(|name| !used.contains(name)) {
            return name.clone();
        }
        let name = loop {
            let name = format!("phony_dim_{}", self.next);
            let is_taken = group.taken.contains(&name) || group.by_name.contains_key(&name);
            if !is_taken && !used.contains(&name) {
                break name;
            }
            self.next += 1;
        };
        group.add(Dimension { name: name.clone(), len, is_unlimited, number: self.next, scale: None });
        self.next += 1;
        name
    }
}

/// Returns what identifies a file on a disk, however it was opened.
fn identity(file: &File) -> Option<(u64, u64)> {
    file.path().and_then(|path| os::identity_at(path).ok())
}

/// Returns the value, or `None` if the file does not have it or it cannot be read.
fn readable<T>(found: Result<T>) -> Result<Option<T>> {
    match found {
        Ok(value) => Ok(Some(value)),
        Err(error) => match error.root() {
            Error::Format(_) | Error::Request(_) | Error::Unsupported { .. } => Ok(None),
            _ => Err(error),
        },
    }
}
