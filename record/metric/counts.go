package metric

import (
	"encoding/json"

	"tokenmeter/record/timeline"
)

// Untold names those of Total, OK and Failed that nobody counted: another tool's figures
// of a whole run need not tell them. They are 0 in memory and null in files.
type Untold struct{ Total, OK, Failed bool }

// Counts are Total, OK and Failed; absent is what was not told.
func (r *Requests) Counts() (total, ok, failed timeline.Opt[int64]) {
	return timeline.Maybe(r.Total, !r.Untold.Total), timeline.Maybe(r.OK, !r.Untold.OK), timeline.Maybe(r.Failed, !r.Untold.Failed)
}

// Ended is how many requests went well or failed; absent where one of both was not told.
func (r *Requests) Ended() timeline.Opt[int64] {
	return timeline.Maybe(r.OK+r.Failed, !r.Untold.OK && !r.Untold.Failed)
}

// ErrorRate is the share of them that failed; absent where none ended, or it was not told.
func (r *Requests) ErrorRate() timeline.Opt[float64] {
	n := r.Ended().Or(0)
	return timeline.Maybe(float64(r.Failed)/float64(n), n > 0)
}

// plainRequests are Requests without the methods that write and read them.
type plainRequests Requests

// requestsFile has three fields that hide those of plainRequests: they may be null.
type requestsFile struct {
	Total  timeline.Opt[int64] `json:"total"`
	OK     timeline.Opt[int64] `json:"ok"`
	Failed timeline.Opt[int64] `json:"failed"`
	plainRequests
}

// MarshalJSON writes null for what was not told.
func (r Requests) MarshalJSON() ([]byte, error) {
	f := requestsFile{plainRequests: plainRequests(r)}
	f.Total, f.OK, f.Failed = r.Counts()
	return json.Marshal(f)
}

// UnmarshalJSON reads null as what was not told.
func (r *Requests) UnmarshalJSON(text []byte) error {
	zero := timeline.Some(int64(0))
	f := requestsFile{Total: zero, OK: zero, Failed: zero}
	if err := json.Unmarshal(text, &f); err != nil {
		return err
	}
	*r = Requests(f.plainRequests)
	r.Total, r.OK, r.Failed = f.Total.Or(0), f.OK.Or(0), f.Failed.Or(0)
	r.Untold = Untold{!f.Total.OK(), !f.OK.OK(), !f.Failed.OK()}
	return nil
}
