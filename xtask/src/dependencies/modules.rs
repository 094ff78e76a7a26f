//! The modules of a crate, and which of their neighbours they use.

use super::source::Source;
use std::collections::{BTreeMap, BTreeSet};

/// The path of a module inside its crate; empty for the root.
pub(super) type Name = Vec<String>;

/// For each module with modules inside: who of them uses whom.
pub(super) type Graphs = BTreeMap<Name, BTreeMap<String, BTreeSet<String>>>;

/// Re-exports of re-exports are followed this far.
const LONGEST_WAY: usize = 8;

/// All modules of a crate that are not tests.
#[derive(Debug, Default)]
pub(super) struct Modules(BTreeMap<Name, Source>);

impl Modules {
    /// Follows the `mod` lines from the root; `read` has the text of a file below `src`.
    pub(super) fn load(read: &dyn Fn(&str) -> Option<String>) -> Result<Self, String> {
        let root = read("lib.rs").or_else(|| read("main.rs")).ok_or("no lib.rs and no main.rs")?;
        let mut modules = Self::default();
        let mut open = vec![(Name::new(), root)];
        while let Some((name, text)) = open.pop() {
            let source = Source::parse(&text);
            for child in &source.modules {
                let child = [name.as_slice(), std::slice::from_ref(child)].concat();
                let file = child.join("/");
                let text = read(&format!("{file}.rs")).ok_or(format!("{file}.rs is missing"))?;
                open.push((child, text));
            }
            modules.0.insert(name, source);
        }
        Ok(modules)
    }

    /// Number of files.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The other crates that are named in paths.
    pub(super) fn crates(&self) -> BTreeSet<&str> {
        let paths = self.0.values().flat_map(|source| &source.paths);
        paths.filter_map(|path| path.segments.first()).map(String::as_str).collect()
    }

    /// Who uses whom, at every level: a path from `a::b` to `a::c::d` is an arrow from `b` to `c` within `a`.
    /// A module and those inside it are one thing: there is no arrow between them.
    pub(super) fn graphs(&self) -> Graphs {
        let mut graphs = Graphs::new();
        for (name, source) in &self.0 {
            for path in &source.paths {
                let target = self.resolve(name, &path.segments, 0);
                let Some(target) = target else { continue };
                let shared = name.iter().zip(&target).take_while(|(a, b)| a == b).count();
                if let (Some(from), Some(to)) = (name.get(shared), target.get(shared)) {
                    let graph = graphs.entry(name[..shared].to_vec()).or_default();
                    graph.entry(from.clone()).or_default().insert(to.clone());
                }
            }
        }
        graphs
    }

    /// Names of the modules next to the root.
    pub(super) fn top(&self) -> impl Iterator<Item = &str> {
        self.0.keys().filter(|name| name.len() == 1).map(|name| name[0].as_str())
    }

    /// The module that has what a path means, seen from a module; None for other crates.
    fn resolve(&self, from: &[String], path: &[String], depth: usize) -> Option<Name> {
        let mut at = from.to_vec();
        let mut rest = path;
        match path.first()?.as_str() {
            "crate" => (at, rest) = (Name::new(), &path[1..]),
            "self" => rest = &path[1..],
            "super" => {
                while rest.first().is_some_and(|word| word == "super") {
                    at.pop()?;
                    rest = &rest[1..];
                }
            }
            first => {
                let inside = [from, &[first.to_owned()]].concat();
                self.0.get(&inside)?;
            }
        }
        while let Some((word, after)) = rest.split_first() {
            let inside = [at.as_slice(), std::slice::from_ref(word)].concat();
            if self.0.contains_key(&inside) {
                (at, rest) = (inside, after);
                continue;
            }
            // A name that the module has from elsewhere: go where it comes from.
            let uses = &self.0.get(&at)?.paths;
            let origin = uses.iter().find(|path| path.known_as.as_ref() == Some(word));
            let Some(origin) = origin.filter(|_| depth < LONGEST_WAY) else { return Some(at) };
            let whole = [&origin.segments[..], after].concat();
            return self.resolve(&at, &whole, depth + 1).or(Some(at));
        }
        Some(at)
    }
}

/// Groups of modules of which each leads to all others.
pub(super) fn cycles(graph: &BTreeMap<String, BTreeSet<String>>) -> BTreeSet<Vec<&str>> {
    let reached = |from: &str| -> BTreeSet<&str> {
        let mut seen = BTreeSet::new();
        let mut open: Vec<&String> = graph.get(from).into_iter().flatten().collect();
        while let Some(name) = open.pop() {
            if seen.insert(name.as_str()) {
                open.extend(graph.get(name).into_iter().flatten());
            }
        }
        seen
    };
    let reach: BTreeMap<&str, BTreeSet<&str>> =
        graph.keys().map(|name| (name.as_str(), reached(name))).collect();
    let leads = |from: &str, to: &str| reach.get(from).is_some_and(|seen| seen.contains(to));
    let group = |name: &str| -> Vec<&str> {
        reach.keys().copied().filter(|other| leads(name, other) && leads(other, name)).collect()
    };
    reach.keys().map(|name| group(name)).filter(|group| group.len() > 1).collect()
}
