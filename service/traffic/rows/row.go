package rows

import (
	"tokenmeter/record/cost"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
	"tokenmeter/service/traffic"
)

// rowOf is a finished request as a row; pricing may be nil.
func rowOf(r *traffic.Request, pricing *cost.Pricing) *run.LiveRow {
	record := r.Record
	if pricing != nil && pricing.Priced() && !record.CostUSD.OK() {
		record.CostUSD = pricing.Of(r.Timeline)
	}
	out := run.NewLiveRow(&record, r.Timeline, r.Kept)
	out.At = r.At.UTC().Round(0)
	out.Source, out.Listener, out.Route, out.Upstream, out.ModelLabel = string(r.Labels.Source), r.Labels.Listener, r.Labels.Route, r.Labels.Upstream, r.Labels.Model
	if r.Key != "" {
		out.Key = &r.Key
	}
	if r.Unmeasured != "" {
		why := string(r.Unmeasured)
		out.Unmeasured = &why
	}
	out.LeftMS, out.FirstWriteMS, out.LastWriteMS = ms(r.LeftUS), ms(r.FirstWriteUS), ms(r.LastWriteUS)
	out.SlowReaderMS = float64(r.SlowReaderUS) / 1000
	out.DeliveredMS = r.Record.DeliveredTTFTMS.Ptr()
	out.SendMS, out.FirstDelayMS = ms(r.Delay.HeadUS), ms(r.Delay.FirstUS)
	if n := r.Delay.Reads; n > 0 {
		mean, most := float64(r.Delay.SumUS)/float64(n)/1000, float64(r.Delay.MaxUS)/1000
		out.MeanDelayMS, out.MaxDelayMS = &mean, &most
	}
	out.Delivered, out.Wasted = r.Delivered.Ptr(), r.Wasted.Ptr()
	out.SentBytes, out.Bytes = r.RequestBytes, r.ResponseBytes
	if r.Kept {
		if beyond := traffic.GapsBeyond(r.Timeline); beyond != nil {
			out.Beyond = beyond[:]
		}
	}
	return out
}

func ms(us timeline.Opt[int64]) *float64 {
	v, ok := us.Get()
	if !ok {
		return nil
	}
	x := float64(v) / 1000
	return &x
}
