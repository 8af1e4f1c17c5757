"""The parts of :mod:`dobrushin.flower`."""
