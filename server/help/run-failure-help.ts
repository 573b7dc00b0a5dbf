import type { RunFailure } from '../definition/failure-codes'
import type { ErrorHelp } from './error-help'

const OPEN = 'Open the step in the run: its input, its attempts and its logs are there.'
const AGAIN = 'Retry the run from the step that failed. It keeps what the steps before it did.'
const SERVICE = 'The people who run the service find the reason in the log, under the id of the run.'

/**
 * The help for the codes with which runs fail, except those of responses (`ERROR_HELP`). Tools and `fail-flow` steps
 * may have any others, which explain themselves.
 */
export const RUN_FAILURE_HELP: Record<RunFailure, ErrorHelp> = {
  EXECUTION_ERROR: {
    title: 'A script or a tool failed',
    means: 'A script or a tool ended with an error of its own.',
    fixes: [OPEN, 'Try the tool with the same arguments on its page.', AGAIN],
  },
  HTTP_ERROR: {
    title: 'A server answered with an error',
    means: 'The server that a tool called answered with an error status.',
    fixes: [
      'Read the status and the body in the step’s details.',
      'Check the address and the secret of the tool.',
      AGAIN,
    ],
  },
  CONNECTION_ERROR: {
    title: 'A server could not be reached',
    means: 'The server that a tool called could not be reached.',
    fixes: ['Check the address of the tool.', AGAIN],
  },
  TRANSIENT: {
    title: 'All attempts failed',
    means: 'The step failed for a reason that may pass, and all its attempts were used up.',
    fixes: [AGAIN, 'Give the step more attempts, or longer delays between them.'],
  },
  BLOCKED_HOST: {
    title: 'A tool may not call the address',
    means:
      'A tool called an address that it may not call: a private network, or a host that its secret is not bound to.',
    fixes: ['Check the address of the tool.', 'Bind the secret to the host in Settings, Vault.'],
  },
  SECRET_MISSING: {
    title: 'A secret is not in the vault',
    means: 'The tool or agent uses a secret that is not in the vault.',
    fixes: ['Add the secret in Settings, Vault.', AGAIN],
  },
  SECRET_NOT_ALLOWED: {
    title: 'A secret may not be sent there',
    means: 'The tool or agent would have sent a secret to a host that the secret is not bound to, or over plain http.',
    fixes: ['Use an address that begins with https.', 'Bind the secret to the host in Settings, Vault.', AGAIN],
  },
  TIMED_OUT: {
    title: 'The step took too long',
    means: 'The step took longer than it may.',
    fixes: [OPEN, 'Allow the step more time, or connect its `timeout` exit.', AGAIN],
  },
  TIMEOUT: {
    title: 'A tool took too long',
    means: 'A tool, or the server that it called, took too long.',
    fixes: [OPEN, 'Allow the tool more time.', AGAIN],
  },
  RUN_TIMED_OUT: {
    title: 'The run took too long',
    means: 'The run took longer than its workflow allows.',
    fixes: ['Look in the timeline for the step that took longest.', 'Allow runs more time in the workflow’s settings.'],
  },
  CLEANUP_TIMED_OUT: {
    title: 'The cleanup path took too long',
    means: 'The cleanup path of a cancelled run took too long and was given up.',
    fixes: [OPEN, 'Keep the cleanup path short.'],
  },
  OUTPUT_INVALID: {
    title: 'The output of a tool cannot be used',
    means: 'What a tool returned cannot be used: it is not JSON, does not match its output schema, or is too large.',
    fixes: [OPEN, 'Compare the output with the tool’s output schema.'],
  },
  TURN_TOO_LONG: {
    title: 'An agent did not come to an answer',
    means: 'An agent was still not done after as many stops, or as many decisions of people, as one message may take.',
    fixes: [
      OPEN,
      'Give the agent fewer tools that each do more, or ask it for less in one step.',
      'Ask people only about the calls that need it.',
    ],
  },
  INVALID_CONFIG: {
    title: 'A field of the step is wrong',
    means: 'With the values of this run, a field of the step has a value that it cannot use.',
    fixes: [OPEN, 'Check what the field’s `${…}` refer to, then publish and run again.'],
  },
  EXPRESSION_UNRESOLVED: {
    title: 'A value does not exist',
    means: 'The step refers to a value that the run did not have at that point.',
    fixes: [
      'Check the name: the editor’s Problems list shows those that may be missing.',
      'Give START a default for the field.',
    ],
  },
  EXPRESSION_FAILED: {
    title: 'A calculation failed',
    means: 'A calculation in the step could not be carried out with the values of this run.',
    fixes: [OPEN, 'Check the types of the values that the expression uses.'],
  },
  CONFIG_TOO_LARGE: {
    title: 'The fields of the step are too large',
    means: 'With the values of this run, the step’s fields are larger than a step may be.',
    fixes: ['Pass less data, for example a file’s id instead of its contents.'],
  },
  OUTPUT_TOO_LARGE: {
    title: 'The step returned too much',
    means: 'The step returned more than a step may return.',
    fixes: ['Return only what later steps need.', 'Store large contents as a file.'],
  },
  DATA_TOO_LARGE: {
    title: 'The run has too much data',
    means: 'With what the step returned, the run would have more data than it may.',
    fixes: ['Return only what later steps need.', 'Store large contents as a file.'],
  },
  VALUE_TOO_LARGE: {
    title: 'A value is too large',
    means: 'A value of the step is larger than the service stores.',
    fixes: ['Return only what later steps need.', 'Store large contents as a file.'],
  },
  VALUE_REFUSED: {
    title: 'A value cannot be stored',
    means: 'The database cannot store a value of the step, such as a text with a zero character.',
    fixes: [OPEN, 'Remove such characters in the tool.'],
  },
  LOOP_LIMIT: {
    title: 'The run came to the step too often',
    means: 'The run came to the step more often than its limit allows.',
    fixes: [
      'Look in the timeline why the loop did not end.',
      'Raise the step’s limit of visits, or connect its `limit` exit.',
    ],
  },
  NESTED_TOO_DEEP: {
    title: 'Too many levels',
    means: 'Workflows started each other too many levels deep.',
    fixes: ['Check whether a workflow starts itself.'],
  },
  CHILD_FAILED: {
    title: 'The run that the step started failed',
    means: 'The run that the step started did not succeed.',
    fixes: ['Open the other run from the step. Its page says why.', AGAIN],
  },
  JOIN_IMPOSSIBLE: {
    title: 'Too many branches failed',
    means: 'So many branches failed that the step can no longer get the results it needs.',
    fixes: ['Open the branches that failed in the timeline.', 'Let the step need fewer branches to succeed.'],
  },
  STOPPED: {
    title: 'The step was stopped',
    means: 'The step or branch was stopped before it ended, because the run ended or another branch decided.',
    fixes: ['Look in the timeline for what ended the run.'],
  },
  WORKER_LOST: {
    title: 'The process ended during the step',
    means: 'The process that carried out the step ended during it, several times in a row.',
    fixes: ['Check whether the step needs more memory than the service has.', SERVICE],
  },
  UNKNOWN_STEP: {
    title: 'The step does not exist',
    means:
      'The run came to a step that its version does not have, or whose type this release of the service does not know.',
    fixes: [
      'Start a new run: it uses the published version.',
      'Check in the version that every connection leads to a step, then publish it again.',
      SERVICE,
    ],
  },
  PAUSE_IN_CLEANUP: {
    title: 'A cleanup or failure path waits',
    means:
      'The cleanup or failure path came to a step that waits, for a person, a time or an event. These paths cannot wait.',
    fixes: [
      'Move the step out of the path, then publish the workflow again.',
      'Let another workflow, which the path starts by its API, do what has to wait.',
    ],
  },
  FORK_IN_CLEANUP: {
    title: 'A cleanup or failure path has branches',
    means: 'The cleanup or failure path came to a step that runs branches. These paths run one step after the other.',
    fixes: ['Connect the steps of the branches one after the other, then publish the workflow again.'],
  },
  APPROVAL_NOT_POSSIBLE: {
    title: 'A call needs a decision, and nobody can be asked',
    means:
      'An agent wanted to make a call that needs a decision of people first, where nobody can be asked. The call was not made, and the model got this code.',
    fixes: [
      'Send the message to the agent itself, in a run, a chat or an invocation: there, people can be asked.',
      'Change the tool’s *Needs approval* on the agent’s page, if the call may be made without a decision.',
    ],
  },
  ENGINE_GAVE_UP: {
    title: 'The engine gave up the run',
    means: 'The engine stopped carrying out the run after repeated errors of its own.',
    fixes: [AGAIN, SERVICE],
  },
}
