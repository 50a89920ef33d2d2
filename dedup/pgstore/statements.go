package pgstore

import (
	"fmt"
	"strings"
)

// statements are what is sent, for one schema.
type statements struct {
	claim, swap, remove, renew, mark, hold, keepClose, sweep string
	list, listRule, live, meta                               string
}

func statementsOf(schema string) statements {
	in := strings.NewReplacer("{schema}", quoted(schema), "{listed}", "t.rule, t.id, t.scope, t.key, "+columns("t")).Replace
	return statements{
		claim:     in(`SELECT c.won, c.clock, ` + columns("(c.rec)") + ` FROM {schema}.claim(` + marks(18) + `) AS c`),
		swap:      in(`SELECT {schema}.swap(` + marks(33) + `)`),
		remove:    in(`SELECT {schema}.remove(` + marks(4) + `)`),
		renew:     in(`SELECT {schema}.renew(` + marks(6) + `)`),
		mark:      in(`SELECT {schema}.mark(` + marks(4) + `)`),
		hold:      in(`SELECT {schema}.hold(` + marks(8) + `)`),
		keepClose: in(`SELECT c.held, c.held_rule, c.held_scope, c.held_key FROM {schema}.keep_close(` + marks(5) + `) AS c`),
		sweep:     in(`SELECT s.records, s.tickets FROM {schema}.sweep(` + marks(3) + `) AS s`),
		meta:      in(`SELECT version, epoch FROM {schema}.meta`),
		list: in(`SELECT {listed} FROM {schema}.record t
			WHERE (t.rule, t.id) > ($1, $2) AND t.state <> 'none' ORDER BY t.rule, t.id LIMIT $3`),
		listRule: in(`SELECT {listed} FROM {schema}.record t
			WHERE t.rule = $1 AND t.id > $2 AND t.state <> 'none' ORDER BY t.id LIMIT $3`),
		live: in(`SELECT live.rule, count(*) FROM (
				SELECT t.rule FROM {schema}.record t WHERE t.free_at > {schema}.micros($1) AND t.state <> 'none' LIMIT $2
			) AS live GROUP BY live.rule`),
	}
}

func marks(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("$%d", i+1)
	}
	return strings.Join(all, ", ")
}
