//! What the paper leaves open, and what was decided.

/// Question and decision.
pub(super) const DECISIONS: [(&str, &str); 13] = [
    (
        "Sign of B",
        "The paper derives B with p_0 ~ exp(-B.x) and uses exp(+B.x) elsewhere. With the plus sign, used here throughout, B = logit of the means.",
    ),
    (
        "Means from one chain or from many?",
        "Parallel chains, one sample each after the given number of sweeps. Fig. 6 shows the other reading, one long chain, as a series of its own.",
    ),
    (
        "Mean-field state: does the sum over a row include the bias?",
        "Yes; it follows from the extended matrix.",
    ),
    ("Pseudoinverse state", "Minimum-norm solution, rounded at 1/2."),
    ("A negative standard deviation drawn for a Gaussian model", "Its absolute value."),
    (
        "Parameter sets of Fig. 1 besides the hardest",
        "They stand in the paper's figure, not in its text. Here: 0.01, 0.1, 0.3 and 1 times (-10, 10, 20, 10), with lambda 0.1.",
    ),
    ("Number of artificial models", "100 of each family (20 with --quick), seeds from 0 upwards."),
    (
        "Models of Fig. 4",
        "The paper names its models by their error from B = 0 (0.06, 0.55, 0.92; blocks 0.923, 0.922, 0.904). Here those of our 100 that come closest.",
    ),
    (
        "325 combinations",
        "The paper's table gives 5 x (3 + 12) x 4 = 300 for artificial models and 5 x (3 + 8) x 4 = 220 for trained ones, in each orientation. The table is what is run.",
    ),
    (
        "Flipping 40 or 80 of 20 units (MNIST-20h, transposed)",
        "All 20 are flipped; the two settings become one.",
    ),
    ("Per cent of units to flip", "Rounded, at least one, distinct and random; 100% flips all."),
    (
        "Trained models",
        "The paper's weights are not public. Ours are trained with CD-1 on the same data; values of log Z differ from the paper's, behaviour should not.",
    ),
    (
        "Reference of Fig. 7",
        "Data start with the paper's 1024 chains, but fewer than 2^20 intermediate distributions (the figure says how many); cut-off 0.05.",
    ),
];
