"""Files on servers over TLS: read from a server that is trusted, and from no other.

`tls/localhost.pem` is a key and a certificate for this machine alone, for 100 years:
`openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 36500 -subj /CN=localhost
-addext subjectAltName=DNS:localhost,IP:127.0.0.1 -addext basicConstraints=critical,CA:FALSE`
"""

import os
import ssl
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
from support import IS_H5PY, hs
from web import Server

pytestmark = [pytest.mark.whole, pytest.mark.skipif(IS_H5PY, reason="h5py reads no URLs")]

CERTIFICATE = Path(__file__).parent / "tls" / "localhost.pem"
READ = "import sys, hyperslab as hs; print(hs.File(sys.argv[1])['a'][:].sum())"


@pytest.fixture
def url(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["a"] = np.arange(1000)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    with Server() as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        yield server.add(tmp_path / "a.h5").replace("http:", "https:")
        server.shutdown()


def test_a_certificate_that_nobody_trusts_is_refused_unless_the_caller_allows_it(url):
    with pytest.raises(OSError, match="https://127"):
        hs.File(url, storage_options={"max_retries": "0"})
    with hs.File(url, storage_options={"allow_invalid_certificates": "true"}) as file:
        assert file["a"][:].sum() == 499500


@pytest.mark.process
def test_certificates_of_the_system_are_trusted(url):
    environment = os.environ | {"SSL_CERT_FILE": str(CERTIFICATE)}
    done = subprocess.run([sys.executable, "-c", READ, url], env=environment, capture_output=True, text=True)
    assert done.stdout == "499500\n", done.stderr
