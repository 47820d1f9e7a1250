package imports

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"tokenmeter/record/timeline"
)

// Files that the tools wrote of scripted replies, and what they printed of them: see
// testdata/README.md.
func TestPlayedFiles(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "played", "printed.json"))
	if err != nil {
		t.Fatal(err)
	}
	var printed map[string]struct {
		OK   int      `json:"ok"`
		TTFT *float64 `json:"mean_ttft_ms"` // null where the tool's mean is of failures too
	}
	if err := json.Unmarshal(data, &printed); err != nil {
		t.Fatal(err)
	}
	if len(printed) < 30 {
		t.Errorf("%d files", len(printed))
	}
	for name, want := range printed {
		_, all := imported(t, filepath.Join("played", name))
		ok, sum := 0, 0.0
		for _, tl := range all {
			if tl.Outcome != timeline.OK {
				continue
			}
			ok++
			for ev := range tl.Events.Generation() {
				sum += float64(ev.AtUS-(tl.StartUS-tl.DueUS)) / 1000 // tools count from the send
				break
			}
		}
		if len(all) != 6 || ok != want.OK {
			t.Errorf("%s: %d of %d requests went well, the tool says %d", name, ok, len(all), want.OK)
		}
		if want.TTFT != nil && math.Abs(sum/float64(ok)-*want.TTFT) > 0.003 {
			t.Errorf("%s: mean TTFT %v ms, the tool says %v", name, sum/float64(ok), *want.TTFT)
		}
	}
}
