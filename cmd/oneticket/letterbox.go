package main

import (
	"cmp"
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
	before   atomic.Pointer[config.Config] // the one before that: an exchange ends under the rules it began with
	ways     atomic.Pointer[map[string]string]
	failing  atomic.Pointer[failing] // nil: letters are kept
	done     context.CancelFunc
}

func newLetterBox(cfg *config.Config, dir *stateDir, store dedup.Store, calls *extproc.Caller, m *admin.Metrics, log *slog.Logger) (*letterBox, error) {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	box, err := openLetters(ctx, deadletter.Options{
		Path: filepath.Join(dir.path, deadletter.FileName), Patience: letterPatience,
		Bounds:  boundsOf(cfg),
		OnDrop:  func(d deadletter.Drop) { dropped(d, m, log) },
		OnError: func(err error) { log.Error("dead letters", "error", err) },
	}, log)
	if err != nil {
		return nil, fmt.Errorf("dead letters: %w", err)
	}
	m.DeadLetters(func() float64 { return float64(box.Count()) })
	b := &letterBox{Box: box, store: store}
	b.config.Store(cfg)
	b.before.Store(cfg)
	b.ways.Store(&map[string]string{})
	b.sender = &deadletter.HTTPSender{
		Listener:    b.way,
		Credentials: b.credentials,
		Marks:       []dedup.HeaderField{calls.Mark()},
	}
	b.replayer = &deadletter.Replayer{Box: box, Records: store, Sender: b.sender, Pace: calls.Pace, Log: log}
	return b, nil
}

// letterPatience is for a command that has the file open for a moment.
const letterPatience = 5 * time.Second

func boundsOf(cfg *config.Config) deadletter.Bounds {
	return deadletter.Bounds{MaxCount: cfg.DeadLetter.MaxCount, MaxBytes: cfg.DeadLetter.MaxBytes, MaxAge: cfg.DeadLetter.MaxAge}
}

// dropped says loudly that a letter is given up. One that was sent in several
// forms has another left.
func dropped(d deadletter.Drop, m *admin.Metrics, log *slog.Logger) {
	m.DeadLetterDropped(d.Letter.Ref.Rule, string(d.Bound))
	say, what := log.Error, "a dead letter was given up: this create never became a ticket"
	if d.Bound == deadletter.OverRepeats {
		say, what = log.Warn, "a dead letter was given up: newer ones of the same fault are kept"
	}
	say(what, "id", d.Letter.ID, "over", d.Bound, "rule", d.Letter.Ref.Rule, "key", d.Letter.Ref.Key, "why", d.Letter.Why)
}

// follow goes by the configuration from now on. It is called before the rules
// of that are in force, so that what they make a secret is one at once.
func (b *letterBox) follow(cfg *config.Config) {
	if was := b.config.Swap(cfg); was != cfg {
		b.before.Store(was)
	}
	b.Box.Bound(boundsOf(cfg))
}

// use says where the filter's listeners are.
func (b *letterBox) use(outlets []extproc.Outlet) {
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
	go b.replayer.Auto(ctx, letterEvery, letterQuiet, func() bool { return b.config.Load().DeadLetter.Replay }, b.sender.Ready)
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
		Why: whyOf(l.Outcome), Status: l.Status, Bare: l.Bare,
		Method: l.Method, Path: l.Path, Header: l.Header, Body: l.Body,
	}
	rule := cmp.Or(b.config.Load().Rule(l.Ref.Rule), b.before.Load().Rule(l.Ref.Rule))
	if rule == nil {
		return fmt.Errorf("rule %q is gone, and with it what it calls a secret", l.Ref.Rule)
	}
	var secrets deadletter.Secrets
	secrets.Header, secrets.Query, secrets.Body = rule.Secrets()
	path, query, found := strings.Cut(letter.Path, "?")
	if letter.Path = rule.RedactTarget(path); found {
		letter.Path += "?" + query // Clean takes its secrets out, so that a replay can put them back
	}
	_, err := b.Box.Put(ctx, deadletter.Clean(letter, nil, secrets))
	b.noted(err)
	return err
}

// create is what is kept of the last create of the key that became no ticket; nil
// where that is nothing, or not enough to know where it went.
func (b *letterBox) create(ref dedup.Ref) *extproc.Letter {
	ctx, cancel := context.WithTimeout(context.Background(), letterPatience)
	defer cancel()
	l, found, err := b.Box.Last(ctx, ref)
	path, _, _ := strings.Cut(l.Path, "?")
	if err != nil || !found || strings.Contains(path, deadletter.Placeholder) {
		return nil
	}
	return &extproc.Letter{
		Ref: l.Ref, Backend: l.Backend, Episode: l.Episode, Token: l.Token, Status: l.Status,
		Method: l.Method, Path: l.Path, Header: l.Header, Body: l.Body, Bare: l.Bare,
	}
}

// A failing is since when no letter could be kept, and why the last could not.
type failing struct {
	since time.Time
	err   error
}

func (b *letterBox) noted(err error) {
	was := b.failing.Load()
	switch {
	case err == nil && was != nil:
		b.failing.Store(nil)
	case err != nil && was == nil:
		b.failing.Store(&failing{time.Now(), err})
	case err != nil:
		b.failing.Store(&failing{was.since, err})
	}
}

// degraded says that letters are lost.
func (b *letterBox) degraded() []string {
	f := b.failing.Load()
	if f == nil {
		return nil
	}
	return []string{fmt.Sprintf("dead letters cannot be kept since %s, and only the log names the creates that fail: %v", f.since.UTC().Format(time.RFC3339), f.err)}
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
