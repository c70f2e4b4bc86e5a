// SPDX-License-Identifier: BSD-3-Clause
// The list of split finders: which one belongs to which parameters. Included only by the files that
// compile them, one for each kind of rows.
#pragma once

#include <memory>
#include <stdexcept>
#include <type_traits>

#include "loss/log_loss.hpp"
#include "loss/values_loss.hpp"
#include "split/axis.hpp"
#include "split/co2/finder.hpp"
#include "split/co2/value_finder.hpp"
#include "split/coordinates.hpp"
#include "split/discriminant.hpp"
#include "split/make_finder.hpp"
#include "split/two_probe.hpp"
#include "windows/rows.hpp"

namespace co2 {

template <class Rows, class Loss>
struct FinderFactory {
    const Rows& rows;
    const Standardisation& standardisation;
    const Loss& loss;

    using Made = std::unique_ptr<SplitFinder<Loss>>;

    Made operator()(const AxisParams& p) const { return make<AxisFinder<Rows, Loss>>(p); }
    Made operator()(const TwoProbeParams& p) const { return make<TwoProbeFinder<Rows, Loss>>(p); }
    Made operator()(const Co2Params& p) const {
        if constexpr (std::is_same_v<Loss, LogLoss>)
            return make<Co2Finder<Rows>>(p);
        else
            return make<ValueFinder<Rows>>(p);
    }
    Made operator()(const CoordinateParams& p) const {
        return for_classes<CoordinateFinder<Rows>>(p);
    }
    Made operator()(const DiscriminantParams& p) const {
        return for_classes<DiscriminantFinder<Rows>>(p);
    }

   private:
    template <class Finder, class Params>
    Made make(const Params& params) const {
        return std::make_unique<Finder>(rows, standardisation, loss, params);
    }

    static constexpr bool kWindows =
        std::is_same_v<Rows, WindowRows<float>> || std::is_same_v<Rows, WindowRows<std::uint8_t>>;

    template <class Finder, class Params>
    Made for_classes(const Params& params) const {
        if constexpr (!std::is_same_v<Loss, LogLoss>)
            throw std::invalid_argument("this way to find splits is for classes only");
        else if constexpr (kWindows)
            throw std::invalid_argument("this way to find splits is not for windows of images");
        else
            return make<Finder>(params);
    }
};

template <class Rows, class Loss>
std::unique_ptr<SplitFinder<Loss>> make_finder(const Rows& rows,
                                               const Standardisation& standardisation,
                                               const Loss& loss, const SplitParams& params) {
    return std::visit(FinderFactory<Rows, Loss>{rows, standardisation, loss}, params);
}

}  // namespace co2
