package metric

import (
	"testing"

	"tokenmeter/record/timeline"
)

// 1,000 W at 500 output tokens/s are 2 J a token: a million are 2 MJ, 0.5556 kWh.
func TestEnergyPrice(t *testing.T) {
	told := func() *Summary {
		var s Summary
		s.Throughput.SystemOutputTPS = timeline.Some(500.0)
		s.WithServer(&ServerMetrics{Gauges: map[string]ServerGauge{
			"gpus": {Max: 2}, "gpu_power_w": {Mean: 1000}, "gpu_utilization": {Mean: 0.75}}})
		return &s
	}
	s := told()
	s.WithEnergyPrice(timeline.Some(0.36))
	is(t, "idle", s.GPU.Idle, 0.25)
	is(t, "electricity", s.GPU.EnergyUSDPerMOutput, 0.2)
	s = told()
	if s.WithEnergyPrice(timeline.Opt[float64]{}); s.GPU.EnergyUSDPerMOutput.OK() {
		t.Error("a cost without a price")
	}
	var none Summary
	none.WithEnergyPrice(timeline.Some(0.36)) // without GPUs
	none.WithServer(&ServerMetrics{Gauges: map[string]ServerGauge{"gpus": {Max: 1}}})
	none.WithEnergyPrice(timeline.Some(0.36))
	if none.GPU.EnergyUSDPerMOutput.OK() || none.GPU.Idle.OK() {
		t.Errorf("without power: %+v", none.GPU)
	}
}
