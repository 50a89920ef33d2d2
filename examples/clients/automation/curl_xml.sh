#!/usr/bin/env bash
# Opens and closes Redmine issues with curl, in XML.
#
#   curl_xml.sh create URL PRIORITY FAULT...
#   curl_xml.sh resolve URL ID
set -u

again() {
	curl -sSf -m "${TIMEOUT:-60}" --retry 3 --retry-all-errors --retry-delay 1 \
		-H 'X-Redmine-API-Key: secret' -H 'Content-Type: application/xml' "$@" 2>&1
}

create() { # FAULT
	said=$(again "$url/issues.xml" -d "<issue><project_id>ops</project_id><priority_id>$priority</priority_id><subject>disk full on $1, at $EPOCHREALTIME</subject><description>Host: $1</description></issue>")
	status=$?
	ticket=$(sed -n 's/.*<issue><id>\([0-9]*\)<.*/\1/p' <<<"$said")
	if [ $status = 0 ] && [ -n "$ticket" ]; then echo "told $1 $ticket"; else echo "failed $1" $said; fi
}

command=$1 url=$2
shift 2
if [ "$command" = resolve ]; then
	again -X PUT "$url/issues/$1.xml" -d '<issue><status_id>5</status_id></issue>' >/dev/null && echo "resolved $1"
	exit
fi
priority=$1
shift
for fault; do create "$fault" & done
wait
