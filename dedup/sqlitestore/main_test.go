package sqlitestore_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"oneticket/dedup"
	"oneticket/dedup/sqlitestore"
)

// The test binary is also the program that the tests start as other
// processes: childVariable names its part, and its arguments follow in the
// environment.
const (
	childVariable = "SQLITESTORE_CHILD"
	pathVariable  = "SQLITESTORE_PATH"
	nameVariable  = "SQLITESTORE_NAME"
)

func TestMain(m *testing.M) {
	part, ok := children[os.Getenv(childVariable)]
	if !ok {
		os.Exit(m.Run())
	}
	if err := part(os.Getenv(pathVariable), os.Getenv(nameVariable)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

var children = map[string]func(path, name string) error{
	"claim": claimEverything,
	"write": writeForEver,
}

// childKeys is how many keys each child claims.
const childKeys = 200

// claimEverything opens the store, waits for the word to go, claims all keys,
// and says which it won.
func claimEverything(path, name string) error {
	ctx := context.Background()
	store, err := sqlitestore.Open(ctx, sqlitestore.Options{Path: path, Timeout: 20 * time.Second})
	if err != nil {
		return err
	}
	defer store.Close()
	fmt.Println("ready")
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return err
	}
	for i := range childKeys {
		ref := childRef(i)
		found, err := store.Claim(ctx, ref, offerOf(name, ref))
		if err != nil {
			return err
		}
		if found.Won {
			fmt.Println(i)
		}
	}
	return nil
}

// writeForEver claims and settles one key after the other, and says the number
// of each that it has settled.
func writeForEver(path, name string) error {
	ctx := context.Background()
	store, err := sqlitestore.Open(ctx, sqlitestore.Options{Path: path, Timeout: 20 * time.Second})
	if err != nil {
		return err
	}
	fmt.Println("ready")
	for i := 0; ; i++ {
		ref := dedup.Ref{Rule: name, Key: dedup.Key(strconv.Itoa(i))}
		found, err := store.Claim(ctx, ref, offerOf(name, ref))
		if err != nil {
			return err
		}
		if _, err := store.Swap(ctx, ref, found.Record.Version, openOf(found), "n"); err != nil {
			return err
		}
		fmt.Println(i)
	}
}

func childRef(i int) dedup.Ref {
	return dedup.Ref{Rule: "network_faults", Scope: "acme", Key: dedup.Key("idem:" + strconv.Itoa(i))}
}

func offerOf(holder string, ref dedup.Ref) *dedup.Offer {
	return &dedup.Offer{
		Holder:      holder,
		Fingerprint: dedup.Fingerprint{Severity: "2"},
		Token:       dedup.TokenRule{Key: ref.Key, Style: dedup.EpisodeToken},
		Identity:    []byte("element_id=core-rtr-7|fault_class=RING_DOWN|root_cause_id=rc-991"),
		Class:       "core",
		Lease:       time.Minute,
		Keep:        24 * time.Hour,
		TTL:         time.Hour,
		KeepOpen:    24 * time.Hour,
	}
}

// openOf is the record of a claim whose create became a ticket.
func openOf(found dedup.Found) dedup.Record {
	next := found.Record
	next.State, next.Holder, next.LeaseUntil, next.Prior = dedup.Open, "", time.Time{}, nil
	next.Ticket = dedup.Ticket{ID: "INC0012345", Location: "/api/now/table/incident/46b66a40"}
	next.Response = &dedup.Response{
		Status: 201,
		Header: []dedup.HeaderField{{Name: "content-type", Value: "application/json"}, {Name: "location", Value: next.Ticket.Location}},
		Body:   bytes.Repeat([]byte("0123456789"), 90),
	}
	next.Principals = []string{"3f2a9c51d0e84b77"}
	next.Trail = []dedup.Trace{{At: found.Now, Kind: dedup.Create, Reason: dedup.First, Config: "c0ffee00", By: "replica-1"}}
	next.AnsweredAt, next.OpenedAt, next.VerifiedAt = found.Now, found.Now, found.Now
	next.ExpiresAt = found.Now.Add(time.Hour)
	next.FreeAt, next.KeepUntil = next.ExpiresAt, next.ExpiresAt.Add(24*time.Hour)
	return next
}

// A child is another process on the same file.
type child struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	lines  *bufio.Scanner
	stderr bytes.Buffer
}

// childPatience bounds the life of a child, so that none outlives its test.
const childPatience = 2 * time.Minute

// startChild starts a process; ready waits until it has opened the file.
func startChild(t *testing.T, part, path, name string) *child {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), childPatience)
	t.Cleanup(cancel)
	c := &child{t: t, cmd: exec.CommandContext(ctx, os.Args[0])}
	c.cmd.Env = append(os.Environ(), childVariable+"="+part, pathVariable+"="+path, nameVariable+"="+name)
	c.cmd.Stderr = &c.stderr
	var err error
	if c.stdin, err = c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	stdout, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.lines = bufio.NewScanner(stdout)
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return c
}

// says returns the next line of the child.
func (c *child) says() (string, bool) {
	if !c.lines.Scan() {
		return "", false
	}
	return strings.TrimSpace(c.lines.Text()), true
}

func (c *child) ready() {
	c.t.Helper()
	if line, ok := c.says(); !ok || line != "ready" {
		c.t.Fatalf("the child says %q: %v %s", line, c.cmd.Wait(), c.stderr.String())
	}
}
