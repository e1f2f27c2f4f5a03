//! Any text is an expression or an error, and a demand holds wherever its expression is true.

use hyperslab_expr::{Comparison, Demand, Expression, Operand, Registers, Scalar, Type, Value};
use proptest::prelude::*;

/// Texts of the parts of expressions, in any order.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("a"),
        Just("b"),
        Just("("),
        Just(")"),
        Just(","),
        Just("+"),
        Just("-"),
        Just("**"),
        Just("&"),
        Just("~"),
        Just("<"),
        Just("=="),
        Just("1"),
        Just("2.5e3"),
        Just("0x"),
        Just("1j"),
        Just("'x'"),
        Just("b'\\x"),
        Just("="),
        Just("sum("),
        Just("where("),
        Just("isin("),
        Just("axis="),
        Just("None"),
        Just("keepdims=True"),
        Just("é"),
        Just(" ")
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces: Vec<&str>| pieces.concat())
}

/// Scalars of NumPy of type int8, whose sums and opposites wrap.
const TYPED: [(&str, i8); 2] = [("t", 100), ("u", i8::MIN)];

/// Conditions over two small integers, and the scalars.
fn condition() -> impl Strategy<Value = String> {
    let side = prop_oneof![
        Just("a".to_owned()),
        Just("b".to_owned()),
        (-3..4_i32).prop_map(|n| n.to_string()),
        prop_oneof![
            Just("(2 - 1)"),
            Just("t"),
            Just("-u"),
            Just("(t + t)"),
            Just("(u - 1)"),
            Just("-(t * 2)")
        ]
        .prop_map(str::to_owned)
    ];
    let sign = prop_oneof![Just("<"), Just("<="), Just(">"), Just(">="), Just("=="), Just("!=")];
    let leaf = (side.clone(), sign, side).prop_map(|(one, sign, other)| format!("({one} {sign} {other})"));
    leaf.prop_recursive(4, 16, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(one, other)| format!("({one} & {other})")),
            (inner.clone(), inner.clone()).prop_map(|(one, other)| format!("({one} | {other})")),
            (inner.clone(), inner.clone()).prop_map(|(one, other)| format!("({one} ^ {other})")),
            inner.prop_map(|one| format!("~{one}")),
        ]
    })
}

fn holds(demand: &Demand, a: i128, b: i128) -> bool {
    match demand {
        Demand::All(all) => all.iter().all(|one| holds(one, a, b)),
        Demand::Any(any) => any.iter().any(|one| holds(one, a, b)),
        Demand::Compare { name, op, value: Value::Int(value) } => {
            let own = if name == "a" { a } else { b };
            match op {
                Comparison::Less => own < *value,
                Comparison::LessEqual => own <= *value,
                Comparison::Greater => own > *value,
                Comparison::GreaterEqual => own >= *value,
                Comparison::Equal => own == *value,
            }
        }
        _ => true,
    }
}

proptest! {
    #[test]
    fn any_text_is_an_expression_or_an_error(text in any::<String>()) {
        let _ = Expression::parse(&text);
    }

    #[test]
    fn any_pieces_are_an_expression_or_an_error(text in pieces()) {
        if let Ok(expression) = Expression::parse(&text) {
            let mut rest = expression;
            while let Some(split) = rest.split() {
                prop_assert!(split.inner.split().is_none());
                rest = split.outer;
            }
            let given: Vec<(&str, Operand)> =
                rest.names().iter().map(|name| (&**name, Operand::Array(Type::F32))).collect();
            let _ = rest.compile(&given);
        }
    }

    #[test]
    fn a_demand_holds_wherever_the_expression_is_true(text in condition()) {
        let expression = Expression::parse(&text).unwrap();
        let arrays = ["a", "b"].map(|name| (name, Operand::Array(Type::I8)));
        let typed = TYPED.map(|(name, value)| (name, Operand::Typed(Type::I8, value.to_ne_bytes().to_vec())));
        let program = expression.compile(&[arrays, typed].concat()).unwrap();
        let demand = expression.demand(&|name| {
            let (_, value) = TYPED.iter().find(|(known, _)| *known == name)?;
            Some(Scalar { value: Value::Int((*value).into()), is_typed: true })
        });
        let pairs: Vec<(i8, i8)> = (-4..5).flat_map(|a| (-4..5).map(move |b| (a, b))).collect();
        let bytes = |of: fn(&(i8, i8)) -> i8| -> Vec<u8> { pairs.iter().flat_map(|pair| of(pair).to_ne_bytes()).collect() };
        let (a, b) = (bytes(|pair| pair.0), bytes(|pair| pair.1));
        let arrays: Vec<&[u8]> = program.arrays().iter().map(|name| if name == "a" { &*a } else { &*b }).collect();
        let mut mask = vec![0; pairs.len()];
        program.run(&arrays, pairs.len(), &mut mask, &mut Registers::default()).unwrap();
        for ((a, b), is_true) in pairs.iter().zip(&mask) {
            prop_assert!(*is_true == 0 || holds(&demand, (*a).into(), (*b).into()), "{text} at {a}, {b}: {demand:?}");
        }
    }
}
