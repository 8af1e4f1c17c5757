//! `dobrushin kernel`: how much a channel or noise makes its inputs alike.

mod channel;
mod combine;
mod joint;
mod noise;

use crate::cli::CsvArgs;
use crate::output::Report;
use crate::problem::Problem;
use channel::ChannelArgs;
use clap::{Args, Subcommand};
use dobrushin::divergence::NamedDivergence;
use dobrushin_document::text::Style;
use joint::JointArgs;
use noise::{GaussianArgs, LaplaceArgs};
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct KernelArgs {
    #[command(subcommand)]
    pub of: Option<KernelCommand>,
    #[command(flatten)]
    pub channel: ChannelArgs,
}

/// Kernels that are not in a file, and tables that are no kernel. Flags come after the word.
#[derive(Debug, Subcommand)]
pub enum KernelCommand {
    /// Gaussian noise, added to a point of an interval (or of any set of that diameter)
    Gaussian(GaussianArgs),
    /// Laplace noise, added to a point of an interval
    Laplace(LaplaceArgs),
    /// E_γ-information and mutual information of a joint table
    Joint(JointArgs),
}

impl KernelArgs {
    /// The files that are read, with what each of them is.
    pub fn inputs(&self) -> Vec<(&'static str, &PathBuf)> {
        match &self.of {
            None => self.channel.inputs(),
            Some(KernelCommand::Joint(arguments)) => vec![("the joint table", &arguments.table)],
            Some(KernelCommand::Gaussian(_) | KernelCommand::Laplace(_)) => Vec::new(),
        }
    }

    /// The table that is written.
    pub fn csv(&self) -> &CsvArgs {
        match &self.of {
            None => &self.channel.at.csv,
            Some(KernelCommand::Gaussian(arguments)) => &arguments.common.at.csv,
            Some(KernelCommand::Laplace(arguments)) => &arguments.common.at.csv,
            Some(KernelCommand::Joint(arguments)) => &arguments.csv,
        }
    }

    /// The picture that is drawn.
    pub fn plot(&self) -> &Option<PathBuf> {
        match &self.of {
            None => &self.channel.at.plot,
            Some(KernelCommand::Gaussian(arguments)) => &arguments.common.at.plot,
            Some(KernelCommand::Laplace(arguments)) => &arguments.common.at.plot,
            Some(KernelCommand::Joint(_)) => &None,
        }
    }
}

/// Everything that is known about the kernel.
pub fn run(arguments: &KernelArgs, style: Style) -> Result<Report, Problem> {
    match &arguments.of {
        None => channel::run(&arguments.channel, style),
        Some(KernelCommand::Gaussian(arguments)) => noise::gaussian(arguments, style),
        Some(KernelCommand::Laplace(arguments)) => noise::laplace(arguments, style),
        Some(KernelCommand::Joint(arguments)) => joint::run(arguments, style),
    }
}

/// Which divergences are wanted.
#[derive(Args, Debug)]
pub struct DivergencesArgs {
    /// The divergences of the two laws, separated by commas: tv, kl, reverse-kl, jeffreys, chi2, reverse-chi2,
    /// hellinger2, jensen-shannon, le-cam, alpha:A; without this flag: tv,kl,chi2,hellinger2
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = divergence)]
    pub f: Vec<NamedDivergence>,
}

impl DivergencesArgs {
    /// The divergences that are wanted of two laws, which must be given by the flags if any is named.
    fn wanted(&self, are_laws_given: bool, flags: &str) -> Result<Vec<NamedDivergence>, Problem> {
        match (are_laws_given, self.f.is_empty()) {
            (false, true) => Ok(Vec::new()),
            (false, false) => {
                Err(Problem::new(format!("--f {} names a divergence, but of no laws", self.f[0]))
                    .help(format!("give the two laws with {flags}, or leave out --f")))
            }
            (true, true) => Ok(USUAL.to_vec()),
            (true, false) => Ok(self.f.clone()),
        }
    }
}

/// The divergences that are shown if none is named.
const USUAL: [NamedDivergence; 4] = [
    NamedDivergence::TotalVariation,
    NamedDivergence::KullbackLeibler,
    NamedDivergence::ChiSquared,
    NamedDivergence::Hellinger,
];

fn divergence(text: &str) -> Result<NamedDivergence, String> {
    text.trim().parse().map_err(|error: dobrushin::Error| error.to_string())
}
