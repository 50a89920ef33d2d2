package sqlitestore

import "context"

// Live counts the records that hold their key now, by rule, and looks at
// atMost of them. It reads what it counts: call it seldom, off the path.
func (s *Store) Live(ctx context.Context, atMost int) (map[string]int64, error) {
	rows, err := s.readers.QueryContext(ctx, `
SELECT rule, count(*) FROM (SELECT rule FROM record WHERE free_at > `+clock+` AND state <> 'none' LIMIT ?2) GROUP BY rule`,
		s.micros(), atMost)
	if err != nil {
		return nil, s.wrap("live", err)
	}
	defer rows.Close()
	counts := map[string]int64{}
	for rows.Next() {
		var rule string
		var n int64
		if err := rows.Scan(&rule, &n); err != nil {
			return nil, s.wrap("live", err)
		}
		counts[rule] = n
	}
	return counts, s.wrap("live", rows.Err())
}
