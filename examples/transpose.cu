// out = transpose of in, n x n, by tiles of 32 x 32: rows of the tile are written, columns are read, and all 32 words of
// a column lie in one bank. `tilepath check examples/transpose.toml` tells so.
extern "C" __global__ void transpose(float* out, const float* in, int n) {
    __shared__ float tile[32][32];
    const int x = threadIdx.x, y = threadIdx.y;
    tile[y][x] = in[(blockIdx.y * 32 + y) * n + blockIdx.x * 32 + x];
    __syncthreads();
    out[(blockIdx.x * 32 + y) * n + blockIdx.y * 32 + x] = tile[x][y];
}
