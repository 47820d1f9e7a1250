//go:build !lean

package main

// serviceScreens are the first screens of the commands that a lean build leaves out.
var serviceScreens = map[string]everyday{
	"translate": {`translate vllm bench serve --base-url http://localhost:8000 --request-rate 5
translate aiperf profile --url localhost:8000 --model m --concurrency 8
translate guidellm benchmark --target http://localhost:8000 --rate 5`, ""},
	"rerun": {`rerun runs/a
rerun runs/a --out runs/b
rerun runs/a -- --concurrency 16`, ""},
	"workload from-traffic": {`workload from-traffic trace.jsonl --out tuesday.yaml
workload from-traffic traces --out march.yaml --force
workload from-traffic trace.jsonl --from 2026-03-03T14:00:00Z --out afternoon.yaml`, ""},
	"history list": {`history list
history list --in runs --since 7d --model "llama*"
history list --tag main --figure "p99 tpot"`, ""},
	"history best": {`history best
history best --by "p99 tpot" --since 7d
history best --by "output tps" --tag main`, ""},
	"history show": {`history show nightly
history show nightly --in runs
history show nightly --format json`, ""},
	"history compare": {`history compare main pr-812
history compare main pr-812 --in runs
history compare main pr-812 --format markdown`, ""},
	"merge": {`merge runs/a runs/b
merge runs/a runs/b --out runs/both
merge runs/worker-1 runs/worker-2 runs/worker-3`, ""},
	"serve": {`serve --config tokenmeter.yaml
serve --config tokenmeter.yaml --check
serve --config tokenmeter.yaml --records requests.jsonl`, ""},
	"proxy": {`proxy --upstream http://localhost:8000
proxy --upstream http://localhost:8000 --objective "p99 tpot < 120ms"
proxy --upstream http://localhost:8000 --listen 127.0.0.1:9000 --records requests.jsonl`,
		"help upstream listen metrics-listen objective usage leave api-key-env max-streams records log-requests"},
	"probe": {`probe http://localhost:8000 --for 72h --out probes
probe https://api.example.com --api-key-env KEY --budget-tokens 100000
probe http://a:8000 http://b:8000 --suite probes.yaml`,
		"help for out suite only window model api-key-env prices budget-tokens budget-usd format"},
	"trend": {`trend probes
trend runs --format json
trend probes --format markdown`, ""},
	"slo check": {`slo check runs/a --objective "p99 tpot < 120ms"
slo check runs/a --config tokenmeter.yaml --strict
slo check --store history.db --config tokenmeter.yaml --min-budget chat-tpot=20%`,
		"help config objective store at strict min-budget allow-stale format"},
	"slo report": {`slo report runs/a --objective "p99 tpot < 120ms"
slo report --store history.db --config tokenmeter.yaml
slo report --store history.db --config tokenmeter.yaml --format markdown`, ""},
	"slo validate": {`slo validate --config tokenmeter.yaml
slo validate --objective "p99 tpot < 120ms"
slo validate --config objectives.yaml --format json`, ""},
	"slo import": {`slo import openslo.yaml
slo import sloth.yaml --out objectives.yaml
slo import pyrra.yaml --out objectives.yaml --force`, ""},
	"slo rules": {`slo rules --config tokenmeter.yaml --out tokenmeter-rules.yaml
slo rules --config tokenmeter.yaml --as promtool
slo rules --config tokenmeter.yaml --as datadog-monitors`, ""},
}
