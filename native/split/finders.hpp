// SPDX-License-Identifier: BSD-3-Clause
// Makes the finder of a split. Included only by the files that compile them. CMake writes one for
// each kind of rows (rows/kinds.hpp), so that they are compiled at the same time.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>

#include "loss/instantiations.hpp"
#include "split/co2/finder.hpp"
#include "split/co2/value_finder.hpp"
#include "split/make_finder.hpp"

namespace co2 {

template <RowKind Rows, LossKind Loss>
struct FinderFactory {
    const Rows& rows;
    const Standardisation& standardisation;
    const Loss& loss;
    const BinnedColumns* binned;

    using Made = std::unique_ptr<SplitFinder<Loss>>;

    template <class Params>
    Made operator()(const Params& params) const {
        if constexpr (requires { typename Params::template Finder<Rows, Loss>; }) {
            using Finder = typename Params::template Finder<Rows, Loss>;
            if constexpr (requires { Finder(rows, standardisation, loss, params, binned); })
                return std::make_unique<Finder>(rows, standardisation, loss, params, binned);
            else
                return std::make_unique<Finder>(rows, standardisation, loss, params);
        } else {
            throw std::invalid_argument(std::string(Params::kName) +
                                        " are for classes, or not for windows of images");
        }
    }
};

template <RowKind Rows, LossKind Loss>
std::unique_ptr<SplitFinder<Loss>> make_finder(const Rows& rows,
                                               const Standardisation& standardisation,
                                               const Loss& loss, const SplitParams& params,
                                               const BinnedColumns* binned) {
    return std::visit(FinderFactory<Rows, Loss>{rows, standardisation, loss, binned}, params);
}

#define CO2_MAKE_FINDER(Rows, Loss)                                                              \
    template std::unique_ptr<SplitFinder<Loss>> make_finder(const Rows&, const Standardisation&, \
                                                            const Loss&, const SplitParams&,     \
                                                            const BinnedColumns*);
#define CO2_FINDERS_OF_TABLE(Rows) CO2_MAKE_FINDER(Rows, LogLoss) CO2_MAKE_FINDER(Rows, ValuesLoss)
#define CO2_FINDERS_OF_WINDOW(Rows) CO2_MAKE_FINDER(Rows, LogLoss)

}  // namespace co2
