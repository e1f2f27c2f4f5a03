//! The example programs run.

#![allow(clippy::unwrap_used, clippy::expect_used)]

macro_rules! examples {
    ($($name:ident)*) => {$(
        #[path = "../examples"]
        mod $name {
            #![allow(dead_code, clippy::cast_precision_loss, clippy::cast_possible_truncation)]
            include!(concat!("../examples/", stringify!($name), ".rs"));

            #[test]
            fn runs() {
                main().unwrap();
            }
        }
    )*};
}

examples! { read write attributes threads }
#[cfg(feature = "ndarray")]
examples! { arrays }
