// Package engine is the physics of an inference server: how long a step of a
// batch takes on given hardware, and what a scheduler makes of it, in virtual
// time. It knows lengths, not text; no network and no wall clock.
//
// A Law says how long one step takes: Roofline computes it from a model and an
// accelerator, Linear from three numbers, and any other may be plugged in. An
// Engine batches requests continuously as vLLM and SGLang do, with queue,
// prefix cache, KV blocks and preemption, on one instance or several that take
// turns. It is deterministic: the same requests and seed give the same times.
package engine
