//! `lnz data`: what is in a file, and downloads from a server on this machine.

use crate::files::Folder;
use crate::run::{Answer, fields, json, lnz, one_sentence, refusal, text};
use crate::server::{Behaviour, Server, nobody};

/// Runs the tool with its cache in this folder, and no way round the test's server.
fn with_cache(folder: &Folder, arguments: &[&str]) -> Answer {
    let mut command = lnz(arguments);
    command.env("LNZ_CACHE", folder.path("cache"));
    for variable in ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"] {
        command.env_remove(variable);
    }
    let output = command.output().unwrap();
    Answer {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// The sentence of a download that fails, which is nobody's typing error.
fn failure(folder: &Folder, arguments: &[&str]) -> String {
    let answer = with_cache(folder, arguments);
    assert_eq!(answer.code, Some(1), "{}{}", answer.stdout, answer.stderr);
    assert_eq!(answer.stdout, "");
    assert_eq!(answer.stderr.lines().count(), 1, "{}", answer.stderr);
    answer.stderr
}

#[test]
fn info_shows_text_with_labels() {
    let folder = Folder::new();
    let file = folder.text("data.txt", "+1 1:1 4:0.5\n-1 4:1\n-1\n");
    let found = json(&["data", "info", &file, "--json"]);
    assert_eq!(
        fields(&found),
        [
            "constant_columns",
            "empty_examples",
            "example_shape",
            "examples",
            "format",
            "grey",
            "labels",
            "mean",
            "name",
            "ones",
            "packing",
            "range",
            "scale",
            "schema",
            "width",
            "zero_columns",
            "zeros"
        ]
    );
    assert_eq!((&found["examples"], &found["width"]), (&3.into(), &4.into()));
    assert_eq!(found["labels"][0], serde_json::json!({"label": -1.0, "count": 2}));
    assert!((found["grey"].as_f64().unwrap() - 1.0 / 12.0).abs() < 1e-15);
    let report = text(&["data", "info", &file]);
    for part in ["LIBSVM text", "3 examples of 4 values", "2 of 4 always 0", "-1: 2, 1: 1"] {
        assert!(report.contains(part), "{part} is not in\n{report}");
    }
}

#[test]
fn info_shows_the_first_image() {
    let folder = Folder::new();
    let path = folder.path("images");
    let mut bytes = vec![0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0, 4];
    bytes.extend([0, 0, 0, 0, 255, 255, 0, 0, 0, 255, 0, 0, 0, 0, 0, 0]);
    std::fs::write(&path, bytes).unwrap();
    let report = text(&["data", "info", &path]);
    assert!(report.contains("one example of 16 values (4 x 4)"), "{report}");
    assert!(report.contains("           ▀█\n"), "{report}");
}

#[test]
fn info_refuses_what_is_no_data_set() {
    let folder = Folder::new();
    let cases = [
        (folder.text("empty", ""), "is empty"),
        (folder.text("words", "a few words"), "where the label should be"),
        (folder.text("range", "1 1:2\n"), "the value 2 at index 1"),
        (folder.path("absent"), "No such file"),
    ];
    for (path, what) in cases {
        let sentence = one_sentence(&["data", "info", &path]);
        assert!(sentence.starts_with(&path) && sentence.contains(what), "{sentence}");
    }
}

#[test]
fn a_named_data_set_comes_from_the_cache() {
    let folder = Folder::new();
    let missing = with_cache(&folder, &["data", "info", "web"]);
    assert_eq!(missing.code, Some(2));
    assert!(missing.stderr.contains("`lnz data fetch web`"), "{}", missing.stderr);
    std::fs::create_dir_all(folder.path("cache/web")).unwrap();
    folder.text("cache/web/w8a", "1 2:1\n-1 6:1\n");
    let found = with_cache(&folder, &["data", "info", "web", "--json"]);
    assert!(found.stdout.contains("\"examples\":2"), "{}{}", found.stdout, found.stderr);
    let model = folder.small_model("m.npz");
    for command in ["score", "estimate"] {
        let arguments = [command, &model, "--data", "web", "--json"];
        assert_eq!(with_cache(&folder, &arguments).code, Some(0), "{command}");
    }
    // What stands there by hand is checked, and not taken for the published file.
    let checked = with_cache(&folder, &["data", "fetch", "web"]);
    assert_eq!(checked.code, Some(2));
    assert!(checked.stderr.contains("SHA-256") && checked.stderr.contains("remove it"));
}

#[cfg(all(unix, not(target_os = "macos")))]
#[test]
fn the_cache_is_where_the_desktop_has_it() {
    let folder = Folder::new();
    let answer = |cache: Option<&str>, users: &str| {
        let mut command = lnz(&["data", "info", "web"]);
        command.env_remove("LNZ_CACHE").env("XDG_CACHE_HOME", users).env("HOME", folder.path("me"));
        cache.map(|cache| command.env("LNZ_CACHE", cache));
        String::from_utf8(command.output().unwrap().stderr).unwrap()
    };
    let [ours, users] = ["ours", "users"].map(|name| folder.path(name));
    assert!(answer(None, &users).contains(&folder.path("users/lnz/web")));
    assert!(answer(Some(&ours), &users).contains(&folder.path("ours/web")));
    for unset in ["", "relative"] {
        assert!(answer(None, unset).contains(&folder.path("me/.cache/lnz/web")));
    }
}

#[test]
fn without_a_network_all_files_are_named_with_their_folder() {
    let folder = Folder::new();
    let sentence = failure(&folder, &["data", "fetch", "mnist", "--url", &nobody()]);
    for part in [
        "cannot be reached",
        "train-images-idx3-ubyte.gz",
        "t10k-labels-idx1-ubyte.gz",
        &folder.path("cache/mnist"),
        "by hand",
    ] {
        assert!(sentence.contains(part), "{part} is not in {sentence}");
    }
    assert_eq!(std::fs::read_dir(folder.path("cache/mnist")).unwrap().count(), 0);
}

#[test]
fn a_file_that_is_not_there_or_another_one_is_told_with_its_address() {
    let folder = Folder::new();
    let server = Server::start("w8a", b"+1 1:1\n".repeat(1000), Behaviour::default());
    let elsewhere = server.base.replace("/data", "/elsewhere");
    let sentence = failure(&folder, &["data", "fetch", "web", "--url", &elsewhere]);
    assert!(sentence.contains("/elsewhere/w8a answers 404"), "{sentence}");
    let sentence = failure(&folder, &["data", "fetch", "web", "--url", &server.base]);
    assert!(sentence.contains("/data/w8a") && sentence.contains("SHA-256"), "{sentence}");
    assert_eq!(std::fs::read_dir(folder.path("cache/web")).unwrap().count(), 0);
}

#[test]
fn a_cut_download_leaves_what_there_is() {
    let folder = Folder::new();
    let behaviour = Behaviour { cut_after: Some(3000), ..Behaviour::default() };
    let server = Server::start("w8a", b"+1 1:1\n".repeat(1000), behaviour);
    let (here, dir) = (["data", "fetch", "web", "--url", &server.base], folder.path("here"));
    let sentence = failure(&folder, &[&here[..], &["--dir", &dir]].concat());
    assert!(sentence.contains("3 kB of 7 kB") && sentence.contains("continues"), "{sentence}");
    assert_eq!(std::fs::metadata(folder.path("here/w8a.part")).unwrap().len(), 3000);
}

#[test]
fn what_cannot_be_fetched_is_refused() {
    let folder = Folder::new();
    assert!(refusal(&["data", "fetch", "imagenet"]).contains("possible values: mnist, web"));
    let sentence = one_sentence(&["data", "fetch", "web", "--url", "ftp://somewhere"]);
    assert!(sentence.contains("--url is ftp://somewhere"), "{sentence}");
    let file = folder.text("file", "");
    let sentence = one_sentence(&["data", "fetch", "web", "--dir", &file]);
    assert!(sentence.starts_with(&file) && sentence.contains("cannot be written"), "{sentence}");
}
