package main

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"oneticket/cmd/oneticket/admin"
	"oneticket/config"
	"oneticket/dedup"
	"oneticket/dedup/deadletter"
	"oneticket/extproc"
)

// A letterBox keeps the creates of this process that have not become a ticket,
// and sends them again when it is told to.
type letterBox struct {
	*deadletter.Box
	store    dedup.Store
	replayer *deadletter.Replayer
	sender   *deadletter.HTTPSender
	config   atomic.Pointer[config.Config] // whose rules say what is secret
	ways     atomic.Pointer[map[string]string]
	auto     bool
	done     context.CancelFunc
}

func newLetterBox(cfg *config.Config, dir *stateDir, store dedup.Store, calls *extproc.Caller, m *admin.Metrics, log *slog.Logger) (*letterBox, error) {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	limits := cfg.DeadLetter
	box, err := deadletter.Open(ctx, deadletter.Options{
		Path: filepath.Join(dir.path, deadletter.FileName), Patience: letterPatience,
		MaxCount: limits.MaxCount, MaxBytes: limits.MaxBytes, MaxAge: limits.MaxAge,
		OnDrop: func(d deadletter.Drop) {
			log.Error("a dead letter was given up: this create never became a ticket", "id", d.Letter.ID, "over", d.Bound,
				"rule", d.Letter.Ref.Rule, "key", d.Letter.Ref.Key, "why", d.Letter.Why)
		},
		OnError: func(err error) { log.Error("dead letters", "error", err) },
	})
	if err != nil {
		return nil, fmt.Errorf("dead letters: %w", err)
	}
	m.DeadLetters(func() float64 { return float64(box.Count()) })
	b := &letterBox{Box: box, store: store, auto: limits.Replay}
	b.config.Store(cfg)
	b.ways.Store(&map[string]string{})
	b.sender = &deadletter.HTTPSender{
		Listener:    b.way,
		Credentials: b.credentials,
		Marks:       []dedup.HeaderField{calls.Mark()},
	}
	b.replayer = &deadletter.Replayer{Box: box, Records: store, Sender: b.sender, Log: log}
	return b, nil
}

// letterPatience is for a command that has the file open for a moment.
const letterPatience = 5 * time.Second

// use says which configuration is in force, and where the filter's listeners
// are.
func (b *letterBox) use(cfg *config.Config, outlets []extproc.Outlet) {
	b.config.Store(cfg)
	ways := map[string]string{}
	for _, o := range outlets {
		ways[o.Backend] = o.Via
	}
	b.ways.Store(&ways)
}

func (b *letterBox) way(backend string) (string, error) {
	if way := (*b.ways.Load())[backend]; way != "" {
		return way, nil
	}
	return "", fmt.Errorf("%w: backend %q has no listener to send it through: set its via", deadletter.ErrNotSendable, backend)
}

func (b *letterBox) credentials(backend string) map[string]string {
	if found := b.config.Load().Backend(backend); found != nil {
		return found.Credentials
	}
	return nil
}

// How often the box is looked through for what has become a ticket elsewhere,
// and how long a letter is left alone before it is replayed unasked.
const (
	letterEvery = 10 * time.Second
	letterQuiet = 30 * time.Second
)

// start tidies the box from now on, and replays where that is wanted.
func (b *letterBox) start() {
	ctx, cancel := context.WithCancel(context.Background())
	b.done = cancel
	ready := func(deadletter.Letter) bool { return false }
	if b.auto {
		ready = b.sender.Ready
	}
	go b.replayer.Auto(ctx, letterEvery, letterQuiet, ready)
}

func (b *letterBox) stop() error {
	if b.done != nil {
		b.done()
	}
	return b.Box.Close()
}

// Put keeps the create without any secret.
func (b *letterBox) Put(ctx context.Context, l extproc.Letter) error {
	letter := deadletter.Letter{
		Ref: l.Ref, Backend: l.Backend, Episode: l.Episode, Token: l.Token,
		Why: whyOf(l.Outcome), Status: l.Status,
		Method: l.Method, Path: l.Path, Header: l.Header, Body: l.Body,
	}
	var secrets deadletter.Secrets
	if rule := b.config.Load().Rule(l.Ref.Rule); rule != nil {
		secrets.Header, secrets.Query, secrets.Body = rule.Secrets()
		path, query, found := strings.Cut(letter.Path, "?")
		if letter.Path = rule.RedactTarget(path); found {
			letter.Path += "?" + query // Clean takes its secrets out, so that a replay can put them back
		}
	}
	_, err := b.Box.Put(ctx, deadletter.Clean(letter, nil, secrets))
	return err
}

// Remove takes away the letters of an episode that has its ticket.
func (b *letterBox) Remove(ctx context.Context, ref dedup.Ref, episode int64) error {
	_, err := b.Box.Remove(ctx, ref, episode)
	return err
}

func whyOf(kind dedup.OutcomeKind) deadletter.Why {
	switch kind {
	case dedup.OutcomeNeverSent:
		return deadletter.NeverSent
	case dedup.OutcomeRefused:
		return deadletter.Refused
	default:
		return deadletter.Unknown
	}
}

// Replayable reports whether the letter is one of that record's, and may still
// be sent in its episode.
func (b *letterBox) Replayable(ctx context.Context, id string, ref dedup.Ref, episode int64) bool {
	letter, err := b.Box.Get(ctx, id)
	if err != nil || letter.Ref != ref || letter.Episode != episode {
		return false
	}
	doubt, err := b.Box.Doubtful(ctx, ref, episode)
	if err != nil {
		return false
	}
	found, err := b.store.Get(ctx, ref)
	if err != nil {
		return false
	}
	standing := deadletter.StandingOf(found, episode, doubt)
	return standing == deadletter.Alive || standing == deadletter.Running
}
