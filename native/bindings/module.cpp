// SPDX-License-Identifier: BSD-3-Clause
#include "bindings/common.hpp"

NB_MODULE(_native, m) {
    m.doc() = "Native core of co2forest. Not a public interface.";
    // When Python ends, it does not unwind threads that are daemons, such as those of Dask's
    // workers. What their frames hold is never freed, and nanobind would call that a bug in these
    // bindings. tests/native/test_leaks.py turns this on again.
    nb::set_leak_warnings(false);
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
