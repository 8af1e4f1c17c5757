//! The figures of the papers, recomputed, and our own.
//!
//! A [`Recipe`] draws one picture. The formulas that the papers print, including wrong ones, are in `published`; what
//! holds instead, and what this program says, is drawn in the same axes.

mod bayes;
mod claims;
mod curves;
mod gallery;
mod nonconvex;
mod one_pass;
mod published;
mod records;
mod regimes;
mod regularised;
mod steps;
mod stopped;
mod table_one;
mod tightness;

#[cfg(test)]
mod golden;

pub use claims::{Claim, claims};
pub use gallery::gallery;

use crate::plot::Drawing;
use crate::problem::Problem;

/// How to draw a figure.
pub struct Recipe {
    /// The figure's name, and that of its files.
    pub id: &'static str,
    /// What the figure shows.
    pub about: &'static str,
    /// Values below 10 to this power are computed but not drawn.
    pub floor: Option<f64>,
    /// The figure with all its points.
    pub plot: fn() -> Result<Drawing, Problem>,
}

/// Every figure: the papers' in their order, then our own.
pub const ALL: &[Recipe] = &[
    Recipe {
        id: "ced-1",
        about: "Bayes risk under local privacy (CED Figure 1)",
        floor: None,
        plot: || bayes::draw().map(Drawing::from),
    },
    Recipe {
        id: "ced-3-a",
        about: "randomly stopped, η = 0.05, σ = 3 (CED Figure 3)",
        floor: Some(-40.0),
        plot: || stopped::draw(0.05, 3.0).map(Drawing::from),
    },
    Recipe {
        id: "ced-3-b",
        about: "randomly stopped, η = 0.1, σ = 3 (CED Figure 3)",
        floor: Some(-40.0),
        plot: || stopped::draw(0.1, 3.0).map(Drawing::from),
    },
    Recipe {
        id: "ced-3-c",
        about: "randomly stopped, η = 0.05, σ = 5 (CED Figure 3)",
        floor: Some(-40.0),
        plot: || stopped::draw(0.05, 5.0).map(Drawing::from),
    },
    Recipe {
        id: "ced-3-d",
        about: "randomly stopped, η = 0.1, σ = 5 (CED Figure 3)",
        floor: Some(-40.0),
        plot: || stopped::draw(0.1, 5.0).map(Drawing::from),
    },
    Recipe {
        id: "pac-2-1",
        about: "one pass, convex, first of 40 records (PAC Figure 2)",
        floor: Some(-40.0),
        plot: || one_pass::figure_2(1).map(Drawing::from),
    },
    Recipe {
        id: "pac-2-20",
        about: "one pass, convex, record 20 of 40 (PAC Figure 2)",
        floor: Some(-40.0),
        plot: || one_pass::figure_2(20).map(Drawing::from),
    },
    Recipe {
        id: "pac-2-39",
        about: "one pass, convex, record 39 of 40 (PAC Figure 2)",
        floor: Some(-40.0),
        plot: || one_pass::figure_2(39).map(Drawing::from),
    },
    Recipe {
        id: "pac-3-20",
        about: "strongly convex, record 20 of 40 (PAC Figure 3)",
        floor: Some(-40.0),
        plot: || one_pass::figure_3(20).map(Drawing::from),
    },
    Recipe {
        id: "pac-3-30",
        about: "strongly convex, record 30 of 40 (PAC Figure 3)",
        floor: Some(-40.0),
        plot: || one_pass::figure_3(30).map(Drawing::from),
    },
    Recipe {
        id: "pac-3-39",
        about: "strongly convex, record 39 of 40 (PAC Figure 3)",
        floor: Some(-40.0),
        plot: || one_pass::figure_3(39).map(Drawing::from),
    },
    Recipe {
        id: "pai-table-1",
        about: "the excess of one private task, with constants (PAI Table 1)",
        floor: None,
        plot: || table_one::one_task().map(Drawing::from),
    },
    Recipe {
        id: "pai-table-1-tasks",
        about: "the excess of k private tasks, with constants (PAI Table 1)",
        floor: None,
        plot: || table_one::several_tasks().map(Drawing::from),
    },
    Recipe {
        id: "ncv-1-delta",
        about: "projected DP-SGD, δ against steps (NCV Figure 1, left)",
        floor: Some(-15.0),
        plot: || nonconvex::delta().map(Drawing::from),
    },
    Recipe {
        id: "ncv-1-epsilon",
        about: "projected DP-SGD, ε against steps (NCV Figure 1, right)",
        floor: None,
        plot: || nonconvex::epsilon().map(Drawing::from),
    },
    Recipe {
        id: "ncv-2-a",
        about: "regularised DP-SGD, λ = 0.65 (NCV Figure 2, left)",
        floor: Some(regularised::FLOOR),
        plot: || regularised::draw(0.65).map(Drawing::from),
    },
    Recipe {
        id: "ncv-2-b",
        about: "regularised DP-SGD, λ = 0.01 (NCV Figure 2, right)",
        floor: Some(regularised::FLOOR),
        plot: || regularised::draw(0.01).map(Drawing::from),
    },
    Recipe {
        id: "ncv-3",
        about: "projected DP-SGD and its closed limits (NCV Figure 3)",
        floor: None,
        plot: || nonconvex::limits().map(Drawing::from),
    },
    Recipe {
        id: "steps-nonconvex",
        about: "ε against steps: projected, not convex",
        floor: None,
        plot: || steps::draw(&steps::NONCONVEX).map(Drawing::from),
    },
    Recipe {
        id: "steps-convex",
        about: "ε against steps: convex batches on a bounded set",
        floor: None,
        plot: || steps::draw(&steps::CONVEX).map(Drawing::from),
    },
    Recipe {
        id: "steps-full-batch",
        about: "ε against steps: convex, all records in each",
        floor: None,
        plot: || steps::draw(&steps::FULL_BATCH).map(Drawing::from),
    },
    Recipe {
        id: "steps-strongly-convex",
        about: "ε against steps: strongly convex batches",
        floor: None,
        plot: || steps::draw(&steps::STRONGLY_CONVEX).map(Drawing::from),
    },
    Recipe {
        id: "regimes",
        about: "where hidden iterates help",
        floor: None,
        plot: || regimes::draw().map(Drawing::from),
    },
    Recipe {
        id: "regimes-single",
        about: "which single idea wins where",
        floor: None,
        plot: || regimes::single().map(Drawing::from),
    },
    Recipe {
        id: "tightness",
        about: "how far bounds are from the exact divergence",
        floor: None,
        plot: || tightness::draw().map(Drawing::from),
    },
    Recipe {
        id: "records",
        about: "who is protected how much in one pass",
        floor: None,
        plot: || records::draw().map(Drawing::from),
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_figures_are_file_names_and_differ() {
        for (index, recipe) in ALL.iter().enumerate() {
            assert!(recipe.id.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'));
            assert!(ALL[..index].iter().all(|other| other.id != recipe.id), "{}", recipe.id);
        }
    }
}
