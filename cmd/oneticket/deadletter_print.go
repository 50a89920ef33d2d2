package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"
	"unicode/utf8"

	"oneticket/dedup/deadletter"
)

// printDeadLetters prints the list on stdout; without a letter nothing but a
// word on stderr.
func (c *common) printDeadLetters(ctx context.Context, letters deadLetters, asJSON bool) error {
	table := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
	count := 0
	var failure error
	err := letters.List(ctx, func(l deadletter.Letter) bool {
		if count++; asJSON {
			failure = json.NewEncoder(c.stdout).Encode(l)
			return failure == nil
		}
		if count == 1 {
			fmt.Fprintln(table, "ID\tAGE\tRULE\tKEY\tWHY\tSTATUS\tTRIES")
		}
		_, failure = fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%d\n", l.ID, age(time.Since(l.At)), l.Ref.Rule,
			plain(string(l.Ref.Key)), l.Why, statusText(l.Status), l.Tries)
		return failure == nil
	})
	if count == 0 && err == nil {
		fmt.Fprintln(c.stderr, "no dead letters")
	}
	return cmp.Or(err, failure, table.Flush())
}

func statusText(status int) string {
	if status == 0 {
		return "-"
	}
	return strconv.Itoa(status)
}

// age is a duration as people say it: its largest unit, or two below a day.
func age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", max(0, int(d.Seconds())))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	default:
		return fmt.Sprintf("%dd", int(d.Hours())/24)
	}
}

// plain keeps what a client has sent from moving the terminal's cursor.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return '\uFFFD'
		}
		return r
	}, s)
}

func (c *common) printDeadLetter(l deadletter.Letter, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(c.stdout).Encode(l)
	}
	var b strings.Builder
	for _, line := range [][2]string{
		{"id", l.ID}, {"rule", l.Ref.Rule}, {"backend", l.Backend}, {"scope", l.Ref.Scope}, {"key", string(l.Ref.Key)},
		{"episode", strconv.FormatInt(l.Episode, 10)}, {"token", l.Token},
		{"why", string(l.Why)}, {"status", statusText(l.Status)},
		{"first", l.First.Format(time.RFC3339)}, {"last", l.At.Format(time.RFC3339)},
		{"tries", fmt.Sprintf("%d (replays: %d)", l.Tries, l.Replays)},
		{"last error", l.LastError}, {"not kept", strings.Join(l.Redacted, ", ")},
	} {
		if line[1] != "" {
			fmt.Fprintf(&b, "%-10s  %s\n", line[0], line[1])
		}
	}
	fmt.Fprintf(&b, "\n%s %s\n", l.Method, l.Path)
	for _, f := range l.Header {
		fmt.Fprintf(&b, "%s: %s\n", f.Name, f.Value)
	}
	b.WriteByte('\n')
	if utf8.Valid(l.Body) {
		b.Write(l.Body)
	} else {
		fmt.Fprintf(&b, "(%d bytes that are no text: see --json)", len(l.Body))
	}
	_, err := fmt.Fprintln(c.stdout, plain(b.String()))
	return err
}

func (c *common) printReplay(r deadletter.Result, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(c.stdout).Encode(r)
	}
	words := []string{r.ID, string(r.Became)}
	if r.Ticket != "" {
		words = append(words, plain(r.Ticket))
	}
	if r.Detail != "" {
		words = append(words, "("+r.Detail+")")
	}
	_, err := fmt.Fprintln(c.stdout, strings.Join(words, "  "))
	return err
}
