package metric

import (
	"fmt"
	"slices"
	"strings"

	"tokenmeter/base/printable"
)

// Better says which direction of a figure is an improvement.
type Better string

// The directions; empty where more is neither better nor worse.
const (
	Lower  Better = "lower"
	Higher Better = "higher"
)

// Definition is what a public name means. The catalogue holds one for every
// name of the record and of the summary.
type Definition struct {
	Name      string // as in files, with its unit: ttft_ms
	Unit      string // ms, s, tokens, tokens/s, …; empty for text and lists of names
	Title     string // what people call it
	Formula   string
	Null      string // when it is null; empty: never
	Elsewhere string // what other tools print under this or a similar name
	Source    string // the facts it is computed from
	Better    Better
	Group     Group
	Aliases   []string // other names that people type, in lower case
}

// Group is a chapter of the catalogue.
type Group string

// The groups, in the order of the documentation.
const (
	GroupLatency       Group = "Latency"
	GroupPace          Group = "Pace"
	GroupSound         Group = "Sound"
	GroupPictures      Group = "Pictures"
	GroupTokens        Group = "Tokens"
	GroupConnection    Group = "Sending and connection"
	GroupOutcome       Group = "Outcome"
	GroupIdentity      Group = "Identity"
	GroupStatistics    Group = "Statistics of a sample"
	GroupRequests      Group = "Requests of a run"
	GroupThroughput    Group = "Throughput"
	GroupGoodput       Group = "Goodput"
	GroupItems         Group = "Checks, tasks, media, readers, classes"
	GroupCold          Group = "Cold starts"
	GroupCost          Group = "Cost"
	GroupDecomposition Group = "Decomposition"
	GroupRoofline      Group = "Roofline"
)

// Catalogue lists every definition, group by group.
var Catalogue = slices.Concat(
	latencyDefinitions, paceDefinitions, soundDefinitions, pictureDefinitions, tokenDefinitions, connectionDefinitions,
	outcomeDefinitions, identityDefinitions, statisticsDefinitions,
	requestsDefinitions, throughputDefinitions, goodputDefinitions, itemDefinitions,
	coldDefinitions, costDefinitions, decompositionDefinitions,
)

// Text is the definition in a few lines, for a terminal.
func (d Definition) Text() string {
	heading := d.Name
	if d.Title != "" {
		heading += ": " + d.Title
	}
	return Paragraph(heading, [][2]string{
		{"formula", d.Formula},
		{"unit", d.Unit},
		{"better", string(d.Better)},
		{"null", d.Null},
		{"from", d.Source},
		{"elsewhere", d.Elsewhere},
		{"also called", strings.Join(d.Aliases, ", ")},
	})
}

// Paragraph is a heading and lines of label and text, wrapped for a terminal.
// Empty texts are left out.
func Paragraph(heading string, lines [][2]string) string {
	var b strings.Builder
	b.WriteString(heading + "\n")
	for _, line := range lines {
		if label, text := line[0], line[1]; text != "" {
			fmt.Fprintf(&b, "  %-12s%s\n", label, printable.Wrap(text, 66, "\n              "))
		}
	}
	return b.String()
}
