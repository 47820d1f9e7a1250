package engine

import "math"

// Model is the shape of a transformer, in the terms of its config.json.
type Model struct {
	Name    string
	Layers  int
	Hidden  int
	Heads   int
	KVHeads int
	HeadDim int
	FFN     int // of dense layers
	Vocab   int
	Tied    bool // input and output embedding are one matrix
	QKVBias bool
	Norms   int  // norm vectors of width Hidden per layer
	QKNorm  bool // norm vectors on queries and keys

	// Mixture of experts; Experts 0: dense.
	Experts       int
	ExpertsUsed   int // per token, besides the shared ones
	ExpertFFN     int
	SharedExperts int
	DenseLayers   int // the first so many layers have no experts
	RouterBias    bool

	// Multi-head latent attention; KVLora 0: ordinary attention.
	QLora, KVLora, RopeDim, NopeDim, VDim int

	// Sliding window: every WindowEvery-th layer sees only the last Window tokens.
	Window, WindowEvery int

	Context int // longest sequence it was made for
	Source  string
}

func (m Model) mla() bool { return m.KVLora > 0 }

// attention is the number of weights of one layer's attention.
func (m Model) attention() float64 {
	d, h := float64(m.Hidden), float64(m.Heads)
	if m.mla() {
		q, kv := float64(m.QLora), float64(m.KVLora)
		qk := float64(m.NopeDim + m.RopeDim)
		return d*q + q + q*h*qk + d*(kv+float64(m.RopeDim)) + kv + kv*h*float64(m.NopeDim+m.VDim) + h*float64(m.VDim)*d
	}
	k, hd := float64(m.KVHeads), float64(m.HeadDim)
	n := 2*d*h*hd + 2*d*k*hd
	if m.QKVBias {
		n += (h + 2*k) * hd
	}
	if m.QKNorm {
		n += 2 * hd
	}
	return n
}

// expert is the number of weights of one expert in one layer.
func (m Model) expert() float64 { return 3 * float64(m.Hidden) * float64(m.ExpertFFN) }

// moeLayers is the number of layers with experts.
func (m Model) moeLayers() float64 {
	if m.Experts == 0 {
		return 0
	}
	return float64(m.Layers - m.DenseLayers)
}

// fixed is the number of weights that every token passes, without embeddings.
func (m Model) fixed() float64 {
	d := float64(m.Hidden)
	n := float64(m.Layers)*(m.attention()+float64(m.Norms)*d) + d
	moe := m.moeLayers()
	n += (float64(m.Layers) - moe) * 3 * d * float64(m.FFN)
	router := d * float64(m.Experts)
	if m.RouterBias {
		router += float64(m.Experts)
	}
	return n + moe*(router+float64(m.SharedExperts)*m.expert())
}

// embedding is the number of weights of the input embedding or of the output matrix.
func (m Model) embedding() float64 { return float64(m.Vocab) * float64(m.Hidden) }

// Params is the number of all weights.
func (m Model) Params() float64 {
	n := m.fixed() + m.moeLayers()*float64(m.Experts)*m.expert() + m.embedding()
	if !m.Tied {
		n += m.embedding()
	}
	return n
}

// ActiveParams is the number of weights one token makes use of, both embeddings included.
func (m Model) ActiveParams() float64 {
	return m.Params() - m.moeLayers()*float64(m.Experts-m.ExpertsUsed)*m.expert()
}

// ExpertsTouched is the mean number of distinct experts of one layer that a
// step of so many tokens reads, if the router spreads them evenly.
func (m Model) ExpertsTouched(tokens float64) float64 {
	if m.Experts == 0 || tokens <= 0 {
		return 0
	}
	e := float64(m.Experts)
	return e * (1 - math.Pow(1-float64(m.ExpertsUsed)/e, tokens))
}

// StepParams is the number of weights a step of so many tokens reads. The input
// embedding is gathered row by row and left out, unless it is the output matrix too.
func (m Model) StepParams(tokens float64) float64 {
	return m.fixed() + m.embedding() + m.moeLayers()*m.ExpertsTouched(tokens)*m.expert()
}

// KVPerToken is the size of the cache of one token in all layers, in bytes.
func (m Model) KVPerToken(p Precision) float64 {
	if m.mla() {
		return float64(m.Layers*(m.KVLora+m.RopeDim)) * p.Bytes()
	}
	return float64(2*m.Layers*m.KVHeads*m.HeadDim) * p.Bytes()
}

// kernels is about how many kernels a step launches: norms, projections, rotary
// embedding, cache write, attention, sum and the three of the MLP make 11 a
// layer; latent attention has four more, experts with their routing seven.
func (m Model) kernels() int {
	n := 11 * m.Layers
	if m.mla() {
		n += 4 * m.Layers
	}
	return n + 7*int(m.moeLayers())
}

// Windowed is the share of layers with a sliding window.
func (m Model) Windowed() float64 {
	if m.Window == 0 || m.WindowEvery == 0 {
		return 0
	}
	return 1 / float64(m.WindowEvery)
}

// attentionFLOPs is the work of one query position on one key position, in all
// layers. While decoding, latent attention works on the latent vectors
// themselves, which costs more products and far fewer bytes.
func (m Model) attentionFLOPs(decode bool) float64 {
	if m.mla() {
		if decode {
			return 2 * float64(m.Layers*m.Heads) * float64(2*m.KVLora+m.RopeDim)
		}
		return 2 * float64(m.Layers*m.Heads) * float64(m.NopeDim+m.RopeDim+m.VDim)
	}
	return 4 * float64(m.Layers*m.Heads*m.HeadDim)
}
