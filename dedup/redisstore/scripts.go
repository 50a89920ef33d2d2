package redisstore

import (
	"context"
	"embed"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"oneticket/dedup/recordjson"
)

//go:embed scripts/*.lua
var scriptFiles embed.FS

// graceMillis is how much longer than asked Redis keeps a key.
const graceMillis = 60_000

// A script is called by its digest; where a server does not have it (it was
// restarted, or took over), its text is sent once.
var (
	readScript   = script("record", "read")
	claimScript  = script("record", "claim")
	swapScript   = script("record", "swap")
	renewScript  = script("record", "renew")
	markScript   = script("record", "mark")
	removeScript = script("record", "remove")
	holdScript   = script("ticket", "hold")
	closeScript  = script("ticket", "close")

	allScripts = []*redis.Script{
		readScript, claimScript, swapScript, renewScript, markScript, removeScript, holdScript, closeScript,
	}
)

// script puts a script together; its files are part of the program.
func script(files ...string) *redis.Script {
	var text strings.Builder
	for _, name := range files {
		part, _ := scriptFiles.ReadFile("scripts/" + name + ".lua")
		text.Write(part)
	}
	return redis.NewScript(strings.NewReplacer(
		"{NAMES}", "{'"+strings.Join(fieldNames, "', '")+"'}",
		"HEAD\n", strconv.Itoa(recordjson.HeadLength)+"\n",
		"+ GRACE", "+ "+strconv.Itoa(graceMillis),
	).Replace(text.String()))
}

// loadScripts spares the first calls the second round trip.
func (s *Store) loadScripts(ctx context.Context) error {
	masters, err := s.masters(ctx)
	if err != nil {
		return err
	}
	for _, master := range masters {
		for _, script := range allScripts {
			if err := s.bounded(ctx, func(ctx context.Context) error { return script.Load(ctx, master).Err() }); err != nil {
				return err
			}
		}
	}
	return nil
}

// run calls a script within the store's timeout.
func (s *Store) run(ctx context.Context, script *redis.Script, name string, args ...any) (answer any, err error) {
	err = s.bounded(ctx, func(ctx context.Context) error {
		answer, err = script.Run(ctx, s.client, []string{name}, args...).Result()
		return err
	})
	return answer, err
}

// bounded gives a call its time.
func (s *Store) bounded(ctx context.Context, call func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, s.o.Timeout, errTimeout)
	defer cancel()
	err := call(ctx)
	if err != nil {
		s.reload(ctx, err)
	}
	if err != nil && context.Cause(ctx) == errTimeout {
		return timedOut{s.o.Timeout, err}
	}
	return err
}
