//! Signals: the first one that asks to end is heard by long work, the second one kills.

use signal_hook::{consts, flag};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// The number of the signal that came; zero for none.
static SIGNAL: OnceLock<Arc<AtomicUsize>> = OnceLock::new();

/// Signals that ask a process to end: Ctrl-C, `kill`, and a terminal that is closed.
#[cfg(unix)]
const ENDING: [i32; 3] = [consts::SIGINT, consts::SIGTERM, consts::SIGHUP];
#[cfg(not(unix))]
const ENDING: [i32; 2] = [consts::SIGINT, consts::SIGTERM];

/// Listens from now on; without that these signals kill, as they should for short commands.
pub(crate) fn listen() {
    SIGNAL.get_or_init(|| {
        let came = Arc::new(AtomicUsize::new(0));
        let armed = Arc::new(AtomicBool::new(false));
        // `nohup` has a process ignore a signal, and so it stays.
        for signal in ENDING.into_iter().filter(|signal| !is_ignored(*signal)) {
            // In this order: the second signal, of whatever kind, finds that there was a first one.
            let code = exit_code(signal as usize).into();
            let _ = flag::register_conditional_shutdown(signal, code, Arc::clone(&armed));
            let _ = flag::register(signal, Arc::clone(&armed));
            let _ = flag::register_usize(signal, Arc::clone(&came), signal as usize);
        }
        came
    });
}

/// The signal that came, if one did.
fn signal() -> Option<usize> {
    SIGNAL.get().map(|came| came.load(Ordering::Relaxed)).filter(|signal| *signal != 0)
}

/// Somebody asked to end.
pub(crate) fn requested() -> bool {
    signal().is_some()
}

/// The exit code of work that was interrupted: 128 and the number of the signal, as shells have it.
pub(crate) fn code() -> u8 {
    exit_code(signal().unwrap_or(consts::SIGINT as usize))
}

fn exit_code(signal: usize) -> u8 {
    128 + signal as u8
}

/// A file that becomes larger than a limit allows is an error of the write, and not the end.
pub(crate) fn survive_file_limits() {
    #[cfg(unix)]
    {
        let unused = Arc::new(AtomicBool::new(false));
        let _ = flag::register(consts::SIGXFSZ, unused);
    }
}

/// The signal is ignored by what started this process.
fn is_ignored(signal: i32) -> bool {
    // Linux says so in a bit mask; elsewhere it is taken that it is not.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (signal - 1) & 1 == 1
}
