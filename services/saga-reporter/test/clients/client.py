"""Makes the calls that stand as JSON on standard input with grpcio, one after the other, and prints how each ended."""

import base64
import json
import sys

import grpc

given = json.load(sys.stdin)


def same(data):
    return data


def make(channel, call):
    path, kind = call["path"], call.get("kind", "unary")
    request = base64.b64decode(call.get("request", ""))
    metadata = [(key, value) for key, value in call.get("metadata", [])]
    method = channel.unary_unary if kind == "unary" else channel.unary_stream
    responses, trailers, code, details = [], [], "OK", ""
    try:
        made = method(path, same, same)
        if kind == "unary":
            response, ended = made.with_call(request, timeout=call.get("timeout"), metadata=metadata)
            responses.append(response)
            trailers = ended.trailing_metadata() or []
        else:
            stream = made(request, timeout=call.get("timeout"), metadata=metadata)
            for response in stream:
                responses.append(response)
                if len(responses) == call["take"]:
                    stream.cancel()
                    break
    except grpc.RpcError as error:
        code, details = error.code().name, error.details()
        trailers = error.trailing_metadata() or []
    return {
        "code": code,
        "details": details,
        "responses": [base64.b64encode(response).decode() for response in responses],
        "trailers": [key for key, _ in trailers],
    }


with grpc.insecure_channel(given["target"]) as channel:
    print(json.dumps([make(channel, call) for call in given["calls"]]))
