package imports

import (
	"strconv"
	"strings"
)

// aiperfGPU is a line of gpu_telemetry_export.jsonl: one GPU at one moment. Source:
// AIPerf 0.13.0, aiperf/common/models/telemetry_models.py, TelemetryRecord.
type aiperfGPU struct {
	Index    *int64              `json:"gpu_index"`
	UUID     string              `json:"gpu_uuid"`
	Hostname string              `json:"hostname"`
	AtNS     *int64              `json:"timestamp_ns"`
	URL      string              `json:"telemetry_source_url"`
	Older    string              `json:"dcgm_url"` // its name before 0.12
	Data     map[string]*float64 `json:"telemetry_data"`
}

// gpuNames are AIPerf's names of what exporters show, those before 0.12 without
// nvidia_, and by what its units are multiplied to be the exporter's again. Source:
// aiperf/gpu_telemetry/constants.py and dcgm_collector.py.
var gpuNames = []struct {
	name, exporter string
	unit           float64
}{
	{"gpu_power_usage", "DCGM_FI_DEV_POWER_USAGE", 1},
	{"power_usage", "DCGM_FI_DEV_POWER_USAGE", 1},
	{"energy_consumption", "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", 1e9}, // MJ, mJ
	{"gpu_utilization", "DCGM_FI_DEV_GPU_UTIL", 1},
	{"sm_utilization", "DCGM_FI_PROF_SM_ACTIVE", 0.01},
	{"amd_power", "gpu_package_power", 1},
	{"amd_energy_consumption", "gpu_energy_consumed", 1e12}, // MJ, µJ
	{"amd_gfx_activity", "gpu_gfx_activity", 1},
	{"amd_umc_activity", "gpu_umc_activity", 1},
}

// readGPULines makes a page of the GPUs that were read together.
func readGPULines(in *Input, take func(*Reading) error) error {
	return inTime(in, func() pageLine { return new(aiperfGPU) }, take)
}

func (v *aiperfGPU) when() (of moment, early, ok bool) {
	if v.AtNS == nil {
		return of, false, false
	}
	return moment{v.URL + v.Older, *v.AtNS}, false, true
}

func (v *aiperfGPU) write(p *page) {
	labels := map[string]string{"UUID": v.UUID}
	if v.UUID == "" && v.Index != nil {
		labels["UUID"] = v.Hostname + " " + strconv.FormatInt(*v.Index, 10)
	}
	for _, g := range gpuNames {
		x := v.Data[g.name]
		if x == nil {
			x = v.Data["nvidia_"+g.name]
		}
		// NVML tells of processes' use of the SMs, which is another figure than DCGM's.
		if x != nil && !(g.unit == 0.01 && strings.HasPrefix(v.URL+v.Older, "pynvml:")) {
			y := *x * g.unit
			p.line(g.exporter, "", labels, "", &y)
		}
	}
}
