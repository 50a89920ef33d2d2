#!/usr/bin/env bash
# Opens and resolves Request Tracker tickets with a form (REST 1.0): with curl,
# or with wget where WITH says so.
#
#   curl_form.sh create URL PRIORITY FAULT...
#   curl_form.sh resolve URL ID
set -u

form() { # PATH CONTENT
	if [ "${WITH:-curl}" = wget ]; then
		content=$(sed 's/%/%25/g; s/{/%7B/g; s/}/%7D/g; s/ /+/g; s/:/%3A/g; s/,/%2C/g; s/$/%0A/' <<<"$2" | tr -d '\n')
		wget -nv -O - -T "${TIMEOUT:-60}" --tries=4 --waitretry=2 --auth-no-challenge \
			--user=automation --password=secret --post-data="content=$content" "$url/REST/1.0/$1" 2>&1
	else
		curl -sSf -m "${TIMEOUT:-60}" --retry 3 --retry-all-errors --retry-delay 1 \
			-u automation:secret --data-urlencode "content=$2" "$url/REST/1.0/$1" 2>&1
	fi
}

create() { # FAULT
	said=$(form ticket/new "id: ticket/new
Queue: General
Subject: disk full on $1, at $EPOCHREALTIME
Priority: $priority
CF.{Host}: $1")
	status=$?
	ticket=$(sed -n 's/^# Ticket \([0-9]*\) created.*/\1/p' <<<"$said")
	if [ $status = 0 ] && [ -n "$ticket" ]; then echo "told $1 $ticket"; else echo "failed $1" $said; fi
}

command=$1 url=$2
shift 2
if [ "$command" = resolve ]; then
	form "ticket/$1/edit" "Status: resolved" | grep -q "# Ticket $1 updated" && echo "resolved $1"
	exit
fi
priority=$1
shift
for fault; do create "$fault" & done
wait
