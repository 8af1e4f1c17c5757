//! The usual f-divergences by their names.

use super::{
    Alpha, ChiSquared, Conjugate, Generator, Hellinger, Jeffreys, JensenShannon, KullbackLeibler, LeCam,
    Pair, TotalVariation, f_divergence,
};
use crate::{Enclosure, Error};
use std::fmt;
use std::str::FromStr;

/// An f-divergence that has a name.
///
/// ```
/// use dobrushin::divergence::{GaussianPair, NamedDivergence};
///
/// let chi2: NamedDivergence = "chi2".parse()?;
/// let half: NamedDivergence = "alpha:2".parse()?;
/// // α = 2 is half of χ².
/// let pair = GaussianPair::new(1.0, 1.0)?;
/// assert!((half.between(&pair) / chi2.between(&pair)).contains(0.5));
/// assert!("alpha:1".parse::<NamedDivergence>().is_err());
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum NamedDivergence {
    /// `tv`.
    TotalVariation,
    /// `kl`, in nats.
    KullbackLeibler,
    /// `reverse-kl`: KL(Q‖P).
    ReverseKullbackLeibler,
    /// `jeffreys`: KL(P‖Q) + KL(Q‖P).
    Jeffreys,
    /// `chi2`.
    ChiSquared,
    /// `reverse-chi2`: χ²(Q‖P).
    ReverseChiSquared,
    /// `hellinger2`: ∫(√dP − √dQ)².
    Hellinger,
    /// `jensen-shannon`.
    JensenShannon,
    /// `le-cam`: ½∫(dP − dQ)²/(dP + dQ).
    LeCam,
    /// `alpha:A`: f(t) = (t^A − 1)/(A(A − 1)).
    Alpha(Alpha),
}

impl NamedDivergence {
    /// The names that can be parsed.
    pub const NAMES: &'static str = "tv, kl, reverse-kl, jeffreys, chi2, reverse-chi2, hellinger2, jensen-shannon, le-cam, alpha:A with A > 0";

    /// The convex function f.
    pub fn generator(&self) -> &dyn Generator {
        match self {
            Self::TotalVariation => &TotalVariation,
            Self::KullbackLeibler => &KullbackLeibler,
            Self::ReverseKullbackLeibler => &Conjugate(&KullbackLeibler),
            Self::Jeffreys => &Jeffreys,
            Self::ChiSquared => &ChiSquared,
            Self::ReverseChiSquared => &Conjugate(&ChiSquared),
            Self::Hellinger => &Hellinger,
            Self::JensenShannon => &JensenShannon,
            Self::LeCam => &LeCam,
            Self::Alpha(alpha) => alpha,
        }
    }

    /// D_f(P‖Q): in closed form where the pair has one, and else by the integral representation.
    pub fn between(&self, pair: &(impl Pair + ?Sized)) -> Enclosure {
        match self {
            Self::TotalVariation => pair.total_variation(),
            Self::KullbackLeibler => pair.kl(),
            Self::ChiSquared => pair.chi_squared(),
            Self::Hellinger => pair.hellinger_squared(),
            _ => f_divergence(pair, self.generator()),
        }
    }

    /// Whether every kernel contracts this divergence by η_χ² exactly.
    ///
    /// # Guarantee
    /// So it is if f is operator convex (Choi, Ruskai, Seneta 1994; Raginsky 2016): t·ln t, −ln t, (t − 1)², 1/t and
    /// −√t are; t^α/(α(α−1)) is for 0 < α ≤ 2; (t − 1)²/(t + s) is for s ≥ 0; so are sums of these and their conjugates
    /// t·f(1/t), and with −ln(1 + t) the Jensen–Shannon divergence. Total variation is not, nor is α > 2.
    pub fn is_operator_convex(&self) -> bool {
        match self {
            Self::TotalVariation => false,
            Self::Alpha(alpha) => alpha.order() <= 2.0,
            _ => true,
        }
    }
}

impl fmt::Display for NamedDivergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TotalVariation => "tv",
            Self::KullbackLeibler => "kl",
            Self::ReverseKullbackLeibler => "reverse-kl",
            Self::Jeffreys => "jeffreys",
            Self::ChiSquared => "chi2",
            Self::ReverseChiSquared => "reverse-chi2",
            Self::Hellinger => "hellinger2",
            Self::JensenShannon => "jensen-shannon",
            Self::LeCam => "le-cam",
            Self::Alpha(alpha) => return write!(f, "alpha:{}", alpha.order()),
        })
    }
}

impl FromStr for NamedDivergence {
    type Err = Error;

    /// # Errors
    /// [`Error::UnknownName`], or those of [`Alpha::new`].
    fn from_str(name: &str) -> Result<Self, Error> {
        let unknown = || Error::UnknownName { what: "divergence", name: name.to_owned(), known: Self::NAMES };
        if let Some(order) = name.strip_prefix("alpha:") {
            let order = order.trim().parse().map_err(|_| unknown())?;
            return Alpha::new(order).map(Self::Alpha);
        }
        Ok(match name {
            "tv" => Self::TotalVariation,
            "kl" => Self::KullbackLeibler,
            "reverse-kl" => Self::ReverseKullbackLeibler,
            "jeffreys" => Self::Jeffreys,
            "chi2" => Self::ChiSquared,
            "reverse-chi2" => Self::ReverseChiSquared,
            "hellinger2" => Self::Hellinger,
            "jensen-shannon" => Self::JensenShannon,
            "le-cam" => Self::LeCam,
            _ => return Err(unknown()),
        })
    }
}
