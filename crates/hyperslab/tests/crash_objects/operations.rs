//! A list of every operation that changes a file.

use hyperslab::storage::{DatasetOptions, NewStorage};
use hyperslab::{Dataset, File, LibVersion, Result, Selection};
use hyperslab_format::message::dataspace::Dataspace;

use super::base::{FILL, KINDS, Kind, plain, set, values};

/// One change of the [base](super::base) file.
pub(crate) struct Operation {
    pub(crate) name: String,
    /// Whether elements are written in place. Each element may then be old or new until the change is
    /// committed.
    pub(crate) in_place: bool,
    /// Whether the operation runs in a transaction.
    pub(crate) is_transaction: bool,
    run: Run,
}

type Run = Box<dyn Fn(&File) -> Result<()>>;

impl Operation {
    pub(crate) fn run(&self, file: &File) -> Result<()> {
        (self.run)(file)
    }
}

/// Returns all operations for a file of `version`.
pub(crate) fn all(version: LibVersion) -> Vec<Operation> {
    let mut list = Vec::new();
    links(version, &mut list);
    deletions(&mut list);
    attributes(&mut list);
    datasets(&mut list);
    for kind in KINDS {
        chunks(kind, &mut list);
    }
    transactions(&mut list);
    strings(&mut list);
    list
}

fn add(list: &mut Vec<Operation>, name: impl Into<String>, run: impl Fn(&File) -> Result<()> + 'static) {
    list.push(Operation { name: name.into(), in_place: false, is_transaction: false, run: Box::new(run) });
}

/// Adds an operation that runs in its own transaction.
fn add_transaction(
    list: &mut Vec<Operation>,
    name: impl Into<String>,
    run: impl Fn(&File) -> Result<()> + 'static,
) {
    add(list, name, move |file| file.transaction(|| run(file)));
    list.last_mut().unwrap().is_transaction = true;
}

fn links(version: LibVersion, list: &mut Vec<Operation>) {
    add(list, "create group", |file| file.root().create_group("new").map(drop));
    add(list, "create groups on the way", |file| file.root().create_group("few/a/b/c").map(drop));
    add(list, "create ordered group", |file| file.root().create_group_with("new", true).map(drop));
    add(list, "commit datatype", |file| {
        file.root().commit_datatype("new", &file.dataset("data/compact")?.datatype()).map(drop)
    });
    for (group, what) in [("few", "compact"), ("full", "to dense"), ("many", "dense"), ("empty", "first")] {
        add(list, format!("link hard, {what}"), move |file| {
            file.group(group)?.link_to("new", &*file.get("data/tree")?)
        });
        add(list, format!("link soft, {what}"), move |file| {
            file.group(group)?.link_soft("new", "/nowhere/at all")
        });
    }
    add(list, "link with a name that fits nowhere", |file| {
        file.root().link_soft(&format!("few/{}", "long name ".repeat(500)), "/few")
    });
    let group = if version == LibVersion::Earliest { "few" } else { "/" };
    add(list, "link external in the root", |file| file.root().link_external("new", "other.h5", "/data"));
    add(list, "link external", move |file| file.group(group)?.link_external("new", "other.h5", "/data"));
    add(list, "rename in a group", |file| file.root().rename("few/link 1", "few/renamed"));
    add(list, "rename between groups", |file| file.root().rename("data/tree", "full/tree"));
    add(list, "rename a group", |file| file.root().rename("deep", "renamed"));
    add(list, "rename, dense", |file| file.root().rename("many/link 3", "many/renamed"));
}

fn deletions(list: &mut Vec<Operation>) {
    for path in ["few/link 0", "full/link 0", "many/link 0", "hardly_many/link 0", "datatype", "empty"] {
        add(list, format!("remove {path}"), move |file| file.root().remove(path));
    }
    for path in ["few", "many", "attributes", "attributes/many", "data", "deep"] {
        add(list, format!("delete {path}"), move |file| file.root().remove(path));
    }
    for kind in KINDS.map(|kind| kind.name).into_iter().chain(["contiguous", "compact", "tree again"]) {
        add(list, format!("delete data/{kind}"), move |file| file.root().remove(&format!("data/{kind}")));
    }
}

fn attributes(list: &mut Vec<Operation>) {
    for owner in ["few", "full", "many", "hardly_many"] {
        let at = move |file: &File| file.group(&format!("attributes/{owner}"));
        let mut add = |name: &str, run: fn(&hyperslab::Group) -> Result<()>| {
            add(list, format!("attribute of {owner}: {name}"), move |file| run(&at(file)?));
        };
        add("set", |group| set(group, "new", 9, 20));
        add("set a large one", |group| set(group, "new", 9, 30_000));
        add("replace", |group| set(group, "attribute 1", 9, 20));
        add("replace by a longer one", |group| set(group, "attribute 1", 9, 2000));
        add("remove", |group| group.remove_attribute("attribute 0"));
        add("rename", |group| group.rename_attribute("attribute 0", "renamed"));
    }
    add(list, "attribute of a dataset", |file| set(&*file.get("data/fixed")?, "unit", b'm', 1));
}

fn strings(list: &mut Vec<Operation>) {
    add_transaction(list, "create strings, and write one that has a collection of its own", |file| {
        let text = <String as hyperslab::Element>::datatype();
        let options = DatasetOptions::new(Dataspace::Simple { shape: vec![3], max_shape: None }, text);
        let new = file.root().create_dataset("new", &options)?;
        new.replace_vlen(&Selection::All, &["short".to_owned(), "long".repeat(17_000), String::new()])
    });
}

fn datasets(list: &mut Vec<Operation>) {
    for kind in KINDS {
        add(list, format!("create {}", kind.name), move |file| {
            file.root().create_dataset("new", &kind.options()).map(drop)
        });
        add_transaction(list, format!("create {} and write it", kind.name), move |file| {
            let new = file.root().create_dataset("new", &kind.options())?;
            new.write(Selection::All, &values(7000, kind.elements()))
        });
    }
    add(list, "create contiguous", |file| {
        file.root().create_dataset("new", &plain(NewStorage::Contiguous, 100)).map(drop)
    });
    add(list, "create compact", |file| {
        file.root().create_dataset("new", &plain(NewStorage::Compact, 100)).map(drop)
    });
    add(list, "create with a committed datatype", |file| {
        let committed = match file.get("datatype")? {
            hyperslab::Node::Datatype(datatype) => datatype,
            other => panic!("{other:?}"),
        };
        let space = Dataspace::Simple { shape: vec![4], max_shape: None };
        let mut options = DatasetOptions::new(space, committed.datatype().clone());
        options.committed = Some(committed);
        file.root().create_dataset("new", &options).map(drop)
    });
    add(list, "write compact", |file| file.dataset("data/compact")?.write(3..7, &values(7000, 4)));
    add(list, "write contiguous for the first time", |file| {
        file.dataset("data/unwritten")?.write(Selection::All, &values(7000, 300))
    });
    add(list, "write contiguous", |file| file.dataset("data/contiguous")?.write(50..290, &values(7000, 240)));
    list.last_mut().unwrap().in_place = true;
}

fn chunks(kind: Kind, list: &mut Vec<Operation>) {
    let data = move |file: &File| file.dataset(&format!("data/{}", kind.name));
    let first = list.len();
    let mut on = |name: &str, run: fn(&Dataset, Kind) -> Result<()>| {
        add(list, format!("{name} {}", kind.name), move |file| run(&data(file)?, kind));
    };
    on("write all of", |dataset, kind| dataset.write(Selection::All, &values(7000, kind.elements())));
    on("write a part of", |dataset, _| dataset.write([1..3, 2..6], &values(7000, 8)));
    on("leave out chunks of", |dataset, kind| {
        dataset.set_skip_fill_chunks(true);
        dataset.write(Selection::All, &vec![FILL; kind.elements()])
    });
    on("shrink", |dataset, _| dataset.resize([3, 4]));
    on("empty", |dataset, _| dataset.resize([0, 4]));
    if kind.can_grow() {
        on("grow", |dataset, _| dataset.resize([9, 14]));
        add_transaction(list, format!("append to {}", kind.name), move |file| {
            let dataset = data(file)?;
            dataset.resize([9, 6])?;
            dataset.write([5..9, 0..6], &values(7000, 24))
        });
    }
    list[first..].iter_mut().for_each(|operation| operation.in_place = !kind.is_filtered);
}

fn transactions(list: &mut Vec<Operation>) {
    add_transaction(list, "a change of everything", |file| {
        let root = file.root();
        root.remove("many")?;
        root.rename("data/tree", "full/tree")?;
        set(&*root.get("attributes/full")?, "new", 9, 500)?;
        let new = root.create_dataset("new/data", &KINDS[5].options())?;
        new.write(Selection::All, &values(7000, KINDS[5].elements()))?;
        new.resize([4, 3])?;
        file.dataset("data/extensible")?.resize([12, 40])?;
        file.dataset("data/extensible")?.write([7..12, 0..40], &values(8000, 200))?;
        root.remove("data/fixed")
    });
    add_transaction(list, "make and delete", |file| {
        let root = file.root();
        for turn in 0..12 {
            root.create_dataset(&format!("many/{turn}"), &KINDS[2].options())?;
        }
        (0..11).try_for_each(|turn| root.remove(&format!("many/{turn}")))
    });
}
