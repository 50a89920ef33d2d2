"""Tells of faults with the package `apprise`. TO says by which of its services:
pagerduty, opsgenie, json, form or xml.

    apprise_client.py create URL TYPE FAULT...
    apprise_client.py resolve URL FAULT

It is told of no ticket: only whether what it said was taken. PagerDuty and
Opsgenie it reaches at their own addresses, by HTTPS_PROXY; which certificates
it trusts is told by REQUESTS_CA_BUNDLE.
"""
import os
import sys

import apprise

import lines

TO = os.environ["TO"]
PRIORITIES = {"warning": "3", "failure": "1"}


def service(url, kind, fault):
    host, wait = url.removeprefix("http://"), f"rto={lines.TIMEOUT}"
    return {
        "pagerduty": f"pagerduty://secret@integration/{fault}/disk?dedup={fault}&action=map&image=no&{wait}",
        "opsgenie": f"opsgenie://secret/?entity={fault}&priority={PRIORITIES.get(kind, '3')}&{wait}",
        "json": f"json://{host}/hooks/json?:host={fault}&{wait}",
        "form": f"form://{host}/hooks/form?:host={fault}&{wait}",
        "xml": f"xml://{host}/hooks/xml?:host={fault}&{wait}",
    }[TO]


def tell(url, kind, fault):
    out = apprise.Apprise()
    out.add(service(url, kind, fault))
    if not out.notify(title=lines.title(fault), body="the disk is full", notify_type=kind):
        raise RuntimeError("it was not taken")
    return "taken"


lines.main(sys.argv[1:], tell, lambda url, fault: tell(url, "success", fault))
