//! The reader of sources on made-up crates, and the rules on this one.

use super::modules::{Modules, cycles};
use super::source::Source;
use super::{CRATES, check, differences, layers, upward_crates};

fn modules(files: &[(&str, &str)]) -> Modules {
    let read = |name: &str| {
        files.iter().find(|(file, _)| *file == name).map(|(_, text)| (*text).to_owned())
    };
    Modules::load(&read).unwrap()
}

/// Cycles at all levels, as `around: members`.
fn cycles_of(files: &[(&str, &str)]) -> Vec<String> {
    let graphs = modules(files).graphs();
    let all = graphs.iter().flat_map(|(around, graph)| {
        let around = around.join("::");
        cycles(graph).into_iter().map(move |cycle| format!("{around}: {}", cycle.join(" ")))
    });
    all.collect()
}

fn paths(text: &str) -> Vec<String> {
    Source::parse(text).paths.iter().map(|path| path.segments.join("::")).collect()
}

#[test]
fn a_cycle_is_found_and_a_chain_is_not_one() {
    let chain = [
        ("lib.rs", "mod a; mod b; mod c;"),
        ("a.rs", "use crate::b::B;"),
        ("b.rs", "use super::c::C;"),
        ("c.rs", "use std::fmt;"),
    ];
    assert!(cycles_of(&chain).is_empty());
    let mut ring = chain;
    ring[3].1 = "fn f() -> crate::a::A { loop {} }";
    assert_eq!(cycles_of(&ring), [": a b c"]);
}

#[test]
fn files_of_a_folder_are_compared_with_each_other_but_not_with_the_file_around_them() {
    let files = [
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "mod left; mod right; use left::Left; pub struct A;"),
        ("a/left.rs", "use super::A; use super::right::Right;"),
        ("a/right.rs", "use crate::b::B;"),
        ("b.rs", "pub struct B;"),
    ];
    assert!(cycles_of(&files).is_empty());
    let mut wrong = files;
    wrong[3].1 = "use super::Left;";
    assert_eq!(cycles_of(&wrong), ["a: left right"]);
    wrong[3].1 = "use crate::b::B;";
    wrong[4].1 = "use crate::a::left::Left;";
    assert_eq!(cycles_of(&wrong), [": a b"]);
}

#[test]
fn names_at_the_root_belong_to_the_module_that_has_them() {
    let files = [
        ("lib.rs", "mod a; mod b; pub use b::{self, inner::Thing as Other}; pub use a::A;"),
        ("a.rs", "use crate::Other;"),
        ("b.rs", "pub mod inner;"),
        ("b/inner.rs", "use crate::A;"),
    ];
    assert_eq!(cycles_of(&files), [": a b"]);
    let mut fine = files;
    fine[3].1 = "use crate::Unknown; use crate::Other;";
    assert!(cycles_of(&fine).is_empty());
}

#[test]
fn nested_groups_are_understood() {
    assert_eq!(
        paths("pub(crate) use crate::{a::{self, B}, c::{d::{E as F, *}}, g};"),
        ["crate::a", "crate::a::B", "crate::c::d::E", "crate::c::d::*", "crate::g"]
    );
    let renamed = Source::parse("use crate::a::B as C;").paths;
    assert_eq!(renamed[0].known_as.as_deref(), Some("C"));
}

#[test]
fn comments_text_and_tests_do_not_count() {
    let text = r##"
        // use crate::a::A;
        /* use crate::b; /* use crate::c::C; */ use crate::d::D; */
        const TEXT: &str = "use crate::e::E; \" crate::f::F";
        const RAW: &[u8] = br#"crate::g::G " crate::h"#;
        fn f<'a>(x: &'a str) -> bool { x.contains('"') && x.contains('\'') && crate::real::is(x) }
        #[cfg(test)]
        fn helper(x: [u8; 2]) { crate::i::I(x); }
        #[cfg(test)]
        mod tests { use crate::j::J; }
        #[cfg(test)]
        mod more_tests;
        use crate::last::Last;
    "##;
    assert_eq!(paths(text), ["crate::real::is", "crate::last::Last"]);
    assert!(Source::parse(text).modules.is_empty());
}

#[test]
fn a_crate_above_is_refused_by_name() {
    let figures = CRATES.iter().find(|one| one.name == "lnz_figures").unwrap();
    let found = upward_crates(figures, &modules(&[("lib.rs", "use lnz_app::numbers;")]));
    assert_eq!(found, ["lnz_figures uses lnz_app, but may only use nothing"]);
    let app = CRATES.iter().find(|one| one.name == "lnz_app").unwrap();
    assert!(upward_crates(app, &modules(&[("lib.rs", "use lnz::Rbm;")])).is_empty());
}

#[test]
fn an_arrow_from_a_lower_layer_to_a_higher_one_is_refused() {
    let read = modules(&[
        ("lib.rs", "mod high; mod low; mod other;"),
        ("high.rs", "use crate::low::Low;"),
        ("low.rs", "use crate::high::High;"),
        ("other.rs", ""),
    ]);
    let found = layers(&read, &[&["high"], &["low"]], &[]);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].contains("`other` has no layer"), "{found:?}");
    assert_eq!(found[1], "lnz low -> high: this arrow points upwards");
    assert!(layers(&read, &[&["high"], &["low", "other"]], &[("low", "high")]).is_empty());
}

#[test]
fn what_is_no_longer_wrong_leaves_the_list() {
    let found = differences("odd", "LIST", ["b".into()].into(), ["a".into(), "b".into()].into());
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with("a: is gone, remove it from LIST"), "{found:?}");
}

#[test]
fn this_workspace_keeps_the_rules() {
    if let Err(problems) = check(crate::top()) {
        panic!("{problems}");
    }
}
