//! Runs work on a given number of threads.

use anyhow::{Context, Result};

/// Runs `work` on this many threads; without a number, on all that the machine has.
pub(crate) fn on_threads<T: Send>(
    threads: Option<usize>,
    work: impl FnOnce() -> Result<T> + Send,
) -> Result<T> {
    match threads {
        None => work(),
        Some(n) => rayon::ThreadPoolBuilder::new()
            .num_threads(n)
            .build()
            .with_context(|| format!("--threads {n}: cannot start them"))?
            .install(work),
    }
}
