//! The page in short, for readers of a repository.

use super::Page;
use std::fmt::Write;

/// Claims, verdicts and figures; the HTML page has the rest.
pub(super) fn markdown(page: &Page) -> String {
    let mut text = format!(
        "# The paper, run again\n\nWritten by `lnz paper report` from the CSV files in this folder. {}\n\n{}\n\n",
        page.origin,
        page.summary()
    );
    text += "| | figure | claim of the paper | found here | verdict |\n|---|---|---|---|---|\n";
    for (i, claim) in page.claims.iter().enumerate() {
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | **{}** |",
            i + 1,
            claim.experiment,
            claim.says,
            claim.evidence.replace('|', "\\|"),
            claim.verdict.words()
        );
    }
    text += "\n## What `auto` adds\n\n";
    text += &page.auto.markdown();
    let _ = writeln!(text, "\n{}", page.auto_limits);
    for section in &page.sections {
        let name = section.experiment.name;
        let number = name.trim_start_matches("fig");
        let title = section.experiment.title;
        let _ = write!(text, "\n## Fig. {number}: {title}\n\n![Fig. {number}]({name}.svg)\n");
    }
    text += "\n## Cost\n\n";
    text + &page.costs.markdown()
}
