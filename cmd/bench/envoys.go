package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	"google.golang.org/protobuf/encoding/protojson"

	"oneticket/extproc/envoy"
)

// startWithin bounds the start of anything on a busy machine.
const startWithin = time.Minute

// startPlain starts an Envoy as oneticket has it, without filter and logs.
func (s *stage) startPlain(ctx context.Context) error {
	return s.startEnvoy(ctx, "Envoy alone", "plain", "ext_proc")
}

// startPassing starts one with the filter, whose server does nothing.
func (s *stage) startPassing(ctx context.Context) error {
	return s.startEnvoy(ctx, "Envoy, ext_proc that does nothing", "passing", "")
}

// startEnvoy starts one whose listener has what oneticket's has, without the
// filters whose type has the word; with "", the filter's server is the one that
// does nothing.
func (s *stage) startEnvoy(ctx context.Context, name, folder, without string) error {
	path, err := findEnvoy()
	if err != nil {
		return err
	}
	dir, err := s.folder(folder)
	if err != nil {
		return err
	}
	socket, _, err := envoy.SocketPath(dir, "filter.sock")
	if err != nil {
		return err
	}
	bootstrap, err := s.bootstrap(dir, socket, without)
	if err != nil {
		return err
	}
	if without == "" {
		end, err := servePassing(socket)
		if err != nil {
			return err
		}
		s.ends = append(s.ends, end)
	}
	child, err := envoy.Start(envoy.Options{Path: path, Bootstrap: bootstrap, StateDir: dir})
	if err != nil {
		return err
	}
	s.ends = append(s.ends, func() { _ = child.Stop(context.Background()) })
	return s.join(ctx, name, child)
}

// bootstrap is an Envoy's before the desk.
func (s *stage) bootstrap(dir, socket, without string) (*bootstrapv3.Bootstrap, error) {
	admin, _, err := envoy.SocketPath(dir, "envoy.sock")
	if err != nil {
		return nil, err
	}
	full, err := envoy.Bootstrap(envoy.Spec{StateDir: dir, Socket: socket, Admin: admin, Backends: []envoy.Backend{
		{Name: "servicenow", URL: s.desk.URL, Listen: "127.0.0.1:0", Methods: []string{"POST", "PATCH", "PUT", "GET", "DELETE"}},
	}})
	if err != nil {
		return nil, err
	}
	return withoutLogs(full, without)
}

// join makes an Envoy a contestant when it takes requests.
func (s *stage) join(ctx context.Context, name string, child *envoy.Child) error {
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	if err := child.Ready(ctx); err != nil {
		return err
	}
	addresses, err := child.Addresses(ctx)
	if err != nil {
		return err
	}
	s.contestants = append(s.contestants, contestant{name: name, address: addresses["servicenow"]})
	return nil
}

// withoutLogs takes out the access logs, which only oneticket needs, and every
// filter whose type has the word.
func withoutLogs(full *bootstrapv3.Bootstrap, filter string) (*bootstrapv3.Bootstrap, error) {
	text, err := envoy.JSON(full)
	if err != nil {
		return nil, err
	}
	var tree any
	if err := json.Unmarshal(text, &tree); err != nil {
		return nil, err
	}
	prune(tree, filter)
	if text, err = json.Marshal(tree); err != nil {
		return nil, err
	}
	out := &bootstrapv3.Bootstrap{}
	if err := protojson.Unmarshal(text, out); err != nil {
		return nil, fmt.Errorf("envoy without its logs: %w", err)
	}
	return out, nil
}

func prune(node any, filter string) {
	switch n := node.(type) {
	case []any:
		for _, child := range n {
			prune(child, filter)
		}
	case map[string]any:
		delete(n, "access_log")
		if filter != "" {
			delete(n, "typed_per_filter_config")
			if filters, ok := n["http_filters"].([]any); ok {
				n["http_filters"] = withoutFilter(filters, filter)
			}
		}
		for _, child := range n {
			prune(child, filter)
		}
	}
}

func withoutFilter(filters []any, word string) []any {
	kept := []any{}
	for _, f := range filters {
		text, err := json.Marshal(f)
		if err != nil || !strings.Contains(string(text), word) {
			kept = append(kept, f)
		}
	}
	return kept
}
