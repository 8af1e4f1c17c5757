//! Products of very many kernels.

use dobrushin::Gamma;
use dobrushin::kernel::{FiniteKernel, GaussianKernel, Kernel, Product};

#[test]
fn a_product_of_too_many_kernels_is_refused_rather_than_wrong() {
    // Two closed classes: the total variation is 1 however often it is applied.
    let rows = vec![
        vec![0.3, 0.7, 0.0, 0.0],
        vec![0.9, 0.1, 0.0, 0.0],
        vec![0.0, 0.0, 0.3, 0.7],
        vec![0.0, 0.0, 0.9, 0.1],
    ];
    let mut kernel = FiniteKernel::new(rows).unwrap();
    for squarings in 0..60 {
        match kernel.then(&kernel) {
            Ok(square) => kernel = square,
            Err(error) => {
                assert!(
                    squarings > 20 && error.to_string().contains("relative error"),
                    "{squarings}: {error}"
                );
                return;
            }
        }
        assert_eq!(kernel.total_variation().upper(), 1.0);
        assert_eq!(kernel.largest_log_ratio().upper(), f64::INFINITY);
    }
    panic!("2^60 kernels were multiplied");
}

#[test]
fn a_product_of_very_many_kernels_is_bounded() {
    let kernels: Vec<Box<dyn Kernel>> =
        (0..300_000).map(|_| Box::new(GaussianKernel::new(1e-7, 1.0).unwrap()) as Box<dyn Kernel>).collect();
    let bound = Product(kernels).contraction(Gamma::ONE);
    // 1 − (1 − θ_0(1e-7))^300000, and at least the true θ_0(1e-7·√300000).
    assert!(bound.lower() > 2.1e-5 && bound.upper() < 0.012, "{bound}");
}
