//! Whatever is wrong with the input: exit code 2, nothing on standard output, a message that names
//! the place and what to do, and no panic.

use crate::support::{dobrushin, file};

/// Runs the program and checks that it refuses with a message that contains each of the words.
fn refused(arguments: &[&str], words: &[&str]) {
    let assert = dobrushin(arguments).assert().code(2).stdout("");
    let message = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
    assert!(!message.contains("panicked"), "{message}");
    for word in words {
        assert!(message.contains(word), "{arguments:?}: no {word:?} in\n{message}");
    }
}

fn channel_refused(name: &str, content: impl AsRef<[u8]>, words: &[&str]) {
    let path = file(name, content);
    refused(&["kernel", path.to_str().expect("UTF-8")], words);
}

#[test]
fn rows_that_do_not_sum_to_one_are_named_with_their_excess() {
    let words = ["row 2 sums to 1.1", "+1.00e-1 away from 1", "--normalise"];
    channel_refused("sum.csv", "0.5,0.5\n0.5,0.6\n", &words);
    channel_refused(
        "small-sum.csv",
        "a,b\n0.5,0.499999\n0.5,0.5\n",
        &["row 1 sums to 0.999999", "-1.00e-6 away"],
    );
}

#[test]
fn entries_that_are_no_probabilities_are_named() {
    channel_refused("negative.csv", "0.5,0.5\n-0.1,1.1\n", &["entry 1 of row 2 is -0.1", "between 0 and 1"]);
    channel_refused("nan.csv", "0.5,0.5\nnan,0.5\n", &["entry 1 of row 2 is NaN"]);
    channel_refused("inf.csv", "0.5,0.5\n0.5,inf\n", &["entry 2 of row 2 is inf"]);
    channel_refused("huge.csv", "0.5,0.5\n0.5,1e400\n", &["entry 2 of row 2 is inf"]);
    channel_refused("minus-inf.csv", "-inf,0.5\n0.5,0.5\n", &["entry 1 of row 1 is -inf"]);
}

#[test]
fn files_that_are_no_table_are_named_with_the_place() {
    channel_refused("empty.csv", "", &["there are no numbers", "empty.csv"]);
    channel_refused("header.csv", "yes,no\n", &["only a header line"]);
    channel_refused("ragged.csv", "0.5,0.5\n1\n", &["line 2 has 1 cells", "2"]);
    channel_refused("word.csv", "0.5,0.5\n0.5,half\n", &["line 2, column 2 is \"half\", not a number"]);
    channel_refused("gap.csv", "0.5,0.5\n0.5,\n", &["line 2, column 2 is empty"]);
    channel_refused("latin.csv", b"0.5,0.5\n0.5,\xe9\n", &["line 2, column 2 is not UTF-8"]);
    channel_refused("binary.csv", [0u8, 159, 146, 150, 10, 255], &["not UTF-8"]);
    channel_refused("semicolons.csv", "0.5;0.5\n0.5;0.5\n", &["not a number", "separated by commas"]);
    refused(&["kernel", "no/such/file.csv"], &["cannot read no/such/file.csv", "because"]);
    refused(&["kernel", "examples"], &["cannot read examples"]);
}

#[test]
fn a_channel_with_one_input_is_refused() {
    channel_refused("one.csv", "0.5,0.5\n", &["only one row", "add a row"]);
}

#[test]
fn pairs_that_are_no_laws_are_refused() {
    let pair = |name: &str, content: &str, words: &[&str]| {
        let path = file(name, content);
        refused(&["divergence", "discrete", path.to_str().expect("UTF-8")], words);
    };
    pair(
        "pair-sum.csv",
        "0.5,0.5\n0.2,0.5\n0.2,0.0\n",
        &["P (column 1 of numbers) sums to 0.9, -1.00e-1 away", "--normalise"],
    );
    pair(
        "pair-shape.csv",
        "0.5,0.3,0.2\n0.5,0.3,0.2\n0.5,0.3,0.2\n",
        &["3 lines of 3 numbers", "two columns"],
    );
    pair("pair-one.csv", "1\n", &["two lines or two columns"]);
    pair("pair-negative.csv", "0.5,-0.5\n0.5,1.5\n", &["is -0.5"]);
}

#[test]
fn parameters_out_of_range_are_named_with_what_is_accepted() {
    let gaussian = |more: &[&str], words: &[&str]| {
        let mut arguments = vec!["divergence", "gaussian"];
        arguments.extend(more);
        refused(&arguments, words);
    };
    let ok = ["--distance", "1", "--sigma", "1"];
    for (value, shown) in [("0", "0"), ("-1", "-1"), ("nan", "NaN"), ("inf", "inf")] {
        let sigma = format!("sigma is {shown}, but it must be positive and finite");
        gaussian(&["--distance", "1", "--sigma", value], &["--sigma", &sigma]);
        let gamma = format!("gamma is {shown}, but it must be positive and finite");
        gaussian(&[&ok[..], &["--gamma", value]].concat(), &["--gamma", &gamma]);
    }
    gaussian(&["--distance", "-1", "--sigma", "1"], &["--distance", "distance is -1", "0 or more"]);
    gaussian(&["--distance", "inf", "--sigma", "1"], &["distance is inf", "finite"]);
    gaussian(&[&ok[..], &["--epsilon", "0,-0.5"]].concat(), &["--epsilon", "epsilon is -0.5", "0 or more"]);
    gaussian(&[&ok[..], &["--epsilon", "inf"]].concat(), &["epsilon is inf", "finite"]);
    gaussian(&[&ok[..], &["--epsilon", "one"]].concat(), &["\"one\" is not a number"]);
    gaussian(&[&ok[..], &["--epsilon", ""]].concat(), &["\"\" is not a number"]);
    gaussian(&[&ok[..], &["--delta", "1.5"]].concat(), &["delta is 1.5", "between 0 and 1"]);
    gaussian(&[&ok[..], &["--order", "0"]].concat(), &["order is 0", "above 0"]);
    gaussian(&["--sigma", "1"], &["--distance"]);
    refused(&["divergence", "laplace", "--distance", "1", "--scale", "0"], &["scale is 0"]);
    refused(&["kernel", "examples/channel.csv", "--tight", "2"], &["--tight", "probability is 2"]);
    refused(&["divergence"], &["gaussian", "laplace", "discrete"]);
    refused(&["measure"], &["measure"]);
}

#[test]
fn a_plot_that_cannot_be_written_is_refused() {
    let gaussian = ["divergence", "gaussian", "--distance", "1", "--sigma", "1", "--plot"];
    refused(&[&gaussian[..], &["curve.gif"]].concat(), &["curve.gif", ".svg, .png, .pdf or .html"]);
    refused(
        &[&gaussian[..], &["no/such/folder/curve.svg"]].concat(),
        &["cannot write no/such/folder/curve.svg"],
    );
    refused(
        &[&gaussian[..6], &["--output", "no/such/folder/out.txt"]].concat(),
        &["cannot write no/such/folder/out.txt"],
    );
}

#[test]
fn an_unknown_statement_is_answered_with_the_known_ones() {
    refused(&["explain", "everything"], &["nothing is called \"everything\"", "tight-curve"]);
}

#[test]
fn extreme_but_valid_numbers_are_answered() {
    let runs: [&[&str]; 6] = [
        &["divergence", "gaussian", "--distance", "0", "--sigma", "1"],
        &["divergence", "gaussian", "--distance", "1e300", "--sigma", "1e-300", "--epsilon", "0,1e308"],
        &[
            "divergence",
            "gaussian",
            "--distance",
            "5e-324",
            "--sigma",
            "1e308",
            "--delta",
            "0,5e-324,1",
            "--gamma",
            "5e-324,1e308",
        ],
        &["divergence", "laplace", "--distance", "1e308", "--scale", "5e-324", "--order", "0.5,1,1e308,inf"],
        &["divergence", "laplace", "--distance", "1e-300", "--scale", "1", "--order", "0.5,1.0000001,2"],
        &[
            "divergence",
            "gaussian",
            "--distance",
            "1",
            "--sigma",
            "1",
            "--epsilon",
            "0,0,0",
            "--order",
            "1e-300,1e300,1",
        ],
    ];
    for arguments in runs {
        let assert = dobrushin(arguments).assert().success();
        let text = String::from_utf8_lossy(&assert.get_output().stdout).into_owned();
        assert!(!text.contains("NaN"), "{arguments:?}: {text}");
    }
}
