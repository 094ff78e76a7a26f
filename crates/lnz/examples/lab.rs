use lnz::*;
fn show(m: &Rbm, s: &Auto, name: &str) -> (f64, f64, bool) {
    let exact =
        if exact_cost(m).unwrap().seconds < 5.0 { exact_log_z(m, &()).unwrap() } else { f64::NAN };
    let t = std::time::Instant::now();
    let r = auto(m, s, &()).unwrap();
    let err = r.log_z - exact;
    let cov =
        exact >= r.interval[0] - 1e-9 * exact.abs() && exact <= r.interval[1] + 1e-9 * exact.abs();
    print!(
        "{name} exact {exact:.4} auto {:.4} +- {:.4} [{:.4} {:.4}] err {err:.4} {} floor {:.3} core^ {:.3} ess {:.0} top {:.2} rounds {} chains {} steps {} t {:.2}",
        r.log_z,
        r.std_error,
        r.interval[0],
        r.interval[1],
        if cov { "" } else { "MISS" },
        r.lower_bound.unwrap_or(f64::NAN),
        r.sampled_core,
        r.ess,
        r.max_weight_share,
        r.rounds,
        r.chains,
        r.chain_steps,
        t.elapsed().as_secs_f64()
    );
    for f in &r.families {
        print!(
            " | {:?} {:.3}±{:.3} w{:.2} {}",
            f.family,
            f.trial_log_z,
            f.trial_error,
            f.share,
            f.log_z.map_or(String::new(), |z| format!("{:.3}±{:.3}", z, f.std_error.unwrap()))
        );
    }
    println!();
    (err, exact, cov)
}
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let core: usize = std::env::var("CORE").map_or(4096, |c| c.parse().unwrap());
    let secs: f64 = std::env::var("SECS").map_or(60.0, |c| c.parse().unwrap());
    let s = Auto { core, max_seconds: secs, ..Auto::default() };
    if a[1] == "gwgm" || a[1] == "bms" || a[1] == "mid" {
        let (lo, hi): (u64, u64) = (a[2].parse().unwrap(), a[3].parse().unwrap());
        let mut e = vec![];
        for seed in lo..hi {
            let m = match a[1].as_str() {
                "gwgm" => Gwgm::HARDEST.generate(seed).unwrap(),
                "bms" => block_system(&Gwgm::HARDEST, 3, true, 1000 * seed).unwrap(),
                _ => Gwgm {
                    visible: 20,
                    hidden: 180,
                    mu_mu: 0.0,
                    sigma_mu: 0.3,
                    mu_sigma: 0.8,
                    sigma_sigma: 0.4,
                    lambda: 1.0,
                }
                .generate(seed)
                .unwrap(),
            };
            e.push(show(&m, &s, &format!("{} {seed}", a[1])));
        }
        let n = e.len() as f64;
        let share =
            |x: f64| e.iter().filter(|(err, ex, _)| (err / ex).abs() < x).count() as f64 / n;
        println!(
            "within 0.1% {:.3} 1% {:.3} 5% {:.3} worst nats {:.3} coverage {:.3}",
            share(1e-3),
            share(1e-2),
            share(5e-2),
            e.iter().map(|x| x.0.abs()).fold(0.0, f64::max),
            e.iter().filter(|x| x.2).count() as f64 / n
        );
    } else {
        let m = io::read_model(a[1].as_ref(), None).unwrap().stored.model;
        show(&m, &s, &a[1]);
    }
}
