// Package recordjson lays a dedup.Record out for a store: the numbers and
// words that the store itself must see stand apart, the body of the stored
// response stays as bytes, and all the rest is JSON.
//
// A store that gives a record to the next episode keeps what was there as the
// new record's prior. It puts the prior together itself, inside its own atomic
// step, from the parts that it has; see Packed.Prior for its form.
//
// Times are whole microseconds since 1970, and 0 is the zero time. A finer
// time is cut. Text that is not UTF-8 (header values may be anything) and nil
// against empty slices survive.
package recordjson
