//! Derives the geometry of a survey from all trace headers.

use super::scan::{self, Column};
use super::{Axis, Keys, Survey, SurveyKind, SurveyOptions, TraceMap};
use crate::error::{AS_TRACES, Error, Result};
use crate::field::{Field, FieldKind};
use crate::file::SegyFile;
use crate::number::Numbers;

/// The fields that may hold inline and crossline, in order of preference: those of revision 1, then those of
/// older files. The older fields are accepted only for a volume that is nearly full, because the records and
/// ensembles of field data would make a volume with many gaps.
const LINES: [(u16, u16); 3] = [(189, 193), (9, 21), (5, 21)];
/// The fewest traces per hundred positions of a volume. With fewer, the traces are a line that winds through
/// the volume.
const LEAST_FILLED: u64 = 10;
/// If at least this many of a hundred traces have a position of their own, positions with two traces are a
/// fault of the file.
const NEARLY_ALL: u64 = 90;
/// The most positions of a survey, whatever the options ask for.
const MOST_POSITIONS: u64 = 1 << 32;

impl SurveyOptions {
    /// Returns the header fields that locate a trace, as far as they are known.
    pub(super) fn keys(&self) -> Keys {
        let mut keys = Keys::default();
        (keys.inline, keys.crossline) = self.lines.unwrap_or((keys.inline, keys.crossline));
        (keys.x, keys.y) = self.coordinates.unwrap_or((keys.x, keys.y));
        keys.offset = self.offset.unwrap_or(keys.offset);
        keys.cdp = self.cdp.unwrap_or(keys.cdp);
        keys
    }
}

/// The result of laying traces out along some columns.
enum Laid {
    /// Every trace has its own position.
    Out(Vec<Axis>, TraceMap),
    /// Too few positions would have a trace.
    Sparse,
    /// Two traces share a position. `taken` is the number of positions with a trace.
    Twice { traces: [u64; 2], taken: u64 },
}

pub(super) fn infer(file: &SegyFile, options: &SurveyOptions) -> Result<Survey> {
    let wanted = |kind| options.kind.is_none_or(|asked| asked == kind);
    let mut looked = Vec::new();
    if wanted(SurveyKind::Volume) || wanted(SurveyKind::Prestack) {
        let places: Vec<(Field, Field)> = match options.lines {
            Some(lines) => vec![lines],
            None => {
                LINES.map(|(i, x)| (Field::new(i, FieldKind::I32), Field::new(x, FieldKind::I32))).to_vec()
            }
        };
        for (i, (inline, crossline)) in places.into_iter().enumerate() {
            let least = match (options.kind, i) {
                (Some(_), _) => 0,
                (None, 0) => LEAST_FILLED,
                (None, _) => NEARLY_ALL,
            };
            let keys = Keys { inline, crossline, ..options.keys() };
            let columns = scan::columns(file, &[inline, crossline])?;
            looked.push(format!("inline in {inline} and crossline in {crossline}"));
            // Columns that are constant over all headers carry no information.
            if columns.iter().all(Column::is_constant) && (file.traces.count() > 1 || options.kind.is_none())
            {
                continue;
            }
            // One record with many ensembles is a line, not a volume with one inline.
            if i > 0 && options.kind.is_none() && columns.iter().any(Column::is_constant) {
                continue;
            }
            if let Some(survey) = lines(file, options, keys, columns, least)? {
                return Ok(survey);
            }
        }
    }
    if wanted(SurveyKind::Line) || wanted(SurveyKind::PrestackLine) {
        let keys = options.keys();
        let columns = scan::columns(file, &[keys.cdp, keys.offset])?;
        looked.push(format!("the ensemble in {}", keys.cdp));
        if let Some(survey) = line(file, options, keys, &columns)? {
            return Ok(survey);
        }
    }
    if let Some(kind) = options.kind.filter(|&kind| kind != SurveyKind::Traces) {
        return Err(Error::geometry(
            file.path(),
            format!(
                "no survey with the axes {} found (looked for {}): name the bytes that hold the axes, or {AS_TRACES}",
                kind.axes().join(", "),
                looked.join("; "),
            ),
        ));
    }
    let count = file.traces.count();
    let note = (!looked.is_empty()).then(|| {
        format!("no geometry found (looked for {}): traces stay in the order of the file", looked.join("; "))
    });
    let axes = vec![Axis { name: "trace", values: Numbers::Integers((0..count.cast_signed()).collect()) }];
    let map = TraceMap::Regular { origin: 0, strides: vec![1], shape: vec![count] };
    Ok(Survey { note, ..Survey::new(SurveyKind::Traces, options.keys(), axes, map) })
}

/// Finds a volume or a prestack volume.
fn lines(
    file: &SegyFile,
    options: &SurveyOptions,
    keys: Keys,
    mut columns: Vec<Column>,
    least: u64,
) -> Result<Option<Survey>> {
    let asked = options.kind;
    let mut twice = match lay_out(file.path(), SurveyKind::Volume, &columns, least)? {
        Laid::Out(axes, map) if asked != Some(SurveyKind::Prestack) => {
            return Ok(Some(Survey::new(SurveyKind::Volume, keys, axes, map)));
        }
        Laid::Sparse => return Ok(None),
        Laid::Out(..) => None,
        Laid::Twice { traces, taken } => Some((traces, taken)),
    };
    if asked != Some(SurveyKind::Volume) {
        columns.extend(scan::columns(file, &[keys.offset])?);
        match lay_out(file.path(), SurveyKind::Prestack, &columns, least)? {
            Laid::Out(axes, map) => return Ok(Some(Survey::new(SurveyKind::Prestack, keys, axes, map))),
            // Traces that share all numbers say more than traces that share their lines.
            Laid::Twice { traces, .. } => twice = twice.map(|(_, taken)| (traces, taken)),
            Laid::Sparse => {}
        }
    }
    match twice {
        Some((traces, taken)) if asked.is_some() || taken * 100 >= file.traces.count() * NEARLY_ALL => {
            Err(both_at(file.path(), SurveyKind::Prestack, traces, &columns))
        }
        _ => Ok(None),
    }
}

/// Finds a line of common depth points, with or without offsets.
fn line(file: &SegyFile, options: &SurveyOptions, keys: Keys, columns: &[Column]) -> Result<Option<Survey>> {
    let asked = options.kind;
    let least = if asked.is_some() { 0 } else { LEAST_FILLED };
    let constant = columns[0].is_constant();
    if constant && (asked.is_none() || file.traces.count() > 1) && asked != Some(SurveyKind::PrestackLine) {
        return Ok(None);
    }
    for kind in [SurveyKind::Line, SurveyKind::PrestackLine] {
        if asked.is_some_and(|asked| asked != kind) {
            continue;
        }
        let columns = &columns[..kind.axes().len()];
        match lay_out(file.path(), kind, columns, least)? {
            Laid::Out(axes, map) => return Ok(Some(Survey::new(kind, keys, axes, map))),
            Laid::Twice { traces, .. } if asked.is_some() => {
                return Err(both_at(file.path(), kind, traces, columns));
            }
            Laid::Twice { .. } | Laid::Sparse => {}
        }
    }
    Ok(None)
}

/// Returns the error for two traces that share a position, with the axes on which they agree.
fn both_at(path: &str, kind: SurveyKind, [a, b]: [u64; 2], columns: &[Column]) -> Error {
    let [at, other] = [a, b].map(|trace| usize::try_from(trace).unwrap_or(0));
    let axes = kind.axes().iter().zip(columns);
    let (places, fields): (Vec<String>, Vec<String>) = axes
        .filter(|(_, column)| column.key(at) == column.key(other))
        .map(|(name, column)| (format!("{name} {}", column.number(at)), column.field.name()))
        .unzip();
    let (places, fields) = (places.join(", "), fields.join(", "));
    let why = format!(
        "traces {a} and {b} are both at {places} ({fields}): name other header fields, or {AS_TRACES}"
    );
    Error::geometry(path, why)
}

/// Lays traces out along axes, if at least `least` of a hundred positions have a trace.
fn lay_out(path: &str, kind: SurveyKind, columns: &[Column], least: u64) -> Result<Laid> {
    let count = columns.first().map_or(0, Column::len);
    let axes: Vec<Vec<i64>> = columns.iter().map(distinct).collect();
    let positions = axes.iter().try_fold(1_u64, |all, axis| all.checked_mul(axis.len() as u64));
    let is_filled = |positions: &u64| positions.saturating_mul(least) <= (count as u64).saturating_mul(100);
    let Some(positions) = positions.filter(is_filled) else { return Ok(Laid::Sparse) };
    if positions > MOST_POSITIONS {
        return Err(Error::geometry(
            path,
            format!(
                "the lines and offsets in the headers give {positions} positions for {count} traces: name the bytes that hold them, or {AS_TRACES}"
            ),
        ));
    }
    let mut map = vec![TraceMap::NONE; usize::try_from(positions).unwrap_or(0)];
    let mut taken = 0;
    let mut twice = None;
    let finders: Vec<Finder<'_>> = axes.iter().map(|axis| Finder::new(axis)).collect();
    for trace in 0..count {
        let mut position = 0;
        for (column, finder) in columns.iter().zip(&finders) {
            position = position * finder.axis.len() + finder.index(column.key(trace));
        }
        let before = std::mem::replace(&mut map[position], trace as u64);
        if before == TraceMap::NONE {
            taken += 1;
        } else {
            twice.get_or_insert([before, trace as u64]);
        }
    }
    if let Some(traces) = twice {
        return Ok(Laid::Twice { traces, taken });
    }
    let named = kind.axes().iter().zip(axes.into_iter().zip(columns));
    let axes =
        named.map(|(&name, (keys, column))| Axis { name, values: Numbers::of_keys(keys, column.is_real()) });
    Ok(Laid::Out(axes.collect(), TraceMap::Table(map)))
}

/// Returns the distinct keys of a column, ascending.
fn distinct(column: &Column) -> Vec<i64> {
    let mut values = Vec::new();
    // Neighbours are often equal, so dropping repetitions leaves few values to sort.
    for key in (0..column.len()).map(|trace| column.key(trace)) {
        if values.last() != Some(&key) {
            values.push(key);
        }
    }
    values.sort_unstable();
    values.dedup();
    values
}

/// Finds keys on an axis. Integers are mostly evenly spaced, so the first guess is mostly right.
struct Finder<'a> {
    axis: &'a [i64],
    /// The positions for each unit of the keys.
    scale: f64,
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a guess, which is compared with the axis"
)]
impl<'a> Finder<'a> {
    fn new(axis: &'a [i64]) -> Self {
        let last = axis.len() - 1;
        Self { axis, scale: last as f64 / (axis[last].abs_diff(axis[0]) as f64).max(1.0) }
    }

    fn index(&self, key: i64) -> usize {
        let guess = (key.abs_diff(self.axis[0]) as f64 * self.scale + 0.5) as usize;
        if self.axis.get(guess) == Some(&key) { guess } else { self.axis.binary_search(&key).unwrap_or(0) }
    }
}
