// The official JavaScript SDK against a running gateway: each operation over each binding, one JSON line a cell.
//
// Called as `client.js BASE_URL [VERSION]`; with a version, the SDK knows the interfaces of that version only, and
// speaks it. A cell that is as the specification has it is observed as `pass`, any other by what went wrong. Whether
// that is a fault is not judged here; the exit code says only whether all cells were reported.

import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";

import {
  CancelTaskRequest,
  ListTasksRequest,
  SendMessageRequest,
  TaskPushNotificationConfig,
  TaskState,
  Role,
  taskStateToJSON,
} from "@a2a-js/sdk";
import {
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from "@a2a-js/sdk/client";
import { GrpcTransportFactory } from "@a2a-js/sdk/client/grpc";
import {
  RequestMalformedError,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from "@a2a-js/sdk/errors";

const TRANSPORTS = {
  JSONRPC: new JsonRpcTransportFactory(),
  "HTTP+JSON": new RestTransportFactory(),
  GRPC: new GrpcTransportFactory(),
};
const CELL_MILLISECONDS = 20_000;

/** An answer that is not what the specification promises. */
class Unexpected extends Error {}

function demand(condition, what) {
  if (!condition) throw new Unexpected(what);
}

/** The call ends with the SDK's own error of this kind. */
async function refused(call, kind) {
  try {
    await call;
  } catch (error) {
    demand(error instanceof kind, `${kind.name} expected, got ${error.name}: ${error.message}`);
    return;
  }
  throw new Unexpected(`${kind.name} expected, got an answer`);
}

async function collect(events) {
  const all = [];
  for await (const event of events) all.push(event.payload);
  return all;
}

const state = (holder) => taskStateToJSON(holder.status.state);
const isTask = (answer) => answer.id !== undefined && answer.status !== undefined;

/** The operations of one binding, with requests in canonical JSON. */
class Calls {
  constructor(base, client, card) {
    this.client = client;
    this.card = card;
    // The gateway itself, which knows no such path: nothing has to be delivered, and nothing leaves the machine.
    this.hook = `${base}/hook`;
  }

  request(parts, { now = false, tenant = "", ...fields } = {}) {
    const message = {
      messageId: randomUUID(),
      role: "ROLE_USER",
      parts: typeof parts === "string" ? [{ text: parts }] : parts,
      ...fields,
    };
    return SendMessageRequest.fromJSON({ tenant, message, configuration: { returnImmediately: now } });
  }

  send(parts, fields) {
    return this.client.sendMessage(this.request(parts, fields));
  }

  stream(parts, fields) {
    return collect(this.client.sendMessageStream(this.request(parts, fields)));
  }

  async task(parts, fields) {
    const answer = await this.send(parts, fields);
    demand(isTask(answer), "the answer is a task");
    return answer;
  }

  list(filters) {
    return this.client.listTasks(ListTasksRequest.fromJSON(filters));
  }

  config(taskId, fields) {
    const config = { taskId, url: this.hook, ...fields };
    return this.client.createTaskPushNotificationConfig(TaskPushNotificationConfig.fromJSON(config));
  }

  subscribe(id) {
    return this.client.resubscribeTask({ tenant: "", id });
  }
}

const CELLS = {
  async SendMessage(calls) {
    const data = { list: [1, 2.5, null, true, "ü"], map: {} };
    const task = await calls.task(
      [
        { text: "hello" },
        { data },
        { raw: "AAEC/w==", filename: "bytes.bin", mediaType: "application/octet-stream" },
        { url: "https://example.com/picture.png", mediaType: "image/png" },
      ],
      { metadata: { "https://example.com/m": { deep: [1] } } },
    );
    demand(task.status.state === TaskState.TASK_STATE_COMPLETED, "a blocking send waits for the end");
    const [text, structured, raw, url] = task.artifacts[0].parts;
    demand(text.content.value.endsWith("hello"), "the text comes back");
    demand(isDeepStrictEqual(structured.content.value, data), "the data come back");
    demand(Buffer.from(raw.content.value).equals(Buffer.from([0, 1, 2, 255])), "the bytes come back");
    demand(raw.filename === "bytes.bin", "a file keeps its name");
    demand(raw.mediaType === "application/octet-stream", "a file keeps its type");
    demand(url.content.value === "https://example.com/picture.png", "the address comes back");
    demand(Date.parse(task.status.timestamp) > 0, "the status has a time");
    await refused(calls.send("more", { taskId: task.id }), UnsupportedOperationError);

    const answer = await calls.send("direct");
    demand(!isTask(answer) && answer.role === Role.ROLE_AGENT, "a message of the agent's can be the answer");

    const question = await calls.task("ask");
    demand(state(question) === "TASK_STATE_INPUT_REQUIRED", "a blocking send returns at a question");
    const { id: taskId, contextId } = question;
    const answered = await calls.task("forty-two", { taskId, contextId });
    demand(answered.id === taskId && state(answered) === "TASK_STATE_COMPLETED", "an answer goes on with the task");

    const running = await calls.task("work 2", { now: true });
    demand(["TASK_STATE_SUBMITTED", "TASK_STATE_WORKING"].includes(state(running)), "one need not wait");
  },

  async SendStreamingMessage(calls) {
    const events = await calls.stream("chunks 3 0");
    demand(events[0].$case === "task", "a stream begins with the task");
    const chunks = events.filter(({ $case }) => $case === "artifactUpdate").map(({ value }) => value);
    demand(chunks.length === 3, "each chunk is an event");
    const appended = chunks.map(({ append }) => Boolean(append));
    demand(isDeepStrictEqual(appended, [false, true, true]), "further chunks are appended");
    const last = chunks.map(({ lastChunk }) => Boolean(lastChunk));
    demand(isDeepStrictEqual(last, [false, false, true]), "the last chunk says so");
    const end = events.at(-1);
    demand(end.$case === "statusUpdate", "a stream ends with a status");
    demand(state(end.value) === "TASK_STATE_COMPLETED", "a stream ends with the end of the task");
    const direct = await calls.stream("direct");
    demand(direct.length === 1 && direct[0].$case === "message", "a message is a whole stream");
  },

  async GetTask(calls) {
    const sent = await calls.task("say hello");
    const task = await calls.client.getTask({ tenant: "", id: sent.id });
    demand(task.id === sent.id && task.contextId === sent.contextId, "the task is the one asked for");
    demand(task.artifacts[0].parts[0].content.value === "hello", "the artifact is there");
    demand(task.history[0].parts[0].content.value === "say hello", "the history is there");
    const bare = await calls.client.getTask({ tenant: "", id: sent.id, historyLength: 0 });
    demand(bare.history.length === 0, "a history of length 0 is none");
    await refused(calls.client.getTask({ tenant: "", id: "no-such-task" }), TaskNotFoundError);

    const theirs = await calls.task("say hello", { tenant: "acme" });
    const found = await calls.client.getTask({ tenant: "acme", id: theirs.id });
    demand(found.id === theirs.id, "a tenant's task is found by the tenant");
    await refused(calls.client.getTask({ tenant: "", id: theirs.id }), TaskNotFoundError);
  },

  async ListTasks(calls) {
    const first = await calls.task("say one");
    const { contextId } = first;
    const second = await calls.task("say two", { contextId });
    const both = await calls.list({ contextId });
    const ids = both.tasks.map(({ id }) => id);
    demand(isDeepStrictEqual(ids, [second.id, first.id]), "the last changed task stands first");
    demand(both.totalSize === 2 && !both.nextPageToken, "all tasks are counted");
    demand(both.tasks[0].artifacts.length === 0, "artifacts are left out");
    const page = await calls.list({ contextId, pageSize: 1, includeArtifacts: true });
    demand(page.tasks.length === 1 && page.nextPageToken, "a page has a next one");
    demand(page.tasks[0].artifacts[0].parts[0].content.value === "two", "artifacts are there when asked for");
    const rest = await calls.list({ contextId, pageSize: 1, pageToken: page.nextPageToken });
    demand(rest.tasks.length === 1 && rest.tasks[0].id === first.id, "the next page goes on");
    const none = await calls.list({ contextId, status: "TASK_STATE_FAILED" });
    demand(none.tasks.length === 0 && none.totalSize === 0, "a state selects");
    const later = await calls.list({ contextId, statusTimestampAfter: "2999-01-01T00:00:00Z" });
    demand(later.tasks.length === 0, "a time selects");
  },

  async CancelTask(calls) {
    const task = await calls.task("work 60", { now: true });
    const request = CancelTaskRequest.fromJSON({ id: task.id, metadata: { why: "enough" } });
    const canceled = await calls.client.cancelTask(request);
    demand(canceled.id === task.id && state(canceled) === "TASK_STATE_CANCELED", "the task is canceled");
    await refused(calls.client.cancelTask(request), TaskNotCancelableError);
    const unknown = CancelTaskRequest.fromJSON({ id: "no-such-task" });
    await refused(calls.client.cancelTask(unknown), TaskNotFoundError);
  },

  async SubscribeToTask(calls) {
    const task = await calls.task("ask");
    const events = calls.subscribe(task.id);
    const { payload: first } = (await events.next()).value;
    demand(first.$case === "task" && first.value.id === task.id, "a subscription begins with the task");
    demand(state(first.value) === "TASK_STATE_INPUT_REQUIRED", "the task is as it stands");
    await calls.task("forty-two", { taskId: task.id });
    const rest = await collect(events);
    demand(rest.some(({ $case }) => $case === "artifactUpdate"), "artifacts arrive");
    const end = rest.at(-1);
    demand(end.$case === "statusUpdate", "a subscription ends with a status");
    demand(state(end.value) === "TASK_STATE_COMPLETED", "a subscription ends with the end of the task");
    await refused(collect(calls.subscribe(task.id)), UnsupportedOperationError);
    await refused(collect(calls.subscribe("no-such-task")), TaskNotFoundError);
  },

  async CreateTaskPushNotificationConfig(calls) {
    const task = await calls.task("ask");
    const authentication = { scheme: "Bearer", credentials: "opaque" };
    const config = await calls.config(task.id, { token: "token", authentication });
    demand(config.id && config.taskId === task.id, "the configuration gets an id");
    demand(config.url === calls.hook && config.token === "token", "address and token are kept");
    demand(isDeepStrictEqual(config.authentication, authentication), "credentials are kept");
    const named = await calls.config(task.id, { id: "mine" });
    demand(named.id === "mine", "an id of one's own is kept");
    await refused(calls.config("no-such-task"), TaskNotFoundError);
    await refused(calls.config(task.id, { url: "not an address" }), RequestMalformedError);
  },

  async GetTaskPushNotificationConfig(calls) {
    const task = await calls.task("ask");
    const created = await calls.config(task.id, { token: "token" });
    const address = { tenant: "", taskId: task.id };
    const found = await calls.client.getTaskPushNotificationConfig({ ...address, id: created.id });
    demand(isDeepStrictEqual(found, created), "what was created is found");
    const unknown = { ...address, id: "no-such-configuration" };
    await refused(calls.client.getTaskPushNotificationConfig(unknown), TaskNotFoundError);
  },

  async ListTaskPushNotificationConfigs(calls) {
    const task = await calls.task("ask");
    const created = [await calls.config(task.id, { id: "a" }), await calls.config(task.id, { id: "b" })];
    const request = { tenant: "", taskId: task.id, pageSize: 0, pageToken: "" };
    const { configs } = await calls.client.listTaskPushNotificationConfig(request);
    demand(isDeepStrictEqual(configs.map(({ id }) => id).sort(), ["a", "b"]), "all configurations are listed");
    const known = (config) => created.some((other) => isDeepStrictEqual(config, other));
    demand(configs.every(known), "they are listed as they were created");
    // The SDK has no pages in its mode for 0.3.
    if (version === "0.3") return;
    const page = await calls.client.listTaskPushNotificationConfig({ ...request, pageSize: 1 });
    demand(page.configs.length === 1 && page.nextPageToken, "a page has a next one");
    const next = { ...request, pageSize: 1, pageToken: page.nextPageToken };
    const rest = await calls.client.listTaskPushNotificationConfig(next);
    demand(rest.configs.length === 1 && rest.configs[0].id !== page.configs[0].id, "the next page goes on");
  },

  async DeleteTaskPushNotificationConfig(calls) {
    const task = await calls.task("ask");
    await calls.config(task.id, { id: "a" });
    const address = { tenant: "", taskId: task.id };
    await calls.client.deleteTaskPushNotificationConfig({ ...address, id: "a" });
    const all = { ...address, pageSize: 0, pageToken: "" };
    const left = await calls.client.listTaskPushNotificationConfig(all);
    demand(left.configs.length === 0, "a deleted configuration is gone");
    await calls.client.deleteTaskPushNotificationConfig({ ...address, id: "a" });
  },

  async GetExtendedAgentCard(calls) {
    demand(calls.card.capabilities.extendedAgentCard, "the card declares an extended one");
    const card = await calls.client.getAgentCard();
    demand(card.name === calls.card.name, "the extended card is of the same agent");
    demand(card.description !== calls.card.description, "it describes more");
    demand(card.skills.length === calls.card.skills.length + 1, "it has more skills");
  },
};

async function observe(cell, calls) {
  const late = new Promise((_, reject) => {
    const limit = new Unexpected(`no end within ${CELL_MILLISECONDS} ms`);
    setTimeout(() => reject(limit), CELL_MILLISECONDS).unref();
  });
  try {
    await Promise.race([cell(calls), late]);
  } catch (error) {
    return error instanceof Unexpected ? `not so: ${error.message}` : `${error.name}: ${error.message}`;
  }
  return "pass";
}

const [base, version] = process.argv.slice(2);
const card = await new DefaultAgentCardResolver().resolve(base);
if (version) {
  card.supportedInterfaces = card.supportedInterfaces.filter(({ protocolVersion }) => protocolVersion === version);
  // This list came with 1.0.
  delete CELLS.ListTasks;
}
for (const [binding, transport] of Object.entries(TRANSPORTS)) {
  const factory = new ClientFactory({ transports: [transport] });
  const calls = new Calls(base, await factory.createFromAgentCard(card), card);
  for (const [operation, cell] of Object.entries(CELLS)) {
    const observed = await observe(cell, calls);
    console.log(JSON.stringify({ operation, binding, observed }));
  }
}
process.exit(0);
