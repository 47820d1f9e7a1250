package slo

import (
	"encoding/json"
	"testing"
	"time"
)

// What fires is told from its beginning to its end; what can't be told stays as
// it was, over a restart too.
func TestTracker(t *testing.T) {
	result := func(firing, frozen bool) []Result {
		return []Result{{Name: "a", Source: Live, Alerts: []AlertStatus{{Name: "burn", Firing: firing, Frozen: frozen}}}}
	}
	var tr Tracker
	minute := func(n int) time.Time { return begin.Add(time.Duration(n) * time.Minute) }
	if f, r := tr.Update(result(false, true), minute(0)); len(f)+len(r) != 0 {
		t.Error("an alert that can't be told fires")
	}
	f, _ := tr.Update(result(true, false), minute(1))
	if len(f) != 1 || !f[0].Since.Equal(minute(1)) {
		t.Fatalf("%+v", f)
	}
	f, r := tr.Update(result(false, true), minute(2))
	if len(f) != 1 || len(r) != 0 {
		t.Errorf("frozen: %+v %+v", f, r)
	}
	data, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	var again []Firing
	if err := json.Unmarshal(data, &again); err != nil {
		t.Fatal(err)
	}
	tr = Tracker{}
	tr.Restore(again)
	f, _ = tr.Update(result(true, false), minute(3))
	if len(f) != 1 || !f[0].Since.Equal(minute(1)) {
		t.Errorf("after a restart it fires since %s", f[0].Since)
	}
	f, r = tr.Update(result(false, false), minute(4))
	if len(f) != 0 || len(r) != 1 || !r[0].Resolved.Equal(minute(4)) {
		t.Errorf("%+v %+v", f, r)
	}
	// The name is what receivers know it by.
	tr.Update(result(true, false), minute(5))
	renamed := result(true, false)
	renamed[0].Name = "b"
	f, r = tr.Update(renamed, minute(5))
	if len(f) != 1 || f[0].Objective != "b" || len(r) != 1 || r[0].Objective != "a" {
		t.Errorf("renamed: %+v %+v", f, r)
	}
	if f, r = tr.Update(nil, minute(6)); len(f) != 0 || len(r) != 1 {
		t.Errorf("an objective that is gone still fires: %+v %+v", f, r)
	}
}
