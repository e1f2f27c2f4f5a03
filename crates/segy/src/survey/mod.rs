//! How traces lie in space: the axes of a volume, and which trace stands where.

mod infer;
mod predict;
mod scan;

use crate::error::Result;
use crate::field::{Field, FieldKind};
use crate::file::SegyFile;

/// Where trace headers hold what places a trace. The defaults are those of revision 1.
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
    /// What coordinates are multiplied with, or divided by where it is negative.
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

/// What is known of a survey before its headers are read.
#[derive(Debug, Clone, Default)]
pub struct SurveyOptions {
    /// The bytes of inline and crossline, if they are not to be found out.
    pub lines: Option<(Field, Field)>,
    /// The bytes of the offset.
    pub offset: Option<Field>,
    /// The bytes of the ensemble.
    pub cdp: Option<Field>,
    /// The bytes of the coordinates.
    pub coordinates: Option<(Field, Field)>,
    /// What the survey is, if that is not to be found out.
    pub kind: Option<Kind>,
}

/// What a survey is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A trace for each inline and crossline.
    Volume,
    /// A trace for each inline, crossline and offset.
    Prestack,
    /// A trace for each common depth point.
    Line,
    /// A trace for each common depth point and offset.
    PrestackLine,
    /// Traces as they follow each other, without geometry.
    Traces,
}

impl Kind {
    /// The names of its axes, without that of samples.
    pub const fn axes(self) -> &'static [&'static str] {
        match self {
            Self::Volume => &["inline", "crossline"],
            Self::Prestack => &["inline", "crossline", "offset"],
            Self::Line => &["cdp"],
            Self::PrestackLine => &["cdp", "offset"],
            Self::Traces => &["trace"],
        }
    }

    /// How many of its axes, the first, say where on the ground a trace is.
    pub const fn ground_axes(self) -> usize {
        match self {
            Self::Volume | Self::Prestack => 2,
            Self::Line | Self::PrestackLine | Self::Traces => 1,
        }
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Volume => "volume",
            Self::Prestack => "prestack",
            Self::Line => "line",
            Self::PrestackLine => "prestack line",
            Self::Traces => "traces",
        }
    }

    /// The kind of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        let all = [Self::Volume, Self::Prestack, Self::Line, Self::PrestackLine, Self::Traces];
        all.into_iter().find(|kind| kind.name() == name)
    }
}

/// An axis: what stands at each position of it, rising.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Axis {
    /// Its name.
    pub name: &'static str,
    /// The number of each line, offset or trace.
    pub values: Vec<i64>,
}

/// How traces lie in space.
#[derive(Debug, Clone)]
pub struct Survey {
    /// What it is.
    pub kind: Kind,
    /// Where headers hold what places a trace.
    pub keys: Keys,
    /// Its axes, without that of samples.
    pub axes: Vec<Axis>,
    /// Which trace stands where.
    pub map: TraceMap,
    /// Whether the map was taken from a few traces: then each trace has to be [checked](Self::is_at) where it is read.
    pub is_predicted: bool,
    /// What a person should know of how it was found.
    pub note: Option<String>,
}

impl Survey {
    pub(crate) fn new(kind: Kind, keys: Keys, axes: Vec<Axis>, map: TraceMap) -> Self {
        Self { kind, keys, axes, map, is_predicted: false, note: None }
    }

    /// Finds out how the traces of a file lie: from a few headers where they tell, else from all.
    pub fn find(file: &SegyFile, options: &SurveyOptions) -> Result<Self> {
        match predict::predict(file, options)? {
            Some(survey) => Ok(survey),
            None => infer::infer(file, options),
        }
    }

    /// The same from the headers of all traces.
    pub fn scan(file: &SegyFile, options: &SurveyOptions) -> Result<Self> {
        infer::infer(file, options)
    }

    /// How many positions there are along each axis.
    pub fn shape(&self) -> Vec<u64> {
        self.axes.iter().map(|axis| axis.values.len() as u64).collect()
    }

    /// The same, and how many samples.
    pub(crate) fn data_shape(&self, samples: u64) -> Vec<u64> {
        [self.shape(), vec![samples]].concat()
    }

    /// How many positions there are.
    pub fn positions(&self) -> u64 {
        self.shape().iter().product()
    }

    /// Whether a trace's header says that it stands at a position.
    pub fn is_at(&self, header: &[u8], file: &SegyFile, mut position: u64) -> bool {
        let order = file.layout.order;
        let fields = self.fields();
        self.axes.iter().zip(fields).rev().all(|(axis, field)| {
            let len = axis.values.len() as u64;
            let index = usize::try_from(position % len).unwrap_or(0);
            position /= len;
            field.is_none_or(|field| field.integer(header, order) == axis.values[index])
        })
    }

    /// The fields that place its traces, as a person reads them: `inline 189:i4, crossline 193:i4, x 181:i4, y 185:i4`.
    pub fn named_fields(&self) -> String {
        let axes = self.axes.iter().map(|axis| axis.name).zip(self.fields());
        let ground = [("x", Some(self.keys.x)), ("y", Some(self.keys.y))];
        let named = axes.chain(ground).filter_map(|(name, field)| Some(format!("{name} {}", field?.name())));
        named.collect::<Vec<_>>().join(", ")
    }

    /// The field of each axis, without that of traces in order.
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

/// Which trace stands at each position, counted row by row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TraceMap {
    /// Every position has one, in even steps.
    Regular {
        /// The trace at the first position.
        origin: i64,
        /// How many traces further the next position along each axis is.
        strides: Vec<i64>,
        /// How many positions there are along each axis.
        shape: Vec<u64>,
    },
    /// As it comes.
    Table(Vec<u64>),
}

impl TraceMap {
    /// Where no trace stands.
    pub const NONE: u64 = u64::MAX;

    /// The trace at a position.
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

    /// The axes, those first along which traces follow each other most closely.
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
