//! What the macro refuses, at which tokens, and the names of members. What it writes is compiled and run in
//! `hyperslab/tests/suite/records.rs`.

use super::expand;

/// Returns the tokens at which the compiler shows the error for a type, and the error.
#[track_caller]
fn refused(source: &str) -> (String, String) {
    let refusal = expand(&syn::parse_str(source).unwrap()).expect_err("it is refused");
    let shown = refusal.compile_error().to_string();
    assert!(shown.contains("compile_error") && shown.contains(&format!("{:?}", refusal.why)), "{shown}");
    (refusal.at.to_string(), refusal.why)
}

#[track_caller]
fn assert_refused(source: &str, at: &str, why: &str) {
    let (found_at, found_why) = refused(source);
    assert_eq!(found_at, at, "{source}");
    assert!(found_why.contains(why), "{source}: {found_why}");
}

fn expanded(source: &str) -> String {
    expand(&syn::parse_str(source).unwrap()).expect("it is accepted").to_string()
}

#[test]
fn a_type_that_is_not_an_element_is_refused_at_the_part_that_says_so() {
    assert_refused("struct P<T> { a: T }", "< T >", "without parameters");
    assert_refused("enum E<'a> { A }", "< 'a >", "without parameters");
    assert_refused("struct P(u8, u16);", "(u8 , u16)", "named fields");
    assert_refused("struct P;", "P", "at least one named field");
    assert_refused("struct P {}", "P", "at least one named field");
    assert_refused("union U { a: u8 }", "union", "a struct or an enum, not a union");
    assert_refused("#[repr(u8)] enum E {}", "E", "at least one variant");
    assert_refused("#[repr(u8)] enum E { A, B(u8) }", "(u8)", "without data");
    assert_refused("#[repr(u8)] enum E { A { a: u8 }, B }", "{ a : u8 }", "without data");
    assert_refused("#[repr(C, packed)] struct P { a: u8 }", "packed", "needs no `packed`");
    assert_refused("#[repr(packed(2))] struct P { a: u8 }", "packed", "needs no `packed`");
}

#[test]
fn an_enum_needs_an_integer_that_a_file_can_have() {
    let why = "derive(Element) needs #[repr(u8)] or another integer on an enum";
    assert_refused("enum E { A }", "E", why);
    assert_refused("#[repr(C)] enum E { A }", "E", why);
    assert_refused("#[repr(usize)] enum E { A }", "usize", "one of u8, i8, u16, i16, u32, i32, u64, i64");
    assert_refused("#[repr(i128)] enum E { A }", "i128", "one of u8");
    for integer in super::enumeration::INTEGERS {
        let source = format!("#[non_exhaustive] #[repr({integer}, align(4))] enum E {{ A = 1 }}");
        assert!(expanded(&source).contains(&format!("Self :: A as {integer}")), "{source}");
    }
}

#[test]
fn an_attribute_that_is_not_a_new_name_is_refused() {
    let form = "must be #[hyperslab(rename = \"name in the file\")]";
    let field = |attribute: &str| format!("struct P {{ {attribute} a: u8 }}");
    assert_refused(&field("#[hyperslab]"), "# [hyperslab]", form);
    assert_refused(&field("#[hyperslab()]"), "# [hyperslab ()]", form);
    assert_refused(&field("#[hyperslab(skip)]"), "# [hyperslab (skip)]", form);
    assert_refused(&field("#[hyperslab(name = \"b\")]"), "name", form);
    assert_refused(&field("#[hyperslab(rename = 1)]"), "1", form);
    assert_refused(&field("#[hyperslab(rename = \"\")]"), "\"\"", "must have a character");
    assert_refused(&field(r#"#[hyperslab(rename = "b\0")]"#), r#""b\0""#, "no zero byte");
    assert_refused(
        &field("#[hyperslab(rename = \"b\", rename = \"c\")]"),
        "rename = \"c\"",
        "must be given once",
    );
    assert_refused(
        &field("#[hyperslab(rename = \"b\")] #[hyperslab(rename = \"c\")]"),
        "rename = \"c\"",
        "must be given once",
    );
}

#[test]
fn the_attribute_of_a_type_is_the_path_of_the_crate() {
    let on = |attribute: &str, rest: &str| format!("{attribute} {rest}");
    let record = "struct P { a: u8 }";
    for rest in [record, "#[repr(u8)] enum E { A }"] {
        assert!(expanded(rest).contains(":: hyperslab :: FixedSize"));
        for (path, found) in
            [("h5", "h5 ::"), ("::h5", ":: h5 ::"), ("crate::io::h5", "crate :: io :: h5 ::")]
        {
            let code = expanded(&on(&format!("#[hyperslab(crate = {path:?})]"), rest));
            assert!(!code.contains("hyperslab ::"), "{code}");
            for name in ["FixedSize for", "AttributeValue for", "Element for", "File", "derive_support"] {
                assert!(code.contains(&format!("{found} {name}")), "{name} of {path} in {code}");
            }
        }
    }
    let form = "must be #[hyperslab(crate = \"path of hyperslab\")] on a type";
    assert_refused(&on("#[hyperslab(rename = \"Q\")]", record), "rename", form);
    assert_refused(&on("#[hyperslab]", record), "# [hyperslab]", form);
    assert_refused(&on("#[hyperslab(crate = h5)]", record), "h5", form);
    assert_refused(&on("#[hyperslab(crate = \"h 5\")]", record), "\"h 5\"", "must be the path of hyperslab");
    assert_refused("struct P { #[hyperslab(crate = \"h5\")] a: u8 }", "crate", "(rename = ");
}

#[test]
fn only_types_with_a_deprecated_part_allow_what_is_deprecated() {
    let allows = |source: &str| expanded(source).matches("# [allow (deprecated)]").count();
    assert_eq!(allows("struct P { a: u8 }"), 0);
    assert_eq!(allows("#[allow(unused)] #[repr(u8)] enum E { A }"), 0);
    assert_eq!(allows("#[deprecated] struct P { a: u8 }"), 3);
    assert_eq!(allows("struct P { #[deprecated(note = \"use b\")] a: u8 }"), 3);
    assert_eq!(allows("#[repr(u8)] enum E { A, #[deprecated = \"use A\"] B }"), 3);
    assert_eq!(allows("#[allow(unused, deprecated)] struct P { a: Old }"), 3);
    assert_eq!(allows("struct P { #[expect(deprecated)] a: Old }"), 3);
}

#[test]
fn two_members_with_one_name_are_refused_at_the_second() {
    let why = "another member has the name \"b\": rename one";
    assert_refused("struct P { b: u8, #[hyperslab(rename = \"b\")] a: u8 }", "\"b\"", why);
    assert_refused("struct P { #[hyperslab(rename = \"b\")] a: u8, r#b: u8 }", "r#b", why);
    assert_refused("#[repr(u8)] enum E { #[hyperslab(rename = \"b\")] A, b }", "b", why);
    expanded("struct P { #[hyperslab(rename = \"b\")] a: u8, #[hyperslab(rename = \"a\")] b: u8 }");
}

#[test]
fn a_member_has_the_plain_name_of_a_raw_identifier() {
    assert!(expanded("struct P { r#type: u8 }").contains("(\"type\" ,"));
    assert!(expanded("#[repr(u8)] enum E { r#Type }").contains("(\"Type\" ,"));
}
