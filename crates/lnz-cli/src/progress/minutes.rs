//! One line a minute, for logs and for those who watch them.

use super::words::{self, Clock};
use lnz::Progress;
use std::io::Write;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Short commands say nothing.
const MINUTE: Duration = Duration::from_secs(60);

/// A thread that writes the latest news; it ends with this value.
pub(super) struct Minutes {
    _end: Sender<()>,
}

impl Minutes {
    pub(super) fn new(clock: Clock, latest: Arc<Mutex<Option<Progress>>>) -> Self {
        Self::every(MINUTE, clock, latest, |line| {
            // Nobody to tell if standard error is gone.
            let _ = writeln!(std::io::stderr(), "{line}");
        })
    }

    fn every(
        period: Duration,
        clock: Clock,
        latest: Arc<Mutex<Option<Progress>>>,
        tell: impl Fn(&str) + Send + 'static,
    ) -> Self {
        let (end, ended) = channel::<()>();
        std::thread::spawn(move || {
            while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(period) {
                let news = *latest.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(news) = news {
                    tell(&line(&clock, &news));
                }
            }
        });
        Self { _end: end }
    }
}

/// `lnz: 2 min 0 s of at most 10 min 0 s, annealing in rounds, log Z 275.69 [275.41, 276.02]`.
fn line(clock: &Clock, news: &Progress) -> String {
    let said = match (words::is_timed(news.phase, clock), news.total) {
        (true, _) | (_, 0) => words::of(news),
        // What comes next has nothing to count.
        (false, total) if news.done >= total => format!("done with {}", words::name(news.phase).0),
        (false, total) => {
            format!("{} {:.0}%", words::of(news), 100.0 * news.done as f64 / total as f64)
        }
    };
    format!("lnz: {}, {said}", clock.words())
}

#[cfg(test)]
mod tests {
    use super::*;
    use lnz::Phase;
    use std::time::Instant;

    #[test]
    fn a_line_says_what_there_is_to_say() {
        let clock = Clock { started: Instant::now(), limit: None };
        let news = Progress::new(Phase::Enumerate, 1, 4);
        assert_eq!(line(&clock, &news), "lnz: 1 s, summing 25%");
        let news = Progress::new(Phase::Enumerate, 4, 4);
        assert_eq!(line(&clock, &news), "lnz: 1 s, done with summing");
    }

    #[test]
    fn lines_come_until_the_work_is_done() {
        let latest = Arc::new(Mutex::new(Some(Progress::new(Phase::Enumerate, 1, 4))));
        let clock = Clock { started: Instant::now(), limit: None };
        let (told, lines) = channel();
        let minutes = Minutes::every(Duration::from_millis(1), clock, latest, move |line| {
            let _ = told.send(line.to_owned());
        });
        for _ in 0..3 {
            assert!(lines.recv().unwrap().ends_with("summing 25%"));
        }
        drop(minutes);
        // The thread ends, and with it the sender.
        while lines.recv().is_ok() {}
    }
}
