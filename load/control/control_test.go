package control

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tokenmeter/load/bench"
	"tokenmeter/record/run"
	"tokenmeter/wire/api"
	"tokenmeter/wire/client"
)

// engine is a server that knows who made it and these POSTs, and keeps what it was told.
type engine struct {
	owner string
	knows map[string]int // path → status
	hangs string         // this path never answers

	mu   sync.Mutex
	told []string
}

func (e *engine) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	if q.Method == http.MethodGet {
		if q.URL.Path == "/v1/models" {
			fmt.Fprintf(w, `{"object":"list","data":[{"id":"m","owned_by":%q}]}`, e.owner)
			return
		}
		http.NotFound(w, q)
		return
	}
	e.mu.Lock()
	e.told = append(e.told, q.URL.Path+" "+q.Header.Get("Authorization"))
	e.mu.Unlock()
	if q.URL.Path == e.hangs {
		<-q.Context().Done()
		return
	}
	status, known := e.knows[q.URL.Path]
	if !known {
		status = http.StatusNotFound
	}
	w.WriteHeader(status)
	io.WriteString(w, "key is sk-secret-key-of-the-test")
}

func (e *engine) posts() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.told)
}

const key = "sk-secret-key-of-the-test"

func controlOf(t *testing.T, e *engine, p Plan) (*Control, bench.Point) {
	t.Helper()
	s := httptest.NewServer(e)
	t.Cleanup(s.Close)
	cfg := client.Config{BaseURL: s.URL + "/v1", API: api.OpenAIChat, Key: key}
	began := time.Now()
	return New(p, cfg), bench.Point{Dir: t.TempDir(), Facts: map[string]string{"model": "m", "concurrency": "4"},
		NowUS: func() int64 { return time.Since(began).Microseconds() }, Redact: cfg.Redactor().String}
}

func TestCaches(t *testing.T) {
	ok := map[string]int{"/reset_prefix_cache": 200, "/reset_mm_cache": 200, "/flush_cache": 200}
	for name, c := range map[string]struct {
		e     *engine
		want  []string // acts
		fails []string // words of the error
	}{
		"vLLM":                {e: &engine{owner: "vllm", knows: ok}, want: []string{"POST /reset_prefix_cache true", "POST /reset_mm_cache true", "POST /reset_encoder_cache true"}},
		"SGLang":              {e: &engine{owner: "sglang", knows: ok}, want: []string{"POST /flush_cache true"}},
		"vLLM in production":  {e: &engine{owner: "vllm"}, want: []string{"POST /reset_prefix_cache false"}, fails: []string{"HTTP 404", "VLLM_SERVER_DEV_MODE=1"}},
		"SGLang at work":      {e: &engine{owner: "sglang", knows: map[string]int{"/flush_cache": 400}}, want: []string{"POST /flush_cache false"}, fails: []string{"HTTP 400"}},
		"unknown":             {e: &engine{owner: "somebody", knows: ok}, fails: []string{"does not say which engine"}},
		"vLLM, media refused": {e: &engine{owner: "vllm", knows: map[string]int{"/reset_prefix_cache": 200, "/reset_mm_cache": 500}}, want: []string{"POST /reset_prefix_cache true", "POST /reset_mm_cache false"}, fails: []string{"HTTP 500"}},
		"hangs":               {e: &engine{owner: "sglang", hangs: "/flush_cache"}, want: []string{"POST /flush_cache false"}, fails: []string{"did not end within"}},
	} {
		t.Run(name, func(t *testing.T) {
			limit := time.Minute
			if c.e.hangs != "" {
				limit = 200 * time.Millisecond
			}
			ctl, p := controlOf(t, c.e, Plan{Reset: true, Limit: limit})
			err := ctl.Before(context.Background(), p)
			if (err != nil) != (c.fails != nil) {
				t.Fatalf("error %v", err)
			}
			for _, words := range c.fails {
				if !strings.Contains(err.Error(), words) {
					t.Errorf("%q is not in %q", words, err)
				}
			}
			if err != nil && strings.Contains(err.Error(), key) {
				t.Errorf("the key is in %q", err)
			}
			acts, warnings := ctl.Acts()
			var got []string
			for _, a := range acts {
				got = append(got, fmt.Sprintf("%s %v", a.Does, a.OK))
				if to, ended := a.ToS.Get(); !ended || to < a.FromS || strings.Contains(a.Says, key) {
					t.Errorf("act %+v", a)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("acts %q, want %q", got, c.want)
			}
			if failed := slices.ContainsFunc(acts, func(a run.Act) bool { return !a.OK }); failed != (len(warnings) == 1) {
				t.Errorf("warnings %v of acts %v", warnings, got)
			}
			for _, post := range c.e.posts() {
				if !strings.HasSuffix(post, " Bearer "+key) {
					t.Errorf("told without the key: %q", post)
				}
			}
		})
	}
}

func TestCommands(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the lines are of a Unix shell")
	}
	ctl, p := controlOf(t, &engine{}, Plan{
		Env:    []string{"OWN=mine", "KEY=" + key},
		Before: []string{`echo "$TOKENMETER_POINT $TOKENMETER_MODEL $TOKENMETER_CONCURRENCY $OWN $KEY"`, "sleep 5 &"},
		After:  []string{"echo said >&2; exit 3", `echo "cleaned $TOKENMETER_REQUESTS"`},
	})
	if err := ctl.Before(context.Background(), p); err != nil {
		t.Fatal(err)
	}
	err := ctl.After(context.Background(), map[string]string{"requests": "7"})
	if err == nil || !strings.Contains(err.Error(), "exit status 3") || !strings.Contains(err.Error(), Log) {
		t.Errorf("error %v", err)
	}
	log, err := os.ReadFile(filepath.Join(p.Dir, Log))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"before m 4 mine", "said\n", "cleaned 7\n"} {
		if !strings.Contains(string(log), want) {
			t.Errorf("%q is not in the log %q", want, log)
		}
	}
	if strings.Contains(string(log), key) {
		t.Error("the key is in the log")
	}
	if left, _ := os.ReadDir(p.Dir); len(left) != 1 {
		t.Errorf("%d files are left, want the log alone", len(left))
	}
	acts, warnings := ctl.Acts()
	if len(acts) != 4 || len(warnings) != 1 || warnings[0].Name != "control_failed" {
		t.Errorf("acts %v, warnings %v", acts, warnings)
	}
}

// A command that hangs is ended with what it started, and so is one that the user stops.
func TestCommandsEnd(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the lines are of a Unix shell")
	}
	ctl, p := controlOf(t, &engine{}, Plan{Before: []string{"echo first; sleep 3600; echo never"}, Limit: 300 * time.Millisecond})
	err := ctl.Before(context.Background(), p)
	if err == nil || !strings.Contains(err.Error(), "did not end within 300ms") {
		t.Errorf("error %v", err)
	}
	log, _ := os.ReadFile(filepath.Join(p.Dir, Log))
	if !strings.Contains(string(log), "first\n") || strings.Contains(string(log), "\nnever") {
		t.Errorf("log %q", log)
	}

	ctl, p = controlOf(t, &engine{}, Plan{Before: []string{"sleep 3600"}})
	ctx, stop := context.WithCancel(context.Background())
	time.AfterFunc(50*time.Millisecond, stop)
	if err := ctl.Before(ctx, p); err == nil {
		t.Error("no error")
	}
}

func TestProfiler(t *testing.T) {
	knows := map[string]int{"/start_profile": 200, "/stop_profile": 200}
	ctx := context.Background()
	for name, c := range map[string]struct {
		plan     Plan
		knows    map[string]int
		inFlight int64
		posts    string
		warning  string
		fails    string // of Measure or Measured
	}{
		"whole":      {plan: Plan{}, knows: knows, posts: "/start_profile /stop_profile", warning: "server_profiled"},
		"at four":    {plan: Plan{ProfileAt: 4}, knows: knows, inFlight: 4, posts: "/start_profile /stop_profile", warning: "server_profiled"},
		"never":      {plan: Plan{ProfileAt: 4}, knows: knows, inFlight: 3, warning: "profile_never"},
		"no guard":   {plan: Plan{}, posts: "/start_profile", fails: "VLLM_TORCH_PROFILER_DIR"},
		"late guard": {plan: Plan{ProfileAt: 1}, inFlight: 1, posts: "/start_profile", fails: "VLLM_TORCH_PROFILER_DIR"},
		"no stop":    {plan: Plan{}, knows: map[string]int{"/start_profile": 200}, posts: "/start_profile /stop_profile", fails: "could not be stopped"},
	} {
		t.Run(name, func(t *testing.T) {
			e := &engine{owner: "vllm", knows: c.knows}
			c.plan.Profile, c.plan.ProfileFiles = true, "/traces"
			ctl, p := controlOf(t, e, c.plan)
			if err := ctl.Before(ctx, p); err != nil {
				t.Fatal(err)
			}
			var looks atomic.Int64
			seen := make(chan struct{})
			err := ctl.Measure(ctx, func() int64 {
				if looks.Add(1) == 2 {
					close(seen)
				}
				if looks.Load() < 2 {
					return 0
				}
				return c.inFlight
			})
			if c.plan.ProfileAt > 0 {
				<-seen
				for c.posts != "" && len(e.posts()) == 0 {
					runtime.Gosched()
				}
			}
			if later := ctl.Measured(ctx); err == nil {
				err = later
			}
			if (err != nil) != (c.fails != "") || err != nil && !strings.Contains(err.Error(), c.fails) {
				t.Errorf("error %v, want %q", err, c.fails)
			}
			var posts []string
			for _, post := range e.posts() {
				path, _, _ := strings.Cut(post, " ")
				posts = append(posts, path)
			}
			if got := strings.Join(posts, " "); got != c.posts {
				t.Errorf("told %q, want %q", got, c.posts)
			}
			acts, warnings := ctl.Acts()
			if c.fails == "" && (len(warnings) != 1 || warnings[0].Name != c.warning) {
				t.Errorf("warnings %v", warnings)
			}
			for _, w := range warnings {
				if c.fails == "VLLM_TORCH_PROFILER_DIR" && w.Name == "server_profiled" {
					t.Errorf("a profiler that never ran: %s", w.Says)
				}
			}
			for _, a := range acts {
				if c.fails == "" && (a.Files != "/traces" || !a.ToS.OK() || !a.OK) {
					t.Errorf("act %+v", a)
				}
			}
			if c.fails != "" && !slices.ContainsFunc(acts, func(a run.Act) bool { return !a.OK }) {
				t.Errorf("no failed act in %+v", acts)
			}
		})
	}
}

// What a command prints of its environment shows no key, whosever it is.
func TestKeysOfTheEnvironment(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the lines are of a Unix shell")
	}
	secrets := map[string]string{
		"OPENAI_API_KEY": "canary-vendor-7", "AWS_SECRET_ACCESS_KEY": "canary-cloud-8", "DATABASE_URL": "postgres://u:canary-store-9@h/d",
		"OTEL_EXPORTER_OTLP_HEADERS": "a=1,authorization=canary-collector-3", "SLACK_WEBHOOK": "https://h/services/canary-hook-4",
	}
	plan := Plan{Before: []string{"env; printf %s $OPENAI_API_KEY | od -An -tx1 | tr -d ' \n'"}, Env: []string{"PATH=" + os.Getenv("PATH"), "PWD=/somewhere", "TEAM=blue-whale"}}
	for name, value := range secrets {
		plan.Env = append(plan.Env, name+"="+value)
	}
	ctl, p := controlOf(t, &engine{owner: "vllm"}, plan)
	if err := ctl.Before(context.Background(), p); err != nil {
		t.Fatal(err)
	}
	said, err := os.ReadFile(filepath.Join(p.Dir, Log))
	if err != nil {
		t.Fatal(err)
	}
	for _, shown := range []string{"TEAM=blue-whale", "OPENAI_API_KEY=***", "postgres://u:***@h/d", "TOKENMETER_MODEL=m"} {
		if !strings.Contains(string(said), shown) {
			t.Errorf("%q is not in the log", shown)
		}
	}
	if strings.Contains(string(said), "canary") || strings.Contains(string(said), fmt.Sprintf("%x", "canary-vendor-7")) {
		t.Errorf("a key is in the log:\n%s", said)
	}
}

// Only what is a secret is hidden: names of models and paths that a command prints are
// what its log is read for.
func TestVariablesThatAreNoSecrets(t *testing.T) {
	file := filepath.Join(t.TempDir(), "service-account.json")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for variable, hidden := range map[string]bool{
		"TOKENIZER=meta-llama/Llama-3.1-8B": false, "TOKENIZER_PATH=models/llama-8b": false, "HF_TOKENIZER_NAME=meta-llama/Llama-3.1-8B": false,
		"GOOGLE_APPLICATION_CREDENTIALS=" + file: false, "VLLM_API_KEY_FILE=" + file: false, "MAX_TOKENS=1000000": false, "TOKEN_LIMIT=1000000": false,
		"PWD=/somewhere": false, "OLDPWD=/somewhere": false, "CACHE_KEY=llama-8b-fp8": false, "MODEL=meta-llama/Llama-3.1-8B": false,
		"HF_TOKEN=canary-hub-1": true, "HF_TOKEN_READ=canary-hub-1": true, "OPENAI_API_KEY=canary-vendor-7": true, "PGPASSWORD=canary-store-2": true,
		"DB_PASSWORD=12345678": true, "TOKENIZER_API_KEY=canary-vendor-7": true, "SLACK_WEBHOOK=https://h/services/canary-4": true,
		"AWS_SECRET_ACCESS_KEY=/kx7Canary/Abs3d9fGh2": true, "=": false, "KEY": false,
	} {
		_, value, _ := strings.Cut(variable, "=")
		if got := envSecrets([]string{variable}).String("it is " + value); (got == "it is ***") != hidden {
			t.Errorf("%s: %s", variable, got)
		}
	}
}
