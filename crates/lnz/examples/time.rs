use lnz::*;
fn main() {
    let args: Vec<usize> = std::env::args().skip(1).map(|a| a.parse().unwrap()).collect();
    let (v, h, chains, betas) = (args[0], args[1], args[2], args[3]);
    let g = Gwgm {
        visible: v,
        hidden: h,
        mu_mu: 0.0,
        sigma_mu: 0.0,
        mu_sigma: 0.1,
        sigma_sigma: 0.0,
        lambda: 1.0,
    };
    let m = g.generate(1).unwrap();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let s = Schedule::linear(betas).unwrap();
    for p in [Precision::I16, Precision::I32, Precision::I16, Precision::I32] {
        let cpu = || {
            std::fs::read_to_string("/proc/thread-self/schedstat")
                .unwrap()
                .split(' ')
                .next()
                .unwrap()
                .parse::<f64>()
                .unwrap()
                * 1e-9
        };
        let (a, dt) = pool.install(|| {
            let t = cpu();
            let a = anneal(
                &m,
                &Start::uniform(v),
                &s,
                &Annealing { chains, seed: 1, precision: p },
                &(),
            )
            .unwrap();
            (a, cpu() - t)
        });
        let e = Estimate::from_samples(&a.samples);
        println!(
            "{:?} {:.4} +- {:.4} sd {:.3}  {:.3} us/chain-step",
            a.precision,
            e.log_z,
            e.std_error,
            e.std_sample,
            dt * 1e6 / (chains * betas) as f64
        );
    }
}
