//! Markov networks of the UAI competitions: binary, pairwise and bipartite ones are RBMs.

use super::input::Input;
use super::tensors::{Order, TensorInfo, TensorSource};
use super::{Parsed, StoredModel, save};
use crate::math::{exp, ln};
use crate::{Error, Result};
use ndarray::{Array1, Array2, ArrayD};
use std::io::{self, Write};
use std::path::Path;

const LARGEST_FILE: u64 = 1 << 30;

/// Sparse networks become dense matrices; larger ones than this do not.
const MOST_WEIGHTS: usize = 1 << 27;

/// There is room for a matrix of weights.
pub(super) fn fits_a_matrix(visible: usize, hidden: usize) -> bool {
    visible.checked_mul(hidden).is_some_and(|count| count <= MOST_WEIGHTS)
}

/// The network in a file, and which of its variables are hidden: the two layers are the two colours of
/// the graph.
pub(super) fn read_network(input: &Input) -> Parsed<(Network, Vec<bool>)> {
    let bytes = input.read(LARGEST_FILE)?;
    let text = std::str::from_utf8(&bytes).map_err(|_| "has bytes that are not text")?;
    let network = Network::parse(text)?;
    let hidden = network.two_colours()?;
    Ok((network, hidden))
}

pub(super) fn looks_like_it(start: &[u8]) -> bool {
    let start = start.trim_ascii_start();
    start.starts_with(b"MARKOV") || start.starts_with(b"BAYES")
}

/// A network whose variables are in two layers.
pub(super) struct UaiFile {
    tensors: Vec<TensorInfo>,
    network: Network,
    /// Which variables are hidden.
    hidden: Vec<bool>,
    /// The place of each variable in its layer.
    place: Vec<usize>,
    /// Visible and hidden variables.
    counts: [usize; 2],
}

impl UaiFile {
    pub(super) fn open(input: &Input) -> Parsed<Self> {
        let (network, hidden) = read_network(input)?;
        let mut counts = [0usize; 2];
        let place = (hidden.iter())
            .map(|&hidden| {
                let count = &mut counts[usize::from(hidden)];
                *count += 1;
                *count - 1
            })
            .collect();
        let [v, h] = counts;
        if !fits_a_matrix(v, h) {
            return Err(format!(
                "is a Markov network of {v} x {h} variables, too large for a matrix; `lnz exact` sums over such a network without one, where it is sparse enough"
            ));
        }
        let shapes = [
            ("weights", vec![v, h]),
            ("visible_bias", vec![v]),
            ("hidden_bias", vec![h]),
            ("constant", vec![]),
        ];
        let tensors = shapes.map(|(name, shape)| TensorInfo {
            name: name.to_owned(),
            shape,
            dtype: "float64".to_owned(),
            order: Order::RowMajor,
        });
        Ok(Self { tensors: tensors.into(), network, hidden, place, counts })
    }

    /// Made when asked for, because a matrix is much larger than a sparse network.
    fn weights(&self) -> Array2<f64> {
        let mut weights = Array2::zeros(self.counts);
        for &(x, y, coupling) in &self.network.couplings {
            let (v, h) = if self.hidden[x] { (y, x) } else { (x, y) };
            weights[[self.place[v], self.place[h]]] += coupling;
        }
        weights
    }

    fn biases(&self, hidden: bool) -> Array1<f64> {
        let fields = self.network.fields.iter().zip(&self.hidden);
        fields.filter(|(_, is_hidden)| **is_hidden == hidden).map(|(field, _)| *field).collect()
    }
}

impl TensorSource for UaiFile {
    fn tensors(&self) -> &[TensorInfo] {
        &self.tensors
    }

    fn values(&mut self, index: usize) -> Parsed<ArrayD<f64>> {
        Ok(match index {
            0 => self.weights().into_dyn(),
            1 => self.biases(false).into_dyn(),
            2 => self.biases(true).into_dyn(),
            _ => ndarray::arr0(self.network.constant).into_dyn(),
        })
    }
}

/// The logarithm of a network's product of tables, as a sum of terms.
pub(super) struct Network {
    pub(super) constant: f64,
    /// Of each variable.
    pub(super) fields: Vec<f64>,
    /// Two variables and their coupling.
    pub(super) couplings: Vec<(usize, usize, f64)>,
}

struct Words<'a>(std::str::SplitAsciiWhitespace<'a>);

impl Words<'_> {
    fn next<T: std::str::FromStr>(&mut self, what: &str) -> Parsed<T> {
        let word =
            self.0.next().ok_or_else(|| format!("ends where {what} should be; it is cut short"))?;
        word.parse().map_err(|_| format!("has {word:?} where {what} should be; it is damaged"))
    }
}

impl Network {
    fn parse(text: &str) -> Parsed<Self> {
        let mut words = Words(text.split_ascii_whitespace());
        let kind: String = words.next("MARKOV")?;
        if kind != "MARKOV" {
            return Err(format!(
                "is a UAI network of the kind {kind}, expected MARKOV: a product of tables over pairs of variables"
            ));
        }
        let variables: usize = words.next("the number of variables")?;
        // Each variable takes at least two bytes of the file.
        if variables > text.len() {
            return Err(format!("claims {variables} variables, more than it has room for"));
        }
        for variable in 0..variables {
            let states: usize = words.next("a number of states")?;
            if states != 2 {
                return Err(format!(
                    "is a Markov network whose variable {variable} has {states} states, expected 2 of each: other networks are no binary RBM"
                ));
            }
        }
        let tables: usize = words.next("the number of tables")?;
        let mut scopes = Vec::new();
        for table in 0..tables {
            let size: usize = words.next("the size of a table")?;
            if size > 2 {
                return Err(format!(
                    "is a Markov network whose table {table} has {size} variables, expected at most 2: other networks are no RBM"
                ));
            }
            let mut scope = Vec::new();
            for _ in 0..size {
                let variable: usize = words.next("a variable of a table")?;
                if variable >= variables || scope.contains(&variable) {
                    return Err(format!(
                        "has a table {table} over variable {variable}, which makes no sense with {variables} variables"
                    ));
                }
                scope.push(variable);
            }
            scopes.push(scope);
        }
        let mut network =
            Self { constant: 0.0, fields: vec![0.0; variables], couplings: Vec::new() };
        for (table, scope) in scopes.iter().enumerate() {
            network.multiply(table, scope, &mut words)?;
        }
        match words.0.next() {
            None => Ok(network),
            Some(word) => Err(format!("has {word:?} after its last table; it is damaged")),
        }
    }

    /// Takes in a table: log f(x, y) = log f00 + x u + y v + x y w.
    fn multiply(&mut self, table: usize, scope: &[usize], words: &mut Words<'_>) -> Parsed<()> {
        let entries: usize = words.next("the size of a table")?;
        if entries != 1 << scope.len() {
            return Err(format!(
                "has a table {table} of {entries} values for {} variables",
                scope.len()
            ));
        }
        let mut logs = Vec::new();
        for _ in 0..entries {
            let value: f64 = words.next("a value of a table")?;
            if !(value > 0.0 && value.is_finite()) {
                return Err(format!(
                    "has a table {table} with the value {value}, expected values above 0: an RBM forbids no state"
                ));
            }
            logs.push(ln(value));
        }
        self.constant += logs[0];
        match (scope, &logs[..]) {
            (&[x], &[f0, f1]) => self.fields[x] += f1 - f0,
            (&[x, y], &[f00, f01, f10, f11]) => {
                self.fields[x] += f10 - f00;
                self.fields[y] += f01 - f00;
                self.couplings.push((x, y, (f11 - f10) - (f01 - f00)));
            }
            _ => {}
        }
        Ok(())
    }

    /// Which variables are hidden: neighbours differ, and the first of each part is visible.
    fn two_colours(&self) -> Parsed<Vec<bool>> {
        let mut neighbours = vec![Vec::new(); self.fields.len()];
        for &(x, y, _) in &self.couplings {
            neighbours[x].push(y);
            neighbours[y].push(x);
        }
        let mut colours: Vec<Option<bool>> = vec![None; self.fields.len()];
        for first in 0..colours.len() {
            if colours[first].is_some() {
                continue;
            }
            colours[first] = Some(false);
            let mut waiting = vec![first];
            while let Some(variable) = waiting.pop() {
                let other = colours[variable] == Some(false);
                for &neighbour in &neighbours[variable] {
                    match colours[neighbour] {
                        None => {
                            colours[neighbour] = Some(other);
                            waiting.push(neighbour);
                        }
                        Some(colour) if colour != other => {
                            return Err(format!(
                                "is a Markov network that is not bipartite (variables {variable} and {neighbour} are on an odd cycle), expected two layers without tables inside a layer"
                            ));
                        }
                        Some(_) => {}
                    }
                }
            }
        }
        Ok(colours.into_iter().map(|colour| colour == Some(true)).collect())
    }
}

/// Writes a model as a network: visible units first, a table for each unit and each weight.
pub(super) fn write(writer: &mut dyn Write, stored: &StoredModel) -> io::Result<()> {
    let model = &stored.model;
    let (v, h) = (model.visible(), model.hidden());
    let couplings: Vec<(usize, usize, f64)> = model
        .weights()
        .indexed_iter()
        .filter(|(_, w)| **w != 0.0)
        .map(|((i, j), &w)| (i, v + j, w))
        .collect();
    let constant = usize::from(model.constant() != 0.0);
    writeln!(writer, "MARKOV\n{}\n{}", v + h, vec!["2"; v + h].join(" "))?;
    writeln!(writer, "{}", constant + v + h + couplings.len())?;
    if constant == 1 {
        writeln!(writer, "0")?;
    }
    (0..v + h).try_for_each(|unit| writeln!(writer, "1 {unit}"))?;
    couplings.iter().try_for_each(|(x, y, _)| writeln!(writer, "2 {x} {y}"))?;
    let factor = |log: f64| {
        let value = exp(log);
        if value > 0.0 && value.is_finite() {
            Ok(value)
        } else {
            let problem =
                format!("{log} is too large for a table of factors; write .npz or .safetensors");
            Err(io::Error::new(io::ErrorKind::InvalidInput, problem))
        }
    };
    if constant == 1 {
        writeln!(writer, "\n1\n{:e}", factor(model.constant())?)?;
    }
    for &bias in model.visible_bias().iter().chain(model.hidden_bias()) {
        writeln!(writer, "\n2\n1 {:e}", factor(bias)?)?;
    }
    for &(_, _, weight) in &couplings {
        writeln!(writer, "\n4\n1 1 1 {:e}", factor(weight)?)?;
    }
    Ok(())
}

/// Writes log Z as the competitions want it, whole or not at all: the word `PR`, then log10 Z.
pub fn write_log_z(path: &Path, log_z: f64) -> Result<()> {
    let text = format!("PR\n{}\n", log_z * std::f64::consts::LOG10_E);
    save::write_whole(path, |writer| writer.write_all(text.as_bytes()))
}

/// Reads log Z from a file of the competitions: `PR` and log10 Z; some have a 1 between them, the
/// number of sets of evidence.
pub fn read_log_z(path: &Path) -> Result<f64> {
    Error::unless_readable(path)?;
    let bad = |problem: &str| Error::file(path, problem.to_owned());
    let text = std::fs::read_to_string(path).map_err(|error| bad(&error.to_string()))?;
    let log10 = match text.split_ascii_whitespace().collect::<Vec<_>>()[..] {
        ["PR", value] | ["PR", "1", value] => value.parse::<f64>().ok(),
        _ => None,
    };
    match log10.filter(|value| value.is_finite()) {
        Some(log10) => Ok(log10 * std::f64::consts::LN_10),
        None => Err(bad("is no solution of the task PR, expected the word PR and log10 Z")),
    }
}
