import type { ProblemCode } from '../definition/problem-codes'
import type { ErrorCode } from '../errors'
import type { ErrorHelp } from './error-help'

const FIX = 'Open the workflow in the editor: its Problems list leads to the step, and often has a Fix button.'
const GO = 'Open the workflow in the editor: its Problems list leads to the step and the field.'
const PATHS = 'Paths that follow a cancel or a failure have to end by themselves.'

/**
 * The help for the problems of definitions, except those that are also codes of responses (`ERROR_HELP`). Errors block
 * publishing; warnings, which begin with `W_`, do not.
 */
export const PROBLEM_HELP: Record<Exclude<ProblemCode, ErrorCode>, ErrorHelp> = {
  NO_STEPS: {
    title: 'The workflow has no steps',
    means: 'The workflow has no steps, so there is nothing to run.',
    fixes: ['Add a step in the editor, with the + below START.'],
  },
  NO_INITIAL_STEP: {
    title: 'The first step is missing',
    means: 'The workflow does not say with which step a run begins.',
    fixes: ['Connect START with a step in the editor.', 'In JSON, set `initialStep` to the id of a step.'],
  },
  UNKNOWN_INITIAL_STEP: {
    title: 'The first step does not exist',
    means: 'A run would begin with a step that does not exist. It may have been deleted or renamed.',
    fixes: [FIX, 'In JSON, set `initialStep` to the id of a step that exists.'],
  },
  UNKNOWN_ON_CANCEL: {
    title: 'The first step of the cleanup path does not exist',
    means: 'The cleanup path of cancelled runs begins with a step that does not exist.',
    fixes: [FIX, 'In the editor, select no step: the form has the first step of the path, which may also be none.'],
  },
  UNKNOWN_ON_FAILURE: {
    title: 'The first step of the failure path does not exist',
    means: 'The path of failed runs begins with a step that does not exist.',
    fixes: [FIX, 'In the editor, select no step: the form has the first step of the path, which may also be none.'],
  },
  DUPLICATE_STEP_ID: {
    title: 'Two steps have the same id',
    means: 'Two steps have the same id, so connections and `${…}` are ambiguous.',
    fixes: [FIX, 'Give one of them another id, and check which of the two its connections are about.'],
  },
  UNKNOWN_STEP_TYPE: {
    title: 'The type of the step does not exist',
    means: 'This release of the service has no such type of step. The name may be misspelt, or of a later release.',
    fixes: [FIX, 'Choose a type in the editor’s step picker.'],
  },
  INVALID_CONFIG: {
    title: 'A field of the step is wrong',
    means: 'A field of the step is missing, has the wrong type, or has a value that it cannot use.',
    fixes: [GO, 'The message says what the field needs.'],
  },
  INVALID_EXPRESSION: {
    title: 'An expression cannot be read',
    means:
      'An expression cannot be read: a bracket or a quote is missing, or it uses something that expressions do not have.',
    fixes: [GO, 'Write `$${` where a text needs `${` itself.'],
  },
  TYPE_MISMATCH: {
    title: 'An expression never works with its values',
    means:
      'An expression can never work with the types of its values, such as a condition that gives a text, or a list that is a number. A run would fail there each time.',
    fixes: [GO, 'Check the types of what it refers to: START fields, forms, and output schemas of tools and agents.'],
  },
  EXPRESSION_UNRESOLVED: {
    title: 'A value does not exist',
    means: 'A `${…}` refers to a name or a path that no run can give a value at this step.',
    fixes: [
      'If a similar name exists, the Fix button in the Problems list takes it. It may also add the field to START.',
      'Check that the step that gives the value comes before this one on every path.',
    ],
  },
  SECRET_NOT_ALLOWED: {
    title: 'A secret may not be sent there',
    means: 'The step sends a secret of the vault to a host that the secret is not bound to, or over plain http.',
    fixes: ['Check the address of the step, and use https.', 'Bind the secret to the host in Settings, Vault.'],
  },
  DANGLING_EDGE: {
    title: 'A connection leads nowhere',
    means: 'A connection begins or ends at a step that does not exist.',
    fixes: [FIX, 'In JSON, remove the edge or correct its `from` and `to`.'],
  },
  UNKNOWN_EXIT: {
    title: 'The step does not have the exit',
    means: 'A connection leaves a step by an exit that the step does not have, or leaves a step that ends the run.',
    fixes: [FIX, 'In JSON, correct the edge’s `on`. Without it, the edge leaves by `next`.'],
  },
  AMBIGUOUS_EDGES: {
    title: 'Two connections leave by the same exit',
    means: 'Two connections leave a step by the same exit. A run could take only one of them.',
    fixes: [FIX, 'To do both, put a `parallel` step in between. To choose, use a `switch` or an `if`.'],
  },
  CYCLE: {
    title: 'A loop has no way out',
    means: 'Steps form a loop without a way out, so a run would never leave it.',
    fixes: ['Let one of its steps lead out of the loop: an action, a `switch` or an exit for failures.'],
  },
  CYCLE_WITHOUT_BOUND: {
    title: 'A loop has no limit',
    means: 'Steps form a loop that nothing limits. A mistake in its condition would keep a run going for ever.',
    fixes: [FIX, 'Set the limit of visits (`maxVisits`) on one of the loop’s steps.'],
  },
  REGION_ENTERED: {
    title: 'A connection leads into or out of a branch',
    means:
      'A connection leads from outside into a branch of a step such as `parallel` or `for-each`, or out of it. A branch begins and ends at its step.',
    fixes: [FIX, 'Let the connection lead to the step that has the branch, or to what follows it.'],
  },
  NESTED_TOO_DEEP: {
    title: 'Too many levels',
    means:
      'Steps with branches are nested in more levels than are allowed, or in steps whose ids are too long for that many levels.',
    fixes: [
      'Give the steps shorter ids, if the message says so.',
      'Move the inner branches to a workflow of their own, and run it with `run-workflow`.',
    ],
  },
  BRANCH_CONFLICT: {
    title: 'Two branches write the same field',
    means: 'Two branches that run at the same time write the same field, so the result would depend on which is later.',
    fixes: [FIX, 'Give the field another name in one of them, with “Save as”.'],
  },
  PAUSE_IN_CLEANUP: {
    title: 'A cleanup or failure path waits',
    means: `A step of the cleanup or failure path waits for a person, a time or an event. ${PATHS}`,
    fixes: [FIX, 'Do what does not have to wait there, or start a run of another workflow that waits.'],
  },
  FORK_IN_CLEANUP: {
    title: 'A cleanup or failure path has branches',
    means: `A step of the cleanup or failure path runs branches. ${PATHS}`,
    fixes: [FIX, 'Put the steps one after the other.'],
  },
  W_REF_MAYBE: {
    title: 'A value may be missing',
    means:
      'A `${…}` refers to a value that a run may not have: not every path gives it, or the START field is optional. Where it is missing, the step fails.',
    fixes: ['Set a fallback, as in `${discount ?? 0}`. The Fix button does it.', 'Require the field in START.'],
  },
  W_REF_NEVER: {
    title: 'A value can never be there',
    means:
      'A `${…}` has a path that its value can never have. It is only a warning because the step handles its failure, or may not come to it.',
    fixes: ['If a similar name exists, the Fix button in the Problems list takes it.', GO],
  },
  W_TYPE_MISMATCH: {
    title: 'An expression may not work with its values',
    means:
      'An expression can never work with the types of its values. It is only a warning because the step handles its failure, or may not come to it.',
    fixes: [GO, 'Check the types of what it refers to.'],
  },
  W_TOOL_ARGS: {
    title: 'The arguments do not fit the tool',
    means: 'The arguments do not fit the tool’s input schema: one is missing, unknown, or has the wrong type.',
    fixes: [
      GO,
      'If a similar argument exists, the Fix button takes it.',
      'Compare with the input schema on the tool’s page.',
    ],
  },
  W_WORKFLOW_INPUT: {
    title: 'The input does not fit the workflow',
    means: 'The input does not fit the START fields of the workflow that the step runs.',
    fixes: [GO, 'If a similar field exists, the Fix button takes it.'],
  },
  W_BUSINESS_KEY: {
    title: 'Runs would have no business key',
    means: 'The business key refers to something that START does not have, so runs would have no key.',
    fixes: ['Correct it in the workflow’s settings. It may use START fields only, as in `${orderId}`.'],
  },
  W_ASSIGNEE: {
    title: 'An assignee cannot answer',
    means:
      'A task names a person or a group that could not answer it: no member or invited person has that address, their role may not answer tasks, or no group has that name or a member who may answer.',
    fixes: [
      GO,
      'Correct the address or the name, invite the person, or give them the role operator.',
      'Create the group, or add members to it, in Settings, Groups.',
    ],
  },
  W_APPROVAL: {
    title: 'An agent could not ask anybody',
    means: `The agent may ask people about its calls, and the step is on a cleanup or failure path, where nobody is asked. Such calls are not made; the agent is told so. ${PATHS}`,
    fixes: [
      GO,
      'Choose an agent, or a version, whose tools need no decision, or call the tool with a `call-tool` step.',
      'Keep the step if the agent can do without these calls.',
    ],
  },
  W_REMINDERS: {
    title: 'The reminders do not fit the task',
    means:
      'The task expires before its first reminder or before it is handed over, or those who get it may be too few to decide.',
    fixes: [GO, 'Shorten the reminders, give people more time to answer, or hand the task to more people.'],
  },
  W_UNREACHABLE: {
    title: 'No path leads to the step',
    means: 'No path leads to the step, so no run performs it.',
    fixes: [FIX, 'Connect a step with it, or delete it.'],
  },
  W_EMPTY_BRANCH: {
    title: 'A branch is empty',
    means: 'An exit that begins a branch leads nowhere, so nothing happens there.',
    fixes: ['Connect the exit with a step, or remove the branch.'],
  },
  W_BRANCH_OPEN: {
    title: 'A branch may write any field',
    means:
      'A step in a branch may add fields of any name, also those that another branch writes at the same time. From there on, nothing is known about the data.',
    fixes: ['Set “Save as” on the step, so that its result is kept under one name. The Fix button does it.'],
  },
  W_NO_END: {
    title: 'A path has no end step',
    means: 'A path ends without an end step. The run completes, and its result is all of its data.',
    fixes: ['Add an `end-flow` step that says what the result is. The Fix button does it.'],
  },
  W_SIMULATION: {
    title: 'A simulated run failed',
    means:
      'A simulated run failed at the step, with values that START and the forms allow. The message names the values.',
    fixes: [
      'Try the same values in the editor’s test run.',
      'Forbid them in START or in the form, or let the step handle them.',
    ],
  },
  W_UNKNOWN_FIELD: {
    title: 'A field means nothing to the service',
    means:
      'A step, a connection or a field of START or a form has a field that means nothing to the service. It is kept, but has no effect. Its name may be misspelt. Or a limit of a field cannot work: an unknown `format`, a bound that is not a number, a `minimum` above the `maximum`, or a default outside of them.',
    fixes: [
      'In the editor, the Fix button gives it the name that was probably meant, or removes it.',
      'In a file, compare the name with the API reference, and correct or remove it.',
    ],
  },
  W_USES_ARCHIVED: {
    title: 'A definition that would be archived is in use',
    means: 'Something that is published, scheduled or waits for webhooks uses a definition that `prune` archives.',
    fixes: ['Remove the use, or keep the definition among the files.'],
  },
  W_NO_SECRET: {
    title: 'An inbound webhook has no secret',
    means: 'An inbound webhook is switched on but has no secret, so it refuses every delivery.',
    fixes: ['Set its secret in the dashboard. Files never contain secrets.'],
  },
}
