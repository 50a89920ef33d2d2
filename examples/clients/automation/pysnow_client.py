"""Opens and resolves ServiceNow incidents with the package `pysnow`.

    pysnow_client.py create URL URGENCY FAULT...
    pysnow_client.py resolve URL SYS_ID
"""
import sys
import warnings

warnings.simplefilter("ignore")  # pysnow is old, and Python says so

import pysnow

import lines


def incidents(url):
    host = url.removeprefix("http://")
    client = pysnow.Client(host=host, user="automation", password="secret", use_ssl=False)
    return client.resource(api_path="/table/incident")


def create(url, urgency, fault):
    made = incidents(url).create(
        payload={"cmdb_ci": fault, "category": "disk", "urgency": urgency, "short_description": lines.title(fault)}
    )
    return made["sys_id"]


def resolve(url, sys_id):
    return incidents(url).update(query={"sys_id": sys_id}, payload={"state": "6"})["state"]


lines.main(sys.argv[1:], create, resolve)
