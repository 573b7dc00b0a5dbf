import type { ErrorCode } from '../errors'

/** The help for an error code on its page. */
export interface ErrorHelp {
  /** The heading of its page. Callers get a message of their own, which never changes. */
  title: string
  /** When it occurs, and what it means for the request. */
  means: string
  /** The fixes, the likeliest first. */
  fixes: readonly [string, ...string[]]
}

const REQUEST = 'Keep the request id: it is in the response and in the log of the service.'

/** A text for every code, as the type requires. The pages under `/errors` show only these. */
export const ERROR_HELP: Record<ErrorCode, ErrorHelp> = {
  INVALID_INPUT: {
    title: 'The request has a mistake',
    means: 'Something in the request is missing, has the wrong type or is out of range. Nothing was changed.',
    fixes: [
      'Read `details`: each entry names the place in the request and what is wrong with it.',
      'Compare the request with the API reference, which has an example for each call.',
    ],
  },
  VALIDATION_FAILED: {
    title: 'A definition has problems',
    means: 'The workflow, or one of the definitions, has problems, so it was not published, started or applied.',
    fixes: [
      'Read `details`: each entry names the step and the field.',
      'Open the workflow in the editor, where most problems have a Fix button.',
    ],
  },
  UNAUTHORIZED: {
    title: 'No valid credential',
    means:
      'The request has no credential, or one that is not accepted: mistyped, disabled, expired, or of another workspace. The reason is only in the log of the service, so that nobody can guess credentials.',
    fixes: [
      'Send an API key as `x-api-key`, or a signed token as `Authorization: Bearer …`.',
      'If you send `x-tenant-id`, make sure that it is the tenant of the key.',
      'Check a token with the token debugger in Settings, Signing secrets. The people who run the service find the reason in the log, under the request id.',
      'In the dashboard, sign in again.',
    ],
  },
  FORBIDDEN: {
    title: 'The credential may not do this',
    means: 'The credential is valid, but its role, or the limits of its signing secret, do not allow this.',
    fixes: [
      'Use a credential with the role that `details` names.',
      'Ask an admin or an owner of the workspace for a higher role. Settings, Members shows what each role may do.',
    ],
  },
  NOT_ASSIGNED: {
    title: 'The task is assigned to others',
    means: 'The task is assigned to certain people, groups or roles, and the person who answered is not among them.',
    fixes: [
      'Let one of the assignees answer. The task shows who they are.',
      'If an API key answers for a person, name the person in `answeredBy`.',
    ],
  },
  SELF_APPROVAL: {
    title: 'The person who started the run may not decide it',
    means: 'The step does not let those who started a run decide it, and a rerun counts as started by both.',
    fixes: ['Let another person answer the task.', 'Allow it in the settings of the step, for runs that start later.'],
  },
  WORKFLOW_NOT_FOUND: {
    title: 'No such workflow',
    means:
      'This workspace has no workflow with this id, or no such version of it. Workflows of other workspaces look the same.',
    fixes: [
      'Check the id: it begins with `wf_`.',
      'Check that the key belongs to the workspace of the workflow.',
      'Publish the workflow, if the request asks for its published version.',
    ],
  },
  RUN_NOT_FOUND: {
    title: 'No such run',
    means: 'This workspace has no run with this id. Runs of other workspaces, and deleted runs, look the same.',
    fixes: [
      'Check the id: it begins with `run_`.',
      'Check how long the workspace keeps its runs, in Settings, Workspace.',
      'With a limited token, check that the run is within its reach.',
    ],
  },
  AGENT_NOT_FOUND: {
    title: 'No such agent',
    means: 'This workspace has no agent with this id, or no such version of it.',
    fixes: [
      'Check the id: it begins with `agt_`.',
      'Publish the agent, if the request asks for its published version.',
    ],
  },
  TOOL_NOT_FOUND: {
    title: 'No such tool',
    means: 'This workspace has no tool with this id, or no such version of it.',
    fixes: [
      'Check the id: it begins with `tool_`.',
      'Publish the tool, if the request asks for its published version.',
    ],
  },
  THREAD_NOT_FOUND: {
    title: 'No such thread',
    means: 'The thread does not exist, or belongs to another agent or to another user of your tokens.',
    fixes: [
      'Leave out the thread to begin a new one.',
      'Continue the thread with the agent and the user that began it.',
    ],
  },
  TURN_NOT_FOUND: {
    title: 'No such turn',
    means: 'The turn does not exist, is of another agent, or is in a run that the caller may not read.',
    fixes: [
      'Take the id from the list of the agent’s turns, or from the calls of a run.',
      'Turns of invoke and chat are not recorded; read their thread.',
    ],
  },
  FILE_NOT_FOUND: {
    title: 'No such file',
    means:
      'The file does not exist or is no longer kept: files are deleted with their run or thread, and uploads that nothing takes after an hour. Or it is the upload of another caller.',
    fixes: ['Check the id of the file in the data of its run, or in its thread.', 'Upload the file again.'],
  },
  NOT_FOUND: {
    title: 'Not found',
    means: 'The address, or the object that it names, does not exist in this workspace.',
    fixes: [
      'Check the path: the API reference lists all of them.',
      'Check the ids in the path, and that the key belongs to the workspace of the object.',
    ],
  },
  METHOD_NOT_ALLOWED: {
    title: 'The address does not have this method',
    means: 'The address exists, but not for this HTTP method.',
    fixes: ['Use a method that the `allow` header of the response lists.'],
  },
  WORKFLOW_ARCHIVED: {
    title: 'The workflow is archived',
    means: 'The workflow is archived: it cannot be started or changed until it is unarchived.',
    fixes: ['Unarchive the workflow, from its menu in the list of workflows.', 'Start another workflow.'],
  },
  WORKFLOW_NOT_ARCHIVED: {
    title: 'The workflow is not archived',
    means: 'Only an archived workflow can be deleted permanently.',
    fixes: ['Archive the workflow first. From then on no run can start.'],
  },
  AGENT_ARCHIVED: {
    title: 'The agent is archived',
    means: 'The agent is archived: it cannot be called or changed until it is unarchived.',
    fixes: ['Unarchive the agent, from its menu in the list of agents.', 'Use another agent in the step.'],
  },
  TOOL_ARCHIVED: {
    title: 'The tool is archived',
    means: 'The tool is archived: it cannot be called or changed until it is unarchived.',
    fixes: ['Unarchive the tool, from its menu in the list of tools.', 'Use another tool in the step.'],
  },
  VERSION_CONFLICT: {
    title: 'Someone else saved a newer version',
    means: 'Someone else has saved a newer version since you read it. Your change was not saved.',
    fixes: [
      'Read the newest version, make your change to it, and save again with its version.',
      'In the editor, choose between both where they changed the same; everything else is merged.',
    ],
  },
  VERSION_MISFIT: {
    title: 'The run does not fit the version',
    means:
      'The run cannot be repeated on this version: its data or its input is not what the version takes for granted, or the version does not have the step. Or it would pass over a question to people (`APPROVAL_SKIPPED`), make a completed call again (`CALL_REPEATED`), or show a hidden field (`HIDDEN_FIELD`). `details` has each reason.',
    fixes: [
      'Run it again from an earlier step, with `fromStepId`: that step then sets what is missing.',
      'Run it again from a step with the missing fields in `data`, or from the first step with other input.',
      'For `APPROVAL_SKIPPED`, let an editor repeat it; for `CALL_REPEATED`, send `repeatCalls: true` if the calls may be made again.',
      'Publish a version that also takes the data of older runs, for example with `${name ?? "…"}`.',
    ],
  },
  DEFINITIONS_DRIFTED: {
    title: 'The workspace has changes that were not applied',
    means:
      'Definitions were changed in the workspace after they were applied last, so applying the files would undo that.',
    fixes: [
      'Take the changes into the files with `pull`, and apply again.',
      'Overwrite them with `force`, if the files are right.',
    ],
  },
  RUN_NOT_PAUSED: {
    title: 'The run does not wait for this answer',
    means: 'The run does not wait for an answer, or not for this one: someone else answered first, or it continued.',
    fixes: [
      'Read the status of the run: `details` has it too.',
      'If the answer was yours and the response was lost, nothing is left to do. An `Idempotency-Key` distinguishes the two.',
    ],
  },
  ALREADY_VOTED: {
    title: 'This person has already voted',
    means: 'This person has voted on this task. A vote is final.',
    fixes: ['Let another person vote. The task shows how many votes are missing.'],
  },
  RUN_ALREADY_ENDED: {
    title: 'The run has already ended',
    means: 'The run has ended by itself, so it can no longer be cancelled or terminated.',
    fixes: ['Read its status: nothing has to be stopped.'],
  },
  IDEMPOTENCY_KEY_REUSED: {
    title: 'The idempotency key was used for another request',
    means: 'Another request was sent with this `Idempotency-Key` within 24 hours. Nothing was done.',
    fixes: [
      'Send a new key with each new request.',
      'To repeat a request, send the same method, path and body with the same key.',
    ],
  },
  CONFLICT: {
    title: 'The request does not fit the present state',
    means: 'The request does not fit the present state, for the reason that the message gives.',
    fixes: ['Read the message and `details`.', 'Read the object again before you repeat the request.'],
  },
  FILE_TOO_LARGE: {
    title: 'The file is too large',
    means: 'The file is larger than a start may carry.',
    fixes: [
      'Send a smaller file: `details` has the limit.',
      'Store the file elsewhere, and send its address as a field.',
    ],
  },
  PAYLOAD_TOO_LARGE: {
    title: 'The request body is too large',
    means: 'The body of the request is larger than the service accepts.',
    fixes: ['Send less: `details` has the limit.', 'Store large values elsewhere, and send their addresses.'],
  },
  HEADERS_TOO_LARGE: {
    title: 'The request headers are too large',
    means:
      'The headers of the request have more than 16 KiB together. The usual reason is a token with a large `context`.',
    fixes: [
      'Sign less into the token: it may have at most 8 KB.',
      'Send large values in the body of the request, or store them elsewhere and send their addresses.',
    ],
  },
  UNSUPPORTED_MEDIA_TYPE: {
    title: 'The body has the wrong content type',
    means: 'The body has a content type that this address does not read.',
    fixes: [
      'Send JSON with `content-type: application/json`.',
      'Send `multipart/form-data` only to start a run with a file.',
    ],
  },
  RATE_LIMITED: {
    title: 'Too many requests in a minute',
    means: 'The credential, or the address, has sent more requests than allowed in a minute.',
    fixes: [
      'Wait as many seconds as `retry-after` says, and send the request again.',
      'Follow runs with their event stream or with webhooks, instead of asking again and again.',
      'The people who run the service can raise the limits: `RATE_LIMIT_REQUESTS`, `RATE_LIMIT_STARTS`, `RATE_LIMIT_INVOKES`.',
    ],
  },
  TOO_MANY_STREAMS: {
    title: 'Too many open event streams',
    means: 'The workspace has as many event streams open as it may have.',
    fixes: ['Close streams that nobody reads.', 'Poll the status of the run, or use webhooks.'],
  },
  THREAD_WAITING: {
    title: 'The conversation waits for a decision',
    means:
      'The agent wants to make a call that a person must approve first, and the conversation continues after that.',
    fixes: [
      'Answer the task: it is in the inbox, and the error names its run.',
      'To give the message up, cancel that run.',
    ],
  },
  THREAD_BUSY: {
    title: 'The agent still works on the last message',
    means: 'The agent is still working on the last message of this thread.',
    fixes: ['Wait for its answer, and send the message again.', 'Begin another thread.'],
  },
  AGENT_NO_STRUCTURED_OUTPUT: {
    title: 'The agent has no output schema',
    means: 'The agent answers in text: it has no output schema.',
    fixes: ['Give the agent an output schema and publish it.', 'Chat with the agent instead.'],
  },
  AGENT_SUPERVISOR: {
    title: 'The agent is a supervisor',
    means: 'The agent is a supervisor, which hands requests to other agents and has no structured answer.',
    fixes: ['Chat with it instead.', 'Invoke one of the agents that it hands requests to.'],
  },
  MESSAGE_REQUIRED: {
    title: 'The message is missing',
    means: 'The request has no message for the agent.',
    fixes: ['Send `message` with some text.'],
  },
  FILE_NOT_SUPPORTED: {
    title: 'A model cannot read a file',
    means: 'A message to an agent had a file that no model reads, or too much of them. The model was not called.',
    fixes: [
      'Send images (PNG, JPEG, WebP, GIF), PDFs or texts in UTF-8. The error says how large they may be.',
      'Convert the file. If a run has it, a tool can read it instead.',
      'In a run, retry it from the step that failed. It keeps what the steps before it did.',
    ],
  },
  OUTPUT_SCHEMA_MISMATCH: {
    title: 'The answer does not match the output schema',
    means: 'The model gave an answer that does not fit the output schema of the agent, also when it was asked again.',
    fixes: [
      'Send the message again: models do not always answer alike.',
      'Make the schema simpler, or the instructions clearer about each field.',
      'Use a model that is better at structured answers.',
    ],
  },
  BUDGET_EXCEEDED: {
    title: 'A limit of what agents may use is reached',
    means:
      'An agent, one message to it, the person it answers, the workspace or all agents of a run have used as much as they may.',
    fixes: [
      'Wait until the day ends, if the limit is of a day. Days end at midnight in UTC.',
      'Raise the limit: that of an agent on its page, those of the workspace in Settings, Agents, that of a run in the settings of its workflow.',
      'Then retry the run: it keeps what the agent has done.',
      'To let people decide whether the agent continues, choose whom to ask under At a limit, beside the limits. If they stopped it or did not answer in time, start or retry the run again.',
    ],
  },
  MODEL_ERROR: {
    title: 'The model gave no answer',
    means: 'The provider of the model gave no answer: it refused the key or the request, or it could not be reached.',
    fixes: [
      'Check the model and its key in the agent and in Settings, Vault.',
      'Try again later, if the provider is overloaded.',
      'The people who run the service find the reason in the log, under the request id.',
    ],
  },
  TOOL_INVOCATION_FAILED: {
    title: 'The tool could not be called',
    means:
      'The service could not carry out the call of the tool. A tool that fails by itself answers with 200 and says so.',
    fixes: ['Send the call again.', REQUEST],
  },
  INTERNAL: {
    title: 'Something went wrong in the service',
    means: 'Something went wrong in the service. What was saved before is safe.',
    fixes: [
      'Send the request again, with an `Idempotency-Key` if it must not happen twice.',
      REQUEST,
      'The people who run the service find the reason in the log, under that id.',
    ],
  },
  UNAVAILABLE: {
    title: 'The service is not available at present',
    means:
      'The service is starting or stopping, it is busy, or its database cannot be reached. The request was not carried out, or can safely be sent again with its `Idempotency-Key`.',
    fixes: [
      'Wait as many seconds as `retry-after` says, and send the request again.',
      'See whether the service works on its health page.',
    ],
  },
}
