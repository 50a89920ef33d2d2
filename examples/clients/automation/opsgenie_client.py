"""Opens and closes Opsgenie alerts with the package `opsgenie-sdk`.

    opsgenie_client.py create URL PRIORITY FAULT...
    opsgenie_client.py resolve URL ID
"""
import sys

import opsgenie_sdk

import lines


def login(url):
    conf = opsgenie_sdk.Configuration()
    conf.host = url
    conf.api_key["Authorization"] = "secret"
    return opsgenie_sdk.AlertApi(api_client=opsgenie_sdk.ApiClient(configuration=conf))


def create(url, priority, fault):
    alerts = login(url)
    payload = opsgenie_sdk.CreateAlertPayload(message=lines.title(fault), priority=priority)
    accepted = alerts.create_alert(create_alert_payload=payload, _request_timeout=lines.TIMEOUT)
    # It asks what came of the request, until it is told.
    made = alerts.get_alert(identifier=accepted.id).data
    if fault not in made.message:
        raise RuntimeError(f"{made.id} is about {made.message}")
    return made.id


def resolve(url, alert):
    closed = login(url).close_alert(identifier=alert, close_alert_payload=opsgenie_sdk.CloseAlertPayload(note="over"))
    return closed.result


lines.main(sys.argv[1:], create, resolve)
