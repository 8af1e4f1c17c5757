//! The numbers by which docs/mathematics compares analyses are what the program says.

use crate::support::{bounds, json};
use dobrushin::statement::find;

/// A page, the words of a command after `account`, an analysis, and the number that the page has from it.
const NUMBERS: [(&str, &str, &str, &str); 55] = [
    ("composition", "dp-sgd", "composition", "2.345"),
    ("composition", "dp-sgd", "shift-subsampled", "3.031"),
    ("composition-renyi", "dp-sgd", "composition-renyi", "2.566"),
    ("composition-renyi", "dp-sgd --delta 1e-300", "composition-renyi", "74.60"),
    ("composition-gdp", "dp-sgd", "composition-gdp", "2.259"),
    ("composition-gdp", "dp-sgd --set steps=100", "composition-gdp", "0.181"),
    ("composition-gdp", "dp-sgd --set steps=100", "composition", "0.291"),
    ("composition-gdp", "dp-sgd --set steps=1e6", "composition-gdp", "38.75"),
    ("composition-gdp", "dp-sgd --set steps=1e6", "composition", "38.67"),
    ("contraction-published", "pnsgd --set record=9990 --epsilon 1", "contraction-published", "5.6e-3"),
    ("contraction-published", "pnsgd --set record=9990 --epsilon 1", "contraction", "2.8e-33"),
    (
        "contraction-published",
        "online --set record=1 --set diameter=0.5 --epsilon 0",
        "contraction-published",
        "6.6e-46",
    ),
    ("contraction-published", "online --set record=1 --set diameter=0.5 --epsilon 0", "shift", "0.036"),
    (
        "contraction-published",
        "online --set record=1 --set diameter=0.5 --epsilon 0.1",
        "contraction-published",
        "9.3e-50",
    ),
    (
        "random-stop-published",
        "stop-pnsgd --set diameter=0.4 --epsilon 0.1",
        "random-stop-published",
        "2.46e-5",
    ),
    ("random-stop-published", "stop-pnsgd --set diameter=0.4 --epsilon 0.1", "contraction", "2.00e-5"),
    ("random-stop-published", "stop-pnsgd", "random-stop-published", "3.4e-5"),
    ("random-stop-published", "stop-pnsgd", "contraction", "7.3e-7"),
    (
        "random-stop-published",
        "stop-pnsgd --set diameter=0.4 --epsilon 0",
        "random-stop-published",
        "3.199167e-5",
    ),
    ("shift-renyi", "noisy-gd", "shift-renyi", "2.774"),
    ("strongly-convex-renyi", "public-tail --set strong-convexity=0.2", "strongly-convex-renyi", "0.337"),
    ("strongly-convex-renyi", "public-tail --set strong-convexity=0.2", "shift-renyi", "0.326"),
    ("strongly-convex-renyi", "public-tail --set strong-convexity=0.2", "shift", "0.296"),
    ("strongly-convex-renyi", "public-tail --set strong-convexity=0.2", "contraction", "0.194"),
    ("nonconvex-published", "projected-dp-sgd", "nonconvex-published", "10.97"),
    ("nonconvex-published", "projected-dp-sgd --set steps=1e6 --epsilon 0", "composition", "1.6e-2"),
    ("nonconvex-published", "projected-dp-sgd --set steps=1e6 --epsilon 0", "recursion", "7.5e-5"),
    (
        "nonconvex-published",
        "projected-dp-sgd --set noise=laplace --set steps=1e6 --epsilon 0",
        "nonconvex-published",
        "3.5595e-3",
    ),
    (
        "regularized-published",
        "regularised-dp-sgd --set steps=50 --epsilon 1",
        "regularized-published",
        "0.386",
    ),
    ("regularized-published", "regularised-dp-sgd --set steps=50 --epsilon 1", "shift", "3.1e-5"),
    (
        "regularized-published",
        "regularised-dp-sgd --set steps=1e6 --set dimension=1 --set records=100000 --set batch-size=1 --set iterate-noise=0.03 --set weight-decay=0.99 --epsilon 0",
        "regularized-published",
        "0.0166",
    ),
    (
        "regularized-published",
        "regularised-dp-sgd --set steps=1e6 --set dimension=1 --set records=100000 --set batch-size=1 --set iterate-noise=0.03 --set weight-decay=0.99 --epsilon 0",
        "recursion",
        "0.141",
    ),
    (
        "regularized-published",
        "regularised-dp-sgd --set steps=1e6 --set dimension=1 --set records=100000 --set batch-size=1 --set iterate-noise=0.03 --set weight-decay=0.99 --epsilon 1",
        "regularized-published",
        "1.03e-2",
    ),
    (
        "regularized-published",
        "regularised-dp-sgd --set steps=1e6 --set dimension=1 --set records=100000 --set batch-size=1 --set iterate-noise=0.03 --set weight-decay=0.99 --epsilon 1",
        "recursion",
        "6.1e-4",
    ),
    ("contraction", "projected-dp-sgd", "contraction", "4.09"),
    ("contraction", "public-tail", "contraction", "0.232"),
    ("contraction", "public-tail", "shift", "0.375"),
    ("contraction", "public-tail --set noise=laplace", "contraction", "0.138"),
    ("contraction", "public-tail --set noise=laplace", "shift", "0.353"),
    ("shift", "noisy-gd --set steps=any", "shift", "2.558"),
    ("shift", "noisy-gd --set steps=10000", "composition", "91.8"),
    ("shift", "noisy-gd --set diameter=0.01 --set strong-convexity=0", "shift", "4.38"),
    ("shift", "noisy-gd --set diameter=0.01 --set strong-convexity=0", "recursion", "1.34"),
    ("ceiling", "noisy-gd --set noise=laplace --set steps=any", "ceiling", "1.99998"),
    ("ceiling", "noisy-gd --set noise=laplace", "composition", "17.42"),
    ("ceiling", "noisy-gd --set noise=laplace --set steps=any", "shift", "1.99998"),
    ("hybrid", "chain", "hybrid", "1.232"),
    ("hybrid", "chain", "recursion", "1.380"),
    ("hybrid", "chain --set step.2.count=1", "hybrid", "7.13"),
    (
        "shift-subsampled",
        "dp-sgd --set order=without-replacement --set weight-decay=0.01 --set steps=any",
        "recursion",
        "7.959",
    ),
    (
        "shift-subsampled",
        "dp-sgd --set order=without-replacement --set weight-decay=0.01 --set steps=any",
        "shift-subsampled",
        "5.434",
    ),
    ("recursion", "projected-dp-sgd", "recursion", "2.28e-4"),
    ("recursion", "projected-dp-sgd --set steps=1e4", "composition", "9.9e-3"),
    ("recursion", "noisy-gd --set diameter=0.01", "recursion", "1.22"),
    ("recursion", "regularised-dp-sgd", "recursion", "8.8e-4"),
];

#[test]
fn the_numbers_that_pages_compare_are_those_of_the_program() {
    for (id, command, analysis, shown) in NUMBERS {
        let notes = find(id).and_then(|statement| statement.notes).expect("an analysis");
        assert!(notes.wins.iter().any(|point| point.contains(shown)), "{id} does not say {shown}");
        let mut words = command.split_whitespace();
        let file = format!("examples/{}.toml", words.next().expect("a file"));
        // An approximation is never alone.
        let asked = if analysis == "composition-gdp" { "composition-gdp,composition" } else { analysis };
        let arguments: Vec<&str> = words.chain(["--analyses", asked]).collect();
        let answer = json(&[&["account", &file], &arguments[..]].concat());
        let analyses = answer["analyses"].as_array().expect("a list");
        let said = analyses.iter().find(|said| said["id"] == analysis).expect("it applies");
        let value = bounds(if said["epsilon"].is_null() { &said["delta"] } else { &said["epsilon"] }).1;
        // Rounded to as many digits as are shown.
        let digits = shown.split('e').next().map_or(0, |digits| digits.trim_start_matches(['0', '.']).len());
        let digits = digits - usize::from(!shown.starts_with('0') && shown.contains('.'));
        let rounded: f64 = format!("{value:.*e}", digits - 1).parse().expect("a number");
        assert_eq!(
            rounded,
            shown.parse::<f64>().expect("a number"),
            "{id}: {command} by {analysis} is {value}"
        );
    }
}
