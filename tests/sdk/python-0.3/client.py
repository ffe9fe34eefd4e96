"""The last official Python SDK of protocol 0.3 against a running gateway: each of its operations over each binding,
one JSON line a cell.

Called as `client.py BASE_URL`. A cell that is as the specification has it is observed as `pass`, any other by what
went wrong. Whether that is a fault is not judged here; the exit code says only whether all cells were reported.
"""

import asyncio
import json
import sys
import uuid

import grpc
import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.client.errors import A2AClientHTTPError, A2AClientJSONRPCError
from a2a.types import (
    DataPart,
    FilePart,
    FileWithBytes,
    FileWithUri,
    GetTaskPushNotificationConfigParams,
    Message,
    MessageSendConfiguration,
    Part,
    PushNotificationAuthenticationInfo,
    PushNotificationConfig,
    Role,
    Task,
    TaskArtifactUpdateEvent,
    TaskIdParams,
    TaskPushNotificationConfig,
    TaskQueryParams,
    TaskState,
    TaskStatusUpdateEvent,
    TextPart,
)

BINDINGS = ["JSONRPC", "HTTP+JSON", "GRPC"]
CELL_SECONDS = 20

# An error's code by JSON-RPC, its status over HTTP and over gRPC.
NOT_FOUND = (-32001, 404, grpc.StatusCode.NOT_FOUND)
NOT_CANCELABLE = (-32002, 400, grpc.StatusCode.FAILED_PRECONDITION)
UNSUPPORTED = (-32004, 400, grpc.StatusCode.FAILED_PRECONDITION)
INVALID = (-32602, 400, grpc.StatusCode.INVALID_ARGUMENT)


class Unexpected(Exception):
    """An answer that is not what the specification promises."""


def demand(condition, what):
    if not condition:
        raise Unexpected(what)


async def refused(call, kind):
    """The call ends with this error, as the binding tells it."""
    try:
        await call
    except A2AClientJSONRPCError as error:
        told = error.error.code
    except A2AClientHTTPError as error:
        told = error.status_code
    except grpc.aio.AioRpcError as error:
        told = error.code()
    else:
        raise Unexpected(f"{kind[0]} expected, got an answer")
    demand(told in kind, f"{kind[0]} expected, got {told}")


def text(value):
    return [Part(root=TextPart(text=value))]


class Calls:
    """The operations of one binding."""

    def __init__(self, base, card, binding, http):
        def client(streaming):
            config = ClientConfig(
                streaming=streaming,
                httpx_client=http,
                grpc_channel_factory=grpc.aio.insecure_channel,
                supported_transports=[binding],
            )
            return ClientFactory(config).create(card)

        self.card = card
        # The gateway itself, which knows no such path: nothing has to be delivered, and nothing leaves the machine.
        self.hook = f"{base}/hook"
        self.blocking, self.streaming = client(False), client(True)

    @staticmethod
    def message(parts, fields):
        parts = text(parts) if isinstance(parts, str) else parts
        return Message(message_id=str(uuid.uuid4()), role=Role.user, parts=parts, **fields)

    async def send(self, parts, blocking=True, **fields):
        configuration = MessageSendConfiguration(blocking=blocking)
        events = self.blocking.send_message(self.message(parts, fields), configuration=configuration)
        answer = [event async for event in events][0]
        return answer[0] if isinstance(answer, tuple) else answer

    async def task(self, parts, blocking=True, **fields):
        answer = await self.send(parts, blocking, **fields)
        demand(isinstance(answer, Task), "the answer is a task")
        return answer

    async def stream(self, parts, **fields):
        return [event async for event in self.streaming.send_message(self.message(parts, fields))]

    async def config(self, task_id, **fields):
        config = PushNotificationConfig(url=self.hook, **fields)
        return await self.blocking.set_task_callback(
            TaskPushNotificationConfig(task_id=task_id, push_notification_config=config)
        )

    async def follow(self, task_id):
        return [event async for event in self.streaming.resubscribe(TaskIdParams(id=task_id))]


async def send_message(calls):
    data = {"list": [1, 2.5, None, True, "ü"], "map": {}}
    sent = [
        Part(root=TextPart(text="hello")),
        Part(root=DataPart(data=data)),
        Part(root=FilePart(file=FileWithBytes(bytes="AAEC/w==", name="bytes.bin", mime_type="application/octet-stream"))),
        Part(root=FilePart(file=FileWithUri(uri="https://example.com/picture.png", mime_type="image/png"))),
    ]
    task = await calls.task(sent, metadata={"https://example.com/m": {"deep": [1]}})
    demand(task.status.state == TaskState.completed, "a blocking send waits for the end")
    echoed = [part.root for part in task.artifacts[0].parts]
    demand(echoed[0].text.endswith("hello"), "the text comes back")
    demand(echoed[1].data == data, "the data come back")
    demand(echoed[2].file.bytes == "AAEC/w==", "the bytes come back")
    demand(echoed[2].file.name == "bytes.bin", "the bytes come back with their name")
    demand(echoed[2].file.mime_type == "application/octet-stream", "the bytes come back with their type")
    demand(echoed[3].file.uri == "https://example.com/picture.png", "the address comes back")
    demand(echoed[3].file.mime_type == "image/png", "the address comes back with its type")
    await refused(calls.send("more", task_id=task.id), UNSUPPORTED)

    answer = await calls.send("direct")
    demand(isinstance(answer, Message) and answer.role == Role.agent, "a message of the agent can be the answer")

    question = await calls.task("ask")
    demand(question.status.state == TaskState.input_required, "a blocking send returns at a question")
    task = await calls.task("forty-two", task_id=question.id, context_id=question.context_id)
    demand(task.id == question.id and task.status.state == TaskState.completed, "an answer goes on with the task")

    task = await calls.task("work 2", blocking=False)
    demand(task.status.state in (TaskState.submitted, TaskState.working), "one need not wait")
    demand(task.status.timestamp, "the status has a time")


async def send_streaming_message(calls):
    events = await calls.stream("chunks 3 0")
    demand(events[0][1] is None, "a stream begins with the task")
    chunks = [update for _, update in events if isinstance(update, TaskArtifactUpdateEvent)]
    demand([chunk.append for chunk in chunks] == [False, True, True], "further chunks are appended")
    demand([chunk.last_chunk for chunk in chunks] == [False, False, True], "the last chunk says so")
    last = events[-1][1]
    demand(isinstance(last, TaskStatusUpdateEvent) and last.final, "a stream ends with a final update")
    demand(last.status.state == TaskState.completed, "a stream ends with the end of the task")

    events = await calls.stream("ask")
    last = events[-1][1]
    demand(last.status.state == TaskState.input_required and last.final, "a stream ends with a question")

    events = await calls.stream("direct")
    demand(len(events) == 1 and isinstance(events[0], Message), "a message is a whole stream")


async def get_task(calls):
    sent = await calls.task("say hello")
    task = await calls.blocking.get_task(TaskQueryParams(id=sent.id))
    demand(task.id == sent.id and task.context_id == sent.context_id, "the task is the one asked for")
    demand(task.artifacts[0].parts[0].root.text == "hello", "the artifact is there")
    demand(task.history[0].parts[0].root.text == "say hello", "the history is there")
    short = await calls.blocking.get_task(TaskQueryParams(id=sent.id, history_length=1))
    demand(len(short.history) == 1, "a history of length 1 has one message")
    await refused(calls.blocking.get_task(TaskQueryParams(id="no-such-task")), NOT_FOUND)


async def cancel_task(calls):
    task = await calls.task("work 60", blocking=False)
    canceled = await calls.blocking.cancel_task(TaskIdParams(id=task.id))
    demand(canceled.id == task.id and canceled.status.state == TaskState.canceled, "the task is canceled")
    await refused(calls.blocking.cancel_task(TaskIdParams(id=task.id)), NOT_CANCELABLE)
    await refused(calls.blocking.cancel_task(TaskIdParams(id="no-such-task")), NOT_FOUND)


async def subscribe_to_task(calls):
    task = await calls.task("ask")
    events = calls.streaming.resubscribe(TaskIdParams(id=task.id))
    first, update = await anext(events)
    demand(update is None and first.id == task.id, "a subscription begins with the task")
    demand(first.status.state == TaskState.input_required, "the task is as it stands")
    await calls.task("forty-two", task_id=task.id)
    rest = [update async for _, update in events]
    demand(any(isinstance(update, TaskArtifactUpdateEvent) for update in rest), "artifacts arrive")
    demand(rest[-1].status.state == TaskState.completed, "a subscription ends with the end of the task")
    ended = await calls.follow(task.id)
    demand(len(ended) == 1 and ended[0][0].status.state == TaskState.completed, "of a task that has ended it is the task")
    await refused(calls.follow("no-such-task"), NOT_FOUND)


async def set_config(calls):
    task = await calls.task("ask")
    authentication = PushNotificationAuthenticationInfo(schemes=["Digest", "Bearer"], credentials="opaque")
    config = await calls.config(task.id, id="mine", token="token", authentication=authentication)
    demand(config.task_id == task.id, "the configuration is of the task")
    kept = config.push_notification_config
    demand((kept.id, kept.url, kept.token) == ("mine", calls.hook, "token"), "id, address and token are kept")
    demand(kept.authentication == authentication, "all schemes are kept")
    await refused(calls.config("no-such-task", id="mine"), NOT_FOUND)


async def get_config(calls):
    task = await calls.task("ask")
    created = await calls.config(task.id, id="mine", token="token")
    params = GetTaskPushNotificationConfigParams(id=task.id, push_notification_config_id="mine")
    demand(await calls.blocking.get_task_callback(params) == created, "what was created is found")
    params = GetTaskPushNotificationConfigParams(id=task.id, push_notification_config_id="no-such-configuration")
    await refused(calls.blocking.get_task_callback(params), NOT_FOUND)


async def get_card(calls):
    demand(calls.card.supports_authenticated_extended_card, "the card declares an extended one")
    card = await calls.blocking.get_card()
    demand(card.name == calls.card.name, "the extended card is of the same agent")
    demand(card.description != calls.card.description, "it describes more")
    demand(len(card.skills) == len(calls.card.skills) + 1, "it has more skills")


CELLS = {
    "SendMessage": send_message,
    "SendStreamingMessage": send_streaming_message,
    "GetTask": get_task,
    "CancelTask": cancel_task,
    "SubscribeToTask": subscribe_to_task,
    "CreateTaskPushNotificationConfig": set_config,
    "GetTaskPushNotificationConfig": get_config,
    "GetExtendedAgentCard": get_card,
}


async def observe(cell, calls):
    try:
        await asyncio.wait_for(cell(calls), CELL_SECONDS)
    except Unexpected as unexpected:
        return f"not so: {unexpected}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "pass"


async def main(base):
    async with httpx.AsyncClient(timeout=CELL_SECONDS) as http:
        card = await A2ACardResolver(http, base).get_agent_card()
        for binding in BINDINGS:
            calls = Calls(base, card, binding, http)
            for operation, cell in CELLS.items():
                observed = await observe(cell, calls)
                print(json.dumps({"operation": operation, "binding": binding, "observed": observed}), flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
