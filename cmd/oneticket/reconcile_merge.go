package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"text/tabwriter"
)

// mergeDoubles has the oneticket that runs merge the doubles of the keys, or all.
func (c *common) mergeDoubles(ctx context.Context, how string, keys []string, asJSON bool) error {
	cfg, err := loadBeside(c)
	if err != nil {
		return err
	}
	query := url.Values{"how": {how}, "key": keys}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+cfg.Admin+mergePath+"?"+query.Encode(), nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("doubles are merged by the oneticket that runs with this configuration: %w", err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		text, err := io.ReadAll(io.LimitReader(answer.Body, 1<<10))
		return errors.Join(errors.New(strings.TrimSpace(string(text))), err)
	}
	return c.printMerges(answer.Body, asJSON)
}

// printMerges prints each double as it comes, and fails if some are left.
func (c *common) printMerges(from io.Reader, asJSON bool) error {
	in, out := json.NewDecoder(from), json.NewEncoder(c.stdout)
	table := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
	told, left := 0, 0
	for {
		var m mergedDouble
		if err := in.Decode(&m); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return errors.Join(fmt.Errorf("the oneticket that merges has gone: %w", err), table.Flush())
		}
		if told++; !m.done() {
			left++
		}
		if asJSON {
			if err := out.Encode(m); err != nil {
				return err
			}
			continue
		}
		if told == 1 {
			fmt.Fprintln(table, "RULE\tKEY\tTICKET\tINTO\tRESULT")
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", orDash(m.Rule), plain(string(m.Key)), orDash(m.Ticket), orDash(m.Into), orDash(string(m.Result)+m.Error))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	switch {
	case told == 0:
		fmt.Fprintln(c.stderr, "there is no double that is not merged")
	case left > 0:
		return fmt.Errorf("%d of %d are not merged", left, told)
	}
	return nil
}
