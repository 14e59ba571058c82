"""Talks to a Jenkins-like build server. The address and the token come from the environment, never from the input."""

import json
import os
import sys
import urllib.error
import urllib.parse
import urllib.request

TIMEOUT_S = 10


def call(method, path, form=None):
    request = urllib.request.Request(
        os.environ["JENKINS_URL"].rstrip("/") + path,
        method=method,
        data=urllib.parse.urlencode(form).encode() if form is not None else None,
    )
    if os.environ.get("JENKINS_TOKEN"):
        request.add_header("Authorization", "Bearer " + os.environ["JENKINS_TOKEN"])
    # No proxy: the server is the one that the operator named.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=TIMEOUT_S) as response:
        return json.load(response)


def main():
    asked = json.load(sys.stdin)
    job = "/job/" + urllib.parse.quote(asked["job"], safe="")
    try:
        if asked.get("action", "status") == "build":
            queued = call("POST", job + "/buildWithParameters", asked.get("parameters", {}))
            print(f"{asked['job']}: build {queued['number']} started")
        else:
            last = call("GET", job + "/api/json")["lastBuild"]
            print(f"{asked['job']}: build {last['number']} was {last['result']}")
    except urllib.error.HTTPError as error:
        sys.exit(f"jenkins_job: the server answered {error.code} {error.reason}")
    except urllib.error.URLError as error:
        sys.exit(f"jenkins_job: no answer: {error.reason}")


main()
