"""Opens and solves Zendesk tickets with the package `zenpy`.

    zenpy_client.py create URL PRIORITY FAULT...
    zenpy_client.py resolve URL ID
"""
import os
import sys

from zenpy import Zenpy
from zenpy.lib.api_objects import Comment, CustomField, Ticket

import lines

# The custom fields that say which fault it is.
ITEM, FAULT = 3601, 3602

os.environ["ZENPY_FORCE_SCHEME"] = "http"  # zenpy's own word for it


def login(url):
    # It builds its address of two names: 127 and 0.0.1:8083.
    subdomain, domain = url.removeprefix("http://").split(".", 1)
    return Zenpy(
        subdomain=subdomain, domain=domain, email="automation@example.com", token="secret", timeout=lines.TIMEOUT
    )


def create(url, priority, fault):
    audit = login(url).tickets.create(
        Ticket(
            subject=lines.title(fault),
            priority=priority,
            comment=Comment(body="disk full"),
            custom_fields=[CustomField(id=ITEM, value=fault), CustomField(id=FAULT, value="disk")],
        )
    )
    return audit.ticket.id


def resolve(url, number):
    zenpy = login(url)
    ticket = zenpy.tickets(id=int(number))
    ticket.status = "solved"
    return zenpy.tickets.update(ticket).ticket.status


lines.main(sys.argv[1:], create, resolve)
