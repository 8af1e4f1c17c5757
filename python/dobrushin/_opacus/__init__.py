"""The parts of :mod:`dobrushin.opacus`."""
