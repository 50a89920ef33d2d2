#!/bin/sh
# Runs the demo: builds its two programs and plays the story. Everything that
# it starts listens on 127.0.0.1 and is gone when it ends.
set -eu
cd "$(dirname "$0")/../.."

oneticket=${ONETICKET:-bin/oneticket}
envoy=${ONETICKET_ENVOY:-.tools/bin/envoy}
for program in "$oneticket" "$envoy"; do
	if [ ! -x "$program" ]; then
		echo "demo: $program is missing: run 'make demo', which builds oneticket and fetches Envoy" >&2
		exit 1
	fi
done

go build -o bin/demo/ ./examples/quickstart/ticketsystem ./examples/quickstart/story
exec bin/demo/story -oneticket "$oneticket" -envoy "$envoy" \
	-ticketsystem bin/demo/ticketsystem -config examples/quickstart/oneticket.hcl
