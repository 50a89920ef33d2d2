package redisstore

import (
	"context"
	"fmt"
	"hash/maphash"
	"strconv"
	"sync"

	"github.com/redis/go-redis/v9"

	"oneticket/dedup"
	"oneticket/dedup/recordjson"
)

// listBatch is how many names a master is asked for at a time.
const listBatch = 256

// List is dedup.Store's. It goes through one master after the other.
func (s *Store) List(ctx context.Context, rule string, yield func(dedup.Ref, dedup.Record) bool) error {
	fields := fieldNames[:len(fieldNames)-1]
	return s.wrap("list", s.scan(ctx, rule, fields, func(ref dedup.Ref, values []any) (bool, error) {
		rec, err := unpack(values)
		if err != nil {
			return false, fmt.Errorf("%s: %w", ref.Key, err)
		}
		if rec.Version == 0 || rec.State == dedup.None {
			return true, nil
		}
		return yield(ref, rec), nil
	}))
}

// Live counts the records that hold their key now, by rule, and looks at
// atMost of them. It reads what it counts: call it seldom, off the path.
func (s *Store) Live(ctx context.Context, atMost int) (map[string]int64, error) {
	counts, looked := map[string]int64{}, 0
	now, err := s.now(ctx)
	if err != nil {
		return nil, s.wrap("live", err)
	}
	err = s.scan(ctx, "", []string{"state", "free_at"}, func(ref dedup.Ref, values []any) (bool, error) {
		if looked++; looked > atMost {
			return false, nil
		}
		if state, _ := values[0].(string); state != string(dedup.None) && micros(values[1]) > now {
			counts[ref.Rule]++
		}
		return true, nil
	})
	return counts, s.wrap("live", err)
}

// now is the store's clock.
func (s *Store) now(ctx context.Context) (now int64, err error) {
	err = s.bounded(ctx, func(ctx context.Context) error {
		t, err := s.client.Time(ctx).Result()
		now = recordjson.Micros(t) + s.o.Offset().Microseconds()
		return err
	})
	return now, err
}

func micros(field any) int64 {
	text, _ := field.(string)
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}

// scan reads fields of every record of the rule, or of all, until see returns
// false. A name that comes again, as SCAN may have it, is not seen twice.
func (s *Store) scan(ctx context.Context, rule string, fields []string, see func(dedup.Ref, []any) (bool, error)) error {
	masters, err := s.masters(ctx)
	if err != nil {
		return err
	}
	seed, seen := maphash.MakeSeed(), map[uint64]bool{}
	fresh := func(name string) bool {
		sum := maphash.String(seed, name)
		was := seen[sum]
		seen[sum] = true
		return !was
	}
	for _, master := range masters {
		more, err := s.scanMaster(ctx, master, rule, fields, fresh, see)
		if !more || err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) scanMaster(ctx context.Context, master redis.Cmdable, rule string, fields []string,
	fresh func(string) bool, see func(dedup.Ref, []any) (bool, error)) (more bool, err error) {
	for cursor := uint64(0); ; {
		var page []string
		err := s.bounded(ctx, func(ctx context.Context) (err error) {
			page, cursor, err = master.Scan(ctx, cursor, s.names.pattern(rule), listBatch).Result()
			return err
		})
		if err != nil {
			return false, err
		}
		if more, err := s.seePage(ctx, page, fields, fresh, see); !more || err != nil {
			return false, err
		}
		if cursor == 0 {
			return true, nil
		}
	}
}

func (s *Store) seePage(ctx context.Context, page, fields []string,
	fresh func(string) bool, see func(dedup.Ref, []any) (bool, error)) (more bool, err error) {
	var refs []dedup.Ref
	var names []string
	for _, name := range page {
		if ref, ok := s.names.ref(name); ok && fresh(name) {
			refs, names = append(refs, ref), append(names, name)
		}
	}
	read, err := s.readFields(ctx, names, fields)
	if err != nil {
		return false, err
	}
	for i, ref := range refs {
		if more, err := see(ref, read[i]); !more || err != nil {
			return false, err
		}
	}
	return true, nil
}

// readFields reads the same fields of many records, each at one moment. It is
// sent through the client, not to the master that named them: they may have
// moved since.
func (s *Store) readFields(ctx context.Context, names, fields []string) ([][]any, error) {
	read := make([]*redis.SliceCmd, len(names))
	err := s.bounded(ctx, func(ctx context.Context) error {
		_, err := s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
			for i, name := range names {
				read[i] = p.HMGet(ctx, name, fields...)
			}
			return nil
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	all := make([][]any, len(names))
	for i, cmd := range read {
		all[i] = cmd.Val()
	}
	return all, nil
}

// masters are the servers that together have all records.
func (s *Store) masters(ctx context.Context) (masters []*redis.Client, err error) {
	cluster, ok := s.client.(*redis.ClusterClient)
	if !ok {
		return []*redis.Client{s.client.(*redis.Client)}, nil
	}
	var mu sync.Mutex
	err = s.bounded(ctx, func(ctx context.Context) error {
		return cluster.ForEachMaster(ctx, func(_ context.Context, master *redis.Client) error {
			mu.Lock()
			defer mu.Unlock()
			masters = append(masters, master)
			return nil
		})
	})
	return masters, err
}
