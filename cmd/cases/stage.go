package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclwrite"
)

// startProducts writes the configuration of each process and starts it.
func (r *run) startProducts(ctx context.Context) error {
	if r.setup.redis && r.redis == nil {
		addr, err := freeAddress()
		if err != nil {
			return err
		}
		r.redis = &redisServer{addr: addr, dir: r.dir}
		if err := r.redis.start(); err != nil {
			return err
		}
	}
	number := 1
	if len(r.setup.second) > 0 {
		number = 2
	}
	for range number {
		p, err := r.product()
		if err != nil {
			return err
		}
		r.products = append(r.products, p)
		if err := p.start(ctx); err != nil {
			return err
		}
	}
	return nil
}

// product makes one process: its folder, its addresses, its file.
func (r *run) product() (*product, error) {
	dir, err := os.MkdirTemp(r.dir, "")
	if err != nil {
		return nil, err
	}
	admin, err := freeAddress()
	if err != nil {
		return nil, err
	}
	p := &product{admin: admin, socket: filepath.Join(dir, "s"), listen: map[string]string{}, dir: dir, log: &logTail{}}
	file := filepath.Join(dir, "oneticket.hcl")
	text, err := r.config(p)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return nil, err
	}
	p.command = []string{r.env.oneticket, "run", "-c", file, "--envoy", r.env.envoy, "--log-level", "debug"}
	if r.serves {
		p.command = []string{r.env.oneticket, "serve", "-c", file, "--log-level", "debug"}
		clear(p.listen) // nobody stands in for the backends
	}
	p.env = []string{clockVariable + "=" + r.clock.file}
	return p, nil
}

// config is the case's configuration with the addresses of one process.
func (r *run) config(p *product) ([]byte, error) {
	var out strings.Builder
	fmt.Fprintf(&out, "state_dir = %q\nadmin     = %q\nsocket    = %q\n\n", p.dir, p.admin, "unix:"+p.socket)
	if r.redis != nil {
		fmt.Fprintf(&out, "store \"redis\" {\n  url = %q\n}\n\n", "redis://"+r.redis.addr)
	} else {
		fmt.Fprintf(&out, "store \"sqlite\" {\n  path = %q\n}\n\n", filepath.Join(r.dir, "records.db"))
	}
	for _, x := range r.setup.extra {
		out.WriteString(x + "\n\n")
	}
	profile := r.setup.file.Bytes()
	for i, port := range r.ports {
		text, err := instance(profile, i, port.addr, p)
		if err != nil {
			return nil, err
		}
		out.Write(text)
	}
	return hclwrite.Format([]byte(out.String())), nil
}

// instance is the profile for the ith address of the backend: its blocks have
// names of their own from the second on.
func instance(profile []byte, i int, backend string, p *product) ([]byte, error) {
	file, diags := hclwrite.ParseConfig(profile, "profile", hcl.InitialPos)
	if diags.HasErrors() {
		return nil, diags
	}
	suffix := ""
	if i > 0 {
		suffix = "_" + strconv.Itoa(i+1)
	}
	for _, b := range file.Body().Blocks() {
		if len(b.Labels()) == 0 {
			if i > 0 {
				file.Body().RemoveBlock(b) // it stands once
			}
			continue
		}
		name := b.Labels()[0] + suffix
		b.SetLabels([]string{name})
		if b.Type() == "rule" {
			setRaw(b.Body(), "backend", strconv.Quote(backendOf(b)+suffix))
			continue
		}
		listen, err := freeAddress()
		if err != nil {
			return nil, err
		}
		p.listen[name] = listen
		setRaw(b.Body(), "url", strconv.Quote("http://"+backend))
		setRaw(b.Body(), "listen", strconv.Quote(listen))
	}
	return file.Bytes(), nil
}

func backendOf(rule *hclwrite.Block) string {
	return strings.Trim(strings.TrimSpace(string(rule.Body().GetAttribute("backend").Expr().BuildTokens(nil).Bytes())), `"`)
}

// address is where a send goes: by its client which process, by its host
// which instance.
func (r *run) address(s *send) string {
	i := 1 + slices.Index(r.setup.hosts, strings.ToLower(first(s.Header, "Host")))
	if len(r.products) == 0 {
		return r.ports[i].addr
	}
	p := r.products[0]
	if slices.Contains(r.setup.second, s.Client) {
		p = r.products[1]
	}
	name := r.setup.blocks("backend")[0].Labels()[0]
	if i > 0 {
		name += "_" + strconv.Itoa(i+1)
	}
	return p.listen[name]
}

// again starts the processes of the case once more, with what the setup says
// now and with the state that there is.
func (r *run) again(ctx context.Context) error {
	r.products = nil
	return r.startProducts(ctx)
}

// restart ends every process and starts it again with the same state.
func (r *run) restart() error {
	for _, p := range r.products {
		p.stop()
		if err := p.start(context.Background()); err != nil {
			return err
		}
	}
	return nil
}
