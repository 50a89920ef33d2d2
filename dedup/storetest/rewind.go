package storetest

import "maps"

// Snapshot remembers what the store has. rewind gives it that again, as a server
// does that takes over and has not received the last writes.
func (m *Memory) Snapshot() (rewind func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	records, tickets := maps.Clone(m.records), maps.Clone(m.tickets)
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.records, m.tickets = maps.Clone(records), maps.Clone(tickets)
	}
}
