"""Brings generated requests past the first refusal: made-up ids name no task, made-up tokens no page, made-up addresses
no webhook."""

import schemathesis


@schemathesis.hook
def before_call(context, case, kwargs):
    if isinstance(case.query, dict):
        case.query.pop("pageToken", None)
    if not isinstance(case.body, dict):
        return
    message, configuration = case.body.get("message"), case.body.get("configuration")
    if isinstance(configuration, dict):
        configuration.pop("taskPushNotificationConfig", None)
    # Half of the messages go on naming tasks, but none that is there: whether that takes a message is for its state
    # to say.
    if isinstance(message, dict) and (len(str(message)) % 2 or exists(message.get("taskId"))):
        for member in ("taskId", "contextId", "referenceTaskIds"):
            message.pop(member, None)


def exists(task):
    """Whether the gateway may have made this id, a UUID; what is generated is none."""
    return isinstance(task, str) and len(task) == 36
