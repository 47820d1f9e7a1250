package scrape

// NVIDIA's dcgm-exporter. DCGM_FI_DEV_GPU_UTIL is the share of time in which any
// kernel ran, and full long before the GPU is; DCGM_FI_PROF_… count its parts.
// Its energy is in mJ.
var dcgm = table{"dcgm", `
gpu_utilization   DCGM_FI_DEV_GPU_UTIL *0.01
gpu_active        DCGM_FI_PROF_GR_ENGINE_ACTIVE
gpu_sm_active     DCGM_FI_PROF_SM_ACTIVE
gpu_tensor_active DCGM_FI_PROF_PIPE_TENSOR_ACTIVE
gpu_dram_active   DCGM_FI_PROF_DRAM_ACTIVE
gpu_memory_used   DCGM_FI_DEV_FB_USED
gpu_memory_free   DCGM_FI_DEV_FB_FREE
gpu_power_w       DCGM_FI_DEV_POWER_USAGE
gpu_energy_j      DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION *0.001
`}

// blank reports whether a value stands for one that DCGM could not measure: those
// from DCGM_INT32_BLANK, DCGM_FP64_BLANK and DCGM_INT64_BLANK on (dcgm_structs.h).
func blank(v float64) bool {
	return v >= 0x7ffffff0 && v <= 0x7fffffff || v >= 1<<47 && v < 1<<47+16 || v >= 0x7ffffffffffffff0
}
