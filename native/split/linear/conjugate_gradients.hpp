// SPDX-License-Identifier: BSD-3-Clause
// Conjugate gradients for A x = r, where A is symmetric and positive definite and is never formed.
// The solvers of this core take only a few steps, because to stop early regularises too.
#pragma once

#include <cstdint>

#include "base/types.hpp"

namespace co2 {

class ConjugateGradients {
   public:
    // Adds the solution to x. `residual` is r and is overwritten; both have whole rows of 16.
    // Operator knows A:
    //   curvature(d)            <d, A d>; keeps what the next two need
    //   moved(length)           x has moved by length * d, and so does whatever depends on x
    //   reduce(residual, d, length)   residual -= length * A d
    // False if the first direction has no positive curvature; x is then as it was.
    template <class Operator>
    bool solve(Operator&& a, std::int64_t steps, AlignedFloats& residual, AlignedFloats& x) {
        const Kernels& k = kernels();
        const std::size_t n = x.size();
        direction_ = residual;
        float square = k.dot_f32(residual.data(), residual.data(), n);
        const float enough = square * kTolerance * kTolerance;
        for (std::int64_t step = 0; step < steps && square > enough; ++step) {
            const float curvature = a.curvature(direction_);
            if (!(curvature > 0.0f)) return step > 0;
            const float length = square / curvature;
            a.moved(length);
            k.combine(length, direction_.data(), 1.0f, x.data(), n);
            if (step + 1 == steps) break;
            a.reduce(residual, direction_, length);
            const float before = square;
            square = k.dot_f32(residual.data(), residual.data(), n);
            k.combine(1.0f, residual.data(), square / before, direction_.data(), n);
        }
        return true;
    }

   private:
    static constexpr float kTolerance = 1e-5f;  // of the residual: rounding errors are left

    AlignedFloats direction_;
};

}  // namespace co2
