package engine

import (
	"math"
	"time"
)

// Roofline is the law of a model on a group of accelerators: no step is faster
// than its bytes through the memory and its operations through the arithmetic
// units allow. With efficiencies of 1 and no overheads it is a bound; with the
// defaults of Deploy it is an estimate.
type Roofline struct {
	Model       Model
	Accelerator Accelerator
	TP          int // devices that share each layer
	Weights     Precision
	KV          Precision

	MemoryEfficiency  float64 // share of the bandwidth that is reached, 0…1
	ComputeEfficiency float64 // share of the peak that is reached, 0…1

	LinkLatency  time.Duration // of one all-reduce
	StepOverhead time.Duration // launch and scheduling, every step
	OpTime       time.Duration // beginning and ending one kernel, for each kernel
	SequenceTime time.Duration // sampling and bookkeeping, for each sequence

	// CountEmbedding streams and multiplies the input embedding like any other
	// weight, as most published tables do. It is about 6 % of an 8B model.
	CountEmbedding bool
}

// Parts is a step's time by cause.
type Parts struct {
	Weights   time.Duration // reading weights
	Products  time.Duration // multiplying with them; Weights and Products overlap
	Cache     time.Duration // reading and writing the KV cache
	Attention time.Duration // multiplying with it; Cache and Attention overlap
	Network   time.Duration // all-reduces between devices
	Overhead  time.Duration
	Total     time.Duration
}

// Step is how long the batch takes.
func (l *Roofline) Step(b *Batch) time.Duration { return l.Parts(b).Total }

// Parts is the same, by cause.
func (l *Roofline) Parts(b *Batch) Parts {
	tokens := float64(b.Tokens())
	if tokens == 0 {
		return Parts{}
	}
	n := float64(max(l.TP, 1))
	bandwidth := l.Accelerator.Bandwidth * n * l.MemoryEfficiency
	peak := l.Accelerator.Peak(l.Weights) * n * l.ComputeEfficiency
	var p Parts
	read := l.Model.StepParams(tokens)
	active := l.Model.ActiveParams() - l.Model.embedding()
	head := float64(b.Sequences) // output matrix: for the last position of each sequence only
	if l.Model.Tied {
		active = l.Model.ActiveParams()
	}
	flops := 2 * ((active-l.Model.embedding())*tokens + l.Model.embedding()*head)
	if l.CountEmbedding {
		if !l.Model.Tied {
			read += l.Model.embedding()
		}
		flops = 2 * l.Model.ActiveParams() * tokens
	}
	p.Weights = seconds(read * l.Weights.Bytes() / bandwidth)
	p.Products = seconds(flops / peak)
	p.Cache = seconds(l.cacheBytes(b) / bandwidth)
	// Attention itself is computed in 16 bits whatever the weights are.
	meet := l.Model.attentionFLOPs(false)*b.PrefillPairs + l.Model.attentionFLOPs(true)*l.decodePairs(b)
	p.Attention = seconds(meet / (l.Accelerator.BF16 * n * l.ComputeEfficiency))
	p.Network = l.allReduces(tokens)
	p.Overhead = l.StepOverhead + time.Duration(l.Model.kernels())*l.OpTime + time.Duration(b.Sequences)*l.SequenceTime
	p.Total = max(p.Weights, p.Products) + max(p.Cache, p.Attention) + p.Network + p.Overhead
	return p
}

// cacheBytes is the cache read and written, as if spread evenly over the group.
func (l *Roofline) cacheBytes(b *Batch) float64 {
	touched := l.seen(b) + float64(b.PrefillContext) + float64(b.Tokens())
	return touched * l.Model.KVPerToken(l.KV) * l.replication()
}

// CacheMove is the time in which a token's cache goes to another group over the
// devices' links.
func (l *Roofline) CacheMove() time.Duration {
	if l.Accelerator.Link <= 0 {
		return 0
	}
	return seconds(l.Model.KVPerToken(l.KV) / (l.Accelerator.Link * float64(max(l.TP, 1))))
}

// seen is how many cached tokens decoding sequences read, on average over layers.
func (l *Roofline) seen(b *Batch) float64 {
	w := l.Model.Windowed()
	return (1-w)*float64(b.DecodeContext) + w*float64(b.DecodeWindow)
}

// decodePairs is how many query and key positions meet while decoding.
func (l *Roofline) decodePairs(b *Batch) float64 {
	if b.Decode == 0 {
		return 0
	}
	return l.seen(b) * float64(b.DecodeTokens) / float64(b.Decode)
}

// replication is how often each part of the cache is held in the group: heads
// cannot be split, so more devices than heads hold copies.
func (l *Roofline) replication() float64 {
	n := max(l.TP, 1)
	if l.Model.mla() {
		return float64(n)
	}
	k := max(l.Model.KVHeads, 1)
	return float64(n) * math.Ceil(float64(k)/float64(n)) / float64(k)
}

// allReduces is the time of the two ring all-reduces of every layer, on 16-bit activations.
func (l *Roofline) allReduces(tokens float64) time.Duration {
	if l.TP < 2 {
		return 0
	}
	return time.Duration(2*l.Model.Layers) * (AllReduce(l.TP, tokens*float64(l.Model.Hidden)*2, l.Accelerator.Link) + l.LinkLatency)
}

// AllReduce is the time a ring of n devices needs to sum bytes over links of a
// one-way bandwidth, without latency.
func AllReduce(n int, bytes, bandwidth float64) time.Duration {
	if n < 2 || bandwidth <= 0 {
		return 0
	}
	return seconds(2 * float64(n-1) / float64(n) * bytes / bandwidth)
}

// seconds converts, saturating instead of overflowing.
func seconds(s float64) time.Duration {
	ns := s * 1e9
	if !(ns < math.MaxInt64/4) {
		return math.MaxInt64 / 4
	}
	return time.Duration(math.Round(ns))
}
