"""The official Python SDK against a running gateway: each operation over each binding, one JSON line a cell.

Called as `client.py BASE_URL [VERSION]`; with a version, the SDK knows the interfaces of that version only, and speaks
it. A cell that is as the specification has it is observed as `pass`, any other by what
went wrong. Whether that is a fault is not judged here; the exit code says only whether all cells were reported.
"""

import asyncio
import json
import sys
import uuid

import grpc
import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import a2a_pb2 as pb
from a2a.utils import errors
from google.protobuf.json_format import MessageToDict, ParseDict

BINDINGS = ["JSONRPC", "HTTP+JSON", "GRPC"]
CELL_SECONDS = 20


class Unexpected(Exception):
    """An answer that is not what the specification promises."""


def demand(condition, what):
    if not condition:
        raise Unexpected(what)


async def refused(call, kind):
    """The call ends with the SDK's own error of this kind."""
    try:
        await call
    except kind:
        return
    except Exception as error:
        raise Unexpected(f"{kind.__name__} expected, got {type(error).__name__}: {error}") from error
    raise Unexpected(f"{kind.__name__} expected, got an answer")


def message(parts, **fields):
    return {"messageId": str(uuid.uuid4()), "role": "ROLE_USER", "parts": parts, **fields}


def state(task):
    return pb.TaskState.Name(task.status.state)


class Calls:
    """The operations of one binding, in canonical JSON where a request has many fields."""

    def __init__(self, base, card, binding, http, version):
        def client(streaming):
            config = ClientConfig(
                streaming=streaming,
                httpx_client=http,
                grpc_channel_factory=grpc.aio.insecure_channel,
                supported_protocol_bindings=[binding],
            )
            return ClientFactory(config).create(card)

        self.card = card
        # What 0.3 or the SDK's mode for it has not on every binding is not asked for: tenants, a history of length 0, pages,
        # errors of a task that has ended.
        self.old = version == "0.3"
        # The gateway itself, which knows no such path: nothing has to be delivered, and nothing leaves the machine.
        self.hook = f"{base}/hook"
        self.blocking, self.streaming = client(False), client(True)

    async def send(self, parts, now=False, **fields):
        request = self.request(parts, now, fields)
        return [event async for event in self.blocking.send_message(request)][0]

    async def stream(self, parts, **fields):
        return [event async for event in self.streaming.send_message(self.request(parts, False, fields))]

    @staticmethod
    def request(parts, now, fields):
        parts = [{"text": parts}] if isinstance(parts, str) else parts
        tenant = fields.pop("tenant", "")
        request = {
            "tenant": tenant,
            "message": message(parts, **fields),
            "configuration": {"returnImmediately": now},
        }
        return ParseDict(request, pb.SendMessageRequest())

    async def task(self, parts, now=False, **fields):
        answer = await self.send(parts, now, **fields)
        demand(answer.HasField("task"), "the answer is a task")
        return answer.task

    async def list(self, **filters):
        return await self.blocking.list_tasks(ParseDict(filters, pb.ListTasksRequest()))

    async def config(self, task, **fields):
        config = {"taskId": task.id, "url": self.hook, **fields}
        return await self.blocking.create_task_push_notification_config(
            ParseDict(config, pb.TaskPushNotificationConfig())
        )

    async def subscribe(self, task):
        return [event async for event in self.streaming.subscribe(pb.SubscribeToTaskRequest(id=task.id))]


async def send_message(calls):
    data = {"list": [1, 2.5, None, True, "ü"], "map": {}}
    sent = [
        {"text": "hello"},
        {"data": data},
        {"raw": "AAEC/w==", "filename": "bytes.bin", "mediaType": "application/octet-stream"},
        {"url": "https://example.com/picture.png", "mediaType": "image/png"},
    ]
    task = await calls.task(sent, metadata={"https://example.com/m": {"deep": [1]}})
    demand(state(task) == "TASK_STATE_COMPLETED", "a blocking send waits for the end")
    echoed = [MessageToDict(part) for part in task.artifacts[0].parts]
    demand(echoed[0]["text"].endswith("hello"), "the text comes back")
    demand(echoed[1]["data"] == data, "the data come back")
    demand(echoed[2] == sent[2], "the bytes come back with name and type")
    demand(echoed[3] == sent[3], "the address comes back with its type")
    demand(len(task.status.timestamp.ToJsonString()) > 0, "the status has a time")
    await refused(calls.send("more", taskId=task.id), errors.UnsupportedOperationError)

    answer = await calls.send("direct")
    demand(answer.HasField("message"), "a message can be the answer")
    demand(answer.message.role == pb.ROLE_AGENT, "the message is the agent's")

    question = await calls.task("ask")
    demand(state(question) == "TASK_STATE_INPUT_REQUIRED", "a blocking send returns at a question")
    task = await calls.task("forty-two", taskId=question.id, contextId=question.context_id)
    demand(task.id == question.id and state(task) == "TASK_STATE_COMPLETED", "an answer goes on with the task")

    task = await calls.task("work 2", now=True)
    demand(state(task) in ("TASK_STATE_SUBMITTED", "TASK_STATE_WORKING"), "one need not wait")


async def send_streaming_message(calls):
    events = await calls.stream("chunks 3 0")
    demand(events[0].HasField("task"), "a stream begins with the task")
    chunks = [event.artifact_update for event in events if event.HasField("artifact_update")]
    demand(len(chunks) == 3, "each chunk is an event")
    demand([chunk.append for chunk in chunks] == [False, True, True], "further chunks are appended")
    demand([chunk.last_chunk for chunk in chunks] == [False, False, True], "the last chunk says so")
    demand(state(events[-1].status_update) == "TASK_STATE_COMPLETED", "a stream ends with the end of the task")
    events = await calls.stream("direct")
    demand(len(events) == 1 and events[0].HasField("message"), "a message is a whole stream")


async def get_task(calls):
    sent = await calls.task("say hello")
    task = await calls.blocking.get_task(pb.GetTaskRequest(id=sent.id))
    demand(task.id == sent.id and task.context_id == sent.context_id, "the task is the one asked for")
    demand(task.artifacts[0].parts[0].text == "hello", "the artifact is there")
    demand(task.history[0].parts[0].text == "say hello", "the history is there")
    await refused(calls.blocking.get_task(pb.GetTaskRequest(id="no-such-task")), errors.TaskNotFoundError)
    if calls.old:
        return
    bare = await calls.blocking.get_task(pb.GetTaskRequest(id=sent.id, history_length=0))
    demand(len(bare.history) == 0, "a history of length 0 is none")
    theirs = await calls.task("say hello", tenant="acme")
    task = await calls.blocking.get_task(pb.GetTaskRequest(id=theirs.id, tenant="acme"))
    demand(task.id == theirs.id, "a tenant's task is found by the tenant")
    await refused(calls.blocking.get_task(pb.GetTaskRequest(id=theirs.id)), errors.TaskNotFoundError)


async def list_tasks(calls):
    first = await calls.task("say one")
    context = first.context_id
    second = await calls.task("say two", contextId=context)
    both = await calls.list(contextId=context)
    demand([task.id for task in both.tasks] == [second.id, first.id], "the last changed task stands first")
    demand(both.total_size == 2 and not both.next_page_token, "all tasks are counted")
    demand(not both.tasks[0].artifacts, "artifacts are left out")
    page = await calls.list(contextId=context, pageSize=1, includeArtifacts=True)
    demand(len(page.tasks) == 1 and page.next_page_token, "a page has a next one")
    demand(page.tasks[0].artifacts[0].parts[0].text == "two", "artifacts are there when asked for")
    rest = await calls.list(contextId=context, pageSize=1, pageToken=page.next_page_token)
    demand([task.id for task in rest.tasks] == [first.id], "the next page goes on")
    none = await calls.list(contextId=context, status="TASK_STATE_FAILED")
    demand(not none.tasks and none.total_size == 0, "a state selects")
    later = await calls.list(contextId=context, statusTimestampAfter="2999-01-01T00:00:00Z")
    demand(not later.tasks, "a time selects")


async def cancel_task(calls):
    task = await calls.task("work 60", now=True)
    request = ParseDict({"id": task.id, "metadata": {"why": "enough"}}, pb.CancelTaskRequest())
    canceled = await calls.blocking.cancel_task(request)
    demand(canceled.id == task.id and state(canceled) == "TASK_STATE_CANCELED", "the task is canceled")
    await refused(calls.blocking.cancel_task(request), errors.TaskNotCancelableError)
    unknown = pb.CancelTaskRequest(id="no-such-task")
    await refused(calls.blocking.cancel_task(unknown), errors.TaskNotFoundError)


async def subscribe_to_task(calls):
    task = await calls.task("ask")
    events = calls.streaming.subscribe(pb.SubscribeToTaskRequest(id=task.id))
    first = await anext(events)
    demand(first.HasField("task") and first.task.id == task.id, "a subscription begins with the task")
    demand(state(first.task) == "TASK_STATE_INPUT_REQUIRED", "the task is as it stands")
    await calls.task("forty-two", taskId=task.id)
    rest = [event async for event in events]
    demand(any(event.HasField("artifact_update") for event in rest), "artifacts arrive")
    demand(state(rest[-1].status_update) == "TASK_STATE_COMPLETED", "a subscription ends with the end of the task")
    await refused(calls.subscribe(pb.Task(id="no-such-task")), errors.TaskNotFoundError)
    if not calls.old:
        await refused(calls.subscribe(task), errors.UnsupportedOperationError)


async def create_config(calls):
    task = await calls.task("ask")
    authentication = {"scheme": "Bearer", "credentials": "opaque"}
    config = await calls.config(task, token="token", authentication=authentication)
    demand(config.id and config.task_id == task.id, "the configuration gets an id")
    demand((config.url, config.token) == (calls.hook, "token"), "address and token are kept")
    demand(MessageToDict(config.authentication) == authentication, "credentials are kept")
    named = await calls.config(task, id="mine")
    demand(named.id == "mine", "an id of one's own is kept")
    await refused(calls.config(pb.Task(id="no-such-task")), errors.TaskNotFoundError)
    await refused(calls.config(task, url="not an address"), errors.InvalidParamsError)


async def get_config(calls):
    task = await calls.task("ask")
    created = await calls.config(task, token="token")
    found = await calls.blocking.get_task_push_notification_config(
        pb.GetTaskPushNotificationConfigRequest(task_id=task.id, id=created.id)
    )
    demand(found == created, "what was created is found")
    unknown = pb.GetTaskPushNotificationConfigRequest(task_id=task.id, id="no-such-configuration")
    await refused(calls.blocking.get_task_push_notification_config(unknown), errors.TaskNotFoundError)


async def list_configs(calls):
    task = await calls.task("ask")
    created = [await calls.config(task, id=id) for id in ("a", "b")]
    request = pb.ListTaskPushNotificationConfigsRequest(task_id=task.id)
    listed = await calls.blocking.list_task_push_notification_configs(request)
    demand(sorted(config.id for config in listed.configs) == ["a", "b"], "all configurations are listed")
    demand(all(config in created for config in listed.configs), "they are listed as they were created")
    if calls.old:
        return
    request.page_size = 1
    page = await calls.blocking.list_task_push_notification_configs(request)
    demand(len(page.configs) == 1 and page.next_page_token, "a page has a next one")
    request.page_token = page.next_page_token
    rest = await calls.blocking.list_task_push_notification_configs(request)
    demand(len(rest.configs) == 1 and rest.configs[0] != page.configs[0], "the next page goes on")


async def delete_config(calls):
    task = await calls.task("ask")
    await calls.config(task, id="a")
    request = pb.DeleteTaskPushNotificationConfigRequest(task_id=task.id, id="a")
    await calls.blocking.delete_task_push_notification_config(request)
    left = await calls.blocking.list_task_push_notification_configs(
        pb.ListTaskPushNotificationConfigsRequest(task_id=task.id)
    )
    demand(not left.configs, "a deleted configuration is gone")
    await calls.blocking.delete_task_push_notification_config(request)


async def get_extended_agent_card(calls):
    demand(calls.card.capabilities.extended_agent_card, "the card declares an extended one")
    card = await calls.blocking.get_extended_agent_card(pb.GetExtendedAgentCardRequest())
    demand(card.name == calls.card.name, "the extended card is of the same agent")
    demand(card.description != calls.card.description, "it describes more")
    demand(len(card.skills) == len(calls.card.skills) + 1, "it has more skills")


CELLS = {
    "SendMessage": send_message,
    "SendStreamingMessage": send_streaming_message,
    "GetTask": get_task,
    "ListTasks": list_tasks,
    "CancelTask": cancel_task,
    "SubscribeToTask": subscribe_to_task,
    "CreateTaskPushNotificationConfig": create_config,
    "GetTaskPushNotificationConfig": get_config,
    "ListTaskPushNotificationConfigs": list_configs,
    "DeleteTaskPushNotificationConfig": delete_config,
    "GetExtendedAgentCard": get_extended_agent_card,
}


async def observe(cell, calls):
    try:
        await asyncio.wait_for(cell(calls), CELL_SECONDS)
    except Unexpected as unexpected:
        return f"not so: {unexpected}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "pass"


async def main(base, version=None):
    async with httpx.AsyncClient(timeout=CELL_SECONDS) as http:
        card = await A2ACardResolver(http, base).get_agent_card()
        if version:
            kept = [one for one in card.supported_interfaces if one.protocol_version == version]
            del card.supported_interfaces[:]
            card.supported_interfaces.extend(kept)
            # This list came with 1.0.
            del CELLS["ListTasks"]
        for binding in BINDINGS:
            calls = Calls(base, card, binding, http, version)
            for operation, cell in CELLS.items():
                observed = await observe(cell, calls)
                print(json.dumps({"operation": operation, "binding": binding, "observed": observed}), flush=True)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
