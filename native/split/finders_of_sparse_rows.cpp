// SPDX-License-Identifier: BSD-3-Clause
#include "split/finders.hpp"

namespace co2 {

template std::unique_ptr<SplitFinder<LogLoss>> make_finder(const SparseRows&,
                                                           const Standardisation&, const LogLoss&,
                                                           const SplitParams&);
template std::unique_ptr<SplitFinder<ValuesLoss>> make_finder(const SparseRows&,
                                                              const Standardisation&,
                                                              const ValuesLoss&,
                                                              const SplitParams&);

}  // namespace co2
