"""What every request of schemathesis is given or spared; each hook says why."""

import os
import re
import secrets

import schemathesis
from urllib3.util import SKIP_HEADER

# Without its own key the run would test nothing but 401.
OWN_KEY_ID = re.match(r"[ud]k(\d+)_", os.environ["SONDE_TEST_KEY"]).group(1)


@schemathesis.hook
def before_call(context, case, kwargs):
    """Each request comes from an address of its own: ten wrong keys from one address, and the contract refuses everything from there.
    Nine project ids in ten become the one that is there, lest everything be answered 404. Not by `random`, which Hypothesis winds back."""
    case.headers["X-Forwarded-For"] = ".".join(["198", str(18 + secrets.randbelow(2)), *(str(secrets.randbelow(256)) for _ in range(2))])
    if re.fullmatch(r"(prj_)?[0-9]+", case.headers.get("X-Project-Id", "")) and secrets.randbelow(10) > 0:
        case.headers["X-Project-Id"] = "prj_1"


@schemathesis.hook
def filter_headers(context, headers):
    """urllib3 sends no header whose value is the text that it marks skipped ones with, and schemathesis makes it up from its constants.
    Names are what RFC 9110 (section 5.6.2) allows: http.client would send others too."""
    return headers is None or all(
        re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name) and value not in (SKIP_HEADER, SKIP_HEADER.encode()) for name, value in headers.items()
    )


@schemathesis.hook
def filter_case(context, case):
    """The run does not revoke its own key."""
    path = case.operation.path
    if not path.endswith("/keys/{id}"):
        return True
    return str((case.path_parameters or {}).get("id")) != OWN_KEY_ID
