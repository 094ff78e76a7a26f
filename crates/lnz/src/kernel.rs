//! The fast inner loops; all `unsafe` code of this crate is in here.

pub(crate) mod enumerate;
