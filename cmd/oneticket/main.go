// Command oneticket turns many ticket creates for one fault into one ticket.
// It runs beside Envoy, as its external-processing filter.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}

// run is the whole program: stdout is for data, stderr for talk. It returns
// the exit status: 0 good, 1 failed, usage included.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRootCommand(stdout, stderr)
	root.SetArgs(args)
	if err := root.ExecuteContext(ctx); err != nil {
		if !errors.Is(err, errSaid) {
			fmt.Fprintf(stderr, "oneticket: %v\n", err)
		}
		return 1
	}
	return 0
}
