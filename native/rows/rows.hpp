// SPDX-License-Identifier: BSD-3-Clause
// What a training or test row is. The rest of the core is templated on the kind of rows and asks
// for no more than these concepts. rows/kinds.hpp lists the kinds.
//
// A missing value (NaN) counts as the feature's mean everywhere (rows/missing.hpp).
//
// A kind that lacks a member is one message of the compiler, here where SparseRows has lost
// value():
//   kinds.hpp: In instantiation of 'constexpr bool co2::is_complete() [with Rows = SparseRows]':
//   kinds.hpp: error: static assertion failed
//   rows.hpp: note: the required expression 'rows.value(i, j)' is invalid
#pragma once

#include <concepts>

#include "rows/hyperplane.hpp"
#include "rows/standardisation.hpp"

namespace co2 {

template <class R>
concept RowKind = requires(const R& rows, std::size_t i, Feature j, std::span<const RowId> ids,
                           const HyperplaneView& plane, typename R::Space& space, float* z) {
    { rows.count() } -> std::same_as<std::size_t>;
    { rows.features() } -> std::same_as<std::size_t>;
    // One element.
    { rows.value(i, j) } -> std::same_as<float>;
    // z_t = the projection of row i + ids_t: on its right side of the plane's threshold, but it
    // need not be exact. The caller keeps the work space.
    rows.project(i, ids, plane, space, z);
    // The same of row ids_t, exactly as a row on its own has it.
    rows.project_exactly(ids, plane, z);
};

// Rows that store every element, or can copy them to one piece.
template <class R>
concept FullRows =
    RowKind<R> && requires(const R& rows, std::size_t i, std::vector<typename R::Element>& space,
                           std::span<const RowId> ids, const Standardisation& s, float* out) {
        { rows.element(i, i) } -> std::same_as<typename R::Element>;  // NaN stays NaN
        { rows.in_one_piece(i, space) } -> std::same_as<const typename R::Element*>;
        // Rows ids_t, standardised, i floats apart.
        rows.standardise(ids, s, i, out);
    };

// Rows of bytes, which a node may work on as they are.
template <class R>
concept ByteRows = FullRows<R> && sizeof(typename R::Element) == 1 &&
                   requires(const R& rows, std::size_t i, typename R::Element* out) {
                       rows.copy(i, out);
                       rows.prefetch(i);
                   };

// Rows that list the elements that are not zero, in increasing order of features.
template <class R>
concept ListedRows = RowKind<R> && requires(const R& rows, std::size_t i) {
    rows.visit(i, [](Feature, float) {});
    rows.visit_raw(i, [](Feature, float) {});  // NaN stays NaN
};

// Rows that the caller hands over once, for all trees: they can be compared, and a forest predicts
// one of them at a time.
template <class R>
concept TableKind =
    (FullRows<R> || ListedRows<R>) && requires(const R& rows, std::size_t i, const float* mean,
                                               const Bfloat16* (*weights_at)(std::size_t),
                                               HyperplaneView (*plane_at)(std::size_t), float* z) {
        { rows.with_mean(mean) } -> std::same_as<R>;
        { rows.same(i, i) } -> std::same_as<bool>;
        { rows.hash(i) } -> std::same_as<std::uint64_t>;
        // z_t = the projection of row i on plane t, for i planes. weights_at(t) may be null.
        rows.dots(i, i, weights_at, plane_at, z);
    };

}  // namespace co2
