package cost

import (
	"testing"
	"time"
)

// Worked by hand: 1,000 tokens in at 3 USD a million, 200 out at 15, 40 % of the
// input from the cache at 0.3.
func TestExpect(t *testing.T) {
	p := Pricing{Any: &Tokens{Input: some(3), CachedRead: some(0.3), Output: some(15)}, GPUHour: some(2)}
	e := p.Expect(Load{Input: some(1000), Output: some(200), Reuse: 0.4, Requests: 50, Duration: 90 * time.Minute})
	near(t, "a request", e.USDPerRequest, 0.006)
	near(t, "cached", e.USDCached, (600*3+400*0.3+200*15)/1e6)
	near(t, "all", e.USDTotal, 0.3)
	near(t, "hours", e.USDHours, 3)
	if e := p.Expect(Load{Input: some(1000)}); e.USDPerRequest.OK() || e.USDTotal.OK() || e.USDHours.OK() || e.Requests.OK() {
		t.Errorf("unknown lengths have a cost: %+v", e)
	}
	none := Pricing{GPUHour: some(2)}
	if e := none.Expect(Load{Input: some(1), Output: some(1)}); e.USDPerRequest.OK() {
		t.Errorf("no token price: %+v", e)
	}
}
