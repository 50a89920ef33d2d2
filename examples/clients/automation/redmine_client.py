"""Opens and closes Redmine issues with the package `python-redmine`.

    redmine_client.py create URL PRIORITY FAULT...
    redmine_client.py resolve URL ID
"""
import sys

from redminelib import Redmine

import lines


def login(url):
    return Redmine(url, key="secret", requests={"timeout": lines.TIMEOUT})


def create(url, priority, fault):
    redmine = login(url)
    made = redmine.issue.create(
        project_id="ops",
        tracker_id=1,
        subject=lines.title(fault),
        description=f"Host: {fault}\nCheck: disk",
        priority_id=int(priority),
    )
    read = redmine.issue.get(made.id)
    if fault not in read.subject:
        raise RuntimeError(f"{made.id} is about {read.subject}")
    return made.id


def resolve(url, issue):
    redmine = login(url)
    redmine.issue.update(int(issue), status_id=5)
    return redmine.issue.get(int(issue)).status.id


lines.main(sys.argv[1:], create, resolve)
