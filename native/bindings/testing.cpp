// SPDX-License-Identifier: BSD-3-Clause
// The inner pieces, for the tests.
#include "bindings/common.hpp"

namespace co2 {

void bind_testing(nb::module_& m) {
    nb::module_ t = m.def_submodule("testing", "Inner pieces of the core, for its tests.");
    t.def("select_kernels", [](const std::string& name) { return select_kernels(name.c_str()); });
    t.def("kernels", [] { return std::string(kernels().name); });
}

}  // namespace co2
