//! The families that are calibrated on.

use super::banded::Banded;
use super::branches::{Branches, Shape};
use super::coexistence::{CurieWeiss, Phases};
use super::collective::Collective;
use super::groups::{Groups, Order};
use super::hubs::Hub;
use super::lattice::{CRITICAL, Coupling, Edges, Lattice};
use super::occupations::enumerated;
use super::patterns::{Prototypes, Trained};
use super::planted::Planted;
use super::strokes::{Negative, Strokes};
use super::trees::Tree;
use super::{Family, Solved};
use lnz::Gwgm;

/// Every family.
pub(crate) fn families() -> Vec<Family> {
    let mut families = Vec::new();
    families.extend(gaussian());
    families.extend(patterns());
    families.extend(BANDS.map(banded));
    families.extend(blocks());
    families.extend(curie_weiss());
    families.extend(groups());
    families.extend(hubs());
    families.extend(branches());
    families.extend(collective());
    families.extend(planted());
    families.extend(lattices());
    families.extend(trees());
    families.extend(strokes());
    families.extend(pendants());
    families
}

/// Moments of the Gaussian families (mean and spread of the mean, of the spread, factor of the
/// biases), from weak to the paper's hardest.
const MOMENTS: [(f64, f64, f64, f64, f64); 5] = [
    (0.0, 0.1, 0.1, 0.05, 1.0),
    (0.0, 0.3, 0.8, 0.4, 1.0),
    (-1.0, 1.0, 2.0, 1.0, 0.5),
    (-5.0, 5.0, 10.0, 5.0, 0.1),
    (-10.0, 10.0, 20.0, 10.0, 0.1),
];

fn of_moments(hidden: usize, moments: (f64, f64, f64, f64, f64)) -> Family {
    let (mu_mu, sigma_mu, mu_sigma, sigma_sigma, lambda) = moments;
    let family = Gwgm { visible: 20, hidden, mu_mu, sigma_mu, mu_sigma, sigma_sigma, lambda };
    let parameters =
        format!("20x{hidden} ({mu_mu}, {sigma_mu}, {mu_sigma}, {sigma_sigma}, {lambda})");
    Family::new("gaussian", parameters, 3, move |seed| {
        let model = family.generate(seed)?;
        let log_z = enumerated(&model)?;
        Solved::new(model, log_z)
    })
    .quick()
}

fn gaussian() -> Vec<Family> {
    let of_size = |hidden| MOMENTS.map(|moments| of_moments(hidden, moments));
    [60, 180].into_iter().flat_map(of_size).collect()
}

fn prototypes(strength: f64) -> Family {
    let family = Prototypes { visible: 200, hidden: 18, strength };
    let parameters = format!("200x18, strength {strength}");
    Family::new("prototypes", parameters, 3, move |seed| family.generate(seed)).quick()
}

fn trained(epochs: usize) -> Family {
    let family = Trained { visible: 200, hidden: 18, epochs };
    let parameters = format!("200x18, {epochs} epochs");
    let family = Family::new("trained", parameters, 3, move |seed| family.generate(seed));
    if epochs <= 100 { family.quick() } else { family }
}

fn patterns() -> Vec<Family> {
    let prototypes = [0.5, 1.0, 2.0, 4.0].map(prototypes);
    prototypes.into_iter().chain([10, 100, 1000].map(trained)).collect()
}

/// Mean and spread of the weights in a band: weak, intermediate and strong with either sign, then
/// units that agree with their neighbours, in domains that grow with the mean.
const BANDS: [(usize, usize, f64, f64); 7] = [
    (400, 600, 0.0, 0.5),
    (200, 300, 0.0, 2.0),
    (400, 600, 0.0, 4.0),
    (100, 150, 0.0, 8.0),
    (100, 150, 0.5, 0.5),
    (400, 600, 0.8, 0.8),
    (200, 300, 1.5, 1.0),
];

fn banded((visible, hidden, mean, spread): (usize, usize, f64, f64)) -> Family {
    let family = Banded { visible, hidden, window: 10, mean, spread };
    let parameters = format!("{visible}x{hidden}, mean {mean}, spread {spread}");
    let banded = Family::new("banded", parameters, 3, move |seed| family.generate(seed));
    if visible <= 100 && spread <= 4.0 { banded.quick() } else { banded }
}

/// The modes of blocks multiply: with many of them, no list of modes is complete.
fn blocks() -> Vec<Family> {
    let gaussian = [1, 3, 4].map(|k| of_moments(180, MOMENTS[k]).side_by_side(3, 2));
    let patterns = [prototypes(0.5), prototypes(2.0), trained(100)];
    let patterns = patterns.map(|family| family.side_by_side(6, 2));
    let doubled = [
        of_phases(100, 100, Phases::Weighted, 0.0).side_by_side(2, 3),
        hub(2, 60, 50, 0.0).side_by_side(2, 3),
    ];
    gaussian.into_iter().chain(patterns).chain(doubled).collect()
}

fn of_phases(visible: usize, hidden: usize, phases: Phases, roughness: f64) -> Family {
    let family = CurieWeiss { visible, hidden, phases, roughness };
    let phases = match phases {
        Phases::Mirrored => "mirrored",
        Phases::Weighted => "weighted",
        Phases::Hidden => "hidden",
        Phases::HalfHidden => "half hidden",
    };
    let rough = in_words(roughness);
    let parameters = format!("{visible}x{hidden}, {phases}{rough}");
    Family::new("curie-weiss", parameters, 4, move |seed| family.generate(seed))
}

fn in_words(roughness: f64) -> String {
    if roughness > 0.0 { format!(", rough {roughness}") } else { String::new() }
}

fn curie_weiss() -> Vec<Family> {
    let weighted = [(50, 50), (100, 100), (300, 300), (150, 60), (40, 400)];
    let hidden = [(50, 50), (100, 80), (80, 100), (200, 300), (30, 500)];
    let rough = [(60, 80), (200, 150)];
    let mut families = vec![of_phases(20, 2000, Phases::Mirrored, 0.0)];
    families.extend(weighted.map(|(v, h)| of_phases(v, h, Phases::Weighted, 0.0)));
    families.extend(hidden.map(|(v, h)| of_phases(v, h, Phases::Hidden, 0.0)));
    families.extend(rough.map(|(v, h)| of_phases(v, h, Phases::Hidden, 0.4)));
    families
}

fn groups() -> Vec<Family> {
    let sizes = [
        (400, 300, 2, Order::Agreeing, 0.0),
        (120, 300, 3, Order::Agreeing, 0.0),
        (60, 500, 4, Order::Agreeing, 0.0),
        (300, 250, 2, Order::Agreeing, 0.3),
        (240, 210, 3, Order::Competing, 0.0),
    ];
    let family = |(visible, hidden, groups, order, roughness)| {
        let family = Groups { visible, hidden, groups, order, roughness };
        let word = if order == Order::Agreeing { "agreeing" } else { "competing" };
        let rough = in_words(roughness);
        let parameters = format!("{visible}x{hidden}, {groups} {word}{rough}");
        Family::new("groups", parameters, 4, move |seed| family.generate(seed))
    };
    sizes.map(family).into()
}

fn hub(blocks: usize, visible: usize, hidden: usize, roughness: f64) -> Family {
    let phases = Phases::Hidden;
    of_blocks(blocks, CurieWeiss { visible, hidden, phases, roughness }, "")
}

/// Blocks whose phases share the mass more evenly: no list of all phases is complete.
fn even_hub(blocks: usize, visible: usize, hidden: usize, phases: Phases) -> Family {
    let word = if phases == Phases::Weighted { ", weighted" } else { ", half hidden" };
    of_blocks(blocks, CurieWeiss { visible, hidden, phases, roughness: 0.0 }, word)
}

fn of_blocks(blocks: usize, block: CurieWeiss, phases: &str) -> Family {
    let (family, rough) = (Hub::of(blocks, block), in_words(block.roughness));
    let size = format!("{}x{}", family.visible(), family.hidden());
    let parameters = format!("{size}, {blocks} blocks{phases}{rough}");
    Family::new("hub", parameters, 5, move |seed| family.generate(seed))
}

fn hubs() -> Vec<Family> {
    let sizes = [
        (2, 70, 55, 0.0),
        (3, 70, 55, 0.0),
        (4, 60, 50, 0.0),
        (6, 60, 50, 0.0),
        (6, 70, 55, 0.0),
        (2, 70, 55, 0.4),
        (4, 60, 50, 0.4),
    ];
    let hidden = sizes.map(|(blocks, visible, hidden, rough)| hub(blocks, visible, hidden, rough));
    let many = [hub(8, 60, 50, 0.0), hub(12, 40, 40, 0.0)];
    let even = [
        even_hub(4, 60, 50, Phases::Weighted),
        even_hub(8, 60, 50, Phases::Weighted),
        even_hub(12, 40, 40, Phases::Weighted),
        even_hub(4, 60, 50, Phases::HalfHidden),
        even_hub(8, 60, 50, Phases::HalfHidden),
        even_hub(12, 40, 40, Phases::HalfHidden),
    ];
    hidden.into_iter().chain(many).chain(even).collect()
}

fn of_shape(blocks: usize, block: CurieWeiss, shape: Shape, pull: f64) -> Family {
    let family = Branches { blocks, block, shape, pull };
    let size = format!("{}x{}", family.visible(), family.hidden());
    let shape = match shape {
        Shape::Chain => "chain",
        Shape::Star => "star",
        Shape::Tree => "tree",
    };
    let phases = if block.phases == Phases::Weighted { "weighted" } else { "half hidden" };
    let parameters = format!("{size}, {shape} of {blocks} blocks, {phases}");
    Family::new("branches", parameters, 3, move |seed| family.generate(seed))
}

fn branches() -> Vec<Family> {
    let block = |visible, hidden, phases| CurieWeiss { visible, hidden, phases, roughness: 0.0 };
    vec![
        of_shape(6, block(50, 40, Phases::HalfHidden), Shape::Tree, 0.3),
        of_shape(8, block(50, 40, Phases::HalfHidden), Shape::Chain, 0.6),
        of_shape(9, block(44, 40, Phases::HalfHidden), Shape::Star, 0.4),
        of_shape(16, block(30, 24, Phases::Weighted), Shape::Chain, 0.4),
    ]
}

fn collective() -> Vec<Family> {
    let family = |(groups, size, hidden, phases, local, strength)| {
        let whole = CurieWeiss { visible: groups * size, hidden, phases, roughness: 0.0 };
        let family = Collective { groups, whole, local, strength };
        let phases = if phases == Phases::Weighted { "weighted" } else { "hidden" };
        let all = hidden + groups * local;
        let parameters = format!("{}x{all}, {groups} groups, {phases}", whole.visible);
        Family::new("collective", parameters, 3, move |seed| family.generate(seed))
    };
    let sizes = [
        (30, 8, 60, Phases::HalfHidden, 1, 2.0),
        (40, 5, 60, Phases::Hidden, 2, 3.0),
        (60, 4, 80, Phases::Weighted, 1, 4.0),
    ];
    sizes.map(family).into()
}

fn of_patterns(visible: usize, patterns: usize, copies: usize, strength: f64) -> Family {
    // Strengths differ by so much that a few nats lie between the patterns.
    let spread = if copies > 1 { 2.0 / visible as f64 } else { 0.3 };
    let family = Planted { visible, patterns, copies, strength, spread };
    let parameters = format!("{visible}x{}, {patterns} patterns, {strength}", patterns * copies);
    Family::new("planted", parameters, 4, move |seed| family.generate(seed))
}

fn planted() -> Vec<Family> {
    vec![
        of_patterns(784, 10, 1, 4.0),
        of_patterns(200, 16, 1, 6.0),
        of_patterns(400, 2, 100, 1.4),
        of_patterns(400, 4, 20, 1.5),
        of_patterns(500, 3, 40, 1.25),
    ]
}

fn lattice(name: &str, seeds: u64, lattice: Lattice) -> Family {
    let kind = match lattice.coupling {
        Coupling::Equal(_) => "ising",
        _ => "glass",
    };
    let Lattice { width, length, .. } = lattice;
    let parameters = format!("{width}x{length} {name}");
    Family::new(kind, parameters, seeds, move |seed| lattice.generate(seed))
}

fn lattices() -> Vec<Family> {
    let mut families = Vec::new();
    for (side, ratio) in [(12, 1.0), (16, 0.8), (16, 1.0), (16, 1.2), (24, 0.8), (24, 1.0)] {
        let coupling = Coupling::Equal(ratio * CRITICAL);
        let torus =
            Lattice { width: side, length: side, edges: Edges::Torus, coupling, field: 0.0 };
        families.push(lattice(&format!("torus, {ratio} K_c"), 2, torus));
    }
    for ratio in [0.8, 1.0, 1.3] {
        let coupling = Coupling::Equal(ratio * CRITICAL);
        let tube = Lattice { width: 8, length: 40, edges: Edges::Tube, coupling, field: 0.1 };
        families.push(lattice(&format!("tube, {ratio} K_c"), 3, tube));
    }
    let glasses = [
        ("signs 0.6", Coupling::Signs(0.6)),
        ("signs 1", Coupling::Signs(1.0)),
        ("signs 2", Coupling::Signs(2.0)),
        ("gaussian 0.8", Coupling::Gaussian(0.8)),
        ("gaussian 1.5", Coupling::Gaussian(1.5)),
        ("gaussian 3", Coupling::Gaussian(3.0)),
    ];
    for (name, coupling) in glasses {
        let glass = Lattice { width: 10, length: 30, edges: Edges::Open, coupling, field: 0.0 };
        families.push(lattice(name, 3, glass));
    }
    families
}

fn trees() -> Vec<Family> {
    let sizes = [(200, 3, 2.0), (400, 40, 2.0), (300, 300, 4.0)];
    let family = |(units, reach, coupling)| {
        let family = Tree { units, reach, coupling, field: 0.5 };
        let parameters = format!("{units} units, reach {reach}, coupling {coupling}");
        Family::new("tree", parameters, 4, move |seed| family.generate(seed))
    };
    sizes.map(family).into()
}

fn of_strokes(hidden: usize, rate: f64, negative: Negative, updates: usize) -> Family {
    let family = Strokes { hidden, rate, negative, updates };
    let word = if negative == Negative::Data { "CD" } else { "PCD" };
    let parameters = format!("784x{hidden}, {word}, rate {rate}, {updates} updates");
    Family::new("strokes", parameters, 3, move |seed| family.generate(seed))
}

fn strokes() -> Vec<Family> {
    vec![
        of_strokes(10, 0.05, Negative::Data, 1000),
        of_strokes(10, 0.05, Negative::Last, 1000),
        of_strokes(15, 0.2, Negative::Data, 1000),
        of_strokes(15, 0.02, Negative::Last, 3000),
        of_strokes(20, 0.05, Negative::Data, 1000),
        of_strokes(20, 0.05, Negative::Last, 1000),
        of_strokes(20, 0.2, Negative::Data, 2000),
        of_strokes(20, 0.2, Negative::Last, 2000),
    ]
}

fn pendants() -> Vec<Family> {
    vec![
        of_phases(60, 60, Phases::Hidden, 0.0).behind_pendants(40, 40, 4),
        prototypes(1.0).behind_pendants(60, 60, 4),
        of_patterns(200, 10, 1, 5.0).behind_pendants(60, 60, 4),
        of_strokes(12, 0.05, Negative::Last, 1000).behind_pendants(50, 80, 4),
    ]
}
