//! The page as one HTML file that needs no other file.

use super::decisions::DECISIONS;
use super::{Page, Section};
use crate::claims::{Claim, Verdict};
use lnz_figures::{Badge, document};
use maud::{Markup, html};

/// The whole document.
pub(super) fn html(page: &Page) -> String {
    let body = html! {
        header {
            h1 { "The paper, run again" }
            p {
                "Mazzanti and Romero, "
                cite { "Efficient Evaluation of the Partition Function of RBMs with Annealed Importance Sampling" }
                " (" a href="https://arxiv.org/abs/2007.11926" { "arXiv 2007.11926" } "): each claim that can be \
                 checked, in our words, with the evidence and a verdict that follows from the numbers by the rule \
                 beside it."
            }
            p.sum { (page.summary()) }
            p.small { (page.origin) }
        }
        (overview(page))
        @for section in &page.sections { (experiment(page, section)) }
        (untouched(page))
        section id="auto" {
            h2 { "What " code { "auto" } " adds" }
            p {
                "The default method of lnz on the same models, one round, without its exact shortcuts: it searches \
                 for modes, sums the states around them exactly and anneals from several starts. Steps include its \
                 pilots and trials; the search is not counted in steps, but is in the times below."
            }
            (page.auto.html())
            p { (page.auto_limits) }
        }
        section id="open" {
            h2 { "What the paper leaves open" }
            dl { @for (question, decision) in DECISIONS { dt { (question) } dd { (decision) } } }
        }
        section id="cost" { h2 { "Cost" } (page.costs.html()) }
    };
    document("The paper, run again by lnz", body)
}

fn badge(verdict: Verdict) -> Markup {
    let badge = match verdict {
        Verdict::Holds => Badge::Yes,
        Verdict::InPart => Badge::Part,
        Verdict::Not => Badge::No,
        Verdict::Untested => Badge::Open,
    };
    badge.html(verdict.words())
}

/// All claims in one table.
fn overview(page: &Page) -> Markup {
    html! {
        section id="claims" {
            h2 { "Claims" }
            div.scroll tabindex="0" {
                table.sortable.claims {
                    caption { "Select the head of a column to sort by it" }
                    thead { tr { @for name in ["no.", "figure", "claim", "verdict"] { th scope="col" { (name) } } } }
                    tbody {
                        @for (i, claim) in page.claims.iter().enumerate() {
                            tr {
                                td.n data-v=(i + 1) { a href={ "#c" (i + 1) } { (i + 1) } }
                                td { (claim.experiment) }
                                td { (claim.says) }
                                td data-v=(claim.verdict as u8) { (badge(claim.verdict)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The claims that are wanted, under their numbers in the whole list.
fn claims_of(page: &Page, wanted: impl Fn(&Claim) -> bool) -> Vec<Markup> {
    let numbered = page.claims.iter().enumerate().filter(|(_, claim)| wanted(claim));
    let shown = |(i, claim): (usize, &Claim)| {
        html! {
            article.claim id={ "c" (i + 1) } {
                h3 { (i + 1) ". " (claim.says) " " (badge(claim.verdict)) }
                p { (claim.evidence) }
                p.small { "Rule: " (claim.rule) "." }
            }
        }
    };
    numbered.map(shown).collect()
}

fn experiment(page: &Page, section: &Section) -> Markup {
    let name = section.experiment.name;
    html! {
        section id=(name) {
            h2 { "Fig. " (name.trim_start_matches("fig")) ": " (section.experiment.title) }
            (section.figure.html(name))
            @for claim in claims_of(page, |claim| claim.experiment == name) { (claim) }
            @for table in &section.tables { (table.html()) }
        }
    }
}

/// Claims of experiments without any result.
fn untouched(page: &Page) -> Markup {
    let is_shown =
        |claim: &Claim| page.sections.iter().any(|s| s.experiment.name == claim.experiment);
    let claims = claims_of(page, |claim| !is_shown(claim));
    html! {
        @if !claims.is_empty() {
            section id="rest" { h2 { "Not run yet" } @for claim in &claims { (claim) } }
        }
    }
}
