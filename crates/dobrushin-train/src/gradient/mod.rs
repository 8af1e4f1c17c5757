//! Sums of clipped gradients of many records, none of which is ever stored by itself.
