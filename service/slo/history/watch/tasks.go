package watch

import (
	"fmt"
	"slices"
	"time"

	"tokenmeter/record/metric"
	"tokenmeter/service/slo"
)

// TaskIdle is after how long without a further request a live task is over.
const TaskIdle = 5 * time.Minute

// maxTasks bounds what is held of tasks that are not over.
var maxTasks = 100_000

type taskKey struct {
	source slo.Source
	id     string
}

// task is one that is not over. It belongs where its first request went.
type task struct {
	slo.Task
	labels slo.Labels
}

// noteTask adds a request to its task; due is when it came.
func (w *Watch) noteTask(plan *Plan, source slo.Source, labels slo.Labels, due, at time.Time, r *metric.Record) {
	if r.Task == nil || !r.Phase.Counts() || !slices.ContainsFunc(plan.Objectives, (*slo.Objective).OfTasks) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.tasks == nil {
		w.tasks = map[taskKey]*task{}
	}
	k := taskKey{source, *r.Task}
	t := w.tasks[k]
	if t == nil {
		if len(w.tasks) >= maxTasks {
			w.leftOut++
			return
		}
		t = &task{labels: labels}
		w.tasks[k] = t
	}
	t.Note(r, float64(due.UnixMicro())/1e6, at)
}

// LeftOut is how many requests began tasks that count nowhere, as too many were
// open.
func (w *Watch) LeftOut() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.leftOut
}

// tellLeftOut says so, once a minute at most.
func (w *Watch) tellLeftOut(now time.Time) error {
	left := w.LeftOut()
	if left == w.toldOf || !due(now, w.told, time.Minute) {
		return nil
	}
	more := left - w.toldOf
	w.toldOf, w.told = left, now
	return fmt.Errorf("%d requests of new tasks count in no task: %d are open, the most that is held; one is over when %s have passed without a request", more, maxTasks, TaskIdle)
}

// endTasks counts the tasks of which nothing was heard for long: now, as the
// windows of alerts would be over otherwise.
func (w *Watch) endTasks(now time.Time) {
	w.mu.Lock()
	var over []slo.Increment
	plan := w.asked.Load()
	for k, t := range w.tasks {
		if t.End.After(now) {
			t.End = now // the clock was put back
		}
		if now.Sub(t.End) < TaskIdle {
			continue
		}
		delete(w.tasks, k)
		for _, o := range slo.Distinct(plan.Objectives) {
			if o.OfTasks() && o.Applies(t.labels) && slices.Contains(o.Sources, k.source) {
				over = append(over, slo.Increment{Key: slo.Key{Hash: o.Hash, Source: k.source, Group: o.Group(t.labels)}, At: now, Counts: t.Count(o)})
			}
		}
	}
	w.mu.Unlock()
	w.recorder.Count(over...)
}
