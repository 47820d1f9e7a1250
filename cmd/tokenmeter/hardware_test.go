//go:build !lean

package main

import (
	"strings"
	"testing"
)

func TestHardware(t *testing.T) {
	h, err := hardwareOf("llama-3.1-70b/h100x2-fp8")
	if err != nil {
		t.Fatal(err)
	}
	// NVIDIA NIM: 18.58 ms a token at one stream of 5,000 tokens in, 500 out: the
	// weights alone, without the gathered rows of the input embedding, are 0.559 of
	// two H100's bandwidth, the cache of 5,250 tokens in fp8 0.007 more.
	bytes := h.ReadParams*h.BytesPerParam + 5250*h.CacheBytes
	if mbu := bytes / 0.01858 / h.BandwidthBytes; mbu < 0.559 || mbu > 0.569 {
		t.Errorf("MBU %v", mbu)
	}
	if h, err = hardwareOf("8.03B/l40s"); err != nil || int64(h.ReadParams+0.5) != 8.03e9 || h.BandwidthBytes != 864e9 || h.BytesPerParam != 2 || h.CacheBytes != 0 {
		t.Errorf("%+v, %v", h, err)
	}
	if h, err = hardwareOf("mixtral-8x7b/h100x2"); err != nil || h.Experts != 8 || h.ExpertParams < 45e9 || h.ExpertParams+h.ReadParams > 46.8e9 {
		t.Errorf("%+v, %v", h, err)
	}
	if h, err = hardwareOf("gpt-oss-120b/h100x2-mxfp4"); err != nil || h.WindowShare != 0.5 || h.Window != 128 {
		t.Errorf("%+v, %v", h, err)
	}
	for _, bad := range []string{"llama-3.1-8b", "no-such/h100", "llama-3.1-8b/h99", "0B/h100", "-1B/h100", "B/h100", "/", "InfB/h100", "NaNB/h100", "8.03B/"} {
		if _, err := hardwareOf(bad); err == nil || strings.Contains(err.Error(), "%!") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
