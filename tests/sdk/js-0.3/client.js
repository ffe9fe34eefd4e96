// The last official JavaScript SDK of protocol 0.3 against a running gateway: each operation over each binding, one JSON
// line a cell.
//
// Called as `client.js BASE_URL`. A cell that is as the specification has it is observed as `pass`, any other by what
// went wrong. Whether that is a fault is not judged here; the exit code says only whether all cells were reported.

import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";

import {
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from "@a2a-js/sdk/client";
import { GrpcTransportFactory } from "@a2a-js/sdk/client/grpc";

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
  for await (const event of events) all.push(event);
  return all;
}

const isTask = (answer) => answer.kind === "task";
const text = (text) => [{ kind: "text", text }];

/** The operations of one binding. */
class Calls {
  constructor(base, client, card) {
    this.client = client;
    this.card = card;
    // The gateway itself, which knows no such path: nothing has to be delivered, and nothing leaves the machine.
    this.hook = `${base}/hook`;
  }

  params(parts, { blocking = true, ...fields } = {}) {
    const message = {
      kind: "message",
      messageId: randomUUID(),
      role: "user",
      parts: typeof parts === "string" ? text(parts) : parts,
      ...fields,
    };
    return { message, configuration: { blocking } };
  }

  send(parts, fields) {
    return this.client.sendMessage(this.params(parts, fields));
  }

  stream(parts, fields) {
    return collect(this.client.sendMessageStream(this.params(parts, fields)));
  }

  async task(parts, fields) {
    const answer = await this.send(parts, fields);
    demand(isTask(answer), "the answer is a task");
    return answer;
  }

  config(taskId, fields) {
    const pushNotificationConfig = { url: this.hook, ...fields };
    return this.client.setTaskPushNotificationConfig({ taskId, pushNotificationConfig });
  }

  follow(id) {
    return this.client.resubscribeTask({ id });
  }
}

const CELLS = {
  async SendMessage(calls) {
    const data = { list: [1, 2.5, true, "ü"], map: {} };
    const file = { bytes: "AAEC/w==", name: "bytes.bin", mimeType: "application/octet-stream" };
    const picture = { uri: "https://example.com/picture.png", mimeType: "image/png" };
    const task = await calls.task(
      [
        ...text("hello"),
        { kind: "data", data },
        { kind: "file", file },
        { kind: "file", file: picture },
      ],
      { metadata: { "https://example.com/m": { deep: [1] } } },
    );
    demand(task.status.state === "completed", "a blocking send waits for the end");
    const [said, structured, bytes, address] = task.artifacts[0].parts;
    demand(said.text.endsWith("hello"), "the text comes back");
    demand(isDeepStrictEqual(structured.data, data), "the data come back");
    demand(bytes.file.bytes === file.bytes, "the bytes come back");
    demand(bytes.file.mimeType === file.mimeType, "a file keeps its type");
    demand(address.file.uri === picture.uri, "the address comes back");
    demand(Date.parse(task.status.timestamp) > 0, "the status has a time");
    const answer = await calls.send("direct");
    demand(answer.kind === "message" && answer.role === "agent", "a message of the agent's can be the answer");

    const question = await calls.task("ask");
    demand(question.status.state === "input-required", "a blocking send returns at a question");
    const { id: taskId, contextId } = question;
    const answered = await calls.task("forty-two", { taskId, contextId });
    demand(answered.id === taskId && answered.status.state === "completed", "an answer goes on with the task");

    const running = await calls.task("work 2", { blocking: false });
    demand(["submitted", "working"].includes(running.status.state), "one need not wait");
    await refused(calls.send("more", { taskId: task.id }), UnsupportedOperationError);

    const holed = await calls.task([{ kind: "data", data: { list: [null] } }]);
    const [hole] = holed.artifacts[0].parts;
    demand(isDeepStrictEqual(hole.data, { list: [null] }), "null is a value");
    demand(bytes.file.name === file.name, "a file keeps its name");
  },

  async SendStreamingMessage(calls) {
    const events = await calls.stream("chunks 3 0");
    demand(events[0].kind === "task", "a stream begins with the task");
    const chunks = events.filter(({ kind }) => kind === "artifact-update");
    const last = chunks.map(({ lastChunk }) => Boolean(lastChunk));
    demand(isDeepStrictEqual(last, [false, false, true]), "the last chunk says so");
    const end = events.at(-1);
    demand(end.kind === "status-update" && end.final, "a stream ends with a final update");
    demand(end.status.state === "completed", "a stream ends with the end of the task");

    const question = (await calls.stream("ask")).at(-1);
    demand(question.status.state === "input-required" && question.final, "a stream ends with a question");

    const direct = await calls.stream("direct");
    demand(direct.length === 1 && direct[0].kind === "message", "a message is a whole stream");

    const appended = chunks.map(({ append }) => Boolean(append));
    demand(isDeepStrictEqual(appended, [false, true, true]), "further chunks are appended");
  },

  async GetTask(calls) {
    const sent = await calls.task("say hello");
    const task = await calls.client.getTask({ id: sent.id });
    demand(task.id === sent.id && task.contextId === sent.contextId, "the task is the one asked for");
    demand(task.artifacts[0].parts[0].text === "hello", "the artifact is there");
    demand(task.history[0].parts[0].text === "say hello", "the history is there");
    const short = await calls.client.getTask({ id: sent.id, historyLength: 1 });
    demand(short.history.length === 1, "a history of length 1 has one message");
    await refused(calls.client.getTask({ id: "no-such-task" }), TaskNotFoundError);
  },

  async CancelTask(calls) {
    const { id } = await calls.task("work 60", { blocking: false });
    const canceled = await calls.client.cancelTask({ id });
    demand(canceled.id === id && canceled.status.state === "canceled", "the task is canceled");
    await refused(calls.client.cancelTask({ id }), TaskNotCancelableError);
    await refused(calls.client.cancelTask({ id: "no-such-task" }), TaskNotFoundError);
  },

  async SubscribeToTask(calls) {
    const task = await calls.task("ask");
    const events = calls.follow(task.id);
    const first = (await events.next()).value;
    demand(first.kind === "task" && first.id === task.id, "a subscription begins with the task");
    demand(first.status.state === "input-required", "the task is as it stands");
    await calls.task("forty-two", { taskId: task.id });
    const rest = await collect(events);
    demand(rest.some(({ kind }) => kind === "artifact-update"), "artifacts arrive");
    demand(rest.at(-1).status.state === "completed", "a subscription ends with the end of the task");
    const ended = await collect(calls.follow(task.id));
    demand(ended.length === 1 && ended[0].status.state === "completed", "of a task that has ended it is the task");
    await refused(collect(calls.follow("no-such-task")), TaskNotFoundError);
  },

  async CreateTaskPushNotificationConfig(calls) {
    const task = await calls.task("ask");
    const authentication = { schemes: ["Digest", "Bearer"], credentials: "opaque" };
    const given = { id: "mine", token: "token", authentication };
    const { taskId, pushNotificationConfig: kept } = await calls.config(task.id, given);
    demand(taskId === task.id, "the configuration is of the task");
    demand(kept.id === "mine" && kept.url === calls.hook && kept.token === "token", "id, address and token are kept");
    demand(isDeepStrictEqual(kept.authentication, authentication), "all schemes are kept");
    await refused(calls.config("no-such-task", { id: "mine" }), TaskNotFoundError);
  },

  async GetTaskPushNotificationConfig(calls) {
    const { id } = await calls.task("ask");
    const created = await calls.config(id, { id: "mine", token: "token" });
    const found = await calls.client.getTaskPushNotificationConfig({ id, pushNotificationConfigId: "mine" });
    demand(isDeepStrictEqual(found, created), "what was created is found");
    const unknown = { id, pushNotificationConfigId: "no-such-configuration" };
    await refused(calls.client.getTaskPushNotificationConfig(unknown), TaskNotFoundError);
  },

  async ListTaskPushNotificationConfigs(calls) {
    const { id } = await calls.task("ask");
    const created = [await calls.config(id, { id: "a" }), await calls.config(id, { id: "b" })];
    const listed = await calls.client.listTaskPushNotificationConfig({ id });
    const ids = listed.map(({ pushNotificationConfig }) => pushNotificationConfig.id);
    demand(isDeepStrictEqual(ids.sort(), ["a", "b"]), "all configurations are listed");
    const known = (config) => created.some((other) => isDeepStrictEqual(config, other));
    demand(listed.every(known), "they are listed as they were created");
  },

  async DeleteTaskPushNotificationConfig(calls) {
    const { id } = await calls.task("ask");
    await calls.config(id, { id: "a" });
    await calls.client.deleteTaskPushNotificationConfig({ id, pushNotificationConfigId: "a" });
    const left = await calls.client.listTaskPushNotificationConfig({ id });
    demand(left.length === 0, "a deleted configuration is gone");
    await calls.client.deleteTaskPushNotificationConfig({ id, pushNotificationConfigId: "a" });
  },

  async GetExtendedAgentCard(calls) {
    demand(calls.card.supportsAuthenticatedExtendedCard, "the card declares an extended one");
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

const base = process.argv[2];
const card = await new DefaultAgentCardResolver().resolve(base);
for (const [binding, transport] of Object.entries(TRANSPORTS)) {
  const factory = new ClientFactory({ transports: [transport] });
  const calls = new Calls(base, await factory.createFromAgentCard(card), card);
  for (const [operation, cell] of Object.entries(CELLS)) {
    const observed = await observe(cell, calls);
    console.log(JSON.stringify({ operation, binding, observed }));
  }
}
process.exit(0);
