//! Monthly means of daily temperatures: `cargo run -- [FILE]`.
//!
//! The program makes a file with a year of days, computes the mean of each month with one thread for each
//! month, and writes the means beside the days, with the stations as records. It then checks the file and
//! lists its objects.

use std::path::{Path, PathBuf};
use std::thread;

use hyperslab::filter::{Blosc2, Shuffle, Zstd};
use hyperslab::{CopyOptions, Dataset, Element, Error, File, Node, RequestError, Selection, Walk, s};
use hyperslab_check::{CheckOptions, Severity, check_path};

/// A station.
#[derive(Element, Debug, Clone, Copy, PartialEq)]
struct Station {
    id: u32,
    row: u16,
    column: u16,
    height: f32,
}

const SIDES: [u64; 2] = [36, 72];
const DAYS: [u64; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

fn main() -> hyperslab::Result<()> {
    let path = std::env::args().nth(1).map_or_else(|| std::env::temp_dir().join("monthly.h5"), PathBuf::from);
    write_days(&path)?;
    add_means(&path)?;
    report(&path)
}

/// Creates the file with a year of days.
fn write_days(path: &Path) -> hyperslab::Result<()> {
    let file = File::create(path)?;
    let days = file
        .root()
        .new_dataset::<f32>("surface/t2m")
        .shape([365, SIDES[0], SIDES[1]])
        .chunks([1, SIDES[0], SIDES[1]])
        .filter(Blosc2::default())
        .fill_value(f32::NAN)
        .create()?;
    days.set_attribute("units", "K")?;
    for day in 0..365_u16 {
        let warmth = (f32::from(day) / 365.0 * std::f32::consts::TAU).cos().mul_add(-10.0, 283.0);
        let plane: Vec<f32> = (0..SIDES[0] * SIDES[1]).map(|_| warmth).collect();
        let day = u64::from(day);
        days.write([day..day + 1, 0..SIDES[0], 0..SIDES[1]], &plane)?;
    }
    let stations = [
        Station { id: 2290, row: 10, column: 20, height: 977.0 },
        Station { id: 5792, row: 11, column: 20, height: 2964.0 },
    ];
    file.root().new_dataset::<Station>("stations").shape([2]).create_with(&stations)?;
    let names = ["Hohenpeißenberg", "Zugspitze"].map(str::to_owned);
    file.root().new_dataset::<String>("names").shape([2]).create_with(&names)?;
    file.close()
}

/// Returns the mean of the days `first..last` at each place.
fn mean(days: &Dataset, first: u64, last: u64) -> hyperslab::Result<Vec<f32>> {
    let values: Vec<f32> = days.read([first..last, 0..SIDES[0], 0..SIDES[1]])?;
    let places = values.len() / usize::try_from(last - first).unwrap_or(1);
    let count = u16::try_from(last - first).map_or(1.0, f32::from);
    let sum = |place: usize| values.iter().skip(place).step_by(places).sum::<f32>();
    Ok((0..places).map(|place| sum(place) / count).collect())
}

/// Adds the means to the file, in one transaction.
fn add_means(path: &Path) -> hyperslab::Result<()> {
    let file = File::options().write(true).open(path)?;
    let days = file.dataset("surface/t2m")?;
    let ends = DAYS.iter().scan(0, |end, days| {
        *end += days;
        Some((*end - days, *end))
    });
    let means = thread::scope(|scope| {
        let threads: Vec<_> = ends
            .map(|(first, last)| {
                scope.spawn({
                    let days = days.clone();
                    move || mean(&days, first, last)
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("the thread panicked"))
            .collect::<hyperslab::Result<Vec<_>>>()
    })?;
    let shape = [12, SIDES[0], SIDES[1]];
    let made = file
        .root()
        .new_dataset::<f32>("monthly/t2m")
        .shape(shape)
        .chunks(shape)
        .filter(Shuffle)
        .filter(Zstd::default());
    let made = made.create_with(&means.concat())?;
    made.set_attribute("units", days.attribute_value::<String>("units")?)?;
    made.set_attribute("days", DAYS)?;
    file.root().copy(&Node::Dataset(made), "archive/t2m", &CopyOptions::default())?;
    file.close()
}

/// Prints the objects of the file, and fails if the file is not sound.
fn report(path: &Path) -> hyperslab::Result<()> {
    let found = check_path(path, &CheckOptions::default().data(true), &mut |_| {})?;
    assert!(found.findings.iter().all(|finding| finding.severity != Severity::Error));
    let file = File::open(path)?;
    for step in Walk::new(&file.root()) {
        println!("{}", step.map_err(|(_, error)| error)?.path);
    }
    let july: Vec<f32> = file.dataset("monthly/t2m")?.read(s![6, 0, 0])?;
    println!("July: {:.1} {}", july[0], file.dataset("monthly/t2m")?.attribute_value::<String>("units")?);
    println!("{:?}", file.dataset("stations")?.read::<Station>(1..2)?);
    println!("{:?}", file.dataset("names")?.read::<String>(Selection::All)?);
    match file.dataset("missing") {
        Err(error) => match error.root() {
            Error::Request(RequestError::NoSuchObject { .. }) => println!("no dataset \"missing\""),
            _ => return Err(error),
        },
        Ok(_) => println!("a dataset \"missing\""),
    }
    Ok(())
}
