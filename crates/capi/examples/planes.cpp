// Writes a year of monthly temperatures, and reads its latitudes with several threads at once.
#include <hyperslab.h>

#include <cstdio>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

// Throws the message of a call that failed.
void check(int32_t code) {
    if (code != HS_OK) throw std::runtime_error(hs_error());
}

// Handles that close themselves. To see an error of the last write, call hs_flush before.
struct Close {
    void operator()(hs_file *file) const { hs_close(file); }
    void operator()(hs_dataset *dataset) const { hs_dataset_close(dataset); }
};
using File = std::unique_ptr<hs_file, Close>;
using Dataset = std::unique_ptr<hs_dataset, Close>;

File open(const std::string &path, int32_t mode) {
    hs_file *file = nullptr;
    check(hs_open(path.c_str(), mode, &file));
    return File(file);
}

Dataset dataset(const File &file, const std::string &path) {
    hs_dataset *opened = nullptr;
    check(hs_dataset_open(file.get(), path.c_str(), &opened));
    return Dataset(opened);
}

// The elements of a box.
std::vector<float> read(const Dataset &dataset, const std::vector<uint64_t> &start, const std::vector<uint64_t> &count) {
    const auto size = std::accumulate(count.begin(), count.end(), uint64_t{1}, std::multiplies<uint64_t>());
    std::vector<float> values(size);
    hs_selection box{};
    box.size = sizeof box;
    box.rank = static_cast<uint32_t>(start.size());
    box.start = start.data();
    box.count = count.data();
    hs_io_options checked{};
    checked.size = sizeof checked;
    checked.buffer_size = values.size() * sizeof(float);
    checked.checked = 1;  // also if there are no values
    check(hs_read(dataset.get(), &box, HS_F32, values.data(), &checked));
    return values;
}

int main() try {
    const std::vector<uint64_t> shape{12, 73, 144}, chunk{1, 73, 144};
    {
        std::vector<float> year;
        for (uint64_t i = 0; i < 12 * 73 * 144; i++) {
            year.push_back(270.0f + float(i / (73 * 144)) + 0.1f * float(i / 144 % 73));
        }
        hs_filter zstd{};
        zstd.id = 32015;
        hs_dataset_options options{};
        options.size = sizeof options;
        options.type = HS_F32;
        options.rank = 3;
        options.shape = shape.data();
        options.chunk = chunk.data();
        options.filters = &zstd;
        options.filter_count = 1;
        const File file = open("climate.h5", HS_CREATE);
        hs_dataset *created = nullptr;
        check(hs_dataset_create(file.get(), "/surface/t2m", &options, &created));
        const Dataset t2m(created);
        check(hs_write(t2m.get(), nullptr, HS_F32, year.data(), nullptr));
        check(hs_flush(file.get()));
    }
    const File file = open("climate.h5", HS_READ);
    const Dataset t2m = dataset(file, "/surface/t2m");
    std::vector<double> means(73);
    std::vector<std::thread> threads;
    for (size_t first = 0; first < 2; first++) {
        threads.emplace_back([&, first] {
            for (size_t lat = first; lat < means.size(); lat += 2) {
                const auto plane = read(t2m, {0, lat, 0}, {12, 1, 144});
                means[lat] = std::accumulate(plane.begin(), plane.end(), 0.0) / double(plane.size());
            }
        });
    }
    for (auto &thread : threads) thread.join();
    std::printf("mean of the plane: %.2f K\n", means[36]);
} catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
