/// xⁿ, by squaring.
///
/// Every step is one product, rounded to nearest, in an order that depends on n alone, so every machine gets the same
/// bits. [`f64::powi`] does not promise that.
///
/// ```
/// use dobrushin::numeric::elementary::powi;
///
/// assert_eq!(powi(2.0, -40), 1.0 / 1_099_511_627_776.0);
/// assert_eq!(powi(3.0, 5), 243.0);
/// assert_eq!(powi(0.0, 0), 1.0);
/// ```
#[inline]
pub fn powi(x: f64, n: i32) -> f64 {
    let (mut square, mut left, mut product) = (x, n.unsigned_abs(), 1.0);
    loop {
        if left & 1 == 1 {
            product *= square;
        }
        left >>= 1;
        if left == 0 {
            break;
        }
        square *= square;
    }
    if n < 0 { 1.0 / product } else { product }
}
