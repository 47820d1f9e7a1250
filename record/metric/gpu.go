package metric

import "tokenmeter/record/timeline"

// GPU is what the GPUs did while the run measured, as their exporter tells: all of
// those that its pages show, idle ones too, whoever they worked for.
type GPU struct {
	GPUs        timeline.Opt[int64] `json:"gpus"`        // how many there are, at most
	Utilization *ServerGauge        `json:"utilization"` // share of the time in which any kernel ran: full long before the GPU is

	// The shares of the cycles in which a part of the GPU was busy, by its own
	// counters; null where the exporter does not read them.
	Active       *ServerGauge `json:"active"` // graphics and compute engine
	SMActive     *ServerGauge `json:"sm_active"`
	TensorActive *ServerGauge `json:"tensor_active"`
	DRAMActive   *ServerGauge `json:"dram_active"`
	MemoryUsed   *ServerGauge `json:"memory_used"` // share of the memory
	// Idle is the mean share of the time in which no kernel ran; null without Utilization.
	Idle timeline.Opt[float64] `json:"idle"`

	// PowerW is of all GPUs together: by their energy counters, or else the mean of
	// the readings. EnergyJ is null without counters.
	PowerW  timeline.Opt[float64] `json:"power_w"`
	EnergyJ timeline.Opt[float64] `json:"energy_j"`
	// JPerOutputToken is PowerW over the run's system_output_tps, OutputTPSPerW the
	// reverse. Null without power, or without tokens.
	JPerOutputToken timeline.Opt[float64] `json:"j_per_output_token"`
	OutputTPSPerW   timeline.Opt[float64] `json:"output_tps_per_w"`
	// EnergyUSDPerMOutput is the electricity of a million output tokens, of the GPUs
	// alone. Null without JPerOutputToken or without a price.
	EnergyUSDPerMOutput timeline.Opt[float64] `json:"energy_usd_per_m_output"`
}

// gpuOf is what a server's pages tell of GPUs; nil: nothing.
func gpuOf(m *ServerMetrics, tps timeline.Opt[float64]) *GPU {
	if m == nil {
		return nil
	}
	gauge := func(name string) *ServerGauge {
		if g, ok := m.Gauges[name]; ok {
			return &g
		}
		return nil
	}
	gpus := gauge("gpus")
	energy, metered := m.Counters["gpu_energy_j"]
	if gpus == nil && !metered {
		return nil
	}
	g := &GPU{Utilization: gauge("gpu_utilization"), Active: gauge("gpu_active"), SMActive: gauge("gpu_sm_active"),
		TensorActive: gauge("gpu_tensor_active"), DRAMActive: gauge("gpu_dram_active"), MemoryUsed: gauge("gpu_memory")}
	if g.Utilization != nil {
		g.Idle = timeline.Some(1 - g.Utilization.Mean)
	}
	if gpus != nil {
		g.GPUs = timeline.Some(int64(gpus.Max))
	}
	if power := gauge("gpu_power_w"); power != nil {
		g.PowerW = timeline.Some(power.Mean)
	}
	// A counter that stands still is none: some GPUs have no meter.
	if metered && energy.Total > 0 {
		g.EnergyJ, g.PowerW = timeline.Some(energy.Total), energy.PerS
	}
	watts, rate := g.PowerW.Or(0), tps.Or(0)
	if watts > 0 && rate > 0 {
		g.JPerOutputToken, g.OutputTPSPerW = timeline.Some(watts/rate), timeline.Some(rate/watts)
	}
	return g
}

// WithEnergyPrice puts the electricity's price into the summary, where the power of the
// GPUs is known: usdPerKWh is USD for a kilowatt-hour, which is 3.6 MJ.
func (s *Summary) WithEnergyPrice(usdPerKWh timeline.Opt[float64]) {
	price, told := usdPerKWh.Get()
	if s.GPU == nil || !told {
		return
	}
	if j, ok := s.GPU.JPerOutputToken.Get(); ok {
		s.GPU.EnergyUSDPerMOutput = timeline.Some(j * 1e6 * price / 3.6e6)
	}
}
