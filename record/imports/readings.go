package imports

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"
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
	// Read hands on every reading, in the order of time. What a reading has is there
	// until take returns.
	Read func(in *Input, take func(*Reading) error) error
}

// readings lists the kinds.
var readings = []Readings{
	{"AIPerf's server_metrics_export.jsonl", contains(`"endpoint_url"`, `"timestamp_ns"`, `"endpoint_latency_ns"`), readServerLines},
	{"AIPerf's server_metrics_export.json", contains(`"endpoints_configured"`, `"endpoint_info"`), readServerSums},
	{"AIPerf's server_metrics_export.parquet", isParquet, readServerTable},
	{"AIPerf's gpu_telemetry_export.jsonl", contains(`"gpu_uuid"`, `"telemetry_data"`, `"timestamp_ns"`), readGPULines},
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

func (m moment) before(other moment) bool {
	return m.atNS < other.atNS || m.atNS == other.atNS && m.url < other.url
}

// pageLine is a line of a file that holds a part of a page.
type pageLine interface {
	when() (of moment, early, ok bool)
	write(p *page)
}

// inTime hands on a page of the lines of each moment, in the order of time. As pages
// lines are many times as large, so they are found first and then read once more, one
// page after another.
func inTime(in *Input, line func() pageLine, take func(*Reading) error) error {
	type place struct {
		moment
		early bool
		at    int64
	}
	var lines []place
	err := in.eachLine(func(at int64, n int) (int64, error) {
		v := line()
		end, err := in.one(at, n, v)
		if err != nil {
			return end, err
		}
		of, early, ok := v.when()
		if !ok || of.atNS < 0 {
			return end, in.at(at, errNoMoment)
		}
		lines = append(lines, place{of, early, at})
		return end, nil
	})
	if err != nil {
		return err
	}
	sort.SliceStable(lines, func(i, j int) bool { return lines[i].before(lines[j].moment) })
	p := page{most: mostPage}
	for i, l := range lines {
		v := line()
		if _, err := in.decode(l.at, v); err != nil {
			return err
		}
		v.write(&p)
		if p.full {
			return in.at(l.at, errLargePage)
		}
		if i+1 < len(lines) && lines[i+1].moment == l.moment {
			continue
		}
		if err := take(&Reading{URL: l.url, AtNS: l.atNS, Early: l.early, Page: p.Bytes()}); err != nil {
			return err
		}
		p.Reset()
	}
	return nil
}

// mostPage bounds a page, twice what is read of a server.
const mostPage = 16 << 20

var errLargePage = fmt.Errorf("the reading is larger than %d MiB as a page", mostPage>>20)

// page is a page of metrics that is being written, of at most so many bytes: a file may
// say once, for all buckets of a histogram, what a page says on every line.
type page struct {
	bytes.Buffer
	most int
	full bool // something had no room and was left out
}

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
	size := len(name) + len(ending) + 2*len(le) + 64 // the value, at most
	for key, value := range labels {
		size += len(key) + 2*len(value) + 4 // all of it escaped
	}
	if p.full = p.full || size > p.most-p.Len(); p.full {
		return
	}
	p.WriteString(name)
	p.WriteString(ending)
	sep := byte('{')
	label := func(key, value string) {
		p.WriteByte(sep)
		p.WriteString(key)
		p.WriteString(`="`)
		p.WriteString(escapes.Replace(value))
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
	for _, le := range slices.Sorted(maps.Keys(buckets)) {
		n := buckets[le]
		p.line(name, "_bucket", labels, le, &n)
	}
	p.line(name, "_sum", labels, "", sum)
	p.line(name, "_count", labels, "", count)
}

func isParquet(head []byte) bool { return bytes.HasPrefix(head, []byte("PAR1")) }
