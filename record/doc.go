// Package record is the wing of what was measured: the timeline of a request,
// and every figure that is computed from timelines, as pure functions. It knows
// no network and no clock.
package record
