package foreign

import (
	"fmt"
	"strconv"
	"strings"

	"tokenmeter/base/printable"
)

// File writes what was read as a file of objectives, and below each in comments
// what was lost; what has no counterpart is in comments only. Timezone is that of
// the calendar windows: there is one a file, and another one is lost.
func File(source string, all []Objective) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Made of %s by tokenmeter slo import.\n", comment(source))
	zone := ""
	for i := range all {
		if o := &all[i]; o.Objective != "" && o.Calendar != "" && o.Timezone != "" && zone == "" {
			zone = o.Timezone
		}
	}
	if zone != "" {
		fmt.Fprintf(&b, "timezone: %s\n", strconv.Quote(zone))
	}
	head := false
	for i := range all {
		o := &all[i]
		lost := o.Lost
		if o.Calendar != "" && o.Objective != "" && o.Timezone != zone {
			lost = append(lost, "its calendar is of another time zone: "+o.Timezone)
		}
		if o.Objective == "" {
			fmt.Fprintf(&b, "\n# Left out: %s\n", comment(o.From))
		} else {
			if !head {
				b.WriteString("objectives:\n")
				head = true
			}
			o.entry(&b)
		}
		for _, text := range lost {
			fmt.Fprintf(&b, "    # %s\n", comment(text))
		}
	}
	return b.String()
}

func (o *Objective) entry(b *strings.Builder) {
	fmt.Fprintf(b, "  - name: %s\n    objective: %s\n    target: %s\n", strconv.Quote(o.Name), strconv.Quote(o.Objective), strconv.FormatFloat(o.Target, 'g', 12, 64))
	if o.Calendar != "" {
		fmt.Fprintf(b, "    calendar: %s\n", o.Calendar)
	} else {
		fmt.Fprintf(b, "    window: %s\n", o.Window)
	}
	if o.Slice != "" {
		fmt.Fprintf(b, "    slice: %s\n", o.Slice)
	}
	if o.About != "" {
		fmt.Fprintf(b, "    about: %s\n", strconv.Quote(o.About))
	}
	switch {
	case len(o.Alerts) > 0:
		b.WriteString("    alerts:\n")
		for _, a := range o.Alerts {
			fmt.Fprintf(b, "      - {factor: %s, long: %s, severity: %s}\n", strconv.FormatFloat(a.Factor, 'g', 12, 64), a.Long, a.Severity)
		}
	case o.NoAlerts:
		b.WriteString("    alerts: []\n")
	}
}

func comment(s string) string { return printable.Text(strings.Join(strings.Fields(s), " ")) }
