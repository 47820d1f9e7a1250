package scrape

// Text Generation Inference. Its batch is what runs, and sums of histograms are
// its tokens; it tells neither a time to
// the first token nor how full its cache is.
var tgi = table{"tgi", `
running       tgi_batch_current_size
waiting       tgi_queue_size
prompt_tokens tgi_request_input_length_sum
output_tokens tgi_request_generated_tokens_sum
requests      tgi_request_success
tpot          tgi_request_mean_time_per_token_duration
e2e           tgi_request_duration
queue         tgi_request_queue_duration
`}
