"""Opens and resolves ServiceNow incidents with the package `requests`.

    requests_client.py create URL URGENCY FAULT...
    requests_client.py resolve URL SYS_ID

With RETRY=1 in the environment POSTs are tried again, as many scripts do it.
"""
import os
import sys

import requests
from requests.adapters import HTTPAdapter
from urllib3.util.retry import Retry

import lines

TABLE = "/api/now/table/incident"


def session(url):
    s = requests.Session()
    s.auth = ("automation", "secret")
    if os.environ.get("RETRY"):
        again = Retry(total=3, backoff_factor=1, status_forcelist=[429, 500, 502, 503, 504], allowed_methods=None)
        s.mount(url, HTTPAdapter(max_retries=again))
    return s


def create(url, urgency, fault):
    r = session(url).post(
        url + TABLE,
        json={"cmdb_ci": fault, "category": "disk", "urgency": urgency, "short_description": lines.title(fault)},
        timeout=lines.TIMEOUT,
    )
    r.raise_for_status()
    return r.json()["result"]["sys_id"]


def resolve(url, sys_id):
    r = session(url).patch(f"{url}{TABLE}/{sys_id}", json={"state": "6"}, timeout=lines.TIMEOUT)
    r.raise_for_status()
    return r.json()["result"]["state"]


lines.main(sys.argv[1:], create, resolve)
