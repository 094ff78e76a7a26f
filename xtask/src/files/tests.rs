//! The reader of opening sentences on made-up files, and the table made from them.

use super::sentence::{of_python, of_rust};
use super::{BEGIN, DOCUMENT, END, FOLDERS, SourceFile, check, order, replaced, rows, write};

#[test]
fn the_first_sentence_ends_where_the_second_begins() {
    assert_eq!(of_rust("//! Adds. Also takes off.\n\nuse x;").unwrap(), "Adds.");
}

#[test]
fn a_sentence_may_go_over_lines_and_ends_with_its_paragraph() {
    let text = "//! Adds numbers\n//! on the log scale.\n//!\n//! More.\nfn f() {}";
    assert_eq!(of_rust(text).unwrap(), "Adds numbers on the log scale.");
}

#[test]
fn full_stops_of_abbreviations_names_and_code_end_nothing() {
    for sentence in [
        "Fig. 4 and its table.",
        "Files: .npz and .mat.",
        "A model, e.g. a small one.",
        "Half of 0.5 at most.",
        "What `a. B` does.",
    ] {
        assert_eq!(of_rust(&format!("//! {sentence}\n//! Next one.\n")).unwrap(), sentence);
    }
}

#[test]
fn links_become_plain_names() {
    assert_eq!(of_rust("//! Each is an [`Estimator`].").unwrap(), "Each is an `Estimator`.");
}

#[test]
fn a_file_without_a_sentence_is_refused() {
    for text in ["", "use super::*;\n//! Too late.", "//!\n//! After a gap.", "// Adds."] {
        assert!(of_rust(text).unwrap_err().contains("write one in a `//!` line"), "{text}");
    }
    assert!(of_rust("//! no stop").unwrap_err().contains("`no stop`"));
}

#[test]
fn docstrings_have_sentences_as_well() {
    assert_eq!(of_python("\"\"\"Adds. More.\"\"\"\nimport x").unwrap(), "Adds.");
    assert_eq!(of_python("\"\"\"Adds\nall.\n\n>>> 1. Two\n\"\"\"").unwrap(), "Adds all.");
    assert!(of_python("import x").unwrap_err().contains("docstring"));
}

#[test]
fn a_module_stands_before_its_folder_and_the_root_before_all() {
    let mut paths = ["walk/a.rs", "walk-on.rs", "walk.rs", "lib.rs", "data.rs"];
    paths.sort_by_key(|path| order(path));
    assert_eq!(paths, ["lib.rs", "data.rs", "walk.rs", "walk/a.rs", "walk-on.rs"]);
}

#[test]
fn rows_link_to_their_files() {
    let files = [SourceFile { path: "a/b.rs".into(), sentence: "This | that.".into() }];
    let text = rows("crates/x/src", &files);
    assert!(text.ends_with("| [`a/b.rs`](../crates/x/src/a/b.rs) | This \\| that. |\n"), "{text}");
}

#[test]
fn only_what_is_between_the_markers_is_replaced() {
    let document = format!("before\n{BEGIN}\nold\n{END}\nafter\n");
    let once = replaced(&document, "new").unwrap();
    assert_eq!(once, format!("before\n{BEGIN}\nnew\n{END}\nafter\n"));
    assert_eq!(replaced(&once, "new").unwrap(), once);
    assert!(replaced("no markers", "new").unwrap_err().contains(BEGIN));
}

#[test]
fn a_table_is_complete_until_a_file_is_added_or_moved() {
    let top = std::env::temp_dir().join(format!("lnz-table-of-files-{}", std::process::id()));
    let put = |path: &str, text: &str| {
        let path = top.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    put("crates/a/src/lib.rs", "//! Adds.\n");
    for folder in FOLDERS {
        put(&format!("{folder}/main.rs"), "//! Runs.\n");
    }
    put(DOCUMENT, &format!("{BEGIN}\n{END}\n"));
    assert!(check(&top).unwrap_err().contains("run `cargo xtask files`"));
    write(&top).unwrap();
    assert_eq!(check(&top).unwrap(), format!("{} files", FOLDERS.len() + 1));

    put("crates/a/src/more.rs", "//! Adds more.\n");
    assert!(check(&top).unwrap_err().contains("run `cargo xtask files`"));
    put("crates/a/src/more.rs", "use std::fmt;\n");
    assert!(check(&top).unwrap_err().starts_with("crates/a/src/more.rs: does not open"));
    std::fs::remove_dir_all(&top).unwrap();
}
