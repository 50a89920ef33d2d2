"""Opens and resolves Request Tracker tickets with the package `rt`: by REST 2.0,
or with API=rest1 by REST 1.0.

    rt_client.py create URL PRIORITY FAULT...
    rt_client.py resolve URL ID
"""
import os
import sys

import lines

OLD = os.environ.get("API") == "rest1"


def login(url):
    if OLD:
        import rt.rest1

        tracker = rt.rest1.Rt(url + "/REST/1.0/", "automation", "secret")
        if not tracker.login():
            raise RuntimeError("the login was refused")
        return tracker
    import rt.rest2

    return rt.rest2.Rt(url + "/REST/2.0/", token="secret", http_timeout=lines.TIMEOUT)


def create(url, priority, fault):
    tracker = login(url)
    if OLD:
        made = tracker.create_ticket(
            Queue="General", Subject=lines.title(fault), Text="disk", Priority=priority, CF_Host=fault
        )
    else:
        made = tracker.create_ticket(
            "General", subject=lines.title(fault), content="disk", Priority=priority, CustomFields={"Host": fault}
        )
    read = tracker.get_ticket(made)
    if fault not in read["Subject"]:
        raise RuntimeError(f"{made} is about {read}")
    return made


def resolve(url, ticket):
    tracker = login(url)
    if not tracker.edit_ticket(ticket, Status="resolved"):
        raise RuntimeError(f"{ticket} was not edited")
    return tracker.get_ticket(ticket)["Status"]


lines.main(sys.argv[1:], create, resolve)
