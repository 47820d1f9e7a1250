package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// others are proxies and gateways that stand beside nginx when they are asked
// for. They are started as their manuals say; each takes a folder of its own.
var others = map[string]func(s settings, address, upstream, dir string) (*exec.Cmd, error){
	"bare":    self("bare"),
	"haproxy": haproxy,
	"litellm": litellm,
	"half":    self("half"),
	"own":     self("own"),
}

// startOthers starts those that were named.
func startOthers(s settings, upstream string) (ways []*way, err error) {
	for name := range strings.SplitSeq(s.others, ",") {
		if name == "" {
			continue
		}
		command, known := others[name]
		if !known {
			return ways, fmt.Errorf("-others: %q is not known; there are bare, half, own, haproxy and litellm", name)
		}
		address, err := freeAddress()
		if err != nil {
			return ways, err
		}
		dir, err := os.MkdirTemp("", name)
		if err != nil {
			return ways, err
		}
		cmd, err := command(s, address, upstream, dir)
		if err != nil {
			return ways, fmt.Errorf("%s: %w", name, err)
		}
		w, err := started(name, address, dir, cmd)
		if err != nil {
			return ways, err
		}
		ways = append(ways, w)
	}
	return ways, nil
}

const haproxyConf = `global
  maxconn 9000
  nbthread 2
defaults
  mode http
  timeout connect 10s
  timeout client 600s
  timeout server 600s
  option http-no-delay
  http-reuse always
frontend in
  bind %[1]s
  default_backend up
backend up
  server up %[2]s
`

func haproxy(_ settings, address, upstream, dir string) (*exec.Cmd, error) {
	conf := filepath.Join(dir, "haproxy.cfg")
	if err := os.WriteFile(conf, fmt.Appendf(nil, haproxyConf, address, upstream), 0o600); err != nil {
		return nil, err
	}
	return exec.Command("haproxy", "-f", conf, "-db"), nil
}

const litellmConf = `model_list:
  - model_name: m
    litellm_params:
      model: openai/m
      api_base: http://%s/v1
      api_key: none
litellm_settings:
  telemetry: false
  request_timeout: 600
`

// litellm is a gateway that reads every event and writes it anew.
func litellm(s settings, address, upstream, dir string) (*exec.Cmd, error) {
	conf := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(conf, fmt.Appendf(nil, litellmConf, upstream), 0o600); err != nil {
		return nil, err
	}
	host, port, _ := strings.Cut(address, ":")
	cmd := exec.Command(s.litellm, "--config", conf, "--host", host, "--port", port)
	cmd.Env = append(os.Environ(), "LITELLM_LOCAL_MODEL_COST_MAP=True", "LITELLM_LOG=ERROR", "LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY=true", "NO_DOCS=True", "HOME="+dir)
	return cmd, nil
}
