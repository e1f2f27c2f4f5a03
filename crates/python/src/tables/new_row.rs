//! The row that a program fills and appends again and again: its plain columns without NumPy, which takes far
//! longer to assign one element than to write it.

use std::sync::{Arc, Weak};

use hyperslab::WriteOptions;
use hyperslab_tables::Table;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyFloat, PyInt, PyList, PyString, PyTuple};

use crate::handles::dataset::Dataset;
use crate::interpreter::error::{ClosedError, OrRaise};
use crate::opening::state::{FileState, writable};
use crate::opening::waiting::{Waiting, WaitingRows};

/// A column that takes plain values of Python.
struct PlainColumn {
    /// Interned, as the keys in a program are: mostly the same object.
    name: Py<PyString>,
    /// The first byte in a row.
    at: usize,
    kind: ColumnKind,
}

/// How a column stores a value, in the byte order of this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ColumnKind {
    Bool,
    Signed(usize),
    Unsigned(usize),
    Single,
    Double,
    Bytes(usize),
}

impl ColumnKind {
    /// Returns the kind that NumPy writes as `text`, if it takes plain values.
    fn of(text: &str) -> Option<Self> {
        let order = if cfg!(target_endian = "big") { '>' } else { '<' };
        let plain = text.strip_prefix('|').or_else(|| text.strip_prefix(order))?;
        let (kind, size) = plain.split_at_checked(1)?;
        let size = size.parse().ok()?;
        match (kind, size) {
            ("b", 1) => Some(Self::Bool),
            ("i", 1 | 2 | 4 | 8) => Some(Self::Signed(size)),
            ("u", 1 | 2 | 4 | 8) => Some(Self::Unsigned(size)),
            ("f", 4) => Some(Self::Single),
            ("f", 8) => Some(Self::Double),
            ("S", _) => Some(Self::Bytes(size)),
            _ => None,
        }
    }

    /// Returns the kind of a column at byte `at` of a row of `size` bytes.
    fn at(text: &str, at: usize, size: usize) -> Option<Self> {
        Self::of(text).filter(|kind| at.checked_add(kind.size()).is_some_and(|end| end <= size))
    }

    fn size(self) -> usize {
        match self {
            Self::Bool => 1,
            Self::Single => 4,
            Self::Double => 8,
            Self::Signed(size) | Self::Unsigned(size) | Self::Bytes(size) => size,
        }
    }

    /// Writes a value. Returns `None` if the value is not plain, or the column cannot hold it.
    fn put(self, value: &Bound<'_, PyAny>, place: &mut [u8]) -> Option<()> {
        match self {
            Self::Bool => place[0] = value.extract::<bool>().ok()?.into(),
            Self::Signed(size) => {
                let value: i64 = value.extract().ok()?;
                let unused = 64 - 8 * size;
                (value << unused >> unused == value).then_some(())?;
                put_integer(value.cast_unsigned(), place);
            }
            Self::Unsigned(size) => {
                let value = u64::try_from(value.extract::<i64>().ok()?).ok()?;
                (size == 8 || value >> (8 * size) == 0).then_some(())?;
                put_integer(value, place);
            }
            #[expect(clippy::cast_possible_truncation, reason = "the column has floats of 32 bits")]
            Self::Single => {
                let value = number(value)?;
                let single = value as f32;
                (single.is_finite() || !value.is_finite()).then_some(())?;
                place.copy_from_slice(&single.to_ne_bytes());
            }
            Self::Double => place.copy_from_slice(&number(value)?.to_ne_bytes()),
            Self::Bytes(_) => {
                let bytes = value.cast_exact::<PyBytes>().ok()?.as_bytes();
                place.get_mut(..bytes.len())?.copy_from_slice(bytes);
                place[bytes.len()..].fill(0);
            }
        }
        Some(())
    }
}

/// Returns a float, or a small integer as a float.
#[expect(clippy::cast_precision_loss, reason = "larger integers are refused")]
fn number(value: &Bound<'_, PyAny>) -> Option<f64> {
    if let Ok(value) = value.cast::<PyFloat>() {
        return Some(value.value());
    }
    let value: i64 = value.extract().ok()?;
    (value.unsigned_abs() <= 1 << 53).then_some(value as f64)
}

fn put_integer(value: u64, place: &mut [u8]) {
    let bytes = value.to_ne_bytes();
    let unused = bytes.len() - place.len();
    let low = if cfg!(target_endian = "big") { &bytes[unused..] } else { &bytes[..place.len()] };
    place.copy_from_slice(low);
}

/// The name of a column, its first byte in a row, and its type as NumPy writes it; empty if it has no plain
/// values.
type Given = (String, usize, String);

/// The form of rows whose columns all take plain values.
#[pyclass(frozen, module = "hyperslab", name = "_PlainRows")]
pub(crate) struct PlainRows {
    /// The first byte and the kind of each column. `None` if a column takes no plain values.
    kinds: Option<Vec<(usize, ColumnKind)>>,
    size: usize,
}

#[pymethods]
impl PlainRows {
    /// Describes rows of `size` bytes.
    #[new]
    #[expect(clippy::needless_pass_by_value, reason = "PyO3 passes vectors by value")]
    fn new(columns: Vec<Given>, size: usize) -> Self {
        let kinds = columns.iter().map(|(_, at, kind)| Some((*at, ColumnKind::at(kind, *at, size)?)));
        Self { kinds: kinds.collect(), size }
    }

    /// Returns the bytes of rows. `None` if a row is no tuple of one value for each column, a value is not
    /// plain, or a column cannot hold it.
    fn packed<'py>(&self, rows: &Bound<'py, PyList>) -> Option<Bound<'py, PyBytes>> {
        let kinds = self.kinds.as_ref()?;
        let mut packed = vec![0; self.size.checked_mul(rows.len())?];
        let mut places = packed.chunks_exact_mut(self.size.max(1));
        for row in rows {
            // A conversion may run code that changes the list.
            let place = places.next()?;
            let row = row.cast_exact::<PyTuple>().ok()?;
            (row.len() == kinds.len()).then_some(())?;
            for (value, (at, kind)) in row.iter_borrowed().zip(kinds) {
                kind.put(&value, &mut place[*at..at + kind.size()])?;
            }
        }
        places.next().is_none().then(|| PyBytes::new(rows.py(), &packed))
    }
}

/// Rows that wait to be written, and the one that is filled now. `NewRow` is the class that users see.
#[pyclass(subclass, module = "hyperslab", name = "_NewRow")]
pub(crate) struct PyNewRow {
    /// Not owned, as the file: the file owns rows that wait.
    table: Weak<Table>,
    state: Weak<FileState>,
    /// How the rows are appended: in their datatype, if the table stores another one.
    options: WriteOptions,
    columns: Vec<PlainColumn>,
    /// The bytes of the rows.
    rows: Vec<u8>,
    /// A row whose columns have their defaults.
    default: Vec<u8>,
    /// The number of rows that wait.
    count: usize,
    /// Whether the file knows of the rows.
    is_waiting: bool,
}

impl PyNewRow {
    /// Returns the bytes of the row that is filled.
    fn row(&mut self) -> &mut [u8] {
        let size = self.default.len();
        &mut self.rows[self.count * size..][..size]
    }

    /// Returns the table. Raises `ClosedError` if its file is not open, or the table was deleted.
    fn table(&self) -> PyResult<Arc<Table>> {
        self.table
            .upgrade()
            .ok_or_else(|| ClosedError::new_err("the table was deleted, or its file is closed"))
    }

    fn file(slf: &Bound<'_, Self>) -> PyResult<Arc<FileState>> {
        slf.borrow().state.upgrade().ok_or_else(|| ClosedError::new_err("the file is closed"))
    }

    /// Tells the file that the row has values, which its flush writes if the row is appended.
    fn wait(slf: &Bound<'_, Self>) -> PyResult<()> {
        let state = Self::file(slf)?;
        let table = slf.borrow().table()?;
        writable::<PyOSError>(&state, "append rows")?;
        // A row of a deleted table has nowhere to go.
        table.dataset().hard_links().or_raise()?;
        // Another row of the table may have been made before either had a value.
        if let Some(other) = state.waiting.rows(slf.py(), table.dataset().address().get())
            && !other.object(slf.py()).is(slf)
        {
            other.write(slf.py(), &state.waiting)?;
        }
        state.waiting.set_rows(&table, Some(Box::new(slf.clone().unbind())));
        slf.borrow_mut().is_waiting = true;
        Ok(())
    }

    /// Appends the first `count` rows to the table, by default those that wait. If that fails, they go on
    /// waiting.
    fn write(slf: &Bound<'_, Self>, waiting: &Waiting, count: Option<usize>) -> PyResult<()> {
        let (table, rows, options, count) = {
            let mut this = slf.borrow_mut();
            let count = count.unwrap_or(this.count);
            this.is_waiting = false;
            let rows = this.rows[..count * this.default.len()].to_vec();
            (this.table()?, rows, this.options.clone(), count)
        };
        waiting.set_rows(&table, None);
        if count == 0 {
            return Ok(());
        }
        let appended = slf.py().detach(|| waiting.append(&table, &rows, &options)).or_raise();
        let mut this = slf.borrow_mut();
        if let Err(error) = appended {
            this.is_waiting = true;
            drop(this);
            waiting.set_rows(&table, Some(Box::new(slf.clone().unbind())));
            return Err(error);
        }
        this.forget(count);
        Ok(())
    }

    /// Forgets the first `count` rows. Those after them, and the one that is filled, are the first ones then.
    fn forget(&mut self, count: usize) {
        let size = self.default.len();
        let end = self.rows.len().min((self.count + 1) * size);
        self.rows.copy_within((count * size).min(end)..end, 0);
        self.count = self.count.saturating_sub(count);
    }

    /// Forgets all rows and the values of the one that is filled.
    fn discard(&mut self) {
        self.count = 0;
        self.is_waiting = false;
        self.rows[..self.default.len()].copy_from_slice(&self.default);
    }

    /// Returns the first byte and the kind of a column.
    fn column(&self, key: &Bound<'_, PyAny>) -> Option<(usize, ColumnKind)> {
        let column = self.columns.iter().find(|column| column.name.as_ptr() == key.as_ptr())?;
        Some((column.at, column.kind))
    }

    /// Stores a value that is converted without code of Python. Returns whether it is one, and the row one of
    /// those that the file knows of.
    fn put_plain(&mut self, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> bool {
        let is_plain = value.is_exact_instance_of::<PyFloat>()
            || value.is_exact_instance_of::<PyInt>()
            || value.is_exact_instance_of::<PyBytes>()
            || value.is_exact_instance_of::<PyBool>();
        match self.column(key) {
            Some((at, kind)) if is_plain && self.is_waiting => {
                kind.put(value, &mut self.row()[at..at + kind.size()]).is_some()
            }
            _ => false,
        }
    }
}

impl WaitingRows for Py<PyNewRow> {
    fn clone_ref(&self, py: Python<'_>) -> Box<dyn WaitingRows> {
        Box::new(Self::clone_ref(self, py))
    }

    fn object(&self, py: Python<'_>) -> Py<PyAny> {
        Self::clone_ref(self, py).into_any()
    }

    fn table(&self, py: Python<'_>) -> PyResult<Arc<Table>> {
        self.borrow(py).table()
    }

    fn write(&self, py: Python<'_>, waiting: &Waiting) -> PyResult<()> {
        PyNewRow::write(self.bind(py), waiting, None)
    }

    fn discard(&self, py: Python<'_>) {
        self.borrow_mut(py).discard();
    }
}

#[pymethods]
impl PyNewRow {
    /// Makes room for `capacity` rows of a table. `columns` are the name, the first byte and the type of each
    /// column.
    #[new]
    fn new(
        dataset: &Bound<'_, Dataset>,
        columns: Vec<Given>,
        default: Vec<u8>,
        capacity: usize,
    ) -> PyResult<Self> {
        let (py, this) = (dataset.py(), dataset.get());
        let (table, translation) = (this.state.waiting.owned(this.table()?), this.translation(py)?);
        let table = Arc::downgrade(&table);
        let datatype = (!this.is_stored_as(py, translation)).then(|| translation.memory.clone());
        let options = WriteOptions::default().datatype(datatype);
        let state = Arc::downgrade(&this.state);
        let size = default.len();
        let mut plain = Vec::new();
        for (name, at, kind) in columns {
            let kind = ColumnKind::at(&kind, at, size);
            plain.extend(kind.map(|kind| PlainColumn {
                name: PyString::intern(py, &name).unbind(),
                at,
                kind,
            }));
        }
        let bytes = size.checked_mul(capacity.max(1)).filter(|_| size > 0);
        let bytes = bytes.ok_or_else(|| {
            PyValueError::new_err(
                "a row must have at least 1 byte, and the rows that wait must fit in memory",
            )
        })?;
        let mut rows = vec![0; bytes];
        rows[..size].copy_from_slice(&default);
        Ok(Self { table, state, options, columns: plain, rows, default, count: 0, is_waiting: false })
    }

    fn __setitem__(slf: &Bound<'_, Self>, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        if slf.borrow_mut().put_plain(key, value) {
            return Ok(());
        }
        if !slf.borrow().is_waiting {
            Self::wait(slf)?;
            if slf.borrow_mut().put_plain(key, value) {
                return Ok(());
            }
        }
        // The conversion may run code of Python, so it does not borrow the rows.
        let found = slf.borrow().column(key);
        let mut number = [0; 8];
        if let Some((at, kind)) = found
            && let Some(number) = number.get_mut(..kind.size())
            && kind.put(value, number).is_some()
        {
            slf.borrow_mut().row()[at..at + number.len()].copy_from_slice(number);
            return Ok(());
        }
        slf.call_method1("_put", (key, value)).map(drop)
    }

    /// Appends the row, and starts the next one.
    ///
    /// Example:
    ///     >>> readings.row["temp"] = 292
    ///     >>> readings.row.append()
    ///     >>> readings.read()["temp"][-1]
    ///     np.float64(292.0)
    fn append(slf: &Bound<'_, Self>) -> PyResult<()> {
        let mut this = slf.borrow_mut();
        if !this.is_waiting {
            drop(this);
            Self::wait(slf)?;
            this = slf.borrow_mut();
        }
        let size = this.default.len();
        if (this.count + 2) * size > this.rows.len() {
            let count = this.count + 1;
            drop(this);
            Self::write(slf, &Self::file(slf)?.waiting, Some(count))?;
            this = slf.borrow_mut();
        } else {
            this.count += 1;
        }
        let PyNewRow { rows, default, count, .. } = &mut *this;
        rows[*count * size..][..size].copy_from_slice(default);
        Ok(())
    }

    /// Appends the rows that wait to the table.
    fn _write(slf: &Bound<'_, Self>) -> PyResult<()> {
        Self::write(slf, &Self::file(slf)?.waiting, None)
    }

    /// Returns the number of rows of the table, with those that wait.
    fn _len(&self) -> PyResult<u64> {
        Ok(self.table()?.len() + self.count as u64)
    }

    /// Returns the bytes of the row that is filled.
    fn _filled<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.row())
    }

    /// Replaces the bytes of the row that is filled.
    fn _fill(&mut self, bytes: &[u8]) -> PyResult<()> {
        if bytes.len() != self.default.len() {
            return Err(PyValueError::new_err(format!(
                "the bytes must be those of a row, {}, not {}",
                self.default.len(),
                bytes.len()
            )));
        }
        self.row().copy_from_slice(bytes);
        Ok(())
    }
}
