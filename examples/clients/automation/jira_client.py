"""Opens and resolves Jira issues with the package `jira`.

    jira_client.py create URL PRIORITY FAULT...
    jira_client.py resolve URL KEY
"""
import sys

from jira import JIRA

import lines

# The fields that say which fault it is, and the transition that resolves.
HOST, CHECK, DONE = "customfield_10071", "customfield_10072", "31"


def login(url, **options):
    return JIRA(url, basic_auth=("automation", "secret"), timeout=lines.TIMEOUT, **options)


def create(url, priority, fault):
    # A service that has been up for weeks asked for the server's version long ago.
    issue = login(url, get_server_info=False).create_issue(
        project={"key": "OPS"},
        issuetype={"name": "Task"},
        summary=lines.title(fault),
        labels=["monitoring"],
        priority={"name": priority},
        **{HOST: fault, CHECK: "disk"},
    )
    # It has read the issue back by the key that it was given.
    if fault not in issue.fields.summary:
        raise RuntimeError(f"{issue.key} is about {issue.fields.summary}")
    return issue.key


def resolve(url, key):
    jira = login(url)
    jira.transition_issue(key, DONE)
    return jira.issue(key).fields.status.name


lines.main(sys.argv[1:], create, resolve)
