// Which tile of D comes when, for persistent kernels whose clusters are CTAs one below the other.
#pragma once

#include "tma_gemm.h"

namespace tilepath::kernels {

// The place of one CTA's tile of D.
struct Tile {
    int m, n, batch;
};

// The tiles in the order in which the clusters take them: within group_m clusters' rows column by column, so that the
// clusters that run at one time share their operands in L2. `config` has cta_m, cta_n, cluster_m and group_m.
template <auto config>
struct TileOrder {
    int rows, columns, count;  // in tiles of a cluster

    __device__ explicit TileOrder(const TmaParameters& p)
        : rows((p.m + config.cluster_m * config.cta_m - 1) / (config.cluster_m * config.cta_m)),
          columns((p.n + config.cta_n - 1) / config.cta_n),
          count(rows * columns * p.batch) {}
    __device__ Tile tile(int index, int rank) const {
        const int batch = index / (rows * columns), in_batch = index % (rows * columns);
        const int group = in_batch / (config.group_m * columns), in_group = in_batch % (config.group_m * columns);
        const int group_rows = min(config.group_m, rows - group * config.group_m);
        const int row = group * config.group_m + in_group % group_rows, column = in_group / group_rows;
        return {(row * config.cluster_m + rank) * config.cta_m, column * config.cta_n, batch};
    }
};

}  // namespace tilepath::kernels
