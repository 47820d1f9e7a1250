package scrape

// AMD's Device Metrics Exporter. Its names were upper case once, and have amd_
// before them where its configuration says so. Power is in package_power or, of
// some models, in power_usage; energy is in µJ.
var amd = table{"amd", `
gpu_utilization gpu_gfx_activity amd_gpu_gfx_activity GPU_GFX_ACTIVITY *0.01
gpu_dram_active gpu_umc_activity amd_gpu_umc_activity GPU_UMC_ACTIVITY *0.01
gpu_memory_used gpu_used_vram amd_gpu_used_vram GPU_USED_VRAM
gpu_memory_all  gpu_total_vram amd_gpu_total_vram GPU_TOTAL_VRAM
gpu_power_w     gpu_package_power amd_gpu_package_power GPU_PACKAGE_POWER gpu_power_usage amd_gpu_power_usage GPU_POWER_USAGE gpu_average_package_power amd_gpu_average_package_power GPU_AVERAGE_PACKAGE_POWER
gpu_energy_j    gpu_energy_consumed amd_gpu_energy_consumed GPU_ENERGY_CONSUMED *0.000001
`}
