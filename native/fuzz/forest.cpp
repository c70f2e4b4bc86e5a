// SPDX-License-Identifier: BSD-3-Clause
// Fuzzes Forest(ForestArrays), through which all forests from outside come: whatever it accepts
// must be safe to predict with. An input is a forest's arrays one after the other, each with its
// length, then the rows to predict. Inputs begin as valid forests, so that a mutation is near to
// one.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <stdexcept>

#include "base/random.hpp"
#include "forest/forest.hpp"
#include "forest/importances.hpp"
#include "forest/predict.hpp"
#include "fuzz/reader.hpp"
#include "rows/kinds.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace co2 {
namespace {

constexpr std::size_t kRows = 30;  // more than 23: then bytes are projected in 16 bits

void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "%s\n", what);
    std::abort();
}

class Writer {
   public:
    template <class T>
    void number(T x) {
        const auto* bytes = reinterpret_cast<const std::uint8_t*>(&x);
        bytes_.insert(bytes_.end(), bytes, bytes + sizeof(T));
    }

    template <class T>
    void array(const std::vector<T>& values) {
        number(static_cast<std::uint16_t>(values.size()));
        for (const T x : values) number(x);
    }

    const std::vector<std::uint8_t>& bytes() const { return bytes_; }

   private:
    std::vector<std::uint8_t> bytes_;
};

struct Input {
    ForestArrays arrays;
    std::vector<float> rows;
};

Input decode(std::span<const std::uint8_t> bytes) {
    Input input;
    Reader reader(bytes);
    input.arrays.n_outputs = reader.number<std::int64_t>();
    input.arrays.distributions = reader.number<std::uint8_t>() % 2 == 0;
    for_each_array(input.arrays, [&](const char*, auto& member) { reader.array(member); });
    reader.array(input.rows);
    return input;
}

std::vector<std::uint8_t> encode(const Input& input) {
    Writer writer;
    writer.number(input.arrays.n_outputs);
    writer.number(static_cast<std::uint8_t>(!input.arrays.distributions));
    for_each_array(input.arrays, [&](const char*, const auto& member) { writer.array(member); });
    writer.array(input.rows);
    return writer.bytes();
}

void append_split(ForestArrays& a, Random& random) {
    const auto p = static_cast<std::uint32_t>(a.mean.size());
    const bool dense = random.below(2) == 0;
    for (std::uint32_t j = 0; j < p; ++j) {
        const bool last_chance = j + 1 == p && a.weight_begin.back() == std::ssize(a.weight);
        if (!dense && !last_chance && random.below(3) > 0) continue;
        a.weight.push_back(narrow(static_cast<float>(random.below(201)) / 100.0f - 1.0f));
        if (!dense) a.feature.push_back(static_cast<Feature>(j));
    }
    a.threshold.push_back(static_cast<float>(random.below(201)) / 100.0f - 1.0f);
}

void append_leaf(ForestArrays& a, Random& random) {
    a.threshold.push_back(0.0f);
    if (!a.distributions) {  // one number for each output
        for (std::int32_t t = 0; t < a.n_outputs; ++t) {
            a.value_output.push_back(t);
            a.value.push_back(static_cast<float>(random.below(2001)) - 1000.0f);
        }
        return;
    }
    const auto y = static_cast<std::int32_t>(random.below(2));
    a.value_output.push_back(y);
    if (y == 0 && random.below(2) == 0) {
        a.value_output.push_back(1);
        a.value.push_back(0.25f);
        a.value.push_back(0.75f);
    } else {
        a.value.push_back(1.0f);
    }
}

// A random one that the constructor accepts.
Input valid_input(std::uint64_t seed) {
    Random random(seed);
    Input input;
    ForestArrays& a = input.arrays;
    const std::size_t p = 1 + random.below(random.below(2) == 0 ? 6 : 90);
    a.n_outputs = 2 + random.below(3);
    a.distributions = random.below(3) > 0;
    a.mean.assign(p, 0.5f);
    a.spread.assign(p, 1.0f);
    a.tree_begin = a.weight_begin = a.feature_begin = a.value_begin = {0};
    for (std::uint32_t trees = 1 + random.below(3); trees > 0; --trees) {
        std::int32_t known = 1;  // nodes of the tree that have a parent, the root included
        for (std::int32_t node = 0; node < known; ++node) {
            const bool splits = known < 7 && random.below(3) > 0;
            a.left.push_back(splits ? known : -1);
            if (splits) {
                append_split(a, random);
                known += 2;
            } else {
                append_leaf(a, random);
            }
            a.weight_begin.push_back(std::ssize(a.weight));
            a.feature_begin.push_back(std::ssize(a.feature));
            a.value_begin.push_back(std::ssize(a.value));
            a.impurity.push_back(0.5f);
            a.weighted_count.push_back(3.0);
            a.sample_count.push_back(3);
        }
        a.tree_begin.push_back(std::ssize(a.left));
    }
    for (std::size_t t = 0; t < 2 * p; ++t)
        input.rows.push_back(static_cast<float>(random.below(256)));
    return input;
}

// One more or less; a whole number may wrap around.
template <class T>
T neighbour(T x, bool more) {
    if constexpr (std::is_integral_v<T>) {
        const auto whole = static_cast<std::uint64_t>(x);
        return static_cast<T>(more ? whole + 1 : whole - 1);
    } else {
        return more ? x + 1 : x - 1;
    }
}

// Changes one number, or the length, of one array. So all arrays are equally likely to change,
// whereas most of the bytes are those of a few.
void mutate(Input& input, Random& random) {
    std::uint32_t chosen = random.below(18);
    const auto change = [&]<class T>(const char*, std::vector<T>& member) {
        if (chosen-- != 0) return;
        if (member.empty() || random.below(8) == 0) {
            member.resize(random.below(static_cast<std::uint32_t>(member.size()) + 3));
            return;
        }
        T& x = member[random.below(static_cast<std::uint32_t>(member.size()))];
        if (random.below(3) == 0)
            x = neighbour(x, random.below(2) == 0);
        else
            LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(&x), sizeof(T), sizeof(T));
    };
    for_each_array(input.arrays, change);
    change("rows", input.rows);
    if (chosen-- == 0) input.arrays.n_outputs = static_cast<std::int64_t>(random.below(5));
    if (chosen == 0) input.arrays.distributions = !input.arrays.distributions;
}

template <class Rows>
void check_prediction(const Forest& forest, const Rows& raw_rows) {
    const Rows rows = raw_rows.with_mean(forest.arrays().mean.data());
    const std::size_t k = forest.n_outputs();
    std::vector<double> out(rows.count() * k);
    predict(forest, rows, 1, {}, out.data());
    for (std::size_t i = 0; i < rows.count(); ++i) {
        double sum = 0.0;
        for (std::size_t y = 0; y < k; ++y) {
            require(std::isfinite(out[i * k + y]), "a prediction is not finite");
            if (!forest.arrays().distributions) continue;
            require(out[i * k + y] >= 0.0 && out[i * k + y] <= 1.0,
                    "a probability is not in [0, 1]");
            sum += out[i * k + y];
        }
        require(!forest.arrays().distributions || std::abs(sum - 1.0) < 1e-3,
                "probabilities do not sum to one");
    }
    std::vector<std::int64_t> leaves(rows.count() * forest.n_trees());
    apply(forest, rows, 1, {}, leaves.data());
    for (std::size_t t = 0; t < leaves.size(); ++t) {
        const std::int64_t root = forest.arrays().tree_begin[t % forest.n_trees()];
        require(forest.arrays().left[static_cast<std::size_t>(root + leaves[t])] == -1,
                "a row does not end in a leaf");
    }
}

// As many features as columns, of all kinds that need no folds.
Views some_views(std::size_t p) {
    ViewArrays a;
    a.values = {0, 1, 2, 3, 4};
    for (std::size_t j = 0; j < p; ++j) {
        constexpr ViewKind kinds[] = {ViewKind::kNumber, ViewKind::kMissing, ViewKind::kEquals,
                                      ViewKind::kTable};
        const ViewKind kind = kinds[j % 4];
        a.column.push_back(static_cast<std::int32_t>(p - 1 - j));
        a.kind.push_back(static_cast<std::uint8_t>(kind));
        a.argument.push_back(0);
        a.size.push_back(kind == ViewKind::kTable ? 3 : 0);
    }
    return Views(std::move(a), static_cast<std::int64_t>(p), 0);
}

void use(const Forest& forest, const std::vector<float>& values) {
    const std::size_t p = forest.n_features();
    std::vector<float> floats(kRows * p);
    std::vector<std::uint8_t> bytes(kRows * p);
    std::vector<std::int64_t> begin{0};
    std::vector<Feature> feature;
    std::vector<float> stored;
    for (std::size_t t = 0; t < kRows * p; ++t) {
        floats[t] = values.empty() ? 0.0f : values[t % values.size()];
        std::memcpy(&bytes[t], &floats[t], 1);
        if (floats[t] != 0.0f) {
            feature.push_back(static_cast<Feature>(t % p));
            stored.push_back(floats[t]);
        }
        if ((t + 1) % p == 0) begin.push_back(std::ssize(stored));
    }
    const Views views = some_views(p);
    for (const std::size_t n : {std::size_t{1}, kRows}) {
        check_prediction(forest, ViewRows(views, floats.data(), nullptr, n, nullptr));
        check_prediction(forest, DenseRows<float>(floats.data(), n, p, nullptr));
        check_prediction(forest, DenseRows<std::uint8_t>(bytes.data(), n, p, nullptr));
        check_prediction(forest,
                         SparseRows(begin.data(), feature.data(), stored.data(), n, p, nullptr));
    }
    const std::vector<double> importances = feature_importances(forest);
    require(importances.size() == p, "not one importance for each feature");
    for (const double x : importances) require(std::isfinite(x), "an importance is not finite");
    // What is taken from a good forest is good: these do not throw.
    for (std::size_t tree = 0; tree < forest.n_trees(); ++tree)
        require(Forest(extract_tree(forest.arrays(), tree)).n_trees() == 1, "not one tree");
    const ForestArrays* const twice[] = {&forest.arrays(), &forest.arrays()};
    require(Forest(concatenate(twice)).n_trees() == 2 * forest.n_trees(), "not twice the trees");
}

}  // namespace
}  // namespace co2

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    co2::Input input = co2::decode({data, size});
    std::optional<co2::Forest> forest;
    try {
        forest.emplace(std::move(input.arrays));
    } catch (const std::invalid_argument&) {
        return 0;
    }
    if (forest->n_outputs() <= 1000) co2::use(*forest, input.rows);  // else rows take gigabytes
    return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned int seed) {
    co2::Random random(seed);
    if (random.below(4) == 0) return LLVMFuzzerMutate(data, size, most);
    co2::Input input = size < 100 || random.below(20) == 0 ? co2::valid_input(random.next())
                                                           : co2::decode({data, size});
    for (std::uint32_t changes = random.below(4); changes > 0; --changes)
        co2::mutate(input, random);
    const std::vector<std::uint8_t> bytes = co2::encode(input);
    const std::size_t kept = std::min(bytes.size(), most);
    std::copy_n(bytes.data(), kept, data);
    return kept;
}
