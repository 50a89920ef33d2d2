package main

import (
	"context"
	"slices"
	"syscall"
)

const restartFaults = 10

// playRestart: what is known survives the process, however it ends.
func playRestart(ctx context.Context, s *stage) (row, error) {
	s.out.say("%d faults; between their re-fires oneticket gets SIGTERM, then SIGKILL, and is started again", restartFaults)
	known := faults("restart", restartFaults)
	m, err := s.measure(ctx, s.enforced(), func(a automation) ([]answer, error) {
		all, err := a.storm(ctx, known, 2)
		if err != nil {
			return nil, err
		}
		for i, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
			if err := s.restart(ctx, sig); err != nil {
				return nil, err
			}
			again, err := a.from(2+2*i).storm(ctx, known, 2)
			if err != nil {
				return nil, err
			}
			all = slices.Concat(all, again)
		}
		return all, nil
	})
	if err != nil {
		return row{}, err
	}
	return m.row(), m.oneTicketEach()
}
