package main

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// A ticket is one row: every value is text, as the Table API gives it.
type ticket map[string]string

// A table holds the newest tickets, in the order of their creation.
type table struct {
	mu      sync.Mutex
	keep    int
	made    int
	tickets []ticket
	byID    map[string]ticket
}

func newTable(keep int) *table {
	return &table{keep: max(keep, 1), byID: map[string]ticket{}}
}

// insert makes a ticket of the fields that the client sent and returns a copy
// of it. A client names neither the number nor the sys_id.
func (t *table) insert(fields map[string]string, by string, now time.Time) ticket {
	row := ticket{"state": "1", "urgency": "3", "impact": "3", "correlation_id": ""}
	maps.Copy(row, fields)
	row["sys_id"] = newSysID()
	row["sys_created_by"] = by
	row["sys_created_on"] = timeText(now)
	row["sys_updated_on"] = row["sys_created_on"]

	t.mu.Lock()
	defer t.mu.Unlock()
	t.made++
	row["number"] = fmt.Sprintf("INC%07d", t.made)
	t.tickets = append(t.tickets, row)
	t.byID[row["sys_id"]] = row
	if len(t.tickets) > t.keep {
		delete(t.byID, t.tickets[0]["sys_id"])
		t.tickets = slices.Delete(t.tickets, 0, 1)
	}
	return maps.Clone(row)
}

// update writes the fields over the ticket and returns a copy of it.
func (t *table) update(id string, fields map[string]string, now time.Time) (ticket, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	row, ok := t.byID[id]
	if !ok {
		return nil, false
	}
	for name, value := range fields {
		if name != "sys_id" && name != "number" {
			row[name] = value
		}
	}
	row["sys_updated_on"] = timeText(now)
	return maps.Clone(row), true
}

func (t *table) get(id string) (ticket, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	row, ok := t.byID[id]
	return maps.Clone(row), ok
}

// find returns copies of the tickets that q asks for.
func (t *table) find(q query) []ticket {
	t.mu.Lock()
	defer t.mu.Unlock()
	found := []ticket{}
	for _, row := range t.tickets {
		if q.matches(row) {
			found = append(found, maps.Clone(row))
		}
	}
	return q.arrange(found)
}

func newSysID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

func timeText(t time.Time) string { return t.UTC().Format(time.DateTime) }
