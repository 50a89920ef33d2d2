#!/usr/bin/env bash
# Opens ServiceNow incidents with curl by SOAP, and resolves them by the Table API.
#
#   curl_soap.sh create URL URGENCY FAULT...
#   curl_soap.sh resolve URL SYS_ID
set -u

again() {
	curl -sSf -m "${TIMEOUT:-60}" --retry 3 --retry-all-errors --retry-delay 1 -u automation:secret "$@" 2>&1
}

create() { # FAULT
	said=$(again "$url/incident.do?SOAP" -H 'Content-Type: text/xml; charset=utf-8' -H 'SOAPAction: "insert"' -d @- <<-XML
		<?xml version="1.0" encoding="UTF-8"?>
		<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/" xmlns:inc="http://www.service-now.com/incident">
		  <soapenv:Header/>
		  <soapenv:Body>
		    <inc:insert>
		      <inc:cmdb_ci>$1</inc:cmdb_ci>
		      <inc:category>disk</inc:category>
		      <inc:urgency>$urgency</inc:urgency>
		      <inc:short_description>disk full on $1, at $EPOCHREALTIME</inc:short_description>
		    </inc:insert>
		  </soapenv:Body>
		</soapenv:Envelope>
	XML
	)
	status=$?
	ticket=$(sed -n 's/.*<sys_id>\([0-9a-f]*\)<.*/\1/p' <<<"$said")
	if [ $status = 0 ] && [ -n "$ticket" ]; then echo "told $1 $ticket"; else echo "failed $1" $said; fi
}

command=$1 url=$2
shift 2
if [ "$command" = resolve ]; then
	again -X PATCH "$url/api/now/table/incident/$1" -H 'Content-Type: application/json' -d '{"state":"6"}' >/dev/null && echo "resolved $1"
	exit
fi
urgency=$1
shift
for fault; do create "$fault" & done
wait
