//go:build !lean

package main

import (
	"bytes"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tokenmeter/wire/client"
)

// Amazon's keys are in nothing that is written, whatever the server repeats.
func TestSignedKeysStaySecret(t *testing.T) {
	server := parrot()
	defer server.Close()
	dir := filepath.Join(t.TempDir(), "run")
	env := func(name string) (string, bool) {
		v, ok := map[string]string{"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": canaryKeys["Amazon's secret"],
			"AWS_SESSION_TOKEN": canaryKeys["Amazon's session"], "AWS_REGION": "eu-west-1", amazonEndpoint: server.URL}[name]
		return v, ok
	}
	outputs := everyOutput(server.URL, dir)
	for _, args := range [][]string{outputs[0], outputs[1], outputs[2], {"report", dir, "--format", "json"}, {"export", dir, "--as", "jsonl"}} {
		var stdout, stderr bytes.Buffer
		Main(args, &stdout, &stderr, env)
		holdsNoKey(t, args[0]+" stdout", stdout.Bytes())
		holdsNoKey(t, args[0]+" stderr", stderr.Bytes())
		if args[0] == "export" && !strings.Contains(stdout.String(), "***") {
			t.Error("the server repeated nothing: this test looks at nothing")
		}
	}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		holdsNoKey(t, path, data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Which requests are signed, and for which region.
func TestSigned(t *testing.T) {
	keys := map[string]string{"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "canary-secret-key", "AWS_SESSION_TOKEN": "canary-session-token"}
	const (
		host = "https://bedrock-runtime.eu-west-1.amazonaws.com"
		own  = "http://127.0.0.1:9"
	)
	for _, c := range []struct {
		name, url, key string
		more           map[string]string
		header         http.Header
		region, fault  string // empty: not signed
	}{
		{"Bedrock", host, "", nil, nil, "eu-west-1", ""},
		{"Bedrock's region wins", host + ":443/openai/v1", "", map[string]string{"AWS_REGION": "us-east-1"}, nil, "eu-west-1", ""},
		{"a FIPS host", "https://bedrock-runtime-fips.us-gov-west-1.amazonaws.com", "", nil, nil, "us-gov-west-1", ""},
		{"an API key", host, "bearer", nil, nil, "", ""},
		{"the user's own header", host, "", nil, http.Header{"Authorization": {"Bearer x"}}, "", ""},
		{"no secret", host, "", map[string]string{"AWS_SECRET_ACCESS_KEY": ""}, nil, "", ""},
		{"another host", "https://bedrock-runtime.eu-west-1.amazonaws.com.evil.example", "", map[string]string{"AWS_REGION": "eu-west-1"}, nil, "", ""},
		{"a host of the name alone", "https://bedrock-runtime.evil.example", "", map[string]string{"AWS_REGION": "eu-west-1"}, nil, "", ""},
		{"in clear", "http://bedrock-runtime.eu-west-1.amazonaws.com", "", nil, nil, "", ""},
		{"a host of one's own", "http://127.0.0.1:9", "", map[string]string{"AWS_REGION": "eu-central-1", "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": "http://127.0.0.1:9/x"}, nil, "eu-central-1", ""},
		{"the other variable", "http://127.0.0.1:9", "", map[string]string{"AWS_DEFAULT_REGION": "ap-south-1", "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": "http://127.0.0.1:9"}, nil, "ap-south-1", ""},
		{"a region of two lines", own, "", map[string]string{"AWS_REGION": "eu\nX-Other: 1", amazonEndpoint: own}, nil, "", "AWS_REGION: "},
		{"a path", own, "", map[string]string{"AWS_DEFAULT_REGION": "../x", amazonEndpoint: own}, nil, "", `AWS_DEFAULT_REGION: "../x"`},
		{"two regions", own, "", map[string]string{"AWS_REGION": "eu-west-1,eu-west-2", amazonEndpoint: own}, nil, "", "AWS_REGION: "},
		{"no region of ASCII", own, "", map[string]string{"AWS_REGION": "eu-wést-1", amazonEndpoint: own}, nil, "", "AWS_REGION: "},
		{"a key's id of two lines", host, "", map[string]string{"AWS_ACCESS_KEY_ID": "AKID\r\nX-Other: 1"}, nil, "", "AWS_ACCESS_KEY_ID: "},
		{"a key's id with a scope", host, "", map[string]string{"AWS_ACCESS_KEY_ID": "AKID/20260101"}, nil, "", "AWS_ACCESS_KEY_ID: "},
		{"line ends around", host, "", map[string]string{"AWS_ACCESS_KEY_ID": " AKID\n"}, nil, "eu-west-1", ""},
		{"no region", "http://127.0.0.1:9", "", map[string]string{"AWS_ENDPOINT_URL_BEDROCK_RUNTIME": "http://127.0.0.1:9"}, nil, "", "AWS_REGION"},
	} {
		a := &app{stderr: io.Discard, env: func(name string) (string, bool) {
			if v, ok := c.more[name]; ok {
				return v, true
			}
			v, ok := keys[name]
			return v, ok
		}}
		cfg, check := client.Config{Key: c.key, Header: c.header}, &checker{}
		(&targetFlags{URL: c.url}).sign(&cfg, check, a)
		err := check.err()
		if (err != nil) != (c.fault != "") || err != nil && !strings.Contains(err.Error(), c.fault) {
			t.Errorf("%s: %v", c.name, err)
		}
		if (cfg.Sign != nil) != (c.region != "") || (cfg.Header.Get("X-Amz-Security-Token") != "") != (c.region != "") {
			t.Errorf("%s: signed %v, headers %v", c.name, cfg.Sign != nil, cfg.Header)
		}
		if cfg.Sign == nil {
			continue
		}
		r, err := http.NewRequest("POST", c.url+"/model/m/converse", nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := cfg.Sign(r, nil); err != nil || !strings.Contains(r.Header.Get("Authorization"), "/"+c.region+"/bedrock/aws4_request") {
			t.Errorf("%s: %v, %v", c.name, r.Header, err)
		}
	}
}

// One of the two keys is a slip, which is said where requests would be signed.
func TestHalfOfAmazonsKeys(t *testing.T) {
	for _, c := range []struct{ url, set, want string }{
		{"https://bedrock-runtime.eu-west-1.amazonaws.com", "AWS_ACCESS_KEY_ID", "AWS_ACCESS_KEY_ID is set and AWS_SECRET_ACCESS_KEY is not"},
		{"https://bedrock-runtime.eu-west-1.amazonaws.com", "AWS_SECRET_ACCESS_KEY", "AWS_SECRET_ACCESS_KEY is set and AWS_ACCESS_KEY_ID is not"},
		{"https://bedrock-runtime.eu-west-1.amazonaws.com", "", ""},
		{"https://api.openai.com", "AWS_ACCESS_KEY_ID", ""},
	} {
		var said bytes.Buffer
		a := &app{stderr: &said, env: func(name string) (string, bool) {
			if name == c.set {
				return "canary-secret-key", true
			}
			return "", false
		}}
		cfg, check := client.Config{}, &checker{}
		(&targetFlags{URL: c.url}).sign(&cfg, check, a)
		if cfg.Sign != nil || check.err() != nil || (said.Len() > 0) != (c.want != "") || !strings.Contains(said.String(), c.want) || strings.Contains(said.String(), "canary") {
			t.Errorf("%s of %s: %q", c.set, c.url, said.String())
		}
	}
}
