package scrape

import (
	"bytes"
	"strconv"
	"strings"
	"sync"
)

// kind is how the values of a metric are added up.
type kind uint8

const (
	amount  kind = iota // a gauge that is added up over series and replicas
	share               // a gauge that is averaged
	counter             // only grows
	times               // a histogram of seconds
	meter               // a counter of a device, which ran long before we came
)

// metrics are what is read, whatever an engine calls it. A name that ends in _s
// counts seconds, in _w watts, in _j joules; a share is from 0 to 1.
var metrics = map[string]kind{
	"running": amount, "waiting": amount, "swapped": amount,
	"kv_usage": share, "prefix_hit_rate": share, "spec_accept_rate": share,
	"spec_accept_length": amount, // an average that its engine makes itself
	"prompt_tokens":      counter, "cached_tokens": counter, "output_tokens": counter,
	"prefix_queries": counter, "prefix_hits": counter, "preemptions": counter, "requests": counter,
	"spec_drafts": counter, "spec_draft_tokens": counter, "spec_accepted_tokens": counter,
	"prompt_s": counter, "decode_s": counter,
	"gpus": amount, "gpu_power_w": amount, "gpu_energy_j": meter,
	"gpu_utilization": share, "gpu_active": share, "gpu_sm_active": share, "gpu_tensor_active": share, "gpu_dram_active": share, "gpu_memory": share,
	"gpu_memory_used": amount, "gpu_memory_all": amount, "gpu_memory_free": amount, "kv_blocks_used": amount, "kv_blocks_all": amount, // see fractions
	"ttft": times, "itl": times, "tpot": times, "e2e": times, "queue": times, "prefill": times, "decode": times,
}

// table is how a server's software names its metrics: a line a metric, with its
// names there, the newest first. Of names that are on a page together only the
// newest counts. label=value behind them takes only series with that label, *0.01
// brings values to our unit. A new engine is a file with its table and a word in
// tables.
type table struct{ name, lines string }

// tables are of the engines that are known. Of a page that has names of several,
// the one with the most wins, and of equal ones the first.
var tables = []table{vllm, sglang, tgi, trtllm, triton, dynamo, llamacpp, lmdeploy, nim, dcgm, amd}

// engine is a table that was read.
type engine struct {
	name    string
	aliases []alias
}

// alias is a line of a table.
type alias struct {
	as           string
	label, value string  // only series with this label; empty: all
	unit         float64 // what values are multiplied with
}

// known is what the tables say.
type known struct {
	engines []*engine
	wanted  map[string][]target // where a name leads
}

var tablesRead = sync.OnceValue(func() *known {
	k := &known{wanted: map[string][]target{}}
	for e, t := range tables {
		engine := &engine{name: t.name}
		for line := range strings.Lines(t.lines) {
			words := strings.Fields(line)
			if len(words) == 0 {
				continue
			}
			a := alias{as: words[0], unit: 1}
			for rank, word := range words[1:] {
				if label, value, ok := strings.Cut(word, "="); ok {
					a.label, a.value = label, value
					continue
				}
				if unit, ok := strings.CutPrefix(word, "*"); ok {
					a.unit, _ = strconv.ParseFloat(unit, 64) // a test reads all tables
					continue
				}
				key := string(plain([]byte(word)))
				k.wanted[key] = append(k.wanted[key], target{e, len(engine.aliases), rank})
			}
			engine.aliases = append(engine.aliases, a)
		}
		k.engines = append(k.engines, engine)
	}
	return k
})

// target is an alias of an engine, and which of its names was found.
type target struct{ engine, alias, rank int }

// plain is a name without what others add to it on the way: prefixes of
// KServe's and Ray's monitors, an underscore for the colon, and the ending that
// libraries for Prometheus add to counters, or do not.
func plain(name []byte) []byte {
	for _, prefix := range []string{"kserve_", "ray_"} {
		name = bytes.TrimPrefix(name, []byte(prefix))
	}
	if i := bytes.IndexByte(name, ':'); i >= 0 {
		name = bytes.Clone(name)
		name[i] = '_'
	}
	return bytes.TrimSuffix(name, []byte("_total"))
}

// part is what a series of a histogram holds; whole for all else.
type part uint8

const (
	whole part = iota
	bucket
	sum
	count
)

var endings = []struct {
	end string
	is  part
}{{"_bucket", bucket}, {"_sum", sum}, {"_count", count}}

// find is which aliases a name of a page leads to.
func find(name []byte) ([]target, part) {
	name = plain(name)
	if to := tablesRead().wanted[string(name)]; to != nil {
		return to, whole
	}
	for _, e := range endings {
		if base, ok := bytes.CutSuffix(name, []byte(e.end)); ok {
			if to := tablesRead().wanted[string(plain(base))]; to != nil {
				return to, e.is
			}
		}
	}
	return nil, whole
}

// again reports whether a series repeats what another one says: each rank of a
// model that is spread over GPUs tells the same, and a queue is told once more
// by priority.
func again(s *sample) bool {
	for _, name := range []string{"tp_rank", "pp_rank", "moe_ep_rank"} {
		if v, ok := s.label(name); ok && string(v) != "0" && len(v) > 0 {
			return true
		}
	}
	v, ok := s.label("priority")
	return ok && len(v) > 0
}
