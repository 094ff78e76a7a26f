//! How many threads work.

use anyhow::{Context, Result};

/// Runs `work` on so many threads; all of the machine's without a number.
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
