//! Opens the members of a file and finds their places: first by what the caller says, then by what the file
//! states.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hyperslab_error::{Error, RequestError, Result, misfit};
use hyperslab_format::Addr;
use hyperslab_format::superblock::driver_information::{
    DriverBlock, DriverInformation, KINDS, MultiInformation,
};

use super::family::Family;
use super::folder::{Folders, NumberedFiles, of_member, open_writable};
use super::name::{self, Numbered};
use super::split::Split;
use super::{MemberFiles, Members, Missing, Placed};
use crate::driver::ahead::Medium;
use crate::driver::{Create, Driver, Locking, Posix};

/// The members of a file that were opened by the names that the caller gave.
#[derive(Debug)]
pub struct Arranged {
    path: PathBuf,
    locking: Locking,
    files: Files,
}

#[derive(Debug)]
enum Files {
    /// The members of a family in the order of their numbers, and the size that the caller gave.
    Family { name: Numbered, files: Vec<Arc<Posix>>, given: Option<u64> },
    /// The members by the kinds of their data, and the names of those of a split file.
    Multi { map: [u8; KINDS], files: BTreeMap<u8, Result<Arc<Posix>, Missing>>, split: Option<[Vec<u8>; 2]> },
}

impl Arranged {
    /// Opens the members of the file at `path`, of which `first` has the superblock. With `write`, they are
    /// opened for writing.
    ///
    /// Errors: a member cannot be opened, or the path is not that of such a file.
    pub fn open(path: &Path, members: &Members, first: Posix, locking: Locking, write: bool) -> Result<Self> {
        let first = Arc::new(first);
        let open = |path: &Path| {
            if write { open_writable(path, Create::No, locking).map(Arc::new) } else { open(path, locking) }
        };
        let files = match members {
            Members::Family { member_size } => {
                let name = absolute(path)?;
                let mut files = vec![first];
                loop {
                    match open(&name.of(files.len())) {
                        // Nothing is after an empty member. A program that died may have left one.
                        Ok(file) if file.len().map_err(Error::io("length", 0, 0))? == 0 => break,
                        Ok(file) => files.push(file),
                        Err(error) if error.kind() == io::ErrorKind::NotFound => break,
                        Err(error) => return Err(Error::io("open", 0, 0)(error)),
                    }
                }
                Files::Family { name, files, given: member_size.filter(|&size| size > 0) }
            }
            Members::Split { metadata, raw } => {
                let names = [(1, metadata.clone()), (3, raw.clone())];
                let split = Some([metadata, raw].map(|name| name::stating(name)));
                let files = Self::by_kind(1, &names, path, first, &open)?;
                Files::Multi { map: MultiInformation::SPLIT, files, split }
            }
            Members::Multi => {
                let names: Vec<_> = (1..)
                    .zip(LETTERS)
                    .map(|(kind, letter)| (kind, vec![b'-', letter, b'.', b'h', b'5']))
                    .collect();
                let files = Self::by_kind(1, &names, path, first, &open)?;
                Files::Multi { map: [1, 2, 3, 4, 5, 6], files, split: None }
            }
        };
        Ok(Self { path: path.to_owned(), locking, files })
    }

    /// Opens the members with these names. `first` is the one of the kind `own`.
    fn by_kind(
        own: u8,
        names: &[(u8, Vec<u8>)],
        path: &Path,
        first: Arc<Posix>,
        open: &dyn Fn(&Path) -> io::Result<Arc<Posix>>,
    ) -> Result<BTreeMap<u8, Result<Arc<Posix>, Missing>>> {
        let mut files = BTreeMap::from([(own, Ok(first))]);
        for (kind, template) in names.iter().filter(|(kind, _)| *kind != own) {
            let member = member(template, path)?;
            files.insert(*kind, open(&member).map_err(|error| Missing::new(&member, &error)));
        }
        Ok(files)
    }

    /// Returns the file as libhdf5 arranges split files, if the caller says that it is one.
    ///
    /// Errors: both members are the same file.
    pub fn as_split(&self) -> Result<Option<Split>> {
        let Files::Multi { files, split: Some(names), .. } = &self.files else { return Ok(None) };
        let (Some(Ok(metadata)), Some(raw)) = (files.get(&METADATA), files.get(&RAW).cloned()) else {
            return Ok(None);
        };
        raw.iter().try_for_each(|raw| check_apart(metadata, raw))?;
        let raw = raw.map(|raw| raw as Arc<dyn Medium>);
        Ok(Some(Split::of(Arc::clone(metadata) as _, raw, Box::<Folders>::default(), names.clone())))
    }

    /// Returns an empty split file in place of the one at `path`, of which `first` is the member with the
    /// metadata. With `replace`, what the other member has is dropped.
    ///
    /// Errors: the other member cannot be opened, or has bytes that are to be kept.
    pub fn create_split(
        path: &Path,
        members: &Members,
        first: Posix,
        replace: bool,
        locking: Locking,
    ) -> Result<Split> {
        let Members::Split { metadata, raw } = members else { return Err(refused(NOT_SPLIT)) };
        // The process may change its folder before the names are made durable.
        let path = std::path::absolute(path).map_err(Error::io("create", 0, 0))?;
        let (own, other) = (member(metadata, &path)?, member(raw, &path)?);
        let opened = open_writable(&other, Create::IfMissing, locking);
        let opened = opened.map_err(|error| Error::io("create", 0, 0)(of_member(&other, &error)))?;
        check_apart(&first, &opened)?;
        if !replace {
            // Now that it is locked.
            check_new(&other)?;
        }
        let folders = Folders::default();
        for path in [&own, &other] {
            folders.note(path);
        }
        let names = [metadata, raw].map(|name| name::stating(name));
        Ok(Split::of(Arc::new(first), Ok(Arc::new(opened)), Box::new(folders), names))
    }

    /// Returns the file as the caller's description alone gives it, to read what the file states.
    pub fn as_given(&self) -> Result<MemberFiles> {
        match &self.files {
            Files::Family { files, .. } => {
                let size =
                    files.first().map_or(Ok(0), |first| first.len()).map_err(Error::io("length", 0, 0))?;
                // After a loss of power, the first member may be short although there are others.
                family(files, size).or_else(|_| family(files.get(..1).unwrap_or_default(), size))
            }
            Files::Multi { map, files, .. } => {
                let starts =
                    MultiInformation::kinds(map).into_iter().map(|kind| (default_start(*map, kind), kind));
                let placed = starts.map(|(start, kind)| (start, files.get(&kind).cloned()));
                by_address(placed.filter_map(|(start, file)| Some((start, file?))).collect())
            }
        }
    }

    /// Returns the file as it states that it is distributed.
    ///
    /// Errors: the members contradict what the file states, or the caller does.
    pub fn as_stated(&self, stated: Option<&DriverInformation>) -> Result<MemberFiles> {
        match (&self.files, stated) {
            (Files::Family { files, given, .. }, Some(&DriverInformation::Family { member_size })) => {
                if member_size == 0 {
                    return Err(misfit::<DriverBlock>(
                        Addr::new(0),
                        "Size of Member File",
                        0_u64,
                        "1 or more",
                    ));
                }
                if let Some(given) = given.filter(|&given| given != member_size) {
                    let why = format!(
                        "Family member size should be {member_size}.  But the size from file access property is \
                         {given}"
                    );
                    return Err(RequestError::Members { why }.into());
                }
                family(files, member_size)
            }
            (Files::Family { files, given, .. }, None) => match given {
                Some(size) => family(files, *size),
                None => self.as_given(),
            },
            (Files::Multi { files, .. }, Some(DriverInformation::Multi(stated))) => {
                self.by_map(files, stated)
            }
            (Files::Multi { .. }, None) => self.as_given(),
            (Files::Family { .. }, Some(_)) => Err(refused("the members are not those of a family")),
            (Files::Multi { .. }, Some(_)) => {
                Err(refused("the members are not those of a split or multi file"))
            }
        }
    }

    /// Places members where the file states. A member that was opened by the caller's name keeps it.
    fn by_map(
        &self,
        opened: &BTreeMap<u8, Result<Arc<Posix>, Missing>>,
        stated: &MultiInformation,
    ) -> Result<MemberFiles> {
        let mut files = Vec::new();
        for (kind, member) in MultiInformation::kinds(&stated.map).into_iter().zip(&stated.members) {
            if let Some(Ok(file)) = opened.get(&kind) {
                files.push((member.start, Ok(Arc::clone(file))));
                continue;
            }
            let path = name::stated(&member.name, &self.path).ok_or_else(|| {
                let name = String::from_utf8_lossy(&member.name);
                let why = format!(
                    "the file states that a member of it is {name:?}, which is not a name beside the file: name \
                     the member (driver=\"split\" with meta_ext and raw_ext)"
                );
                RequestError::Members { why }
            })?;
            files
                .push((member.start, open(&path, self.locking).map_err(|error| Missing::new(&path, &error))));
        }
        by_address(files)
    }

    /// Returns a family for writing, whose members are `placed`.
    ///
    /// Errors: the size of members is not known, or the members do not suit commits.
    pub fn to_write(
        &self,
        placed: &MemberFiles,
        stated: Option<&DriverInformation>,
        superblock: u64,
    ) -> Result<Family> {
        let Files::Family { name, given, .. } = &self.files else {
            return Err(refused(
                "only families and split files as libhdf5 makes them are written: repack the file",
            ));
        };
        let size = match stated {
            Some(&DriverInformation::Family { member_size }) => Some(member_size),
            // Without a statement, all members but the last have the size of the first.
            _ => given.or_else(|| placed.0.first().filter(|_| placed.0.len() > 1).map(|first| first.end)),
        };
        let size = size.ok_or_else(|| {
            refused(
                "the file has one member and does not state the size of members: give the size (memb_size)",
            )
        })?;
        check_superblock(size, superblock)?;
        let members = placed.0.iter().map(|placed| {
            let file = placed.file.clone().map_err(|missing| io::Error::new(missing.kind, missing.why));
            file.map(|file| file as Arc<dyn Medium>).map_err(Error::io("open", 0, 0))
        });
        let folder = NumberedFiles::new(name.clone(), self.locking);
        Ok(Family::new(Box::new(folder), members.collect::<Result<_>>()?, size))
    }

    /// Returns an empty family with members of `size` bytes in place of the file at `path`, of which `first`
    /// is the first member. The superblock will be at the offset `superblock`.
    ///
    /// Errors: the members do not suit commits, or those of the old file cannot be removed.
    pub fn create(path: &Path, first: Posix, size: u64, superblock: u64, locking: Locking) -> Result<Family> {
        check_superblock(size, superblock)?;
        let folder = NumberedFiles::new(absolute(path)?, locking);
        folder.clear_all().map_err(Error::io("create", 0, 0))?;
        Ok(Family::new(Box::new(folder), vec![Arc::new(first)], size))
    }

    /// Compares the members with the End of File Address.
    ///
    /// Errors: a member of a family is missing, or has another size than the others.
    pub fn check_whole(&self, placed: &MemberFiles, end_of_file: u64) -> Result<()> {
        let Files::Family { name, files, .. } = &self.files else { return Ok(()) };
        let last = placed.0.last().map_or(0, |last| last.end);
        if end_of_file <= last {
            return Ok(());
        }
        let size = placed.0.first().map_or(0, |first| first.end);
        let short = placed.0.iter().rposition(|member| member.end - member.start < size);
        let next = placed.0.len();
        let longer = files.get(next).and_then(|file| file.len().ok()).filter(|&len| len > size);
        let why = match (longer, short) {
            (Some(len), _) => {
                format!("member {next} of the family has {len} bytes, where members have {size}")
            }
            (None, Some(number)) => format!(
                "the file has {end_of_file} bytes, but its member {} is shorter than the others",
                name.of(number).display()
            ),
            (None, None) => format!(
                "the file has {end_of_file} bytes and members of {size} bytes, but {} is missing or shorter",
                name.of(placed.0.len()).display()
            ),
        };
        Err(RequestError::Members { why }.into())
    }
}

/// Says how to open a file, of which `path` is only the member with the superblock. A family whose superblock
/// states nothing is known by the name of the second member.
pub fn advice(path: Option<&Path>, stated: Option<&DriverInformation>) -> Option<Error> {
    let unknown = || "NAME".into();
    let family = path.and_then(Numbered::guess);
    let why = match stated {
        None if !family.as_deref().is_some_and(has_second) => return None,
        None => format!(
            "the file was cut short, or it is the first member of a family: then open \"{}\" with \
             driver=\"family\"",
            family.unwrap_or_default().display()
        ),
        Some(DriverInformation::Family { .. }) => {
            let whole = family.map_or_else(unknown, |path| path.display().to_string());
            format!(
                "family driver should be used: the file is the first member of a family; open {whole:?} with \
                 driver=\"family\""
            )
        }
        Some(DriverInformation::Multi(multi)) => {
            let template = multi.members.first().map(|member| member.name.as_slice()).unwrap_or_default();
            let whole = path.and_then(|path| name::unexpanded(template, path));
            let whole = whole.map_or_else(unknown, |path| path.display().to_string());
            let driver = if multi.members.len() > 2 { "multi" } else { "split" };
            format!(
                "multi driver should be used: the file is one member of several; open {whole:?} with \
                 driver={driver:?}"
            )
        }
        Some(DriverInformation::Other { .. }) => return None,
    };
    Some(RequestError::Members { why }.into())
}

/// Returns the names of the members of the family at `path`, wherever the process moves later.
fn absolute(path: &Path) -> Result<Numbered> {
    let path = std::path::absolute(path).map_err(Error::io("open", 0, 0))?;
    Numbered::parse(&path).map_err(refused)
}

/// Refuses members of a size with which a superblock at this offset is not in one sector of one member:
/// commits replace it in one write.
fn check_superblock(size: u64, superblock: u64) -> Result<()> {
    let at = superblock % size.max(1);
    if size - at >= SUPERBLOCK && at % SECTOR + SUPERBLOCK <= SECTOR {
        return Ok(());
    }
    let why = format!(
        "a family with members of {size} bytes is only read, because its superblock is not in one member: use \
         members of 512 bytes or a multiple"
    );
    Err(RequestError::Members { why }.into())
}

/// Returns whether a family with this name has a second member.
fn has_second(family: &Path) -> bool {
    Numbered::parse(family).is_ok_and(|name| name.of(1).is_file())
}

/// Places the members of a family: each is followed by the next, and one that is shorter is the last.
fn family(files: &[Arc<Posix>], size: u64) -> Result<MemberFiles> {
    let mut placed: Vec<Placed> = Vec::with_capacity(files.len());
    for (number, file) in files.iter().enumerate() {
        let len = file.len().map_err(Error::io("length", 0, 0))?;
        let start = placed.last().map_or(0, |before| before.end);
        if len > size {
            let why = format!("member {number} of the family has {len} bytes, where members have {size}");
            return Err(RequestError::Members { why }.into());
        }
        let end = start.checked_add(len).ok_or_else(too_long)?;
        if len > 0 {
            placed.push(Placed { start, end, file: Ok(Arc::clone(file)) });
        }
        if len < size {
            // What follows is left over from an older, longer family.
            break;
        }
    }
    Ok(MemberFiles(placed))
}

/// Places members at their addresses.
fn by_address(mut files: Vec<(u64, Result<Arc<Posix>, Missing>)>) -> Result<MemberFiles> {
    files.sort_by_key(|(start, _)| *start);
    if let Some(&(first, _)) = files.first().filter(|(start, _)| *start != 0) {
        return Err(misplaced(first, "0 for the first member"));
    }
    let mut placed = Vec::with_capacity(files.len());
    for (number, (start, file)) in files.iter().enumerate() {
        let next = files.get(number + 1).map_or(u64::MAX - 1, |(next, _)| *next);
        if next <= *start {
            return Err(misplaced(*start, "another address for each member"));
        }
        let end = match file {
            Ok(file) => {
                let len = file.len().map_err(Error::io("length", 0, 0))?;
                start.checked_add(len).ok_or_else(too_long)?.min(next)
            }
            Err(_) => next,
        };
        placed.push(Placed { start: *start, end, file: file.clone() });
    }
    Ok(MemberFiles(placed))
}

/// Returns the path of the member with this name, in which `%s` stands for the path of the file.
pub(super) fn member(template: &[u8], path: &Path) -> Result<PathBuf> {
    name::expanded(template, path).ok_or_else(|| refused(OTHER_PLACE))
}

/// Refuses to create a file beside a member that has bytes: they belong to another file.
pub(super) fn check_new(member: &Path) -> Result<()> {
    if std::fs::metadata(member).map_or(true, |found| found.len() == 0) {
        return Ok(());
    }
    let why = format!(
        "the member {} exists and has bytes, which a new file would replace: remove it, or create the file in \
         its place (mode \"w\")",
        member.display()
    );
    let error = io::Error::new(io::ErrorKind::AlreadyExists, why);
    Err(Error::io("create", 0, 0)(error))
}

/// Refuses two names of one file as two members.
fn check_apart(metadata: &Posix, raw: &Posix) -> Result<()> {
    let identity = |file: &Posix| file.identity().map_err(Error::io("open", 0, 0));
    if identity(metadata)? == identity(raw)? {
        return Err(refused("both members of the split file are the same file: give them different names"));
    }
    Ok(())
}

/// Opens a member that is a regular file.
fn open(path: &Path, locking: Locking) -> io::Result<Arc<Posix>> {
    Posix::open_regular(path)?.locked(locking).map(Arc::new)
}

/// The address of the first byte of a member, unless the file says otherwise: the kinds share what addresses
/// there are.
fn default_start(map: [u8; KINDS], kind: u8) -> u64 {
    let shares = if MultiInformation::kinds(&map).len() == 2 { 2 } else { KINDS as u64 };
    let number = if shares == 2 { u64::from(kind != map[0]) } else { u64::from(kind - 1) };
    number * ((u64::MAX - 1) / shares)
}

fn refused(why: &str) -> Error {
    RequestError::Members { why: why.to_owned() }.into()
}

fn misplaced(start: u64, expected: &'static str) -> Error {
    misfit::<DriverBlock>(Addr::new(0), "Address of Member File", start, expected)
}

fn too_long() -> Error {
    Error::io("open", 0, 0)(io::ErrorKind::FileTooLarge.into())
}

/// The reason why a name is not that of a member.
pub(super) const OTHER_PLACE: &str = "the name of a member has another place than %s to fill in";
/// The length of the longest superblock with addresses of eight bytes.
const SUPERBLOCK: u64 = 100;
/// The bytes that a medium writes completely or not at all.
const SECTOR: u64 = 512;

/// The reason why no split file is created.
const NOT_SPLIT: &str = "the members are not those of a split file";
/// The kinds of data whose members a split file has.
const METADATA: u8 = 1;
const RAW: u8 = 3;

/// The letters in libhdf5's names of members, by the kind of their data: superblock, B-trees, raw data,
/// global heap, local heap, object headers.
const LETTERS: [u8; KINDS] = *b"sbrglo";
