//! Along a training run: the phases that a model hands on to the next one, and the file that keeps them.

use crate::request::Plan;
use crate::{Error, Result};
use lnz::{Rbm, io};
use ndarray::Array1;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Phases that are handed on at most: each takes a short run in the search of the next model.
const MOST: usize = 8;
/// Means are handed on in steps of one thousandth, which a start does not feel.
const STEPS: f64 = 1000.0;

/// What the models so far hand on. A model takes from the one before it that has a result, if it has as many
/// units.
#[derive(Debug, Default)]
pub struct Sharing {
    last: Option<Handed>,
    /// Where it is kept, so that a run that goes on another time hands on the same.
    kept: Option<Kept>,
}

/// What a model hands on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Handed {
    sha256: String,
    /// The settings of its row, which name what it was handed itself.
    settings: String,
    visible: usize,
    hidden: usize,
    /// Means of the visible units in each phase, in thousandths.
    starts: Vec<Vec<u16>>,
}

#[derive(Debug)]
struct Kept {
    path: PathBuf,
    file: File,
    handed: HashMap<(String, String), Handed>,
}

impl Sharing {
    /// Begins with nothing, beside the table of the rows, if there is one.
    pub fn beside(table: Option<&Path>) -> Result<Self> {
        let kept = table.map(|table| Kept::open(with_suffix(table))).transpose()?;
        Ok(Self { last: None, kept })
    }

    /// The settings of a row, which tell what the model is handed: the hash of the model that it comes from,
    /// and in turn of the settings there.
    pub fn settings(&self, settings: &str, model: &Rbm) -> String {
        let from = self.fitting(model);
        let before = from.map_or("nothing", |from| &from.settings);
        let hash = Sha256::digest(format!("{settings} shared from {before}"));
        let hash: String = hash[..6].iter().map(|byte| format!("{byte:02x}")).collect();
        match from {
            Some(from) => format!("{hash}-from-{}", &from.sha256[..12]),
            None => format!("{hash}-from-none"),
        }
    }

    /// The work for a model, with what it is handed.
    pub fn plan(&self, plan: &Plan, model: &Rbm) -> Result<Plan> {
        let starts = self.fitting(model).map(Handed::starts).unwrap_or_default();
        plan.clone().with_similar_means(starts, "share_starts")
    }

    /// Whether a model with such a row has handed something on before; then the next one takes it.
    pub fn goes_on_from(&mut self, model: &Rbm, sha256: &str, settings: &str) -> bool {
        let kept = self.kept.as_ref().and_then(|kept| kept.find(sha256, settings));
        let Some(handed) = kept.filter(|handed| handed.fits(model)) else { return false };
        self.last = Some(handed.clone());
        true
    }

    /// A model has a result: the next one takes from it. To be called before its row is written, so that
    /// every row has its start.
    pub fn hand_on(
        &mut self,
        model: &Rbm,
        sha256: &str,
        settings: &str,
        starts: &[Array1<f64>],
    ) -> Result<()> {
        let handed = Handed {
            sha256: sha256.to_owned(),
            settings: settings.to_owned(),
            visible: model.visible(),
            hidden: model.hidden(),
            starts: in_steps(starts),
        };
        if let Some(kept) = &mut self.kept {
            kept.add(&handed)?;
        }
        self.last = Some(handed);
        Ok(())
    }

    fn fitting(&self, model: &Rbm) -> Option<&Handed> {
        self.last.as_ref().filter(|last| last.fits(model) && !last.starts.is_empty())
    }
}

impl Handed {
    fn fits(&self, model: &Rbm) -> bool {
        let starts = self.starts.iter().all(|means| means.len() == self.visible);
        (self.visible, self.hidden) == (model.visible(), model.hidden()) && starts
    }

    fn starts(&self) -> Vec<Array1<f64>> {
        of_steps(&self.starts)
    }
}

/// What of the phases of a model the next one is handed.
pub fn handed_on(starts: &[Array1<f64>]) -> Vec<Array1<f64>> {
    of_steps(&in_steps(starts))
}

fn in_steps(starts: &[Array1<f64>]) -> Vec<Vec<u16>> {
    let step = |mean: &f64| (mean.clamp(0.0, 1.0) * STEPS).round() as u16;
    starts.iter().take(MOST).map(|means| means.iter().map(step).collect()).collect()
}

fn of_steps(starts: &[Vec<u16>]) -> Vec<Array1<f64>> {
    let mean = |&step: &u16| f64::from(step) / STEPS;
    starts.iter().map(|steps| steps.iter().map(mean).collect()).collect()
}

/// `log-z.csv` has its starts in `log-z.csv.starts`.
fn with_suffix(table: &Path) -> PathBuf {
    let mut name = table.as_os_str().to_owned();
    name.push(".starts");
    name.into()
}

impl Kept {
    /// Opens a file or makes it. A last line without an end is of a process that was killed, and goes.
    fn open(path: PathBuf) -> Result<Self> {
        let unfit = |problem: String| -> Error {
            lnz::Error::File { path: path.clone(), problem, source: None }.into()
        };
        let mut text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(unfit(format!("cannot be read: {error}"))),
        };
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        if whole < text.len() {
            text.truncate(whole);
            io::write_file(&path, text.as_bytes())?;
        }
        let mut kept = HashMap::new();
        for (number, line) in text.lines().enumerate() {
            let handed: Handed = serde_json::from_str(line).map_err(|_| {
                let number = number + 1;
                unfit(format!(
                    "line {number} has no starts of a model; delete the file, and what depends on it is computed again"
                ))
            })?;
            kept.insert(handed.key(), handed);
        }
        let file = File::options().create(true).append(true).open(&path);
        let file = file.map_err(|error| unfit(format!("cannot be written: {error}")))?;
        Ok(Self { path, file, handed: kept })
    }

    fn find(&self, sha256: &str, settings: &str) -> Option<&Handed> {
        self.handed.get(&(sha256.to_owned(), settings.to_owned()))
    }

    fn add(&mut self, handed: &Handed) -> Result<()> {
        let line = serde_json::to_string(handed).unwrap_or_default();
        let written = self.file.write_all(format!("{line}\n").as_bytes());
        written.and_then(|()| self.file.sync_data()).map_err(|error| {
            let (path, problem) = (self.path.clone(), error.to_string());
            lnz::Error::Write { path, problem, bad_path: false, source: Some(error) }
        })?;
        self.handed.insert(handed.key(), handed.clone());
        Ok(())
    }
}

impl Handed {
    fn key(&self) -> (String, String) {
        (self.sha256.clone(), self.settings.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Request;
    use ndarray::Array2;

    fn model(weight: f64, hidden: usize) -> Rbm {
        let weights = Array2::from_elem((3, hidden), weight);
        Rbm::new(weights, Array1::zeros(3), Array1::zeros(hidden)).unwrap()
    }

    fn means() -> Vec<Array1<f64>> {
        vec![Array1::from(vec![0.05, 0.5, 0.95]), Array1::from(vec![0.1234567, 1.0, 0.0])]
    }

    fn handed(sharing: &Sharing, model: &Rbm) -> Vec<Array1<f64>> {
        match sharing.plan(&Request::default().plan().unwrap(), model).unwrap() {
            Plan::Auto { settings, .. } => settings.similar_means,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_model_takes_from_the_one_before_it_if_it_has_as_many_units() {
        let (first, second, wider) = (model(1.0, 2), model(2.0, 2), model(1.0, 4));
        let mut sharing = Sharing::beside(None).unwrap();
        assert!(handed(&sharing, &first).is_empty());
        let settings = sharing.settings("s", &first);
        assert!(settings.ends_with("-from-none"), "{settings}");
        sharing.hand_on(&first, &first.sha256(), &settings, &means()).unwrap();
        let taken = handed(&sharing, &second);
        assert_eq!((taken.len(), taken[1][0], taken[1][1]), (2, 0.123, 1.0));
        let settings = sharing.settings("s", &second);
        assert!(settings.ends_with(&first.sha256()[..12]), "{settings}");
        assert_ne!(settings, sharing.settings("t", &second));
        assert!(handed(&sharing, &wider).is_empty());
        assert!(sharing.settings("s", &wider).ends_with("-from-none"));
        // A model that was summed has no phases to hand on.
        sharing.hand_on(&second, &second.sha256(), &settings, &[]).unwrap();
        assert!(handed(&sharing, &first).is_empty());
    }

    #[test]
    fn a_run_that_goes_on_hands_on_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let table = folder.path().join("t.csv");
        let (first, second) = (model(1.0, 2), model(2.0, 2));
        let begun = || Sharing::beside(Some(&table)).unwrap();
        let mut sharing = begun();
        let of_first = sharing.settings("s", &first);
        assert!(!sharing.goes_on_from(&first, &first.sha256(), &of_first));
        sharing.hand_on(&first, &first.sha256(), &of_first, &means()).unwrap();
        let (of_second, taken) = (sharing.settings("s", &second), handed(&sharing, &second));
        let starts = folder.path().join("t.csv.starts");
        // A process was killed while it wrote the next line.
        let whole = std::fs::read_to_string(&starts).unwrap();
        std::fs::write(&starts, format!("{whole}{{\"sha25")).unwrap();
        let mut again = begun();
        assert!(again.goes_on_from(&first, &first.sha256(), &of_first));
        assert_eq!(again.settings("s", &second), of_second);
        assert_eq!(handed(&again, &second), taken);
        assert_eq!(std::fs::read_to_string(&starts).unwrap(), whole);
        std::fs::write(&starts, "nothing\n").unwrap();
        let said = Sharing::beside(Some(&table)).unwrap_err().to_string();
        assert!(said.contains("line 1 has no starts"), "{said}");
    }

    #[test]
    fn only_the_default_method_shares() {
        let request = Request { no_check: true, ..Request::default() };
        let plan = request.plan().unwrap();
        let said = Sharing::default().plan(&plan, &model(1.0, 2)).unwrap_err().to_string();
        assert!(said.contains("auto"), "{said}");
    }
}
