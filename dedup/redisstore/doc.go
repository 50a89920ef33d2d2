// Package redisstore keeps records in Redis: one server, a master that
// Sentinels watch, or a Cluster. It is the store that several machines share.
//
// Every method but List is one script, and so one round trip and one atomic
// step. The store's clock is Redis' TIME, read in the script, in microseconds.
// A repeated call recognises what it wrote itself (Claim by the holder, Swap
// by the nonce, the others by being the same twice), so that the client
// library's own retries after a lost reply cannot turn a win into a loss.
//
// # What is where
//
// All names begin with Options.Prefix ("oneticket"). Rule, scope, key and
// ticket id stand in them with every byte but letters, digits and "-_.:@" as
// %XX.
//
//	oneticket:record:{RULE/SCOPE/KEY}  hash: a record; its fields are in fields.go
//	oneticket:ticket:{SCOPE/ID}        hash: the record that holds a ticket, or a kept close
//	oneticket:epoch                    string: random; gone or changed when the store was emptied
//	oneticket:epoch:{0} ... {31}       the same in a Cluster, spread over its masters
//	oneticket:probe                    string: empty; whether a write is taken
//	oneticket:probe:{0} ... {1023}     the same in a Cluster, on each master
//
// Every script works on one key, so that no operation ever spans two nodes of
// a Cluster. Records and tickets have a TTL, a little longer than they must be
// kept.
//
// A record takes between one and two kilobytes of Redis' memory and its
// answer, which is kept compressed where it is long
// (TestALiveKeyTakesLessMemoryThanItsAnswer measures it).
//
// # What survives
//
// Redis acknowledges a write before it is on its disk or on a replica, unless
// it is told otherwise. What that can lose depends on its settings; Check
// reads them and says. A lost record may double a ticket; the loss of the
// whole store is noticed by the epoch, see Options.OnFlush.
//
// A server that takes over, or is started again, may lack the last writes: see
// Options.OnOther.
//
// A master that a failover has deposed goes on answering those who still
// reach it until it learns of it; min-replicas-to-write ends that for writes.
//
// # An ACL user
//
// These are the rights that the store needs:
//
//	~oneticket:* +eval +evalsha +script|load +time +hmget +hset +hdel +persist
//	+pexpireat +get +set +setnx +scan +ping +info +config|get +select
//	+cluster|slots +cluster|shards +command
//
// Without +info and +config|get the store works, Check says what it could not
// read, and OnOther is never told. The last line is for a Cluster. With Sentinel, its own user needs
// +sentinel, +subscribe and +ping.
package redisstore
