//! HDF5 files that all ranks change, through the system and through MPI-IO.

use std::fs;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use hyperslab::driver::Create;
use hyperslab::filter::{Deflate, Shuffle};
use hyperslab::{
    Dataset, DatasetBuilder, Durability, Element, Error, File, OpenOptions, Ranks, Result, Selection,
    Transfer, WriteOptions,
};
use hyperslab_mpio::MpiFile;
use hyperslab_testkit::sound::assert_sound;

use crate::World;
use crate::native::calls;

/// How the bytes of a file are moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Medium {
    Posix,
    Mpi,
}

const MEDIA: [Medium; 2] = [Medium::Posix, Medium::Mpi];

impl Medium {
    fn open(self, test: &World, options: OpenOptions, path: &Path) -> Result<File> {
        let options = options.ranks(Arc::clone(&test.ranks));
        match self {
            Self::Posix => options.open(path),
            Self::Mpi => {
                let driver = MpiFile::open_together(path, Create::IfMissing, &*test.ranks).unwrap();
                options.open_on(Arc::new(driver))
            }
        }
    }

    fn create(self, test: &World, path: &Path) -> Result<File> {
        self.open(test, File::options().create(true).truncate(true), path)
    }

    fn read(self, path: &Path) -> File {
        match self {
            Self::Posix => File::open(path).unwrap(),
            Self::Mpi => File::options().open_on(Arc::new(MpiFile::open(path).unwrap())).unwrap(),
        }
    }
}

fn together(dataset: &Dataset, what: impl Into<Selection>, values: &[i32]) -> Result<()> {
    let options = WriteOptions::default().datatype(i32::datatype()).transfer(Transfer::Collective);
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
    dataset.write_with(what, &bytes, &options)
}

/// The rows of a rank, of `rows`.
fn share(ranks: &dyn Ranks, rows: usize) -> Range<usize> {
    let (rank, size) = (ranks.rank(), ranks.size());
    rows * rank / size..rows * (rank + 1) / size
}

type Storage = fn(DatasetBuilder) -> DatasetBuilder;

/// The storages of a dataset of 30 rows of 700 elements. Ranks share chunks.
const STORAGES: [(&str, Storage); 4] = [
    ("contiguous", |new| new),
    ("chunks", |new| new.chunks([4, 300]).max_shape([None, Some(700)])),
    ("filtered", |new| new.chunks([4, 300]).filter(Shuffle).filter(Deflate::default())),
    ("growing", |new| new.chunks([7, 700]).max_shape([None, Some(700)]).filter(Deflate::default())),
];

fn rows(of: Range<usize>) -> Vec<i32> {
    (of.start * 700..of.end * 700).map(|n| i32::try_from(n % 9973).unwrap()).collect()
}

pub(crate) fn all_ranks_write_extend_and_read(test: &World) {
    for medium in MEDIA {
        let path = test.path(&format!("{medium:?}.h5"));
        let file = medium.create(test, &path).unwrap();
        let mine = share(&*test.ranks, 30);
        for (name, storage) in STORAGES {
            let new = file.root().new_dataset::<i32>(name).shape([30, 700]);
            let dataset = storage(new).create().unwrap();
            together(&dataset, [mine.start as u64..mine.end as u64, 0..700], &rows(mine.clone())).unwrap();
            assert!(dataset.read::<i32>(..).unwrap() == rows(0..30), "{medium:?}, {name}, before the commit");
        }
        file.flush().unwrap();
        for name in ["chunks", "growing"] {
            let dataset = file.dataset(name).unwrap();
            dataset.resize([50, 700]).unwrap();
            let mine = share(&*test.ranks, 20);
            let (first, last) = (30 + mine.start, 30 + mine.end);
            together(&dataset, [first as u64..last as u64, 0..700], &rows(first..last)).unwrap();
        }
        file.close().unwrap();
        // A file of one medium is one of the other.
        for reader in MEDIA {
            let file = reader.read(&path);
            for (name, _) in STORAGES {
                let expected = rows(0..if ["chunks", "growing"].contains(&name) { 50 } else { 30 });
                let found = file.dataset(name).unwrap().read::<i32>(..).unwrap();
                assert!(found == expected, "{medium:?}, read by {reader:?}: {name}");
            }
            file.close().unwrap();
        }
        assert_sound(&fs::read(&path).unwrap());
    }
}

/// Commits a dataset of 6 elements, has `work` change it, and checks that the commit is left.
fn failing(test: &World, work: impl Fn(&File, usize) -> Result<()>) {
    for medium in MEDIA {
        let path = test.path(&format!("failing-{medium:?}.h5"));
        let file = medium.create(test, &path).unwrap();
        let new = file.root().new_dataset::<i32>("d").shape([6]).chunks([4]).filter(Deflate::default());
        new.create_with(&[1, 2, 3, 4, 5, 6]).unwrap();
        file.flush().unwrap();
        work(&file, test.rank()).unwrap();
        drop(file);
        test.ranks.all_gather(b"").unwrap();
        let file = medium.read(&path);
        assert_eq!(file.root().names().unwrap(), ["d"]);
        assert_eq!(file.dataset("d").unwrap().read::<i32>(..).unwrap(), [1, 2, 3, 4, 5, 6]);
        assert_sound(&fs::read(&path).unwrap());
        test.ranks.all_gather(b"").unwrap();
    }
}

pub(crate) fn a_write_that_one_rank_cannot_make_fails_on_all(test: &World) {
    failing(test, |file, rank| {
        let dataset = file.dataset("d")?;
        let last = test.size() - 1;
        let what = if rank == last { 5..9 } else { 0..4 };
        let failed = together(&dataset, what, &[0; 4]).unwrap_err().to_string();
        if rank == last {
            assert!(failed.contains("out of bounds"), "{failed}");
        } else {
            assert!(failed.starts_with(&format!("rank {last} failed")), "{failed}");
        }
        // The ranks are at the same step still.
        together(&dataset, 1..3, &[7; 2])?;
        assert_eq!(dataset.read::<i32>(..)?, [1, 7, 7, 4, 5, 6]);
        Ok(())
    });
}

pub(crate) fn a_rank_that_gives_up_ends_the_file_on_all(test: &World) {
    failing(test, |file, rank| {
        if rank == 0 {
            return file.clone().give_up("the input ended");
        }
        file.root().create_group("new")?;
        let error = together(&file.dataset("d")?, 0..4, &[0; 4]).unwrap_err();
        assert!(error.to_string().contains("rank 0 failed: the input ended"), "{error}");
        assert!(matches!(file.flush().unwrap_err().root(), Error::Poisoned));
        Ok(())
    });
}

pub(crate) fn a_whole_file_is_closed_without_a_sync(test: &World) {
    let path = test.path("unsynced.h5");
    let write = |durability| {
        let options = File::options().create(true).truncate(true).durability(durability);
        let file = Medium::Mpi.open(test, options, &path).unwrap();
        let dataset = file.root().new_dataset::<i32>("d").shape([1000]).chunks([100]).create().unwrap();
        let mine = share(&*test.ranks, 1000);
        let values = vec![1; mine.len()];
        together(&dataset, mine.start as u64..mine.end as u64, &values).unwrap();
        file.flush().unwrap();
        file.close().unwrap();
    };
    let made = calls(|| write(Durability::Kill));
    assert_eq!((made.syncs, made.closes), (0, 1));
    let made = calls(|| write(Durability::Power));
    // Each rank makes its own elements durable; rank 0 also the steps of the commit.
    assert!(made.syncs >= 1 && made.closes == 1, "{made:?}");
}
