package notify

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"tokenmeter/service/slo"
)

// labels name an alert among all, for those who group and silence.
func labels(f slo.Firing) map[string]string {
	l := map[string]string{"alertname": "TokenmeterSLO", "slo": f.Objective, "source": string(f.Source), "severity": string(f.Severity), "alert": f.Alert}
	for name, value := range map[string]string{"group": f.Group, "long": f.Long, "short": f.Short} {
		if value != "" {
			l[name] = value
		}
	}
	return l
}

// MessageID names an alert from its beginning to its end, for whoever is told
// of it twice: the same alert that fires another time has another one.
func MessageID(f slo.Firing) string {
	sum := sha256.Sum256([]byte(f.ID() + "\x00" + f.Since.UTC().Format(time.RFC3339Nano)))
	return hex.EncodeToString(sum[:8])
}

func subject(f slo.Firing) string {
	name := f.Objective
	if f.Group != "" {
		name += " (" + f.Group + ")"
	}
	if f.Source != slo.Live {
		name += ", " + string(f.Source)
	}
	return name
}

// title is an alert in some words.
func title(f slo.Firing) string {
	if f.Resolved != nil {
		return "Resolved: " + subject(f) + ", " + f.Alert
	}
	return strings.ToUpper(string(f.Severity[:1])) + string(f.Severity[1:]) + ": " + subject(f) + ", " + f.Alert
}

// alertmanager is a body of POST /api/v2/alerts. An alert ends by itself when
// it is not told again.
func alertmanager(list []slo.Firing, repeat time.Duration) any {
	type alert struct {
		Labels      map[string]string `json:"labels"`
		Annotations map[string]string `json:"annotations"`
		StartsAt    time.Time         `json:"startsAt"`
		EndsAt      *time.Time        `json:"endsAt,omitempty"`
	}
	out := make([]alert, len(list))
	for i, f := range list {
		out[i] = alert{labels(f), map[string]string{"summary": title(f), "description": f.Says, "objective": f.Compiled, "id": MessageID(f)}, f.Since.UTC(), nil}
		if f.Resolved != nil {
			end := f.Resolved.UTC()
			out[i].EndsAt = &end
		}
	}
	return out
}

// webhook is our own form: schema tokenmeter.slo-alerts/v1.
func webhook(list []slo.Firing, _ time.Duration) any {
	type alert struct {
		ID     string `json:"id"`
		Status string `json:"status"`
		slo.Firing
	}
	out := struct {
		Schema string  `json:"schema"`
		Alerts []alert `json:"alerts"`
	}{Schema: "tokenmeter.slo-alerts/v1"}
	for _, f := range list {
		status := "firing"
		if f.Resolved != nil {
			status = "resolved"
		}
		out.Alerts = append(out.Alerts, alert{MessageID(f), status, f})
	}
	return out
}

// slack is a message of an incoming webhook.
func slack(list []slo.Firing, _ time.Duration) any {
	f := list[0]
	escape := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
	return map[string]string{"text": escape.Replace(title(f)) + "\n" + escape.Replace(f.Says) + "\n_" + escape.Replace(f.Compiled) + "_\nid " + MessageID(f)}
}

// datadog is a body of POST /api/v1/events.
func datadog(list []slo.Firing, _ time.Duration) any {
	f := list[0]
	kind, at := "error", f.Since
	switch {
	case f.Resolved != nil:
		kind, at = "success", *f.Resolved
	case f.Severity == slo.Ticket:
		kind = "warning"
	}
	var tags []string
	for _, name := range []string{"slo", "source", "severity", "alert", "group", "long", "short"} {
		if value := labels(f)[name]; value != "" {
			tags = append(tags, name+":"+value)
		}
	}
	tags = append(tags, "id:"+MessageID(f))
	return map[string]any{
		"title": title(f), "text": f.Says + "\n" + f.Compiled, "alert_type": kind, "date_happened": at.Unix(),
		"aggregation_key": fmt.Sprintf("tokenmeter-%s-%s-%s-%s", f.Objective, f.Source, f.Group, f.Alert), "source_type_name": "tokenmeter", "tags": tags,
	}
}
