//! The page as one HTML file without anything outside it.

use super::decisions::DECISIONS;
use super::{Page, Section};
use crate::claims::{Claim, Verdict};
use lnz_figures::{document, escape};
use std::fmt::Write;

/// The whole document.
pub(super) fn html(page: &Page) -> String {
    let mut body = format!(
        "<header><h1>The paper, run again</h1>\n\
         <p>Mazzanti and Romero, <cite>Efficient Evaluation of the Partition Function of RBMs with Annealed \
         Importance Sampling</cite> (<a href=\"https://arxiv.org/abs/2007.11926\">arXiv 2007.11926</a>): each \
         claim that can be checked, in our words, with the evidence and a verdict that follows from the numbers \
         by the rule beside it.</p>\n<p class=\"sum\">{}</p>\n<p class=\"small\">{}</p></header>\n",
        escape(&page.summary()),
        escape(&page.origin)
    );
    body += &overview(page);
    for section in &page.sections {
        body += &experiment(page, section);
    }
    body += &untouched(page);
    body += "<section id=\"auto\"><h2>What <code>auto</code> adds</h2>\n<p>The default method of lnz on the same \
             models, one round, without its exact shortcuts: it searches for modes, sums the states around them \
             exactly and anneals from several starts. Steps include its pilots and trials; the search is not \
             counted in steps, but is in the times below.</p>\n";
    body += &page.auto.html();
    let _ = writeln!(body, "<p>{}</p>", escape(&page.auto_limits));
    body += "</section>\n<section id=\"open\"><h2>What the paper leaves open</h2>\n<dl>\n";
    for (question, decision) in DECISIONS {
        let _ = writeln!(body, "<dt>{}</dt><dd>{}</dd>", escape(question), escape(decision));
    }
    body += "</dl></section>\n<section id=\"cost\"><h2>Cost</h2>\n";
    body += &page.costs.html();
    body += "</section>\n";
    document("The paper, run again by lnz", &body)
}

fn badge(verdict: Verdict) -> String {
    let class = match verdict {
        Verdict::Holds => "yes",
        Verdict::InPart => "part",
        Verdict::Not => "no",
        Verdict::Untested => "open",
    };
    format!("<span class=\"badge {class}\">{}</span>", verdict.words())
}

/// All claims in one table.
fn overview(page: &Page) -> String {
    let mut rows = String::new();
    for (i, claim) in page.claims.iter().enumerate() {
        let _ = writeln!(
            rows,
            "<tr><td class=\"n\" data-v=\"{0}\"><a href=\"#c{0}\">{0}</a></td><td>{1}</td><td>{2}</td><td data-v=\"{3}\">{4}</td></tr>",
            i + 1,
            claim.experiment,
            escape(claim.says),
            claim.verdict as u8,
            badge(claim.verdict)
        );
    }
    format!(
        "<section id=\"claims\"><h2>Claims</h2>\n<div class=\"scroll\"><table class=\"sortable claims\">\
         <caption>Select the head of a column to sort by it</caption><thead><tr><th scope=\"col\">no.</th><th scope=\"col\">figure</th>\
         <th scope=\"col\">claim</th><th scope=\"col\">verdict</th></tr></thead>\n<tbody>\n{rows}</tbody></table></div></section>\n"
    )
}

fn claim(number: usize, claim: &Claim) -> String {
    format!(
        "<article class=\"claim\" id=\"c{number}\"><h3>{number}. {} {}</h3>\n<p>{}</p>\n<p class=\"small\">Rule: {}.</p></article>\n",
        escape(claim.says),
        badge(claim.verdict),
        escape(&claim.evidence),
        escape(claim.rule)
    )
}

fn claims_of(page: &Page, wanted: impl Fn(&Claim) -> bool) -> String {
    let numbered = page.claims.iter().enumerate().filter(|(_, c)| wanted(c));
    numbered.map(|(i, c)| claim(i + 1, c)).collect()
}

fn experiment(page: &Page, section: &Section) -> String {
    let name = section.experiment.name;
    let mut text = format!(
        "<section id=\"{name}\"><h2>Fig. {}: {}</h2>\n<figure>{}</figure>\n",
        name.trim_start_matches("fig"),
        escape(section.experiment.title),
        section.svg
    );
    text += &claims_of(page, |claim| claim.experiment == name);
    for table in &section.tables {
        text += &table.html();
    }
    text + "</section>\n"
}

/// Claims of experiments without any result.
fn untouched(page: &Page) -> String {
    let is_shown =
        |claim: &Claim| page.sections.iter().any(|s| s.experiment.name == claim.experiment);
    match claims_of(page, |claim| !is_shown(claim)) {
        text if text.is_empty() => text,
        text => format!("<section id=\"rest\"><h2>Not run yet</h2>\n{text}</section>\n"),
    }
}
