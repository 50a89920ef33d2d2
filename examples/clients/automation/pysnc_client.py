"""Opens and resolves ServiceNow incidents with the package `pysnc`, which takes
https only; which certificates it trusts is told by REQUESTS_CA_BUNDLE.

    pysnc_client.py create URL URGENCY FAULT...
    pysnc_client.py resolve URL SYS_ID
"""
import sys

from pysnc import ServiceNowClient

import lines


def incidents(url):
    return ServiceNowClient(url, ("automation", "secret")).GlideRecord("incident")


def create(url, urgency, fault):
    record = incidents(url)
    record.initialize()
    record.cmdb_ci = fault
    record.category = "disk"
    record.urgency = urgency
    record.short_description = lines.title(fault)
    made = str(record.insert())
    again = incidents(url)
    if not again.get(made) or fault not in str(again.short_description):
        raise RuntimeError(f"{made} is about {again.short_description}")
    return made


def resolve(url, sys_id):
    record = incidents(url)
    record.get(sys_id)
    record.state = "6"
    record.update()
    return record.state


lines.main(sys.argv[1:], create, resolve)
