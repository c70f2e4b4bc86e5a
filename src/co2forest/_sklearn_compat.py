"""Every name of scikit-learn that is not part of its documented interface.

They are what its own estimators use, and other libraries too; if one moves, this file follows.
"""

from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions
from sklearn.utils.validation import _check_sample_weight

__all__ = ["Interval", "RealNotInt", "StrOptions", "check_sample_weight", "fit_context"]

check_sample_weight = _check_sample_weight
fit_context = _fit_context
