// SPDX-License-Identifier: BSD-3-Clause
#include "bindings/common.hpp"

NB_MODULE(_native, m) {
    m.doc() = "Native core of co2forest. Not a public interface.";
    co2::bind_params(m);
    co2::bind_losses(m);
    co2::bind_rows(m);
    co2::bind_views(m);
    co2::bind_forest(m);
    co2::bind_train(m);
    co2::bind_boost(m);
    co2::bind_windows(m);
    co2::bind_testing(m);
}
