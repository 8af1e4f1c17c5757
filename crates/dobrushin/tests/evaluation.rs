//! A private evaluation of what is released is paid for.

use dobrushin::account::{Options, Parameter, Question, Report, Target, calibrate};
