//! Claims on the uniform start: Fig. 1, 2 and 3.

use super::{Claim, Draft, Verdict};
use crate::experiments::fig1::{EPOCHS, SIZES, TRAINED, families, hardest, packing};
use crate::experiments::fig2::{Sweeps, problems, sweeps};
use crate::problem::family_name;
use crate::results::Results;
use crate::row::Row;
use crate::statistics::{Errors, per_cent};

pub(super) fn claims(results: &Results) -> Vec<Claim> {
    let draft = |experiment, says, rule| Draft { experiment, says, rule };
    let [mnist, artificial] = problems().map(|(problem, ..)| sweeps(results, &problem));
    vec![
        draft(
            "fig1",
            "From the uniform start many artificial models are estimated very well and many others badly; there is little in between.",
            "of the hardest 20 × 180 models, at least 20% are within 1% and at least 20% beyond 5%",
        )
        .judge(two_regimes(results)),
        draft(
            "fig1",
            "The larger systems are the harder ones.",
            "for each parameter set, 20 × 180 has at least as many models above 5% as 20 × 60, and more for the hardest",
        )
        .judge(larger_is_harder(results)),
        draft(
            "fig1",
            "Small weights make the problem easy.",
            "shares above 5% do not fall from one parameter set to the next larger one, and the smallest has none",
        )
        .judge(small_weights(results)),
        draft(
            "fig1",
            "On the hardest family at least 40% of the estimates are off by more than 5%.",
            "at least 40% above 5%; in part from 30%",
        )
        .judge(forty_per_cent(results)),
        draft(
            "fig1",
            "Web-20h is estimated very well at all epochs.",
            "every epoch within 1%; in part if within 5%",
        )
        .judge(web(results)),
        draft(
            "fig1",
            "On MNIST-20h errors appear towards the end of learning, and are moderate.",
            "the error at epoch 500 is larger than at epoch 10; none is above 20%",
        )
        .judge(mnist_errors(results)),
        draft(
            "fig1",
            "Weights grow along learning; those of Web-20h are smaller than those of MNIST-20h (whose root mean squares the paper gives as 0.22, 0.38, 0.48, 0.59, 0.66, 0.71, 0.76).",
            "root mean squares of both rise from epoch to epoch; Web-20h is below MNIST-20h at each",
        )
        .judge(weights_grow(results)),
        draft(
            "fig1",
            "Blocks of similar ξ, packed into one system, give about the same ξ.",
            "of the block systems whose blocks have a mean ξ above 1%, at least 80% are within a factor of two of it; in part from 50%",
        )
        .judge(blocks(results)),
        draft(
            "fig2",
            "With more and more intermediate distributions the estimate settles quickly, at a wrong value (MNIST-20h, epoch 500; the paper: 215.17 instead of 234.85).",
            "from N_beta = 1024 to the largest, the estimate moves by less than a tenth of its error, which is above one nat",
        )
        .judge(settles(&mnist)),
        draft(
            "fig2",
            "Other problems behave in the same way.",
            "the same rule for an artificial model, gwgm-hard, transposed",
        )
        .judge(settles(&artificial)),
        draft(
            "fig2",
            "The standard deviation of the samples goes to zero all the same, and makes the wrong value look safe.",
            "on both models it falls to less than a quarter from N_beta = 8 to the largest; in part if on one",
        )
        .judge(spread_falls(&[&mnist, &artificial])),
        draft(
            "fig2",
            "The estimate and the mean of the samples become the same when the spread is small.",
            "on both models they differ by less than 0.1 nat at the largest N_beta, and by more at N_beta = 2",
        )
        .judge(mean_agrees(&[&mnist, &artificial])),
        draft(
            "fig2",
            "More samples do not help either.",
            "with the most chains at least half of the error at N_s = 1024 remains, on both models",
        )
        .judge(samples_do_not_help(&[&mnist, &artificial])),
        draft(
            "fig3",
            "With the uniform start, transposing changes little.",
            "for each of the four problems, shares above 5% differ by at most 10 points",
        )
        .judge(transposing(results, |original, transposed| (original - transposed).abs() <= 10.0)),
        draft(
            "fig3",
            "With the uniform start, transposing does not make things worse.",
            "for each of the four problems, the share above 5% does not rise by more than 5 points",
        )
        .judge(transposing(results, |original, transposed| transposed <= original + 5.0)),
    ]
}

type Found = Option<(String, Verdict)>;

/// Errors of the uniform start in Fig. 1; None if there are no rows.
fn errors(results: &Results, problem: &str) -> Option<Errors> {
    let of = |row: &&Row| row.problem == problem && row.method == "uniform";
    let errors = Errors::of(results.rows("fig1").iter().filter(of));
    (errors.count() > 0).then_some(errors)
}

fn two_regimes(results: &Results) -> Found {
    let errors = errors(results, &family_name(&hardest(180)))?;
    let (good, bad) = (errors.within(0.01), errors.above());
    let between = 100.0 - good - bad;
    let evidence = format!(
        "Of {} models {good:.0}% are within 1%, {bad:.0}% beyond 5% and {between:.0}% between.",
        errors.count()
    );
    Some((evidence, Verdict::of(&[good >= 20.0, bad >= 20.0])))
}

fn larger_is_harder(results: &Results) -> Found {
    let mut shares = Vec::new();
    for (small, large) in families(60).iter().zip(&families(180)) {
        if let Some((a, b)) =
            errors(results, &family_name(small)).zip(errors(results, &family_name(large)))
        {
            shares.push((a.above(), b.above()));
        }
    }
    let &(small, large) = shares.last()?;
    let list: Vec<String> = shares.iter().map(|(a, b)| format!("{a:.0}% and {b:.0}%")).collect();
    let evidence = format!(
        "Above 5%, 20 × 60 and 20 × 180, parameters from small to large: {}.",
        list.join("; ")
    );
    Some((evidence, Verdict::of(&[large > small, shares.iter().all(|(a, b)| b >= a)])))
}

fn small_weights(results: &Results) -> Found {
    let (mut tests, mut evidence) = (Vec::new(), Vec::new());
    for hidden in SIZES {
        let shares: Vec<f64> = families(hidden)
            .iter()
            .filter_map(|family| Some(errors(results, &family_name(family))?.above()))
            .collect();
        if shares.len() < 2 {
            return None;
        }
        tests.push(shares.windows(2).all(|pair| pair[0] <= pair[1]));
        tests.push(shares[0] == 0.0);
        let list: Vec<String> = shares.iter().map(|share| format!("{share:.0}%")).collect();
        evidence.push(format!("20 × {hidden}: {}", list.join(", ")));
    }
    let evidence =
        format!("Shares above 5%, parameters from small to large. {}.", evidence.join("; "));
    Some((evidence, Verdict::of(&tests)))
}

fn forty_per_cent(results: &Results) -> Found {
    let errors = errors(results, &family_name(&hardest(180)))?;
    let evidence = format!(
        "{:.0}% of {} models are above 5%; the largest error is {}.",
        errors.above(),
        errors.count(),
        per_cent(errors.largest())
    );
    Some((evidence, Verdict::at_least(errors.above(), 40.0, 30.0)))
}

/// Errors along the epochs of a trained model, with the weights.
fn along<'a>(results: &'a Results, name: &str) -> Option<Vec<&'a Row>> {
    let rows: Vec<&Row> = results
        .rows("fig1")
        .iter()
        .filter(|row| row.problem == name && row.method == "uniform")
        .collect();
    (rows.len() == EPOCHS.len()).then_some(rows)
}

fn listed(rows: &[&Row], value: impl Fn(&Row) -> String) -> String {
    rows.iter().map(|row| value(row)).collect::<Vec<_>>().join(", ")
}

fn web(results: &Results) -> Found {
    let rows = along(results, TRAINED[1])?;
    let largest = Errors::of(rows.iter().copied()).largest();
    let evidence =
        format!("Errors by epoch: {}.", listed(&rows, |r| per_cent(r.xi.unwrap_or(f64::NAN))));
    Some((evidence, Verdict::at_least(-largest, -0.01, -0.05)))
}

fn mnist_errors(results: &Results) -> Found {
    let rows = along(results, TRAINED[0])?;
    let errors: Vec<f64> = rows.iter().filter_map(|row| row.xi).collect();
    let (first, last) = (*errors.first()?, *errors.last()?);
    let evidence = format!(
        "Errors by epoch: {}. At epoch 500 the exact value is {:.2}, the estimate {:.2}.",
        listed(&rows, |row| per_cent(row.xi.unwrap_or(f64::NAN))),
        rows.last()?.exact_log_z?,
        rows.last()?.log_z
    );
    Some((evidence, Verdict::of(&[last > first, errors.iter().all(|xi| *xi < 0.2)])))
}

fn weights_grow(results: &Results) -> Found {
    let [mnist, web] = [along(results, TRAINED[0])?, along(results, TRAINED[1])?];
    let rises = |rows: &[&Row]| rows.windows(2).all(|pair| pair[0].weight_rms < pair[1].weight_rms);
    let below = mnist.iter().zip(&web).all(|(m, w)| w.weight_rms < m.weight_rms);
    let rms = |rows: &[&Row]| listed(rows, |row| format!("{:.2}", row.weight_rms));
    let evidence = format!(
        "Root mean square of the weights at epochs 10, 50, 100, 200, 300, 400, 500: MNIST-20h {}; Web-20h {}.",
        rms(&mnist),
        rms(&web)
    );
    Some((evidence, Verdict::of(&[rises(&mnist), rises(&web), below])))
}

fn blocks(results: &Results) -> Found {
    let pairs: Vec<(f64, f64)> =
        SIZES.iter().flat_map(|&hidden| packing(results, &hardest(hidden))).collect();
    let close = |(blocks, whole): &&(f64, f64)| (0.5..=2.0).contains(&(whole / blocks));
    let share = |pairs: &[(f64, f64)]| {
        100.0 * pairs.iter().filter(close).count() as f64 / pairs.len().max(1) as f64
    };
    let large: Vec<(f64, f64)> =
        pairs.iter().copied().filter(|(blocks, _)| *blocks > 0.01).collect();
    if large.is_empty() {
        return None;
    }
    let evidence = format!(
        "{} block systems of three; {:.0}% of the {} whose blocks have a mean ξ above 1% are within a factor of two of it, {:.0}% of all.",
        pairs.len(),
        share(&large),
        large.len(),
        share(&pairs)
    );
    Some((evidence, Verdict::at_least(share(&large), 80.0, 50.0)))
}

fn row_at<'a>(rows: &[&'a Row], betas: usize) -> Option<&'a Row> {
    rows.iter().copied().find(|row| row.betas == Some(betas))
}

fn settles(sweeps: &Sweeps<'_>) -> Found {
    let (usual, last) = (row_at(&sweeps.betas, 1024)?, *sweeps.betas.last()?);
    let exact = last.exact_log_z?;
    let moved = (last.log_z - usual.log_z).abs();
    let error = (exact - last.log_z).abs();
    let evidence = format!(
        "Exact {exact:.2}. N_beta = 1024: {:.2}; N_beta = {}: {:.2}, with a standard error of {:.3}. auto: {}.",
        usual.log_z,
        lnz_app::numbers::count(last.betas?),
        last.log_z,
        last.std_error,
        sweeps.auto.map_or("–".into(), |row| format!("{:.2}", row.log_z))
    );
    Some((evidence, Verdict::of(&[moved < 0.1 * error, error > 1.0])))
}

fn spread_falls(sweeps: &[&Sweeps<'_>]) -> Found {
    let (mut tests, mut evidence) = (Vec::new(), Vec::new());
    for sweep in sweeps {
        let Some((early, last)) = row_at(&sweep.betas, 8).zip(sweep.betas.last()) else { continue };
        let (early, late) = (early.std_sample?, last.std_sample?);
        tests.push(late < early / 4.0);
        let most = lnz_app::numbers::count(last.betas?);
        evidence.push(format!("{}: {early:.2} at N_beta = 8, {late:.2} at {most}", last.problem));
    }
    over_models(&tests, evidence, sweeps.len())
}

fn mean_agrees(sweeps: &[&Sweeps<'_>]) -> Found {
    let (mut tests, mut evidence) = (Vec::new(), Vec::new());
    let gap = |row: &Row| Some(row.log_z - row.mean_sample?);
    for sweep in sweeps {
        let Some((first, last)) = sweep.betas.first().zip(sweep.betas.last()) else { continue };
        let (early, late) = (gap(first)?, gap(last)?);
        tests.push(late < 0.1 && early > late);
        evidence
            .push(format!("{}: {early:.2} nats apart at first, {late:.3} at last", last.problem));
    }
    over_models(&tests, evidence, sweeps.len())
}

fn samples_do_not_help(sweeps: &[&Sweeps<'_>]) -> Found {
    let (mut tests, mut evidence) = (Vec::new(), Vec::new());
    for sweep in sweeps {
        let usual = sweep.chains.iter().find(|row| row.chains == Some(1024));
        let Some((usual, last)) = usual.zip(sweep.chains.last()) else { continue };
        let exact = last.exact_log_z?;
        let (before, after) = ((exact - usual.log_z).abs(), (exact - last.log_z).abs());
        tests.push(after >= 0.5 * before);
        let chains = lnz_app::numbers::count(last.chains?);
        evidence.push(format!(
            "{}: off by {before:.2} nats with 1,024 chains, by {after:.2} with {chains}",
            last.problem
        ));
    }
    over_models(&tests, evidence, sweeps.len())
}

/// The verdict of a test that was meant for so many models.
fn over_models(tests: &[bool], mut evidence: Vec<String>, wanted: usize) -> Found {
    if tests.len() < wanted {
        evidence.push(format!("only {} of {wanted} models are there", tests.len()));
    }
    let verdict = Verdict::of(tests).capped(tests.len() == wanted);
    (!tests.is_empty()).then(|| (evidence.join("; ") + ".", verdict))
}

fn transposing(results: &Results, is_fine: fn(f64, f64) -> bool) -> Found {
    let names = SIZES.map(|hidden| family_name(&hardest(hidden)));
    let problems = names.iter().map(String::as_str).chain(TRAINED);
    let (mut tests, mut evidence) = (Vec::new(), Vec::new());
    for problem in problems {
        let of = |transposed: bool| {
            Errors::of(results.rows("fig3").iter().filter(|row| {
                row.problem == problem
                    && row.method == "uniform"
                    && row.is_transposed() == transposed
            }))
        };
        let (original, transposed) = (of(false), of(true));
        if original.count() == 0 {
            continue;
        }
        tests.push(is_fine(original.above(), transposed.above()));
        evidence.push(format!(
            "{problem}: {:.0}% to {:.0}%, median {} to {}",
            original.above(),
            transposed.above(),
            per_cent(original.median()),
            per_cent(transposed.median())
        ));
    }
    if let Some(first) = evidence.first_mut() {
        first.insert_str(0, "Above 5%, original to transposed. ");
    }
    over_models(&tests, evidence, SIZES.len() + TRAINED.len())
}
