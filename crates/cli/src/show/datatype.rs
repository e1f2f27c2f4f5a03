//! Names of datatypes that fit a number of columns.

use hyperslab_format::datatype::{Compound, Datatype};
pub(crate) use hyperslab_present::name;
use hyperslab_present::{member, tuple};
use unicode_width::UnicodeWidthStr as _;

/// Returns the name of a datatype in at most about `room` columns. A compound has as many members as fit, and
/// the number of the others.
pub(crate) fn short(datatype: &Datatype, room: usize) -> String {
    let whole = name(datatype);
    if whole.width() <= room {
        return whole;
    }
    match datatype {
        Datatype::Compound(t) if t.complex_parts().is_none() => first_members(t, room),
        Datatype::Sequence(base) => format!("vlen({})", short(base, room.saturating_sub(6))),
        Datatype::Array(t) => {
            let shape = tuple(t.shape.iter().map(u32::to_string));
            let left = room.saturating_sub(shape.len());
            format!("{shape}{}", short(&t.base, left))
        }
        _ => {
            let kept: String = whole.chars().take(room.saturating_sub(1)).collect();
            format!("{kept}…")
        }
    }
}

/// Returns the members of a compound, each as `name: datatype`. `None` for other datatypes, and for a
/// compound whose name has at most `room` columns.
pub(crate) fn long_members(datatype: &Datatype, room: usize) -> Option<Vec<String>> {
    match datatype {
        Datatype::Compound(t) if t.complex_parts().is_none() && name(datatype).width() > room => {
            Some(t.members.iter().map(member).collect())
        }
        Datatype::Sequence(base) => long_members(base, room),
        Datatype::Array(t) => long_members(&t.base, room),
        _ => None,
    }
}

fn first_members(t: &Compound, room: usize) -> String {
    let mut shown = String::new();
    for (number, member) in t.members.iter().map(member).enumerate() {
        let more = format!(", … {} more", t.members.len() - number - 1);
        let comma = if number > 0 { ", " } else { "" };
        if [&*shown, comma, &member, &more].iter().map(|text| text.width()).sum::<usize>() + 2 > room {
            let left = t.members.len() - number;
            return match number {
                0 => format!("{{{left} members}}"),
                _ => format!("{{{shown}, … {left} more}}"),
            };
        }
        shown.extend([comma, &member]);
    }
    format!("{{{shown}}}")
}

#[cfg(test)]
mod tests {
    use hyperslab_format::datatype::{Integer, Member};

    use super::*;

    #[test]
    fn a_long_compound_has_the_members_that_fit_and_the_number_of_the_others() {
        let byte = || Datatype::Integer(Integer::little(1, true));
        let members = (0..91).map(|number| Member::new(format!("field{number}"), number, byte()));
        let long = Datatype::Compound(Compound { size: 91, members: members.collect() });
        assert_eq!(short(&long, 44), "{field0: int8, field1: int8, … 89 more}");
        assert_eq!(short(&long, 20), "{91 members}");
        assert_eq!(short(&Datatype::Sequence(Box::new(long.clone())), 20), "vlen({91 members})");
        assert_eq!(short(&long, 10_000), name(&long));
        for room in 12..200 {
            assert!(short(&long, room).width() <= room, "{room}");
        }
        assert_eq!(long_members(&long, 44).unwrap()[90], "field90: int8");
        assert_eq!(long_members(&byte(), 2), None);
    }
}
