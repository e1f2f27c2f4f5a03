//! Attributes, strings and structs: `cargo run --example attributes`.

use hyperslab::{Element, File, Selection};

/// A station, as one element of a dataset.
#[derive(Element, Debug, Clone, Copy, PartialEq)]
struct Station {
    id: u32,
    position: [f64; 2],
    is_open: bool,
}

fn main() -> hyperslab::Result<()> {
    let file = File::in_memory()?;
    let root = file.root();
    root.set_attribute("title", "Daily temperatures")?;
    root.set_attribute("version", 3)?;
    root.set_attribute("bounds", [47.3, 55.1, 5.9, 15.0])?;
    root.set_attribute("authors", ["Ada", "Grace"])?;
    println!("{:?}", root.attribute_names()?);
    println!("{}", root.attribute_value::<String>("title")?);
    println!("{:?}", root.attribute_values::<f32>("bounds")?);
    println!("{:?}", root.attribute_values::<String>("authors")?);

    let names = ["Hohenpeißenberg", "Zugspitze"].map(str::to_owned);
    let stored = root.new_dataset::<String>("names").shape([2]).create_with(&names)?;
    assert_eq!(stored.read::<String>(Selection::All)?, names);

    let stations = [
        Station { id: 2290, position: [47.80, 11.01], is_open: true },
        Station { id: 5792, position: [47.42, 10.98], is_open: true },
    ];
    let stored = root.new_dataset::<Station>("stations").shape([2]).create_with(&stations)?;
    println!("{:?}", stored.read::<Station>(1..2)?);
    Ok(())
}
