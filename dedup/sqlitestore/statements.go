package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"oneticket/dedup"
)

// clock is the store's time in microseconds; ?1 is the offset. SQLite reads
// the time once in a statement, however often it stands there.
const clock = `(CAST(round(unixepoch('subsec') * 1000) AS INTEGER) * 1000 + ?1)`

// ours is a row that this program may write.
var ours = fmt.Sprintf("v <= %d", dedup.Format)

const (
	here = `rule = ?2 AND scope = ?3 AND key = ?4`

	// The first row counts: the record, or the clock alone.
	readSQL = `
SELECT ` + clock + `, ` + columns + ` FROM record WHERE ` + here + `
UNION ALL
SELECT ` + clock + `, ` + noRow + `
LIMIT 1`

	// oldRow is recordjson's form of a prior.
	oldRow = `'{"head":[' || concat_ws(',', r.v, r.version, r.episode, r.sends, r.sent,
		r.lease_until, r.update_until, r.claimed_at, r.sent_at, r.seen_at, r.opened_at, r.expires_at, r.keep_until, r.free_at)
	|| '],"suffix":"' || r.suffix || '","trail":' || r.trail || ',"rest":' || r.rest || '}'`
)

// takeSQL writes an offer where there is no record or a free one.
// ?5 lease, ?6 keep, ?7 holder, ?8 fingerprint, ?9 what is appended to the
// token, ?10 rest, ?11 the prior where there was none.
var takeSQL = `
INSERT INTO record AS r (rule, scope, key, nonce, ` + columns + `)
SELECT ?2, ?3, ?4, '',
	` + fmt.Sprint(dedup.Format) + `, 1, 1, 1, 0,
	now + ?5, 0, now, now, now, 0, 0, now + ?6, now + ?6,
	'claimed', ?7, '', ?8, CASE ?9 WHEN 'time' THEN '.' || (now / 1000000) ELSE '' END, ?10, 'null', NULL, ?11, NULL
FROM (SELECT ` + clock + ` AS now) WHERE true
ON CONFLICT (rule, scope, key) DO UPDATE SET
	v = excluded.v, version = r.version + 1, episode = r.episode + 1, sends = 1, sent = 0,
	lease_until = excluded.lease_until, update_until = 0,
	claimed_at = excluded.claimed_at, sent_at = excluded.sent_at, seen_at = excluded.seen_at,
	opened_at = 0, expires_at = 0,
	keep_until = max(r.keep_until, excluded.keep_until), free_at = max(r.keep_until, excluded.keep_until),
	state = excluded.state, holder = excluded.holder, update_holder = '', fingerprint = excluded.fingerprint,
	suffix = CASE WHEN ?9 = 'episode' AND r.episode > 0 THEN '.' || (r.episode + 1) ELSE excluded.suffix END,
	rest = excluded.rest, body = NULL, prior = ` + oldRow + `, prior_body = r.body, nonce = ''
WHERE r.` + ours + ` AND r.free_at <= excluded.seen_at
	AND NOT (r.state = 'claimed' AND r.holder = ?7 AND r.lease_until > excluded.seen_at)
RETURNING claimed_at, ` + columns

// extendSQL gives an open record a longer life.
// ?5 TTL, ?6 max age, ?7 keep open, ?8 fingerprint, ?9 the least gain.
var extendSQL = strings.NewReplacer(
	"UNTIL", `min(`+clock+` + ?5, CASE WHEN ?6 > 0 THEN opened_at + ?6 ELSE 9223372036854775807 END)`,
).Replace(`
UPDATE record SET
	version = version + 1, expires_at = UNTIL, free_at = UNTIL,
	keep_until = max(keep_until, UNTIL + ?7), seen_at = ` + clock + `, nonce = ''
WHERE ` + here + ` AND ` + ours + ` AND state = 'open' AND fingerprint = ?8
	AND free_at > ` + clock + ` AND update_until <= ` + clock + ` AND UNTIL - expires_at >= ?9
RETURNING seen_at, ` + columns)

// Swaps: after offset and ref, ?5 the version seen, ?6 the nonce, then the
// values of columns.
var (
	insertSQL = `
INSERT INTO record (rule, scope, key, nonce, ` + columns + `)
VALUES (?2, ?3, ?4, ?6, ` + placeholders(7) + `)
ON CONFLICT DO NOTHING`

	updateSQL = `
UPDATE record SET (nonce, ` + columns + `) = (?6, ` + placeholders(7) + `)
WHERE ` + here + ` AND version = ?5 AND ` + ours
)

// wroteSQL tells whether the row still is the one that a Swap wrote.
const wroteSQL = `SELECT 1 FROM record WHERE ` + here + ` AND version = ?5 + 1 AND nonce = ?6 AND ?6 <> ''`

// ?5 holder, ?6 lease.
var renewSQL = `
UPDATE record SET
	lease_until = CASE WHEN state = 'claimed' AND holder = ?5 AND lease_until > ` + clock + ` THEN ` + clock + ` + ?6 ELSE lease_until END,
	update_until = CASE WHEN update_holder = ?5 AND update_until > ` + clock + ` THEN ` + clock + ` + ?6 ELSE update_until END
WHERE ` + here + ` AND ` + ours + ` AND ((state = 'claimed' AND holder = ?5 AND lease_until > ` + clock + `)
	OR (update_holder = ?5 AND update_until > ` + clock + `))`

// ?5 holder.
var markSQL = `
UPDATE record SET sent = 1
WHERE ` + here + ` AND ` + ours + ` AND state = 'claimed' AND holder = ?5`

// ?5 the rest of a stub.
var removeSQL = `
UPDATE record SET
	version = version + 1, sends = 0, sent = 0, lease_until = 0, update_until = 0, claimed_at = 0, sent_at = 0,
	seen_at = 0, opened_at = 0, expires_at = 0, free_at = 0, state = 'none', holder = '', update_holder = '',
	fingerprint = '', suffix = '', nonce = '', rest = ?5, trail = 'null', body = NULL, prior = '', prior_body = NULL
WHERE ` + here + ` AND ` + ours + ` AND NOT (state = 'none' AND free_at = 0)`

const (
	// ?2 scope, ?3 id, ?4 to ?6 ref, ?7 keep.
	ticketSQL = `
INSERT INTO ticket (scope, id, rule, ref_scope, key, held_until, closed_until)
VALUES (?2, ?3, ?4, ?5, ?6, ` + clock + ` + ?7, 0)
ON CONFLICT (scope, id) DO UPDATE SET
	rule = excluded.rule, ref_scope = excluded.ref_scope, key = excluded.key, held_until = excluded.held_until
RETURNING closed_until > ` + clock

	// ?2 scope, ?3 id, ?4 keep.
	closeSQL = `
INSERT INTO ticket (scope, id, rule, ref_scope, key, held_until, closed_until)
VALUES (?2, ?3, '', '', '', 0, ` + clock + ` + ?4)
ON CONFLICT (scope, id) DO UPDATE SET
	closed_until = CASE WHEN held_until > ` + clock + ` THEN closed_until ELSE excluded.closed_until END
RETURNING rule, ref_scope, key, held_until > ` + clock

	// ?1 to ?3 the last ref seen, ?4 how many.
	listSQL = `
SELECT rule, scope, key, ` + columns + ` FROM record
WHERE (rule, scope, key) > (?1, ?2, ?3) AND state <> 'none'
ORDER BY rule, scope, key LIMIT ?4`

	listRuleSQL = `
SELECT rule, scope, key, ` + columns + ` FROM record
WHERE rule = ?1 AND (scope, key) > (?2, ?3) AND state <> 'none'
ORDER BY scope, key LIMIT ?4`

	// ?2 how many.
	sweepTicketsSQL = `
DELETE FROM ticket WHERE (scope, id) IN (
	SELECT scope, id FROM ticket WHERE max(held_until, closed_until) <= ` + clock + ` LIMIT ?2)`
)

// ?2 how many.
var sweepRecordsSQL = `
DELETE FROM record WHERE rowid IN (
	SELECT rowid FROM record WHERE keep_until > 0 AND keep_until <= ` + clock + ` AND ` + ours + ` LIMIT ?2)`

func placeholders(first int) string {
	marks := make([]string, strings.Count(columns, ",")+1)
	for i := range marks {
		marks[i] = fmt.Sprintf("?%d", first+i)
	}
	return strings.Join(marks, ", ")
}

// statements are prepared once.
type statements struct {
	read, wrote, list, listRule               *sql.Stmt // on the readers
	take, extend, insert, update, renew, mark *sql.Stmt // on the writer, as are the next
	remove, ticket, keepClose                 *sql.Stmt
	sweepRecords, sweepTickets                *sql.Stmt
}

type statement struct {
	at   **sql.Stmt
	db   *sql.DB
	text string
}

func (s *statements) all(writer, readers *sql.DB) []statement {
	return []statement{
		{&s.read, readers, readSQL}, {&s.wrote, readers, wroteSQL},
		{&s.list, readers, listSQL}, {&s.listRule, readers, listRuleSQL},
		{&s.take, writer, takeSQL}, {&s.extend, writer, extendSQL},
		{&s.insert, writer, insertSQL}, {&s.update, writer, updateSQL},
		{&s.renew, writer, renewSQL}, {&s.mark, writer, markSQL}, {&s.remove, writer, removeSQL},
		{&s.ticket, writer, ticketSQL}, {&s.keepClose, writer, closeSQL},
		{&s.sweepRecords, writer, sweepRecordsSQL}, {&s.sweepTickets, writer, sweepTicketsSQL},
	}
}

func (s *statements) prepare(ctx context.Context, writer, readers *sql.DB) (err error) {
	for _, st := range s.all(writer, readers) {
		if *st.at, err = st.db.PrepareContext(ctx, st.text); err != nil {
			return fmt.Errorf("%w in%s", err, st.text)
		}
	}
	return nil
}

func (s *statements) close() error {
	var errs []error
	for _, st := range s.all(nil, nil) {
		if *st.at != nil {
			errs = append(errs, (*st.at).Close())
		}
	}
	return errors.Join(errs...)
}
