// SPDX-License-Identifier: BSD-3-Clause
#include "split/finders.hpp"

namespace co2 {

template std::unique_ptr<SplitFinder<LogLoss>> make_finder(const WindowRows<std::uint8_t>&,
                                                           const Standardisation&, const LogLoss&,
                                                           const SplitParams&);
template std::unique_ptr<SplitFinder<LogLoss>> make_finder(const WindowRows<float>&,
                                                           const Standardisation&, const LogLoss&,
                                                           const SplitParams&);

}  // namespace co2
