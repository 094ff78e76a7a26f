//! Progress of a part of a model, as that of the whole.

use crate::observer::{Observer, Progress};

/// Adds what was summed exactly to the estimates of the only part that is sampled. Where there are several
/// parts, the estimate of one says nothing about the whole, and is not told.
pub(super) struct WholeProgress<'a> {
    observer: &'a dyn Observer,
    exact: Option<f64>,
}

impl<'a> WholeProgress<'a> {
    pub(super) fn of<T>(parts: &[T], exact: f64, observer: &'a dyn Observer) -> Self {
        Self { observer, exact: (parts.len() == 1).then_some(exact) }
    }
}

impl Observer for WholeProgress<'_> {
    fn behind(&self) -> Option<&dyn Observer> {
        Some(self.observer)
    }

    fn progress(&self, news: Progress) {
        let whole = |value: f64| self.exact.map(|exact| value + exact);
        self.observer.progress(Progress {
            log_z: news.log_z.and_then(whole),
            interval: news.interval.and_then(|[low, high]| Some([whole(low)?, whole(high)?])),
            ..news
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Phase;
    use std::sync::Mutex;

    #[derive(Default)]
    struct Heard(Mutex<Vec<Progress>>);

    impl Observer for Heard {
        fn progress(&self, news: Progress) {
            self.0.lock().unwrap().push(news);
        }
    }

    #[test]
    fn only_an_estimate_of_the_whole_is_told() {
        let news = Progress {
            log_z: Some(5.0),
            interval: Some([4.0, 6.0]),
            ..Progress::new(Phase::Round, 1, 2)
        };
        let heard = Heard::default();
        WholeProgress::of(&[()], 10.0, &heard).progress(news);
        WholeProgress::of(&[(), ()], 10.0, &heard).progress(news);
        let heard = heard.0.into_inner().unwrap();
        assert_eq!((heard[0].log_z, heard[0].interval), (Some(15.0), Some([14.0, 16.0])));
        assert_eq!((heard[1].log_z, heard[1].interval, heard[1].done), (None, None, 1));
    }
}
