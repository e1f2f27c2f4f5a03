//! Kills a process that changes a file in a loop, again and again. The file always opens, and holds
//! everything that was flushed.
//!
//! The process is this test program, which starts itself with the environment variable [`WRITER`].
//! `HYPERSLAB_SOAK=1` kills hundreds of processes.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic, as tests do")]
#![allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small numbers")]

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use hyperslab::Durability;
use hyperslab::Element;
use hyperslab::Finder;
use hyperslab::storage::{DatasetOptions, NewStorage};
use hyperslab::{Attribute, File, LibVersion, OpenOptions, Result};
use hyperslab_check as check;
use hyperslab_format::message::dataspace::Dataspace;
use hyperslab_format::message::filters::FilterSpec;
use hyperslab_store::Searches;
use hyperslab_testkit::counts::say_counts;
use hyperslab_testkit::fuzz::Random;
use hyperslab_testkit::sound::assert_sound;

/// The environment variable with the path of the file to write. Only the process that is to be killed has it.
const WRITER: &str = "HYPERSLAB_TEST_WRITER";

fn options(version: Option<LibVersion>, durability: Durability) -> OpenOptions {
    let mut options = OpenOptions::new();
    if let Some(version) = version {
        options = options.version(version);
    }
    // The memory limit is so small that new blocks are written before the commit.
    options = options.durability(durability).dirty_bytes(4000);
    options
}

fn chunked(len: u64) -> DatasetOptions {
    let space = Dataspace::Simple { shape: vec![len], max_shape: Some(vec![None]) };
    let mut options = DatasetOptions::new(space, i32::datatype());
    options.storage = NewStorage::Chunked(vec![16]);
    options.filters = vec![FilterSpec { id: 1, name: None, flags: 0, client_data: vec![1] }];
    options
}

fn number(name: &str, value: i32) -> Attribute {
    let data = value.to_le_bytes().to_vec();
    Attribute { name: name.into(), datatype: i32::datatype(), dataspace: Dataspace::Scalar, data }
}

/// The number of elements that a thread beside the steps writes again and again.
const BESIDE: u64 = 4000;
/// The number of elements that a step appends.
const ROWS: i32 = 10;
/// The number of steps whose dataset and attribute in the group `steps` are kept.
const KEPT: i32 = 12;

fn begin(file: &File) -> Result<()> {
    let root = file.root();
    root.create_dataset("series", &chunked(0))?;
    root.create_dataset("beside", &chunked(BESIDE))?;
    root.create_group("steps")?;
    root.put_attribute(&number("last", 0))
}

/// Makes the changes of one step in a transaction, so that the file has all of them or none.
fn step(file: &File, step: i32) -> Result<()> {
    file.transaction(|| {
        let root = file.root();
        let series = file.dataset("series")?;
        let rows = (ROWS * (step - 1)) as u64..(ROWS * step) as u64;
        series.resize([rows.end])?;
        series.write(rows.clone(), &values(step))?;
        let steps = file.group("steps")?;
        let new = steps.create_dataset(&format!("step {step}"), &chunked(40))?;
        new.write(3..37, &[step; 34])?;
        (0..step % 11).try_for_each(|i| new.put_attribute(&number(&format!("attribute {i}"), step)))?;
        steps.put_attribute(&number(&format!("step {step}"), step))?;
        if step > KEPT {
            steps.remove(&format!("step {}", step - KEPT))?;
            steps.remove_attribute(&format!("step {}", step - KEPT))?;
        }
        root.put_attribute(&number("last", step))
    })
}

fn values(step: i32) -> Vec<i32> {
    (ROWS * (step - 1)..ROWS * step).map(|row| 3 * row).collect()
}

fn last(file: &File) -> i32 {
    i32::from_le_bytes(file.root().attribute("last").unwrap().data.try_into().unwrap())
}

/// Asserts that the file has exactly the changes of all steps up to the last one, and returns the number of
/// that step.
fn check(file: &File) -> i32 {
    let last = last(file);
    let expected: Vec<i32> = (1..=last).flat_map(values).collect();
    assert_eq!(file.dataset("series").unwrap().read::<i32>(..).unwrap(), expected);
    let beside = file.dataset("beside").unwrap().read::<i32>(..).unwrap();
    assert!(beside.iter().all(|value| *value == beside[0]), "the chunks of several writes");
    let steps = file.group("steps").unwrap();
    let kept = (last - KEPT).max(0) + 1..=last;
    assert_eq!(steps.len().unwrap() as usize, kept.clone().count());
    assert_eq!(steps.attribute_count().unwrap() as usize, kept.clone().count());
    for step in kept {
        let name = format!("step {step}");
        assert_eq!(steps.attribute(&name).unwrap(), number(&name, step));
        let dataset = steps.dataset(&name).unwrap();
        let edge = |i: i32| if (3..37).contains(&i) { step } else { 0 };
        assert_eq!(dataset.read::<i32>(..).unwrap(), (0..40).map(edge).collect::<Vec<_>>());
        let expected: Vec<Attribute> =
            (0..step % 11).map(|i| number(&format!("attribute {i}"), step)).collect();
        let mut found = dataset.attributes().unwrap();
        found.sort_by_key(|attribute| attribute.name.len());
        assert_eq!(found, expected);
    }
    last
}

/// The process that is killed. Without [`WRITER`] this test does nothing.
#[test]
fn writer() {
    let Some(path) = std::env::var_os(WRITER) else { return };
    let durability =
        if path.to_string_lossy().contains("power") { Durability::Power } else { Durability::Kill };
    // Flushes for power take so long that a search in each step would leave no time.
    let finder: Option<Finder> = (durability == Durability::Kill).then_some(check::holes);
    let file = options(None, durability)
        .find_free_space(finder)
        .searches(Searches::AtOnce)
        .write(true)
        .open(&path)
        .unwrap();
    if path.to_string_lossy().contains("beside") {
        let beside = file.dataset("beside").unwrap();
        std::thread::spawn(move || {
            for turn in 0.. {
                beside.write(.., &[turn; BESIDE as usize]).unwrap();
            }
        });
    }
    for next in last(&file) + 1.. {
        step(&file, next).unwrap();
        println!("\nflushed {next}");
    }
}

fn kill_repeatedly(version: LibVersion, durability: Durability, name: &str, seed: u64) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(format!("{durability:?}{name}.h5").to_lowercase());
    let file = options(Some(version), durability).clone().create(true).truncate(true).open(&path).unwrap();
    begin(&file).unwrap();
    file.close().unwrap();
    let kills = if std::env::var_os("HYPERSLAB_SOAK").is_some() { 150 } else { 10 };
    let mut random = Random::new(seed);
    let (mut steps, mut unfinished) = (0, 0);
    for _ in 0..kills {
        let flushed = run_and_kill(&path, &mut random);
        let copy = std::fs::read(&path).unwrap();
        assert_sound(&copy);
        let found = check(&File::open(&path).unwrap());
        assert!(copy == std::fs::read(&path).unwrap(), "reading has changed the file");
        assert!(
            found >= flushed.unwrap_or(steps),
            "step {flushed:?} was flushed, but the last step in the file is {found}"
        );
        steps = found;
        let end = hyperslab_store::commit::recovery::inspect(&hyperslab::driver::Memory::new(copy)).unwrap();
        unfinished += i32::from(end.action != hyperslab_store::commit::recovery::Action::Nothing);
    }
    say_counts(format_args!(
        "kill: {version:?}, {durability:?}{name}: {kills} kills, {steps} steps, {unfinished} files to recover"
    ));
    assert!(steps > kills / 5);
}

/// Starts the process and kills it at a random moment. Returns the last step that the process reported as
/// flushed.
fn run_and_kill(path: &Path, random: &mut Random) -> Option<i32> {
    let program: PathBuf = std::env::current_exe().unwrap();
    let mut child = Command::new(program)
        .args(["--exact", "writer", "--nocapture"])
        .env(WRITER, path)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let reader = std::thread::spawn(move || {
        let said = lines.map_while(std::result::Result::ok);
        said.filter_map(|line| line.strip_prefix("flushed ")?.parse().ok()).last()
    });
    // A process of Windows takes longer to start.
    let most = if cfg!(windows) { 600_000 } else { 60_000 };
    std::thread::sleep(Duration::from_micros(5000 + random.u64() % most));
    child.kill().unwrap();
    child.wait().unwrap();
    reader.join().unwrap()
}

#[test]
fn a_killed_writer_loses_no_flushed_data_in_a_file_with_superblock_0() {
    kill_repeatedly(LibVersion::Earliest, Durability::Kill, "", 1);
}

#[test]
fn a_killed_writer_loses_no_flushed_data_in_a_file_with_superblock_2() {
    kill_repeatedly(LibVersion::V18, Durability::Kill, "", 2);
}

#[test]
fn a_killed_writer_loses_no_flushed_data_in_a_file_with_superblock_3() {
    kill_repeatedly(LibVersion::V110, Durability::Kill, "", 3);
}

#[test]
fn a_killed_writer_with_durability_power_loses_no_flushed_data() {
    kill_repeatedly(LibVersion::V110, Durability::Power, "", 4);
}

#[test]
fn a_killed_writer_beside_a_thread_that_writes_chunks_loses_no_flushed_data() {
    kill_repeatedly(LibVersion::Earliest, Durability::Power, " beside", 5);
    kill_repeatedly(LibVersion::V110, Durability::Kill, " beside", 6);
    kill_repeatedly(LibVersion::V110, Durability::Power, " beside", 7);
}
