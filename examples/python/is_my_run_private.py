"""How private is my run? What if only the last model is released? How much noise would a target need?"""

from __future__ import annotations

import dobrushin as db


def main() -> None:
    run = db.Run(
        algorithm="dp-sgd",
        records=30_162,
        batch_size=512,
        steps=11_800,
        order="poisson",
        release="last",
        neighbours="zero-out",
        learning_rate=2.0,
        clip_norm=1.0,
        noise_multiplier=4.0,
        weight_decay=0.02,
        convex=True,
        smoothness=0.25,
        generalised_linear=True,
        diameter=10.0,
    )
    report: db.Report = db.account(run, delta=1e-6)
    print(f"if every step is published: ε = {report.published:.4f}")
    print(f"if only the last is:        ε = {report.epsilon:.4f}")
    for analysis in report.analyses:
        if analysis.value is not None:
            print(f"  {analysis.id:<24} {analysis.value.upper:.4f}")

    found: db.Calibration = db.calibrate(run, "noise-multiplier", epsilon=0.1, delta=1e-6)
    print(f"for ε = 0.1 the noise multiplier must be {found.value:.3f}")

    certificate: db.Certificate = db.account(found.run, delta=1e-6).certificate()
    verdict: db.Verification = db.verify(certificate)
    print(f"the certificate {'holds' if verdict else 'does not hold'}")


if __name__ == "__main__":
    main()
