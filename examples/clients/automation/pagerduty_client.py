"""Opens and resolves PagerDuty incidents with the package `pagerduty`, or with
its predecessor `pdpyras` where PACKAGE says so: by the Events API, or with
API=rest by the REST API.

    pagerduty_client.py create URL SEVERITY FAULT...
    pagerduty_client.py resolve URL KEY

It takes https only; which certificates it trusts is told by SSL_CERT_FILE
(pagerduty) and REQUESTS_CA_BUNDLE (pdpyras).
"""
import importlib
import os
import sys

import lines

package = importlib.import_module(os.environ.get("PACKAGE", "pagerduty"))
old = package.__name__ == "pdpyras"
REST = os.environ.get("API") == "rest"


def login(url):
    if REST and old:
        session = package.APISession("secret", default_from="automation@example.com")
    elif REST:
        session = package.RestApiV2Client("secret", default_from="automation@example.com")
    elif old:
        session = package.EventsAPISession("secret-of-integration")
    else:
        session = package.EventsApiV2Client("secret-of-integration")
    session.url = url
    session.timeout = lines.TIMEOUT
    return session


def create(url, severity, fault):
    if not REST:
        return login(url).trigger(lines.title(fault), source=fault, severity=severity)
    session = login(url)
    made = session.rpost(
        "/incidents",
        json={
            "type": "incident",
            "title": lines.title(fault),
            "urgency": severity,
            "service": {"id": "PSVC1", "type": "service_reference"},
        },
    )
    read = session.rget("/incidents/" + made["id"])
    if fault not in read["title"]:
        raise RuntimeError(f"{made['id']} is about {read['title']}")
    return made["id"]


def resolve(url, key):
    if not REST:
        return login(url).resolve(key)
    return login(url).rput("/incidents/" + key, json={"type": "incident", "status": "resolved"})["status"]


lines.main(sys.argv[1:], create, resolve)
