// SPDX-License-Identifier: BSD-3-Clause
// Rows whose elements lie more than 2^32 elements behind the first: an offset in 32 bits, signed or
// not, would end up elsewhere. The memory before them is only reserved.
#include "rows/kinds.hpp"

#ifdef __linux__
#include <sys/mman.h>

#include <bit>
#include <numeric>
#include <stdexcept>

#include "base/random.hpp"
#include "forest/forest.hpp"
#include "forest/predict.hpp"
#include "tests/test.hpp"

namespace co2 {
namespace {

// Zeros that take no memory until they are written to.
template <class T>
class Reserved {
   public:
    explicit Reserved(std::size_t count)
        : bytes_(count * sizeof(T)),
          memory_(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
        if (memory_ == MAP_FAILED)
            throw std::runtime_error("cannot reserve " + std::to_string(bytes_) + " bytes");
    }
    Reserved(const Reserved&) = delete;
    Reserved& operator=(const Reserved&) = delete;
    ~Reserved() { munmap(memory_, bytes_); }

    T* data() const { return static_cast<T*>(memory_); }

   private:
    std::size_t bytes_;
    void* memory_;
};

constexpr std::size_t kFeatures = 70;      // enough for bytes to be projected in 16 bits
constexpr std::size_t kFew = 40;           // rows that are looked at
constexpr std::size_t kMany = 65'000'000;  // rows before them
static_assert(kMany * kFeatures > (1ull << 32));

std::vector<RowId> ids_from(std::size_t first) {
    std::vector<RowId> ids(kFew);
    std::iota(ids.begin(), ids.end(), static_cast<RowId>(first));
    return ids;
}

std::vector<float> random_values() {
    Random random(3);
    std::vector<float> values(kFew * kFeatures);
    for (float& x : values) x = static_cast<float>(random.below(256));
    return values;
}

const std::vector<float> kMeans(kFeatures, 2.5f);

Hyperplane dense_plane() {
    Hyperplane plane;
    Random random(4);
    for (std::size_t j = 0; j < kFeatures; ++j)
        plane.weight.push_back(narrow(static_cast<float>(random.below(2000)) / 1000.0f - 1.0f));
    plane.threshold = 20.0f;
    return plane;
}

Hyperplane listed_plane() {
    Hyperplane plane = dense_plane();
    plane.weight.resize(3);
    plane.feature = {0, 17, static_cast<Feature>(kFeatures - 1)};
    return plane;
}

// One split by each of two planes; row by row the leaves tell where it went.
Forest two_trees() {
    ForestArrays a;
    a.tree_begin = {0, 3, 6};
    a.left = {1, -1, -1, 1, -1, -1};
    const Hyperplane dense = dense_plane(), listed = listed_plane();
    a.threshold = {dense.threshold, 0, 0, listed.threshold, 0, 0};
    a.weight = dense.weight;
    a.weight.insert(a.weight.end(), listed.weight.begin(), listed.weight.end());
    a.feature = listed.feature;
    const auto p = static_cast<std::int64_t>(kFeatures);
    a.weight_begin = {0, p, p, p, p + 3, p + 3, p + 3};
    a.feature_begin = {0, 0, 0, 0, 3, 3, 3};
    a.value_begin = {0, 0, 1, 2, 2, 3, 4};
    a.value_output = {0, 1, 0, 1};
    a.value = {1, 1, 1, 1};
    a.impurity = {1, 0, 0, 1, 0, 0};
    a.weighted_count = {2, 1, 1, 2, 1, 1};
    a.sample_count = {2, 1, 1, 2, 1, 1};
    a.mean = kMeans;
    a.spread.assign(kFeatures, 1.0f);
    a.n_outputs = 2;
    return Forest(std::move(a));
}

template <class Rows>
std::vector<float> projections(const Rows& rows, std::size_t first, const std::vector<RowId>& ids,
                               const Hyperplane& plane) {
    std::vector<float> z(ids.size());
    typename Rows::Space space;
    rows.project(first, ids, plane, space, z.data());
    return z;
}

// `far` are the rows `near`, behind kMany others.
template <class Rows>
void check_far_rows(const Rows& near, const Rows& far, std::size_t first) {
    const Forest forest = two_trees();
    for (const char* level : {"baseline", "avx2", "avx512"}) {
        if (!select_kernels(level)) continue;
        for (const Hyperplane& plane : {dense_plane(), listed_plane()}) {
            const auto expected = projections(near, 0, ids_from(0), plane);
            CHECK(projections(far, 0, ids_from(first), plane) == expected);
            CHECK(projections(far, first, ids_from(0), plane) == expected);
        }
        Descent<Rows> near_descent(forest, near), far_descent(forest, far);
        const std::atomic<bool> stop{false};
        for (std::size_t tree = 0; tree < 2; ++tree)
            CHECK(std::ranges::equal(far_descent.leaves_of_rows(first, kFew, tree, stop),
                                     near_descent.leaves_of_rows(0, kFew, tree, stop)));
        for (std::size_t i = 0; i < kFew; ++i)
            CHECK(std::ranges::equal(far_descent.leaves_of_trees(first + i),
                                     near_descent.leaves_of_trees(i)));
    }
    for (std::size_t i = 0; i < kFew; ++i) {
        CHECK(far.hash(first + i) == near.hash(i));
        CHECK(far.same(first + i, first + i));
        CHECK(!far.same(first + i, first + (i + 1) % kFew));
        for (Feature j = 0; j < static_cast<Feature>(kFeatures); ++j)
            CHECK(far.value(first + i, j) == near.value(i, j));
    }
}

template <class T>
void check_far_dense_rows(const std::vector<T>& values) {
    const Reserved<T> memory((kMany + kFew) * kFeatures);
    std::copy(values.begin(), values.end(), memory.data() + kMany * kFeatures);
    const DenseRows<T> near(values.data(), kFew, kFeatures, kMeans.data());
    const DenseRows<T> far(memory.data(), kMany + kFew, kFeatures, kMeans.data());
    check_far_rows(near, far, kMany);

    const Standardisation standardisation{
        kMeans, kMeans, {}, {}, std::vector<float>(kFeatures, 0.5f), {}};
    const std::size_t stride = round_up_to_lanes(kFeatures);
    AlignedFloats expected(kFew * stride), actual(kFew * stride);
    for (const char* level : {"baseline", "avx2", "avx512"}) {
        if (!select_kernels(level)) continue;
        near.standardise(ids_from(0), standardisation, stride, expected.data());
        far.standardise(ids_from(kMany), standardisation, stride, actual.data());
        CHECK(actual == expected);
    }
}

const Test bytes("rows of bytes beyond 2^32 elements", [] {
    const std::vector<float> values = random_values();
    check_far_dense_rows(std::vector<std::uint8_t>(values.begin(), values.end()));
});

const Test floats("rows of floats beyond 2^32 elements, with missing values", [] {
    std::vector<float> values = random_values();
    for (std::size_t i = 0; i < values.size(); i += 97)
        values[i] = std::numeric_limits<float>::quiet_NaN();
    check_far_dense_rows(values);
});

const Test views("views beyond 2^32 elements, with missing values", [] {
    std::vector<float> values = random_values();
    for (std::size_t i = 0; i < values.size(); i += 97)
        values[i] = std::numeric_limits<float>::quiet_NaN();
    ViewArrays arrays;
    arrays.column.resize(kFeatures);
    std::iota(arrays.column.rbegin(), arrays.column.rend(), 0);
    arrays.kind.resize(kFeatures);
    arrays.argument.resize(kFeatures);
    arrays.size.resize(kFeatures);
    const Views reversed(std::move(arrays), kFeatures, 0);
    const Reserved<float> memory((kMany + kFew) * kFeatures);
    std::copy(values.begin(), values.end(), memory.data() + kMany * kFeatures);
    check_far_rows(ViewRows(reversed, values.data(), nullptr, kFew, kMeans.data()),
                   ViewRows(reversed, memory.data(), nullptr, kMany + kFew, kMeans.data()), kMany);
});

const Test sparse("sparse rows beyond 2^32 stored elements", [] {
    const std::vector<float> values = random_values();
    std::vector<Feature> features(values.size());
    for (std::size_t t = 0; t < features.size(); ++t)
        features[t] = static_cast<Feature>(t % kFeatures);
    constexpr std::size_t before = (std::size_t{1} << 32) + 5;
    const Reserved<Feature> far_features(before + values.size());
    const Reserved<float> far_values(before + values.size());
    std::copy(features.begin(), features.end(), far_features.data() + before);
    std::copy(values.begin(), values.end(), far_values.data() + before);
    std::vector<std::int64_t> near_begin, far_begin{0};  // one row holds all that is before
    for (std::size_t i = 0; i <= kFew; ++i) {
        near_begin.push_back(static_cast<std::int64_t>(i * kFeatures));
        far_begin.push_back(static_cast<std::int64_t>(before + i * kFeatures));
    }
    check_far_rows(SparseRows(near_begin.data(), features.data(), values.data(), kFew, kFeatures,
                              kMeans.data()),
                   SparseRows(far_begin.data(), far_features.data(), far_values.data(), kFew + 1,
                              kFeatures, kMeans.data()),
                   1);
});

}  // namespace
}  // namespace co2
#endif
