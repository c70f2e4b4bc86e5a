// SPDX-License-Identifier: BSD-3-Clause
#include <stdexcept>

#include "bindings/training_data.hpp"
#include "forest/predict_windows.hpp"
#include "train/windows.hpp"

namespace co2 {
namespace {

template <class T>
using Array3 = nb::ndarray<const T, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using StridedBytes = nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::device::cpu>;

// Images of one kind of elements, holding on to the Python arrays that they look into.
class ImagesHandle {
   public:
    template <class T>
    ImagesHandle(const std::vector<Array3<T>>& arrays, std::size_t window)
        : images_(look_into(arrays, window)), owner_(nb::cast(arrays)) {}

    template <class F>
    auto visit(F&& f) const {
        return std::visit(std::forward<F>(f), images_);
    }

   private:
    template <class T>
    static WindowImages<T> look_into(const std::vector<Array3<T>>& arrays, std::size_t window) {
        constexpr std::size_t most = 0x7fffffff;
        if (arrays.empty()) throw std::invalid_argument("there must be at least one image");
        const std::size_t channels = arrays[0].shape(2);
        if (window == 0 || window % 2 == 0 || channels == 0 || window > 46340 ||
            channels > most / (window * window))
            throw std::invalid_argument(
                "the window must be odd and have at most 2^31 - 1 features");
        std::vector<Image<T>> images;
        for (const Array3<T>& array : arrays) {
            check_aligned(array);
            if (array.shape(2) != channels)
                throw std::invalid_argument("images must have the same number of channels");
            if (array.shape(0) < window || array.shape(1) < window)
                throw std::invalid_argument("an image is smaller than the window");
            if (array.shape(0) > most / array.shape(1))
                throw std::invalid_argument("an image has more than 2^31 - 1 pixels");
            images.push_back({array.data(), array.shape(0), array.shape(1)});
        }
        return {std::move(images), window, channels};
    }

    std::variant<WindowImages<float>, WindowImages<std::uint8_t>> images_;
    nb::object owner_;
};

template <class T>
ImagesHandle window_images(const std::vector<Array3<T>>& arrays, std::size_t window) {
    return {arrays, window};
}

std::vector<LabelMap> label_maps(const ImagesHandle& handle,
                                 const std::vector<StridedBytes>& labels) {
    return handle.visit([&](const auto& images) {
        if (labels.size() != images.count())
            throw std::invalid_argument("there must be as many label maps as images");
        std::vector<LabelMap> maps;
        for (std::size_t i = 0; i < labels.size(); ++i) {
            const StridedBytes& map = labels[i];
            if (map.shape(0) != images.centre_rows(i) || map.shape(1) != images.centre_columns(i))
                throw std::invalid_argument("a label map does not have an entry for each centre");
            if ((map.shape(1) > 1 && map.stride(1) != 1) || map.stride(0) < 0)
                throw std::invalid_argument("the rows of a label map must be contiguous");
            maps.push_back(
                {map.data(), map.shape(0), map.shape(1), static_cast<std::size_t>(map.stride(0))});
        }
        return maps;
    });
}

std::pair<Forest, std::vector<std::pair<std::int64_t, std::int64_t>>> train_forest(
    const ImagesHandle& handle, const std::vector<StridedBytes>& labels, std::size_t n_classes,
    const Array1<float>& mean, const TrainParams& params, const Progress& progress) {
    const std::vector<LabelMap> maps = label_maps(handle, labels);
    if (n_classes < 1 || n_classes > 255)
        throw std::invalid_argument("there must be 1 to 255 classes");
    if (params.sampling.n_draws < static_cast<std::int64_t>(n_classes) ||
        params.sampling.n_draws > 0x7fffffff)
        throw std::invalid_argument("a tree must draw at least one window of each class");
    const auto means = view(mean);
    Training training;
    {
        const Watch watch = make_watch(progress.value_or(nullptr));
        const nb::gil_scoped_release release;
        handle.visit([&](const auto& images) {
            if (!means.empty() && means.size() != images.features())
                throw std::invalid_argument("mean must have one entry per feature");
            training = train_windows(images, maps, n_classes,
                                     std::vector<float>(means.begin(), means.end()), params, watch);
        });
    }
    std::vector<std::pair<std::int64_t, std::int64_t>> statistics;
    for (const GrowStatistics& s : training.statistics) statistics.emplace_back(s.steps, s.nodes);
    return {Forest(std::move(training.forest)), statistics};
}

// Calls f with the windows of some rows of an image, without Python's lock.
template <class F>
void with_windows(const Forest& forest, const ImagesHandle& handle, std::size_t image,
                  std::size_t first, std::size_t last, F&& f) {
    const Watch watch = make_watch({});
    const nb::gil_scoped_release release;
    handle.visit([&]<class T>(const WindowImages<T>& images) {
        f(WindowsOfImage<T>(images, image, first, last, forest.arrays().mean.data()), watch);
    });
}

// How many windows there are in some rows of an image; throws if there are no such rows, or the
// forest is not for them.
std::size_t count_windows(const Forest& forest, const ImagesHandle& handle, std::size_t image,
                          std::size_t first, std::size_t last) {
    return handle.visit([&](const auto& images) {
        if (images.features() != forest.n_features())
            throw std::invalid_argument("a window does not have the forest's number of features");
        if (image >= images.count() || first > last || last > images.centre_rows(image))
            throw std::invalid_argument("there are no such rows of an image");
        return (last - first) * images.centre_columns(image);
    });
}

nb::ndarray<nb::numpy, double> predict_image(const Forest& forest, const ImagesHandle& handle,
                                             std::size_t image, std::size_t first, std::size_t last,
                                             std::size_t n_threads) {
    const std::size_t n = count_windows(forest, handle, image, first, last);
    std::vector<double> out(n * forest.n_outputs());
    with_windows(forest, handle, image, first, last, [&](const auto& windows, const Watch& watch) {
        predict_windows(forest, windows, n_threads, watch, out.data());
    });
    return to_numpy(std::move(out), {n, forest.n_outputs()});
}

nb::ndarray<nb::numpy, std::uint8_t> label_image(const Forest& forest, const ImagesHandle& handle,
                                                 std::size_t image, std::size_t first,
                                                 std::size_t last, std::size_t n_threads) {
    const std::size_t n = count_windows(forest, handle, image, first, last);
    if (forest.n_outputs() > 256 || !forest.arrays().distributions)
        throw std::invalid_argument("the forest must have probabilities of at most 256 classes");
    std::vector<std::uint8_t> out(n);
    with_windows(forest, handle, image, first, last, [&](const auto& windows, const Watch& watch) {
        label_windows(forest, windows, n_threads, watch, out.data());
    });
    return to_numpy(std::move(out), {n});
}

}  // namespace

void bind_windows(nb::module_& m) {
    nb::class_<ImagesHandle>(m, "WindowImages").def_prop_ro("features", [](const ImagesHandle& h) {
        return h.visit([](const auto& images) { return images.features(); });
    });
    m.def("window_images", &window_images<std::uint8_t>, nb::arg("images").noconvert(),
          nb::arg("window"));
    m.def("window_images", &window_images<float>, nb::arg("images").noconvert(), nb::arg("window"));
    m.def("train_windows", &train_forest, nb::arg("images"), nb::arg("labels").noconvert(),
          nb::arg("n_classes"), nb::arg("mean").noconvert(), nb::arg("params"),
          nb::arg("progress").none() = nb::none());
    m.def("predict_windows", &predict_image, nb::arg("forest"), nb::arg("images"), nb::arg("image"),
          nb::arg("first_row"), nb::arg("last_row"), nb::arg("n_threads"));
    m.def("label_windows", &label_image, nb::arg("forest"), nb::arg("images"), nb::arg("image"),
          nb::arg("first_row"), nb::arg("last_row"), nb::arg("n_threads"));
}

}  // namespace co2
