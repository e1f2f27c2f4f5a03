//! Records with `#[derive(Element)]` as rows of a table.

use hyperslab::{Element, File, RequestError, WriteOptions};
use hyperslab_tables::{Query, Table};
use hyperslab_testkit::sound::assert_accounted;

#[derive(Element, Debug, Clone, Copy, PartialEq)]
#[repr(i16)]
enum State {
    Closed = -1,
    #[hyperslab(rename = "open")]
    Open = 4,
}

#[derive(Element, Debug, Clone, Copy, PartialEq)]
struct Place {
    #[hyperslab(rename = "height")]
    metres: f32,
    states: [State; 2],
}

#[derive(Element, Debug, Clone, Copy, PartialEq)]
struct Station {
    id: u32,
    state: State,
    is_manned: bool,
    place: Place,
}

fn station(id: u32) -> Station {
    let state = |number: u32| if number.is_multiple_of(3) { State::Open } else { State::Closed };
    let metres = f32::from(u16::try_from(id).expect("small")) / 4.0;
    let place = Place { metres, states: [state(id + 1), state(id + 2)] };
    Station { id, state: state(id), is_manned: id.is_multiple_of(2), place }
}

#[test]
fn rows_of_a_table_are_found_by_the_members_of_records_and_enumerations() {
    let file = File::in_memory().expect("a file");
    let stations: Vec<Station> = (0..100).map(station).collect();
    let new = file.root().new_dataset::<Station>("stations").shape([100]).max_shape([None]).chunks([16]);
    let dataset = new.create_with(&stations).expect("a dataset");
    let table = Table::create(dataset.clone(), "Stations", None).expect("a table");
    let found = |condition: &str| {
        let query = Query::new(&table, condition, &[]).expect("a query");
        query.rows(0..table.len(), None).expect("rows")
    };
    let expected = |test: fn(&Station) -> bool| {
        let numbers = (0_u64..).zip(&stations);
        numbers.filter(|(_, station)| test(station)).map(|(number, _)| number).collect::<Vec<_>>()
    };
    assert_eq!(found("state == 4"), expected(|station| station.state == State::Open));
    assert_eq!(found("is_manned & (state < 0)"), expected(|s| s.is_manned && s.state == State::Closed));
    assert_eq!(found("place/height >= 20.25"), expected(|station| station.place.metres >= 20.25));
    assert_eq!(dataset.read::<Station>(30..40).expect("rows"), stations[30..40]);

    // A row whose state has no name can be found, but not read as a record.
    let mut row = vec![0; 15];
    dataset.read_into(7..8, &mut row).expect("a row");
    row[4..6].copy_from_slice(&9_i16.to_ne_bytes());
    dataset.write_with(7..8, &row, &WriteOptions::default()).expect("written");
    assert_eq!(found("state == 9"), [7]);
    let error = dataset.read::<Station>(5..10).expect_err("9 is not a state");
    let text = "element 2: member \"state\": 9 is not a variant of `State`";
    assert!(matches!(error.root(), hyperslab::Error::Request(RequestError::NotAValue { element: 2, .. })));
    assert!(error.to_string().contains(text), "{error}");
    assert_accounted(&file, 0);
}
