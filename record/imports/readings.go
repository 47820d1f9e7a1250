package imports

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Reading is a page of a server's metrics, or of its GPUs', as another tool read it.
type Reading struct {
	URL  string
	AtNS int64 // when, in ns since 1970
	// Early: it is of a time before what counts began, whatever AtNS says.
	Early bool
	Page  []byte // in Prometheus's text format, version 0.0.4

	// Mean, Least and Most are pages of gauges over the time since the page's reading
	// before; nil where Page has them as they were.
	Mean, Least, Most []byte
	// Times is how many readings it stands for, EveryS the time between two of them; 0
	// where it is one.
	Times  int64
	EveryS float64
}

// Readings is a kind of file that holds what servers told of themselves while another
// tool asked them, and no request. It stands beside one that has requests.
type Readings struct {
	Name string // for messages
	// Is tells the files by their first bytes.
	Is func(head []byte) bool
	// Read hands on every reading, in the order of time.
	Read func(in *Input, take func(*Reading) error) error
}

// readings lists the kinds.
var readings = []Readings{
	{"AIPerf's server_metrics_export.jsonl", isServerLines, readServerLines},
	{"AIPerf's server_metrics_export.json", isServerSums, readServerSums},
	{"AIPerf's server_metrics_export.parquet", isParquet, readServerTable},
	{"AIPerf's gpu_telemetry_export.jsonl", isGPULines, readGPULines},
}

// RecogniseReadings finds the kind of file that begins so; nil: none.
func RecogniseReadings(head []byte) *Readings {
	for i := range readings {
		if readings[i].Is(head) {
			return &readings[i]
		}
	}
	return nil
}

// moment is a page at a moment.
type moment struct {
	url  string
	atNS int64
}

// gathered are pages whose lines stand anywhere in a file.
type gathered struct {
	pages map[moment]*page
	early map[moment]bool
	order []moment
}

func newGathered() *gathered { return &gathered{pages: map[moment]*page{}, early: map[moment]bool{}} }

// page is the one of a moment.
func (g *gathered) page(of moment) *page {
	p := g.pages[of]
	if p == nil {
		p = &page{}
		g.pages[of] = p
		g.order = append(g.order, of)
	}
	return p
}

// hand hands the pages on in the order of time.
func (g *gathered) hand(take func(*Reading) error) error {
	slices.SortStableFunc(g.order, func(a, b moment) int { return cmp.Compare(a.atNS, b.atNS) })
	for _, m := range g.order {
		if err := take(&Reading{URL: m.url, AtNS: m.atNS, Early: g.early[m], Page: g.pages[m].Bytes()}); err != nil {
			return err
		}
	}
	return nil
}

// page is a page of metrics that is being written.
type page struct{ bytes.Buffer }

// word reports whether a name can stand on a page.
func word(name string) bool {
	return name != "" && strings.IndexFunc(name, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == ':')
	}) < 0
}

var escapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// line adds a value; one that is unknown, and one with a name that none can have, is
// left out. A bound that is not empty is the label le.
func (p *page) line(name, ending string, labels map[string]string, le string, v *float64) {
	if v == nil || math.IsNaN(*v) || !word(name) || name[0] >= '0' && name[0] <= '9' {
		return
	}
	p.WriteString(name)
	p.WriteString(ending)
	sep := byte('{')
	label := func(key, value string) {
		p.WriteByte(sep)
		p.WriteString(key)
		p.WriteString(`="`)
		escapes.WriteString(p, value)
		p.WriteByte('"')
		sep = ','
	}
	keys := make([]string, 0, len(labels))
	for key := range labels {
		if word(key) && key != "le" {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		label(key, labels[key])
	}
	if le != "" {
		label("le", le)
	}
	if sep == ',' {
		p.WriteByte('}')
	}
	p.WriteByte(' ')
	p.Write(strconv.AppendFloat(p.AvailableBuffer(), *v, 'g', -1, 64))
	p.WriteByte('\n')
}

// histogram adds what of one is known.
func (p *page) histogram(name string, labels map[string]string, buckets map[string]float64, sum, count *float64) {
	for le, n := range buckets {
		p.line(name, "_bucket", labels, le, &n)
	}
	p.line(name, "_sum", labels, "", sum)
	p.line(name, "_count", labels, "", count)
}

func isParquet(head []byte) bool { return bytes.HasPrefix(head, []byte("PAR1")) }
