//! Ctrl-C: the first one asks to stop, the second one kills.

use crate::failure::INTERRUPTED;
use std::sync::atomic::{AtomicBool, Ordering};

static INTERRUPTED_ONCE: AtomicBool = AtomicBool::new(false);

/// Listens for Ctrl-C from now on; without a handler it kills, as it should for short commands.
pub(crate) fn listen() {
    // A second listener in the same process would be refused; the first one does.
    let _ = ctrlc::set_handler(|| {
        if INTERRUPTED_ONCE.swap(true, Ordering::Relaxed) {
            std::process::exit(INTERRUPTED.into());
        }
    });
}

/// Ctrl-C was pressed.
pub(crate) fn requested() -> bool {
    INTERRUPTED_ONCE.load(Ordering::Relaxed)
}
