package workload

import (
	"strings"
	"testing"
	"time"
)

func TestSet(t *testing.T) {
	original := &Prefix{Tokens: "100", Count: 2}
	mix := []Class{{Name: "chat", Share: 1}, {Name: "rag", Share: 2}}
	s := Spec{Content: Content{Input: "10", Prefix: original, Parameters: map[string]any{"top_p": 1}}, Mix: mix}
	for _, text := range []string{"input=512", "prefix.tokens=2048", "when.burstiness=0.5", "when.pace=2s", "mix.rag.share=7", "mix.0.input=20",
		"parameters.temperature=0.5", "when.max_failures=5%", "when.closed=true", "when.requests=12", "images.width=64"} {
		if err := s.Set(text); err != nil {
			t.Fatal(err)
		}
	}
	if s.Input != "512" || s.Prefix.Tokens != "2048" || s.Prefix.Count != 2 || s.When.Burstiness != 0.5 || s.When.Pace != 2*time.Second ||
		s.Mix[1].Share != 7 || s.Mix[0].Input != "20" || s.Parameters["temperature"] != 0.5 || s.When.Failures != 0.05 || !s.When.Closed ||
		s.When.Requests != 12 || s.Images.Width != 64 {
		t.Errorf("%+v", s)
	}
	if original.Tokens != "100" || mix[1].Share != 2 {
		t.Error("what another specification holds was changed")
	}
	for text, want := range map[string]string{"inputs=3": "no field", "input": "FIELD=VALUE", "mix.7.share=1": "no \"7\"", "when=3": "no single value",
		"when.pace=3": "a time", "prefix.count=-1": "whole number", "input.deep=1": "leads nowhere", "when.requests=x": "whole number"} {
		if err := s.Set(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
