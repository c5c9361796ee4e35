"""What a user does with the Python client that openapi-python-client made of the document: python3 use_client.py CLIENT DOCUMENT SETTINGS.

CLIENT is the folder with the package `sonde_client`; DOCUMENT the file that it was made of; SETTINGS is JSON: where the service is, the key, addresses of
targets. Ends with 0 when every call was understood, both ways.
"""

import importlib
import json
import re
import sys
import time

sys.path.insert(0, sys.argv[1])

from sonde_client import AuthenticatedClient, models  # noqa: E402

with open(sys.argv[2], encoding="utf8") as file:
    DOCUMENT = json.load(file)
SETTINGS = json.loads(sys.argv[3])
CLIENT = AuthenticatedClient(base_url=SETTINGS["url"], token=SETTINGS["key"], raise_on_unexpected_status=True)
PROJECT = "prj_1"
# A first check, or an incident after it, on a busy machine.
WITHIN_S = 60
# Only the page's cookie reads these; a key is refused.
OF_SESSIONS = ("getSession", "listSessions", "listPasskeys")
# It goes on until its reader leaves.
STREAMS = ("followProject",)


def call(operation: str, **arguments):
    """Calls an operation by its id; what the client made of the answer holds all that the answer held."""
    path, shape = OPERATIONS[operation]
    snake = re.sub(r"(?<!^)(?=[A-Z])", "_", operation).lower()
    module = importlib.import_module(f"sonde_client.api.{shape['tags'][0].lower().replace(' ', '_')}.{snake}")
    if any(parameter["name"] == "X-Project-Id" for parameter in shape.get("parameters", [])):
        arguments["x_project_id"] = PROJECT
    answer = module.sync_detailed(client=CLIENT, **arguments)
    assert answer.parsed is not None, f"{operation}: {int(answer.status_code)} was not understood: {answer.content!r}"
    if hasattr(answer.parsed, "to_dict"):
        assert answer.parsed.to_dict() == json.loads(answer.content), f"{operation}: what came back differs: {answer.content!r}"
    return answer


def done(operation: str, **arguments):
    answer = call(operation, **arguments)
    assert answer.status_code == 200, f"{operation}: {answer.content!r}"
    return answer.parsed


def eventually(look):
    late = time.monotonic() + WITHIN_S
    while time.monotonic() < late:
        found = look()
        if found:
            return found
        time.sleep(0.1)
    raise AssertionError("it did not come in time")


OPERATIONS = {
    operation["operationId"]: (path, operation)
    for path, operations in DOCUMENT["paths"].items()
    for operation in operations.values()
}

# Monitors, with the few fields that a user must send.
up = done("createMonitor", body=models.CreateHttp(type_="http", name="Up", url=SETTINGS["website"]))
down = done("createMonitor", body=models.CreateHttp(type_="http", name="Down", url=SETTINGS["nothing"], maxretries=1))
done("createMonitor", body=models.CreatePort(type_="port", name="Port", host="127.0.0.1", port=SETTINGS["port"]))
push = done("createMonitor", body=models.CreatePush(type_="push", name="Job", period=60))
tunnel = done("createMonitor", body=models.CreateVpn(name="Tunnel", url=SETTINGS["link"], active=False))
assert tunnel.protocol == "trojan" and tunnel.status == "paused", tunnel
assert isinstance(up.last_checked, (str, type(None)))
eventually(lambda: done("getMonitor", id=up.id).status == "healthy")
eventually(lambda: done("getMonitor", id=down.id).status == "down")
changed = done("updateMonitor", id=up.id, body=models.UpdateMonitor(name="Up and running", tags=["prod"], ssl_expiration=None))
assert (changed.name, changed.tags) == ("Up and running", ["prod"]), changed
incident = eventually(lambda: done("listIncidents").incidents)[0]
assert done("acknowledgeIncident", id=incident.id, body=models.AcknowledgeIncident(note="Looking")).acknowledged
done("retestIncident", id=incident.id)
eventually(lambda: done("listMonitorResults", id=up.id, explain="1").results)
done("sendHeartbeat", token=push.heartbeat_url.rsplit("/", 1)[1], ping="100000000000")

# Subscriptions, keys, a configuration that is not kept.
subscription = done("createSubscription", body=models.CreateSubscription(url=SETTINGS["list"]))
done("updateSubscription", id=str(subscription.id), body=models.UpdateSubscription(name="Provider"))
done("syncSubscription", id=str(subscription.id))
created = done("createKey", body=models.CreateKey(name="ci"))
assert [key.active for key in done("listKeys").keys if key.id == created.id] == [1]
done("revokeKey", id=str(created.id))
assert done("checkConfig", body=models.CheckConfig(config=SETTINGS["link"])).status == "down"
assert done("testMonitors", body=models.TestMonitors(server_ids=[tunnel.id])).skipped[0].reason == "paused"

nightly = models.MaintenanceCron(type_="cron", cron="0 2 * * *", minutes=30)
backups = models.CreateMaintenanceSchedule(title="Backups", select=models.CreateMaintenanceScheduleSelect.from_dict({"all": True}), schedule=nightly)
planned = done("createMaintenance", body=backups)
assert planned.title == "Backups" and planned.state in ("next", "active"), planned

phones = {"kind": "ntfy", "name": "Phones", "settings": {"server": "https://ntfy.test-site.org", "topic": "sonde"}}
channel = done("createChannel", body=models.CreateChannel.from_dict(phones))
assert channel.state == "ok" and channel.has_secret == [], channel
page = done("createStatusPage", body=models.CreateStatusPage(slug="acme", title="Acme"))
assert (page.slug, page.published, page.access.type_) == ("acme", False, "public"), page
hook = done("createWebhook", body=models.CreateWebhook(url=SETTINGS["website"]))
assert hook.secret.startswith("whsec_") and hook.id == 1, hook

# Every read of the document, with what is there.
ORGANIZATION = str(done("whoami").default_organization_id)
IDS = {"ch": channel.id, "srv": up.id, "inc": incident.id, "sub": str(subscription.id), "mnt": planned.id, "spg": page.id}
read = 0
for path, operations in DOCUMENT["paths"].items():
    if "get" not in operations or "{token}" in path:
        continue
    arguments = {}
    for parameter in operations["get"].get("parameters", []):
        if parameter["in"] == "path":
            kind = re.search(r"\((\w+)_\)", parameter["schema"]["pattern"])
            arguments[parameter["name"]] = ORGANIZATION if kind is None else IDS[kind.group(1)]
        elif parameter["name"] in ("q", "explain") and path.endswith(("/search", "/servers", "}")):
            arguments[parameter["name"]] = "1"
    operation = operations["get"]["operationId"]
    if operation in STREAMS:
        continue
    if operation in OF_SESSIONS:
        refused = call(operation, **arguments)
        assert (refused.status_code, refused.parsed.code) == (403, 403), refused
        continue
    done(operation, **arguments)
    read += 1
assert read > 20, read

# Refusals are values, with their words.
missing = call("getMonitor", id="srv_999999")
assert (missing.status_code, missing.parsed.message) == (404, "Server not found"), missing
refused = call("createMonitor", body=models.CreateHttp(type_="http", name="", url=SETTINGS["website"]))
assert (refused.status_code, refused.parsed.message) == (400, "Missing or invalid name"), refused

# What a later version adds is taken: fields, and words of lists.
later = {**done("getMonitor", id=down.id).to_dict(), "status": "asleep", "added": {"in": "version 1.9"}}
later["regional_status"]["any"]["error_category"] = "too_cold"
assert models.Monitor.from_dict(later).to_dict() == later
for operation, id_ in (("deleteSubscription", str(subscription.id)), ("deleteMonitor", down.id)):
    assert done(operation, id=id_).success
print(f"{len(OPERATIONS)} operations, {read} of them read")
