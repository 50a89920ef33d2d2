#!/usr/bin/env bash
# Opens and resolves ServiceNow incidents with wget.
#
#   wget.sh create URL URGENCY FAULT...
#   wget.sh resolve URL SYS_ID
set -u

again() {
	wget -nv -O - -T "${TIMEOUT:-60}" --tries=4 --waitretry=2 --auth-no-challenge \
		--user=automation --password=secret --header='Content-Type: application/json' "$@" 2>&1
}

create() { # FAULT
	said=$(again "$table" --post-data='{"cmdb_ci":"'"$1"'","category":"disk","urgency":"'"$urgency"'","short_description":"disk full on '"$1 at $EPOCHREALTIME"'"}')
	status=$?
	ticket=$(sed -n 's/.*"sys_id": *"\([0-9a-f]*\)".*/\1/p' <<<"$said")
	if [ $status = 0 ] && [ -n "$ticket" ]; then echo "told $1 $ticket"; else echo "failed $1" $said; fi
}

command=$1 table=$2/api/now/table/incident
shift 2
if [ "$command" = resolve ]; then
	again --method=PATCH --body-data='{"state":"6"}' "$table/$1" >/dev/null && echo "resolved $1"
	exit
fi
urgency=$1
shift
for fault; do create "$fault" & done
wait
