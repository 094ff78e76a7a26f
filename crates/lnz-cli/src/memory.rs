//! Memory that is not there: a sentence, where Rust would abort without one.

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write;

/// The allocator of the system, which says what was needed when it has nothing left.
struct Telling;

#[global_allocator]
static ALLOCATOR: Telling = Telling;

// SAFETY: every call goes to the allocator of the system as it is, and what it returns is passed on.
unsafe impl GlobalAlloc for Telling {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract.
        there(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        there(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        there(unsafe { System.realloc(memory, layout, size) }, size)
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// The memory, if there is some.
fn there(memory: *mut u8, bytes: usize) -> *mut u8 {
    if memory.is_null() {
        give_up(bytes);
    }
    memory
}

/// Says what was needed and ends, without taking memory for the words and without a lock that this
/// thread may hold.
#[cold]
fn give_up(bytes: usize) -> ! {
    let mut words = [0; 200];
    let mut rest = &mut words[..];
    let _ = writeln!(
        rest,
        "error: there is not enough memory: {:.1} MB more are needed; use a smaller model, fewer --chains or --threads, or a larger machine",
        bytes as f64 / 1e6
    );
    let unused = rest.len();
    let said = words.len() - unused;
    to_standard_error(&words[..said]);
    signal_hook::low_level::exit(crate::failure::FAILED.into())
}

#[cfg(unix)]
fn to_standard_error(words: &[u8]) {
    use std::os::fd::AsFd;
    // A copy of the descriptor: standard error of the library stands behind a lock.
    if let Ok(copy) = std::io::stderr().as_fd().try_clone_to_owned() {
        let _ = std::fs::File::from(copy).write_all(words);
    }
}

#[cfg(not(unix))]
fn to_standard_error(words: &[u8]) {
    let _ = std::io::stderr().write_all(words);
}
