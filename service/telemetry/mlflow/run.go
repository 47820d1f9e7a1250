package mlflow

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"tokenmeter/service/telemetry"
)

// markTag is the tag by which a run is found whose id never came.
const markTag = "tokenmeter.id"

// begin makes the run, in its experiment. Where that was asked before and no answer
// came, the server may have made it: it is looked for first.
func (l *Logger) begin(ctx context.Context) error {
	if err := l.place(ctx); err != nil {
		return err
	}
	if l.asked > 0 {
		made, err := l.find(ctx)
		if err != nil {
			return err
		}
		if len(made) > 0 {
			l.run = made[0]
			return nil
		}
	}
	l.asked++
	var made struct {
		Run info `json:"run"`
	}
	err := l.ask(ctx, "runs/create", map[string]any{"experiment_id": l.experiment, "start_time": l.began.UnixMilli(), "tags": []any{
		tag("mlflow.source.name", "tokenmeter bench"), tag("mlflow.source.type", "JOB"), tag(markTag, l.mark)}}, &made)
	if err != nil {
		return err
	}
	l.run, err = made.Run.id()
	return err
}

// place learns the id of the experiment, and makes it where it is not there.
func (l *Logger) place(ctx context.Context) error {
	name := l.opt.Experiment
	if l.experiment != "" || name == "" {
		l.experiment = cmp.Or(l.experiment, l.opt.ExperimentID, "0")
		return nil
	}
	var told struct {
		ID         string `json:"experiment_id"`
		Experiment struct {
			ID string `json:"experiment_id"`
		} `json:"experiment"`
	}
	err := l.ask(ctx, "experiments/get-by-name?experiment_name="+url.QueryEscape(name), nil, &told)
	if status := (*telemetry.StatusError)(nil); errors.As(err, &status) && status.Code == http.StatusNotFound {
		err = l.ask(ctx, "experiments/create", map[string]any{"name": name}, &told)
	}
	if err == nil {
		l.experiment = cmp.Or(told.Experiment.ID, told.ID)
	}
	return err
}

// info is a run as servers tell of it.
type info struct {
	Info struct {
		ID string `json:"run_id"`
	} `json:"info"`
}

// id is the run's, which goes into requests and onto the screen.
func (r info) id() (string, error) {
	id := r.Info.ID
	if id == "" || len(id) > 64 || strings.IndexFunc(id, func(r rune) bool { return !plain(r) }) >= 0 {
		return "", errors.New("it made a run without an id that is one")
	}
	return id, nil
}

// find returns the ids of the runs that were made for this logger.
func (l *Logger) find(ctx context.Context) (ids []string, err error) {
	var told struct {
		Runs []info `json:"runs"`
	}
	err = l.ask(ctx, "runs/search", map[string]any{"experiment_ids": []string{l.experiment}, "max_results": 100,
		"filter": "tags.`" + markTag + "` = '" + l.mark + "'"}, &told)
	for _, run := range told.Runs {
		id, bad := run.id()
		if bad != nil {
			return nil, bad
		}
		ids = append(ids, id)
	}
	return ids, err
}

// end ends the run with its status. One that the server made besides, late, or told of
// too late to be logged to, has failed: none is left running. All before may have used
// up ctx, so this has time of its own.
func (l *Logger) end(ctx context.Context, status string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.Timeout)
	defer cancel()
	update := func(run, status string) error {
		return l.ask(ctx, "runs/update", map[string]any{"run_id": run, "status": status, "end_time": time.Now().UnixMilli()}, nil)
	}
	var err error
	if l.run != "" {
		err = update(l.run, status)
	}
	if l.asked < 2 && l.run != "" || l.asked == 0 {
		return err
	}
	made, lost := l.find(ctx)
	err = cmp.Or(err, lost)
	for _, run := range made {
		if run != l.run {
			err = cmp.Or(err, update(run, Failed))
		}
	}
	return err
}

// params says what a run was; those that are empty are left out.
func (l *Logger) params(ctx context.Context, params map[string]string) error {
	var list []any
	for name, value := range params {
		if value = strings.ToValidUTF8(value[:min(len(value), 500)], ""); value != "" { // 500 is what the oldest servers take
			list = append(list, tag(keyOf(name), value))
		}
	}
	return l.batches(ctx, "params", list, mostParams)
}

func tag(key, value string) map[string]string { return map[string]string{"key": key, "value": value} }

// keyOf is a name as every server takes it: of at most 250 plain letters, and a path
// without empty parts. Source: the REST API and what a server says to others.
func keyOf(name string) string {
	name = strings.Map(func(r rune) rune {
		if plain(r) {
			return r
		}
		return '_'
	}, name)
	return path.Clean(name[:min(len(name), 250)])
}

// plain reports whether a letter may stand in names of every server.
func plain(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./", r)
}
