package view

import (
	"testing"

	"tokenmeter/record/metric"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

func TestGPUSide(t *testing.T) {
	r := &run.Run{}
	if got := gpuSide(r); got != "" {
		t.Errorf("without GPUs: %q", got)
	}
	r.GPU = &metric.GPU{GPUs: timeline.Some(int64(2)), Utilization: &metric.ServerGauge{Mean: 1}, TensorActive: &metric.ServerGauge{Mean: 0.25},
		PowerW: timeline.Some(700.0), JPerOutputToken: timeline.Some(0.5), OutputTPSPerW: timeline.Some(2.0)}
	const want = "2 GPUs, 100 % busy, tensor cores 25.0 %, 700 W, 0.500 J a token, 2.00 tokens/s a watt"
	if got := gpuSide(r); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	r.GPU.Active = &metric.ServerGauge{Mean: 0.5} // tells more than busy
	if got, want := gpuSide(r), "2 GPUs, 50.0 % active, "; got[:len(want)] != want {
		t.Errorf("%q, want %q…", got, want)
	}
}
