//! Random maps that satisfy an assumption and nothing more.

use crate::{Error, Interval, Map};
use dobrushin::numeric::Random;

/// A map of the interval with |ψ(x) − x| ≤ r that jumps between `blocks` blocks, each of which is
/// shifted or collapsed.
///
/// # Errors
/// Only if the numbers are beyond ±1e100.
pub fn block_map(random: &mut Random, interval: Interval, blocks: usize, r: f64) -> Result<Map, Error> {
    let edges = edges(random, interval, blocks);
    let pieces = edges.windows(2).map(|ends| {
        let (left, right) = (ends[0], ends[1]);
        let shift =
            if random.below(2) == 0 { random.between(-r, r) } else { r.copysign(random.between(-1.0, 1.0)) };
        // A block no longer than 2r can be sent to one point: any point within r of both ends.
        let (nearest, farthest) = (right - r, left + r);
        if nearest < farthest && random.below(2) == 0 {
            (0.0, random.between(nearest, farthest))
        } else {
            (1.0, shift)
        }
    });
    let pieces = pieces.collect();
    Map::new(inner(&edges), pieces)
}

/// A continuous map of the interval with Lipschitz constant at most c and the given number of
/// affine pieces, each with slope ±c, 0 or between.
///
/// # Errors
/// Only if the numbers are beyond ±1e100.
pub fn lipschitz_map(random: &mut Random, interval: Interval, pieces: usize, c: f64) -> Result<Map, Error> {
    let edges = edges(random, interval, pieces);
    let mut value = random.between(interval.lower(), interval.upper());
    let pieces = edges.windows(2).map(|ends| {
        let slope = match random.below(4) {
            0 => c,
            1 => -c,
            2 => 0.0,
            _ => random.between(-c, c),
        };
        let piece = (slope, value - slope * ends[0]);
        value += slope * (ends[1] - ends[0]);
        piece
    });
    let pieces = pieces.collect();
    Map::new(inner(&edges), pieces)
}

/// A map of the interval whose values lie in an interval of the given diameter around `centre`;
/// piecewise constant, with the two extremes among its values.
///
/// # Errors
/// Only if the numbers are beyond ±1e100.
pub fn bounded_image_map(
    random: &mut Random,
    interval: Interval,
    blocks: usize,
    centre: f64,
    diameter: f64,
) -> Result<Map, Error> {
    let edges = edges(random, interval, blocks);
    let half = diameter / 2.0;
    let values = (1..edges.len()).map(|i| match i {
        1 => centre - half,
        2 => centre + half,
        _ => random.between(centre - half, centre + half),
    });
    let pieces = values.map(|value| (0.0, value)).collect();
    Map::new(inner(&edges), pieces)
}

/// The ends of the interval with random points between, `blocks` + 1 at most.
fn edges(random: &mut Random, interval: Interval, blocks: usize) -> Vec<f64> {
    let mut edges = vec![interval.lower(), interval.upper()];
    edges.extend((1..blocks).map(|_| random.between(interval.lower(), interval.upper())));
    edges.sort_by(f64::total_cmp);
    edges.dedup();
    edges
}

fn inner(edges: &[f64]) -> Vec<f64> {
    edges[1..edges.len() - 1].to_vec()
}
