//! Training by contrastive divergence: lnz, PyTorch and scikit-learn.

use super::quartiles::{Quartiles, digits};
use super::{Bench, Problem, Side};
use serde_json::json;
use std::fmt::Write;

/// Examples of an epoch: all of MNIST.
const EXAMPLES: usize = 60_000;

/// A way to train and its opponent.
struct Match {
    title: &'static str,
    hidden: usize,
    persistent: bool,
    /// Visible biases of zero, rather than from the data: the first epoch is less sparse.
    from_zero: bool,
    peer: &'static str,
}

const fn against(
    title: &'static str,
    hidden: usize,
    persistent: bool,
    from_zero: bool,
    peer: &'static str,
) -> Match {
    Match { title, hidden, persistent, from_zero, peer }
}

const MATCHES: [Match; 6] = [
    against("CD-1, 784x500, PyTorch", 500, false, false, "torch"),
    against("CD-1, 784x20, PyTorch", 20, false, false, "torch"),
    against("CD-1, 784x20, biases from zero, PyTorch", 20, false, true, "torch"),
    against("PCD, 784x500, scikit-learn", 500, true, false, "sklearn"),
    against("PCD, 784x20, scikit-learn", 20, true, false, "sklearn"),
    against("PCD, 784x20, biases from zero, scikit-learn", 20, true, true, "sklearn"),
];

pub(super) fn report(bench: &mut Bench) -> Result<String, Problem> {
    let data = bench.folder.join("examples.npy");
    let images = bench.images.clone();
    bench
        .peers
        .ask(&json!({ "do": "examples", "path": data, "images": images, "count": EXAMPLES }))?;
    let origin = match images {
        Some(_) => "images of MNIST, values above 127 as 1",
        None => "generated rows, a fifth of the values 1, as in MNIST",
    };
    let mut text = format!(
        "## Training\n\nMicroseconds per example of one epoch, mini-batches of 100, no momentum: median, and \
         quartiles in brackets.\nA ratio is the time of the peer over the time of lnz in the same \
         repetition. {EXAMPLES} {origin}. PyTorch is a loop without temporary arrays; scikit-learn is \
         BernoulliRBM. lnz leaves out what is zero, so it depends on the values: its visible biases start \
         from the data unless the title says otherwise. Those of scikit-learn start from zero, but its \
         time, like that of PyTorch, does not depend on the values.\n\n\
         | | threads | lnz | peer | ratio | epoch |\n|---|---|---|---|---|---|\n"
    );
    for contest in &MATCHES {
        for threads in [1, 2] {
            println!("training {}, threads: {threads}", contest.title);
            let mut times = [const { Vec::new() }; 2];
            let sides = [(Side::Lnz, "lnz"), (Side::Peers, contest.peer)];
            for repetition in 0..bench.repetitions {
                for k in 0..2 {
                    let k = (k + repetition) % 2;
                    let (side, how) = sides[k];
                    let mut request = json!({
                        "do": "train", "data": data, "hidden": contest.hidden,
                        "persistent": contest.persistent, "threads": threads,
                    });
                    match side {
                        Side::Lnz => request["from_zero"] = contest.from_zero.into(),
                        Side::Peers => request["how"] = how.into(),
                    }
                    let answer = bench.measure(side, &request)?;
                    times[k].push(answer.seconds * 1e6 / EXAMPLES as f64);
                }
            }
            let show = |times: &[f64]| {
                Quartiles::of(times.iter().copied()).map_or("-".into(), Quartiles::show)
            };
            let ratio = Quartiles::of_ratios(&times[1], &times[0]).ok_or("no repetitions")?;
            let lnz = Quartiles::of(times[0].iter().copied()).ok_or("no repetitions")?;
            writeln!(
                text,
                "| {} | {threads} | {} | {} | {} | {} s |",
                contest.title,
                show(&times[0]),
                show(&times[1]),
                ratio.show(),
                digits(lnz.median * 1e-6 * EXAMPLES as f64)
            )?;
        }
    }
    Ok(text + "\n")
}
