package workload

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// timeUnits are the nanoseconds of units of time, by the name that a workload file uses.
var timeUnits = map[string]float64{"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1}

// unitOf is the unit that the name of a column ends in, like arrival_time_us, and what
// stands in front of it; empty: none.
func unitOf(column string) (stem, unit string) {
	i := strings.LastIndexByte(column, '_')
	if i < 0 {
		return column, ""
	}
	if unit = column[i+1:]; timeUnits[unit] == 0 {
		return column, ""
	}
	return column[:i], unit
}

// timeColumn is the column that holds arrivals and says their unit; empty: none does.
func timeColumn(columns []string) string {
	i := slices.IndexFunc(columns, func(name string) bool {
		stem, unit := unitOf(name)
		return unit != "" && slices.Contains([]string{"timestamp", "timestamp_start_unix", "ts", "arrival", "arrival_time", "arrival_timestamp", "arrived_at"}, stem)
	})
	if i < 0 {
		return ""
	}
	return columns[i]
}

// moment reads a time: a number of units, or a date.
func moment(v any, unit string) (time.Duration, error) {
	var text string
	switch v := v.(type) {
	case string:
		text = strings.TrimSpace(v)
	case json.Number:
		text = string(v)
	case int64:
		text = strconv.FormatInt(v, 10)
	case float64:
		text = strconv.FormatFloat(v, 'f', -1, 64)
	default:
		return 0, fmt.Errorf("%v is no time", v)
	}
	x, notNumber := strconv.ParseFloat(text, 64)
	if unit == "iso" || strings.ContainsAny(text, ":T") {
		at, err := date(text)
		if err != nil && notNumber == nil && epochUnit(x) != "" {
			err = inAnotherUnit(text, epochUnit(x))
		}
		return at, err
	}
	if strings.HasPrefix(text, "-") && strings.Trim(text, "-0.") != "" {
		return 0, fmt.Errorf("the time %s lies before 0", text)
	}
	scale := timeUnits[cmp.Or(unit, "s")]
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && math.Abs(float64(n)*scale) < math.MaxInt64 {
		return time.Duration(n) * time.Duration(scale), nil
	}
	switch {
	case notNumber != nil || math.IsNaN(x):
		return 0, fmt.Errorf("%q is no time", text)
	case math.Abs(x*scale) < math.MaxInt64:
		return time.Duration(math.Round(float64(x * scale))), nil
	case epochUnit(x) != "":
		return 0, inAnotherUnit(text, epochUnit(x))
	}
	return 0, fmt.Errorf("the time %s is more than 292 years", text)
}

// epochUnit is the unit in which a number is a time from 2001 to 2096, counted since
// 1970; empty: in none.
func epochUnit(x float64) string {
	for unit, scale := range timeUnits {
		if s := x * scale / 1e9; s >= 1e9 && s < 4e9 {
			return unit
		}
	}
	return ""
}

func inAnotherUnit(time, unit string) error {
	return fmt.Errorf("the time %s is one since 1970 in %s: write time_in: %s beside file: in a workload file", time, unit, unit)
}

// date reads a date as nanoseconds since 1970.
func date(text string) (time.Duration, error) {
	for _, layout := range []string{
		time.RFC3339Nano, "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999", "2006-01-02T15:04:05.999999999",
	} {
		if t, err := time.Parse(layout, text); err == nil {
			return time.Duration(t.UnixNano()), nil
		}
	}
	return 0, fmt.Errorf("%q is no date, like 2024-05-10 00:00:00.009930+00:00", text)
}
