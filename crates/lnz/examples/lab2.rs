use lnz::*;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let m = io::read_model(a[1].as_ref(), None).unwrap().stored.model;
    let m = if a.len() > 2 && a[2] == "t" { m.transposed().unwrap() } else { m };
    let n: usize = a[3].parse().unwrap();
    let b: usize = a[4].parse().unwrap();
    for init in [InitialState::MeanField, InitialState::Random] {
        for steps in [100, 1000] {
            let st = Start::sampled(
                &m,
                &Sampling { initial: init, steps, ..Sampling::default() },
                1,
                &(),
            )
            .unwrap();
            for p in [Precision::I16, Precision::I32] {
                let r = anneal(
                    &m,
                    &st,
                    &Schedule::linear(b).unwrap(),
                    &Annealing { chains: n, seed: 3, precision: p },
                    &(),
                )
                .unwrap();
                let e = Estimate::from_samples(&r.samples);
                println!(
                    "{init:?} {steps} {:?} {:.3} +- {:.3} sd {:.3} ess {:.1}",
                    r.precision, e.log_z, e.std_error, e.std_sample, e.ess
                );
            }
        }
    }
    let d = data::means(
        "/work/shared/data/mnist/train-images-idx3-ubyte.gz".as_ref(),
        data::DataOptions::default(),
    )
    .unwrap();
    if m.visible() == 784 {
        let st = Start::from_means(d.view(), 0.05).unwrap();
        let r = anneal(
            &m,
            &st,
            &Schedule::linear(b).unwrap(),
            &Annealing { chains: n, seed: 3, precision: Precision::I16 },
            &(),
        )
        .unwrap();
        let e = Estimate::from_samples(&r.samples);
        println!(
            "data {:.3} +- {:.3} sd {:.3} ess {:.1}",
            e.log_z, e.std_error, e.std_sample, e.ess
        );
    }
}
