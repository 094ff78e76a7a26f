//! Pages in a real browser: they load without errors, their tables sort, and they fit a phone.

use crate::environment::{ROOT, install_package, output, starts, target_folder, tool};
use crate::outcome::Outcome;
use std::path::Path;
use std::process::Command;

const BROWSERS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];
const PROBE: &str = include_str!("browser/probe.js");
/// Widths of a telephone, of a tablet and of a desk, in pixels.
const WIDTHS: [usize; 3] = [390, 820, 1280];

/// Runs whose pages are looked at, with the least number of figures that each has.
const RUNS: [(&str, usize); 4] = [
    ("estimate gwgm-hard --no-exact --rounds 3", 3),
    ("estimate gwgm-hard --start uniform --transpose --betas 128 --chains 256", 3),
    ("compare gwgm-hard --betas 64 --chains 64", 1),
    ("exact bms-3", 0),
];

/// Writes pages of the committed results and of some runs, and opens them in headless Chromium.
pub(crate) fn test() -> Outcome {
    let Some(browser) = browser() else {
        return Outcome::Skipped(
            "no Chromium found, and it cannot be installed here; install chromium to run it".into(),
        );
    };
    match look(&browser) {
        Ok(said) => Outcome::Passed(said),
        Err(reason) => Outcome::Failed(reason),
    }
}

fn look(browser: &str) -> Result<String, String> {
    let target = target_folder()?;
    let folder = target.join("page");
    copy_results(&folder)?;
    output(Command::new(tool(&target)?).args(["paper", "report", "--out"]).arg(&folder))?;
    let mut pages = vec![("report.html".to_owned(), 7)];
    for (k, (run, figures)) in RUNS.into_iter().enumerate() {
        let name = format!("run-{k}.html");
        let mut command = Command::new(tool(&target)?);
        command.args(run.split(' ')).arg("--report").arg(folder.join(&name));
        output(&mut command)?;
        pages.push((name, figures));
    }
    for (name, figures) in &pages {
        let page = read(&folder.join(name))?;
        for width in WIDTHS {
            probe(browser, &folder, &page, width, *figures)
                .map_err(|problem| format!("{name}: {problem}"))?;
        }
    }
    Ok(format!("{} pages at {WIDTHS:?} pixels", pages.len()))
}

/// A Chromium that is there, or one from the system's packages where we may install them.
fn browser() -> Option<String> {
    let found = || {
        BROWSERS
            .iter()
            .find(|name| starts(Command::new(name).arg("--version")))
            .map(|n| (*n).into())
    };
    found().or_else(|| install_package("chromium").then(found).flatten())
}

fn copy_results(folder: &Path) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    std::fs::create_dir_all(folder).map_err(failed)?;
    let committed = Path::new(ROOT).join("docs/paper");
    for entry in std::fs::read_dir(&committed).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let is_result = path.extension().is_some_and(|end| end == "csv" || end == "json");
        if let (true, Some(name)) = (is_result, path.file_name()) {
            std::fs::copy(&path, folder.join(name)).map_err(failed)?;
        }
    }
    Ok(())
}

/// Opens the page in a frame of this width, since windows have a least width, with a script that
/// tests it and tells the outcome to the page around the frame, whose title it becomes.
fn probe(
    browser: &str,
    folder: &Path,
    page: &str,
    width: usize,
    figures: usize,
) -> Result<(), String> {
    let errors = "<script>window.problems = []; \
                  addEventListener('error', e => problems.push(String(e.message)));</script>";
    let tested = page.replacen("<head>", &format!("<head>{errors}"), 1).replacen(
        "</body>",
        &format!("<script>const leastFigures = {figures};{PROBE}</script></body>"),
        1,
    );
    let around = format!(
        "<!DOCTYPE html><title>no answer</title>\
         <script>addEventListener('message', e => {{ document.title = e.data; }});</script>\
         <iframe src=\"tested.html\" style=\"border:0;width:{width}px;height:900px\"></iframe>"
    );
    for (name, content) in [("tested.html", &tested), ("frame.html", &around)] {
        let file = folder.join(name);
        std::fs::write(&file, content).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    let shown = output(
        Command::new(browser)
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"])
            .args(["--window-size=1400,1000", "--virtual-time-budget=10000", "--dump-dom"])
            .arg(format!("file://{}", folder.join("frame.html").display())),
    )?;
    let found = shown.split_once("<title>").and_then(|(_, rest)| rest.split_once("</title>"));
    match found {
        Some((title, _)) if title.starts_with("PASSED") => Ok(()),
        Some((title, _)) => Err(format!("at {width} pixels: {title}")),
        None => Err(format!("at {width} pixels: the browser shows no title")),
    }
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}
