//! Claims on the models with 500 hidden units: Fig. 7.

use super::{Claim, Draft, Verdict};
use crate::experiments::fig7::{Epoch, TRAINED, along};
use crate::results::Results;
use crate::row::Row;

pub(super) fn claims(results: &Results) -> Vec<Claim> {
    let draft = |says, rule| Draft { experiment: "fig7", says, rule };
    let [mnist, web] = TRAINED.map(|name| along(results, name));
    vec![
        draft(
            "On MNIST-500h the uniform start departs from the reference at early and intermediate epochs.",
            "at some epoch below 100 it differs by more than one nat",
        )
        .judge(departs(&mnist)),
        draft(
            "All curves merge at the highest epochs.",
            "at the last epoch all of them are within 1% of the reference",
        )
        .judge(merge(&mnist)),
        draft(
            "Gibbs_mf and Gibbs_ps are hardly distinguishable from the reference along the whole curve.",
            "at every epoch both are within 1% of it",
        )
        .judge(follow(&mnist)),
        draft(
            "On Web-500h all curves agree with the reference, the uniform start included.",
            "at every epoch all of them are within 1% of it",
        )
        .judge(all_agree(&web)),
        draft(
            "Starts from the weights alone need no data and are as good as a start from the data, at a fraction of the cost.",
            "Gibbs_mf is on average within one nat of the reference, or above it, with at most a tenth of its chain-steps",
        )
        .judge(cheap(&mnist)),
        draft(
            "A long run from the data can be taken as the ground truth.",
            "no other estimate is more than one nat above it at any epoch of either problem; estimates of Z are unbiased, so a much higher one is almost surely the better one",
        )
        .judge(ground_truth(&mnist, &web)),
        draft(
            "A start from the data is not suited to the first epochs of learning, when the data are not yet the states of highest probability.",
            "at some epoch up to 10 another estimate is more than one nat above the reference, and none is at the last epoch",
        )
        .judge(first_epochs(&mnist)),
    ]
}

type Found = Option<(String, Verdict)>;

fn difference(row: &Row, epoch: &Epoch<'_>) -> f64 {
    row.log_z - epoch.reference.log_z
}

fn relative(row: &Row, epoch: &Epoch<'_>) -> f64 {
    (difference(row, epoch) / epoch.reference.log_z).abs()
}

/// The epochs that a sentence names: all, or some of many. Rules are about all of them.
fn named_epochs<'a, 'b>(along: &'b [Epoch<'a>]) -> impl Iterator<Item = &'b Epoch<'a>> {
    const SOME: [usize; 9] = [1, 3, 5, 10, 20, 40, 100, 300, 500];
    let few = along.len() <= SOME.len();
    along.iter().filter(move |epoch| few || SOME.contains(&epoch.epoch))
}

fn join(parts: impl Iterator<Item = String>, separator: &str) -> String {
    parts.collect::<Vec<_>>().join(separator)
}

/// Differences from the reference, epoch by epoch.
fn listed(
    name: &str,
    along: &[Epoch<'_>],
    pick: for<'a, 'b> fn(&'b Epoch<'a>) -> &'a Row,
) -> String {
    let of = |epoch: &Epoch<'_>| format!("{:+.2}", difference(pick(epoch), epoch));
    format!("{name} {}", join(named_epochs(along).map(of), ", "))
}

fn epochs(along: &[Epoch<'_>]) -> String {
    join(named_epochs(along).map(|epoch| epoch.epoch.to_string()), ", ")
}

fn departs(along: &[Epoch<'_>]) -> Found {
    let early = along.iter().filter(|epoch| epoch.epoch < 100);
    let largest =
        early.map(|epoch| difference(epoch.uniform, epoch).abs()).fold(f64::NEG_INFINITY, f64::max);
    let evidence = format!(
        "Differences from the reference in nats at epochs {}: {}.",
        epochs(along),
        listed("uniform", along, |epoch| epoch.uniform)
    );
    (!along.is_empty()).then(|| (evidence, Verdict::of(&[largest > 1.0])))
}

fn merge(along: &[Epoch<'_>]) -> Found {
    let last = along.last()?;
    let rows = [("uniform", last.uniform), ("Gibbs_mf", last.mf), ("Gibbs_ps", last.ps)];
    let tests: Vec<bool> = rows.iter().map(|(_, row)| relative(row, last) <= 0.01).collect();
    let list: Vec<String> =
        rows.iter().map(|(name, row)| format!("{name} {:.2}", row.log_z)).collect();
    let evidence = format!(
        "Epoch {}: reference {:.2}, {}, auto {:.2}.",
        last.epoch,
        last.reference.log_z,
        list.join(", "),
        last.auto.log_z
    );
    Some((evidence, Verdict::of(&tests)))
}

fn follow(along: &[Epoch<'_>]) -> Found {
    let tests: Vec<bool> = along
        .iter()
        .flat_map(|epoch| [epoch.mf, epoch.ps].map(|row| relative(row, epoch) <= 0.01))
        .collect();
    let evidence = format!(
        "Differences from the reference in nats at epochs {}: {}; {}; {}.",
        epochs(along),
        listed("Gibbs_mf", along, |epoch| epoch.mf),
        listed("Gibbs_ps", along, |epoch| epoch.ps),
        listed("auto", along, |epoch| epoch.auto)
    );
    (!along.is_empty()).then(|| (evidence, Verdict::of(&tests)))
}

fn all_agree(along: &[Epoch<'_>]) -> Found {
    let tests: Vec<bool> = along
        .iter()
        .flat_map(|epoch| {
            [epoch.uniform, epoch.mf, epoch.ps].map(|row| relative(row, epoch) <= 0.01)
        })
        .collect();
    let values = named_epochs(along).map(|epoch| {
        format!(
            "epoch {}: reference {:.2}, uniform {:.2}, Gibbs_mf {:.2}, Gibbs_ps {:.2}, auto {:.2}",
            epoch.epoch,
            epoch.reference.log_z,
            epoch.uniform.log_z,
            epoch.mf.log_z,
            epoch.ps.log_z,
            epoch.auto.log_z
        )
    });
    (!along.is_empty()).then(|| (join(values, "; ") + ".", Verdict::of(&tests)))
}

fn cheap(along: &[Epoch<'_>]) -> Found {
    let last = along.last()?;
    let mean = along.iter().map(|e| difference(e.mf, e)).sum::<f64>() / along.len() as f64;
    let share = (last.mf.chain_steps + last.mf.start_steps) as f64
        / last.reference.chain_steps.max(1) as f64;
    let evidence = format!(
        "Gibbs_mf is {mean:+.2} nats from the reference on average, with {:.0}% of its chain-steps.",
        100.0 * share
    );
    Some((evidence, Verdict::of(&[mean >= -1.0, share <= 0.1])))
}

/// How far the highest of the other estimates is above the reference, in nats.
fn excess(epoch: &Epoch<'_>) -> f64 {
    let others = [epoch.uniform, epoch.mf, epoch.ps, epoch.auto];
    others.iter().map(|row| difference(row, epoch)).fold(f64::NEG_INFINITY, f64::max)
}

fn listed_excess(along: &[Epoch<'_>]) -> String {
    let of = |epoch: &Epoch<'_>| format!("epoch {}: {:+.2}", epoch.epoch, excess(epoch));
    join(named_epochs(along).map(of), ", ")
}

fn ground_truth(mnist: &[Epoch<'_>], web: &[Epoch<'_>]) -> Found {
    let tests: Vec<bool> = mnist.iter().chain(web).map(|epoch| excess(epoch) <= 1.0).collect();
    let evidence = format!(
        "The highest other estimate relative to the reference, in nats. MNIST-500h: {}. Web-500h: {}.",
        listed_excess(mnist),
        listed_excess(web)
    );
    (!tests.is_empty()).then(|| (evidence, Verdict::of(&tests)))
}

fn first_epochs(along: &[Epoch<'_>]) -> Found {
    let early = along.iter().any(|epoch| epoch.epoch <= 10 && excess(epoch) > 1.0);
    let last = excess(along.last()?) <= 1.0;
    let evidence = format!(
        "The highest other estimate relative to the reference, in nats: {}.",
        listed_excess(along)
    );
    Some((evidence, Verdict::of(&[early, last])))
}
