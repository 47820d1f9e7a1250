package metric

// WarningMeaning explains a warning of a run. The run's own words have its
// figures.
type WarningMeaning struct {
	Name string
	When string // the condition
	Do   string // what to do, or what it means for the figures
}

// Text is the meaning in a few lines, for a terminal.
func (w WarningMeaning) Text() string {
	return Paragraph(w.Name+" (warning of a run)", [][2]string{{"given when", w.When}, {"what to do", w.Do}})
}

// WarningMeanings has one entry for every warning: those of the finished
// records, then those that the load generator notices while it runs.
var WarningMeanings = []WarningMeaning{
	{"low_n", "fewer than 100 requests succeeded", "raise --requests or --duration: p99 needs 100 values, and 551 independent ones for an interval"},
	{"precision_missed", "the run ended before --until-precision was reached", "let it run as long as it says; what shares a queue is worth less than its number"},
	{"precision_reached", "--until-precision ended the run", "nothing, if it was long enough to meet what the server does now and then: what is rarer than it says is not in the medians"},
	{"max_failures", "--max-failures ended the run (exit code 1, or 3 where nothing was answered)", "see what failed; the figures are of the requests until then"},
	{"mixed_token_sources", "token counts come from several sources", "give --tokenizer for one count of all"},
	{"served_models", "for one model that was asked for the server named several that answered (served_model): a router, or a gateway that falls back on another", "ask for one model without a fallback, or take the requests apart by served_model: the figures are of a mixture"},
	{"service_tiers", "the server said that it gave requests different classes of service (service_tier)", "ask for one class, or lower the load where the better one has a limit: the figures are of a mixture"},
	{"estimated_tokens", "the server told no usage for some requests", "their tokens are counted here; give its own --tokenizer"},
	{"unknown_tokens", "successful requests have no token count", "give --tokenizer; until then they add nothing to the throughput"},
	{"inconsistent_counts", "records have the flag usage_inconsistent or token_count_mismatch", "look at these flags; the server's own numbers do not add up"},
	{"unread_parts", "answers held what is not known by its name: text (`text:MEMBER`), counts of a usage that does not add up without them (`count:MEMBER`), a finish reason (`finish:WORD`, counted as success)", "look at an answer with --capture; if it is generated text, or a failure, these figures lack it: please report the server's format"},
	{"rate_not_sustained", "under 99 % of the asked rate was sent, or a cap held requests back for over 5 ms", "raise --concurrency where it is the cap, or lower --rate; the wait is part of the latency"},
	{"never_steady", "in an open loop all requests were sent in less time than half of them took", "raise --requests or --duration to several times E2E: as many as rate × E2E are in flight only then"},
	{"client_limited", "in an open loop 1 of 100 requests left over 10 ms late through the client's own doing, or a CPU quota stopped the client", "use more --workers or a quieter machine, or raise the quota"},
	{"prompt_reuse", "there are fewer different prompts than requests", "a prefix cache answers repeats faster than users would see; give more prompts"},
	{"connections_opened", "over 10 % more connections were opened, and 4, than requests were in flight and ended by us", "something closes connections; look for the keep-alive limits of the server and of proxies"},
	{"connections_lost", "requests on a kept connection that ended without a byte of their reply, and went on another (`conn_retries`)", "try `--no-keepalive`: what is lost without kept connections, the server drops"},
	{"retries", "tries were repeated (--retries)", "the wait is part of the latency"},
	{"osl_mismatch", "answers are shorter than asked by over 5 %, on average or some of them (over 20 % on average, where the asked length is a cap), or much longer; the words name the reason, by what the answers ended with", "where the model ends them, give --ignore-eos if the server knows it; else see the words"},
	{"isl_mismatch", "prompts have over 5 % more or fewer tokens than asked: a chat template, another tokenizer, or prompts that are cut", "give the server's own --tokenizer"},
	{"bursts", "over 5 % of the streams came in bursts", "look for a proxy that buffers; gaps are not the model's"},
	{"coalesced", "over 5 % of the events shared a read with another", "their own times are not known; see the check of that name"},
	{"stream_ignored", "answers came as one body although a stream was asked for", "they have an E2E only"},
	{"clock_step", "the wall clock was set while requests ran", "nothing: times are monotonic and not affected"},
	{"malformed_event", "streams held events that are no JSON", "these were skipped; look at a stream with --capture"},
	{"rtt_too_long", "the round trip of --rtt is longer than the shortest TTFT", "give a shorter one: the least that ping shows"},
	{"faster_than_hardware", "MBU or MFU is above 1 for what --hardware names", "something is counted wrong: give the precision of the weights and the number of devices as they are, or look at bursts, speculation and cached prompts"},
	{"arrivals_capped", "not every arrival of a request was kept", "its chunks and gaps are null"},

	{"prompt_reuse_across_runs", "--salt was given", "the same prompts are sent again, which the server may still have cached"},
	{"not_tokenized", "a regular expression or the tokens of a tokenizer file take too many steps on an answer", "such answers have no local count; write the pattern so that there is one way to match, or name another tokenizer"},
	{"prompts_fitted", "the server counts prompts otherwise than in words", "nothing: made prompts were fitted to the asked lengths"},
	{"template_compensated", "--compensate-template was given", "nothing: it says by how many tokens prompts were made shorter"},
	{"template_unmeasured", "--compensate-template was given, and what the server adds to a request was not measured", "let the warm-up run, against a server that counts input tokens"},
	{"too_few_requests", "--requests is below --concurrency, or holds fewer conversations or tasks than that", "the load never reaches the asked number of streams; raise --requests"},
	{"other_models", "the workload's `models`, or `model` in its records, name others than the run's own", "the figures are of all these: give --model, which records give way to, or leave `models` out"},
	{"records_left_out", "records of a file of prompts that can't be sent, each kind with its reason, or parts that are not sent: system turns, tools, pictures, settings, a text beside the instruction", "look at the file; where a column is part of the prompt, join them first"},
	{"model_not_listed", "the server does not list --model", "check the name"},
	{"no_length", "requests asked for no length, so that --ignore-eos was left out of them: their answers would go on to the end of the context", "give --output-tokens, or each record a length"},
	{"length_field", "the server refused max_tokens", "nothing: max_completion_tokens was sent instead"},
	{"warmup_limited", "warm-up requests were answered 429", "lower the load, or wait until the limit has passed"},
	{"warmup_failed", "some warm-up requests failed", "read the first error"},
	{"tls_unverified", "--insecure was given", "whoever answered may be another, and could read the key; give --ca-file"},
	{"ports_scarce", "more new connections a second than this machine has ports for", "leave --no-keepalive out, or lower --rate"},
	{"timer_coarse", "the system's timer wakes over 3 ms late", "requests leave in clumps; latency counts from the time they were due"},
	{"server_metrics_unread", "a page of the server's metrics could not be read, or not each time", "look at the address; the requests are not touched by it"},
	{"server_restarted", "a counter of the server went back", "what it did just before is lost to its counters, a reading at most; the requests say what happened"},
	{"server_profiled", "the server's profiler ran while requests were measured", "do not take its speed from this run: measure once more without"},
	{"control_failed", "a command before or after the point, emptying a cache, or the profiler failed", "look at control in run.json and at control.log; the server may not be in the state that was asked for"},
	{"profile_never", "fewer requests were in flight at any time than --profile-at asks for", "ask for fewer, or raise the load"},
	{"server_metrics_lost", "what the server told of itself could not be written", "make room on the disk"},
	{"merged", "the run was put together of several", "nothing: it says how the machines' clocks lie to each other"},
	{"no_overlap", "by their clocks, merged runs did not run at the same time", "set the machines' clocks, or start them together"},
	{"merged_validity", "one of the merged runs alone has a worse verdict than the first", "look at that run: its machine is the one that is judged"},
	{"merged_targets", "merged runs were of several addresses", "nothing where they are one server's; else merge the runs of each server by themselves"},
	{"capture_failed", "a raw stream could not be written", "make room on the disk"},
	{"judge_silent", "the judge of answers gave no verdict on some", "see its first error"},
}
