//! The geometry of a survey: the axes of a volume, and the trace at each position.

mod infer;
mod predict;
mod scan;

use crate::error::Result;
use crate::field::{Field, FieldKind};
use crate::file::SegyFile;
use crate::number::Numbers;

/// The header fields that locate a trace. The defaults are those of revision 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keys {
    /// The inline number.
    pub inline: Field,
    /// The crossline number.
    pub crossline: Field,
    /// The offset between source and receiver.
    pub offset: Field,
    /// The ensemble: the number of a common depth point.
    pub cdp: Field,
    /// The x coordinate.
    pub x: Field,
    /// The y coordinate.
    pub y: Field,
    /// The scalar of the coordinates, which multiplies if it is positive and divides if it is negative.
    pub scalar: Field,
}

impl Default for Keys {
    fn default() -> Self {
        Self {
            inline: Field::new(189, FieldKind::I32),
            crossline: Field::new(193, FieldKind::I32),
            offset: Field::new(37, FieldKind::I32),
            cdp: Field::new(21, FieldKind::I32),
            x: Field::new(181, FieldKind::I32),
            y: Field::new(185, FieldKind::I32),
            scalar: Field::new(71, FieldKind::I16),
        }
    }
}

/// Facts of a survey that are known before its headers are read.
#[derive(Debug, Clone, Default)]
pub struct SurveyOptions {
    /// The bytes of inline and crossline, if they are not to be inferred.
    pub lines: Option<(Field, Field)>,
    /// The bytes of the offset.
    pub offset: Option<Field>,
    /// The bytes of the ensemble.
    pub cdp: Option<Field>,
    /// The bytes of the coordinates.
    pub coordinates: Option<(Field, Field)>,
    /// The kind of the survey, if it is not to be inferred.
    pub kind: Option<SurveyKind>,
}

/// The kind of a survey.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SurveyKind {
    /// A trace for each inline and crossline.
    Volume,
    /// A trace for each inline, crossline and offset.
    Prestack,
    /// A trace for each common depth point.
    Line,
    /// A trace for each common depth point and offset.
    PrestackLine,
    /// Traces in file order, without geometry.
    Traces,
}

impl SurveyKind {
    /// Returns the names of the axes except that of samples.
    pub const fn axes(self) -> &'static [&'static str] {
        match self {
            Self::Volume => &["inline", "crossline"],
            Self::Prestack => &["inline", "crossline", "offset"],
            Self::Line => &["cdp"],
            Self::PrestackLine => &["cdp", "offset"],
            Self::Traces => &["trace"],
        }
    }

    /// Returns the number of leading axes that determine the position of a trace on the ground.
    pub const fn ground_axes(self) -> usize {
        match self {
            Self::Volume | Self::Prestack => 2,
            Self::Line | Self::PrestackLine | Self::Traces => 1,
        }
    }

    /// Returns the name of the kind.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Volume => "volume",
            Self::Prestack => "prestack",
            Self::Line => "line",
            Self::PrestackLine => "prestack line",
            Self::Traces => "traces",
        }
    }

    /// Returns the kind with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        let all = [Self::Volume, Self::Prestack, Self::Line, Self::PrestackLine, Self::Traces];
        all.into_iter().find(|kind| kind.name() == name)
    }
}

/// An axis: the ascending values at its positions.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// The name of the axis.
    pub name: &'static str,
    /// The number of each line, offset or trace.
    pub values: Numbers,
}

/// The geometry of a survey.
#[derive(Debug, Clone)]
pub struct Survey {
    /// The kind of the survey.
    pub kind: SurveyKind,
    /// The header fields that locate a trace.
    pub keys: Keys,
    /// The axes except that of samples.
    pub axes: Vec<Axis>,
    /// The trace at each position.
    pub map: TraceMap,
    /// Whether the map was predicted from a few traces. Each trace must then be [checked](Self::is_at) when
    /// it is read.
    pub is_predicted: bool,
    /// A note for the user about how the geometry was found.
    pub note: Option<String>,
}

impl Survey {
    pub(crate) fn new(kind: SurveyKind, keys: Keys, axes: Vec<Axis>, map: TraceMap) -> Self {
        Self { kind, keys, axes, map, is_predicted: false, note: None }
    }

    /// Finds the geometry of a file, from a few headers if they suffice, else from all headers.
    pub fn find(file: &SegyFile, options: &SurveyOptions) -> Result<Self> {
        match predict::predict(file, options)? {
            Some(survey) => Ok(survey),
            None => infer::infer(file, options),
        }
    }

    /// Finds the geometry of a file from the headers of all traces.
    pub fn scan(file: &SegyFile, options: &SurveyOptions) -> Result<Self> {
        infer::infer(file, options)
    }

    /// Returns the number of positions along each axis.
    pub fn shape(&self) -> Vec<u64> {
        self.axes.iter().map(|axis| axis.values.len() as u64).collect()
    }

    /// Returns the number of positions along each axis, and the number of samples.
    pub(crate) fn data_shape(&self, samples: u64) -> Vec<u64> {
        [self.shape(), vec![samples]].concat()
    }

    /// Returns the number of positions.
    pub fn positions(&self) -> u64 {
        self.shape().iter().product()
    }

    /// Returns whether the header of a trace gives this position.
    pub fn is_at(&self, header: &[u8], file: &SegyFile, mut position: u64) -> bool {
        let order = file.layout.order;
        let fields = self.fields();
        self.axes.iter().zip(fields).rev().all(|(axis, field)| {
            let len = axis.values.len() as u64;
            let index = usize::try_from(position % len).unwrap_or(0);
            position /= len;
            field.is_none_or(|field| field.number(header, order).ok() == axis.values.get(index))
        })
    }

    /// Returns the header fields that locate traces, for people: `inline 189:i4, crossline 193:i4, x 181:i4,
    /// y 185:i4`.
    pub fn named_fields(&self) -> String {
        let axes = self.axes.iter().map(|axis| axis.name).zip(self.fields());
        let ground = [("x", Some(self.keys.x)), ("y", Some(self.keys.y))];
        let named = axes.chain(ground).filter_map(|(name, field)| Some(format!("{name} {}", field?.name())));
        named.collect::<Vec<_>>().join(", ")
    }

    /// Returns the header field of each axis; `None` for the axis of plain traces.
    pub fn fields(&self) -> Vec<Option<Field>> {
        let Keys { inline, crossline, offset, cdp, .. } = self.keys;
        let field = |name: &&str| match *name {
            "inline" => Some(inline),
            "crossline" => Some(crossline),
            "offset" => Some(offset),
            "cdp" => Some(cdp),
            _ => None,
        };
        self.kind.axes().iter().map(field).collect()
    }
}

/// The trace at each position. Positions are counted row by row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TraceMap {
    /// Every position has a trace, at even steps.
    Regular {
        /// The trace at the first position.
        origin: i64,
        /// The difference between the traces at neighbouring positions, along each axis.
        strides: Vec<i64>,
        /// The number of positions along each axis.
        shape: Vec<u64>,
    },
    /// The trace at each position, in any order.
    Table(Vec<u64>),
}

impl TraceMap {
    /// The entry of a position without a trace.
    pub const NONE: u64 = u64::MAX;

    /// Returns the trace at a position.
    pub fn at(&self, position: u64) -> Option<u64> {
        match self {
            Self::Regular { origin, strides, shape } => {
                let (mut rest, mut trace) = (position, *origin);
                for (stride, len) in strides.iter().zip(shape).rev() {
                    trace += stride * (rest % len).cast_signed();
                    rest /= len;
                }
                u64::try_from(trace).ok()
            }
            Self::Table(traces) => {
                traces.get(usize::try_from(position).ok()?).copied().filter(|&trace| trace != Self::NONE)
            }
        }
    }

    /// Returns the axes, sorted by the distance in the file between traces at neighbouring positions along
    /// them, shortest first.
    pub fn fastest_first(&self, shape: &[u64]) -> Vec<usize> {
        let step = |axis: usize| {
            let pitch: u64 = shape[axis + 1..].iter().product();
            match self {
                Self::Regular { strides, .. } => strides[axis].unsigned_abs(),
                Self::Table(_) => {
                    let steps = (0..shape.iter().product::<u64>().saturating_sub(pitch))
                        .step_by(97)
                        .filter_map(|at| Some(self.at(at + pitch)?.abs_diff(self.at(at)?)));
                    let mut steps: Vec<u64> = steps.take(1000).collect();
                    let middle = steps.len() / 2;
                    if steps.is_empty() { u64::MAX } else { *steps.select_nth_unstable(middle).1 }
                }
            }
        };
        let mut axes: Vec<usize> = (0..shape.len()).collect();
        axes.sort_by_cached_key(|&axis| (step(axis), std::cmp::Reverse(axis)));
        axes
    }
}
