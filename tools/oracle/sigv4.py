"""Prints the signatures of wire/sigv4's test as botocore makes them. With a port it is a Bedrock that answers
only requests whose signature botocore makes too.

    pip install botocore && python3 tools/oracle/sigv4.py [PORT]

    AWS_ACCESS_KEY_ID=AKIDEXAMPLE AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY AWS_REGION=eu-west-1 \
      AWS_ENDPOINT_URL_BEDROCK_RUNTIME=http://127.0.0.1:PORT tokenmeter bench http://127.0.0.1:PORT --api bedrock --no-stream \
      --model amazon.nova-lite-v1:0 --requests 20
"""

import datetime
import http.server
import json
import sys

import botocore
from botocore import auth, awsrequest, credentials

NOW = datetime.datetime(2026, 11, 29, 12, 0, 0, tzinfo=datetime.timezone.utc)
KEY, SECRET = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
CASES = [
    ("/model/amazon.nova-lite-v1:0/converse-stream", b'{"messages":[]}', None),
    ("/model/amazon.nova-lite-v1:0/converse-stream", b'{"messages":[]}', "a/session+token=="),
    ("/model/arn:aws:bedrock:eu-west-1:1:inference-profile%2Feu.x/converse", b"", None),
]



def signed(at, url, body, kind, token):
    """The headers that botocore adds at a time."""
    auth.get_current_datetime = lambda *a, **k: at.replace(tzinfo=None)
    request = awsrequest.AWSRequest("POST", url, data=body, headers={"Content-Type": kind})
    auth.SigV4Auth(credentials.Credentials(KEY, SECRET, token), "bedrock", "eu-west-1").add_auth(request)
    return request.headers


class Bedrock(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        at = datetime.datetime.strptime(self.headers["X-Amz-Date"], "%Y%m%dT%H%M%SZ")
        late = abs((datetime.datetime.now(datetime.timezone.utc).replace(tzinfo=None) - at).total_seconds())
        want = signed(at, "http://" + self.headers["Host"] + self.path, body, self.headers["Content-Type"],
                      self.headers["X-Amz-Security-Token"])["Authorization"]
        if want != self.headers["Authorization"] or late > 300:
            self.answer(403, {"message": "The request signature we calculated does not match"})
        else:
            self.answer(200, {"output": {"message": {"role": "assistant", "content": [{"text": "right"}]}}, "stopReason": "end_turn",
                              "usage": {"inputTokens": 5, "outputTokens": 1, "totalTokens": 6}})

    def do_GET(self):
        self.answer(404, {})

    def answer(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args):
        pass


if len(sys.argv) > 1:
    http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Bedrock).serve_forever()
print("botocore", botocore.__version__)
for path, body, token in CASES:
    headers = signed(NOW, "https://bedrock-runtime.eu-west-1.amazonaws.com" + path, body, "application/json", token)
    print(headers["X-Amz-Date"], headers["Authorization"].rsplit("SignedHeaders=", 1)[1])
