import type { z } from 'zod'
import { components } from '../definition/component'
import { CommonConfig } from '../definition/step-config'
import { StepId } from '../definition/step-ref'
import { describeFields, plainSchema } from '../openapi/schema'
import type { Schema, Texts } from '../openapi/types'
import { steps } from './registry'

const ASSIGNEES =
  'Who may answer: `user:` with an address, a token’s `sub` or an id, or `role:` for that role and higher ones. Anybody by default.'
const MESSAGE = 'Shown to the person who answers, as Markdown. HTML in it is shown as text, and images as links.'
const SHOW =
  'The values shown with the task, in this order, each with a label. A text is Markdown if `markdown` is true.'
const DUE_IN = 'When it should be answered, as an ISO 8601 duration such as `P1D`. For people; nothing happens then.'

/** What a step's id may be. */
const STEP_ID_TEXT =
  'Unique within the workflow: 1 to 200 letters of any script, digits, `_`, `-` and `.`, in any order. Ids that look the same are the same: they are kept in the normalization form C of Unicode.'

/** Descriptions of the fields of a definition, by schema and field. */
export const STEP_TEXTS: Texts = {
  Field: {
    type: 'The type of the value. `file` is the id of a stored file.',
    description: 'Text for people.',
    required: 'True by default, unless the field has a default.',
    default: 'Used when no value is sent.',
    options: 'The only values allowed.',
    sensitive: 'The value is hidden from people who are signed in, not from API keys and tokens.',
  },
  Step: {
    id: STEP_ID_TEXT,
    type: 'Such as `call-tool`. Each type has its own fields: see the schemas whose names end in `Step`.',
  },
  Edge: {
    from: 'The id of a step.',
    to: 'The id of the next step.',
    on: 'The exit of the step that leads there, such as `error`; `next` by default.',
  },
  CollectInputsStep: {
    output: 'The fields to ask for, by name. The answer is merged into the run’s data.',
    title: 'Shown to the person who answers.',
    message: MESSAGE,
    show: SHOW,
    skipWhenPresent: 'Continue without asking if the run’s data already has every field.',
    assignees: ASSIGNEES,
    dueIn: DUE_IN,
    expiresIn: 'How long people have, as an ISO 8601 duration such as `P2D`.',
  },
  RequestUserActionStep: {
    title: 'Shown to the person who answers.',
    message: MESSAGE,
    show: SHOW,
    actions: 'The actions to choose from.',
    assignees: ASSIGNEES,
    needs: 'How many votes each action needs, by its id; 1 by default. Each person has one vote.',
    noSelfApproval: 'Whoever started the run may not answer.',
    dueIn: DUE_IN,
    expiresIn: 'How long people have, as an ISO 8601 duration such as `P2D`.',
  },
  CallToolStep: {
    toolId: 'The tool to call.',
    args: 'The tool’s arguments; may contain expressions.',
    version: '`latest` (the default), `published` or a number.',
  },
  ConditionStep: { when: 'An expression that gives true or false, such as `${total} > 100`.' },
  SwitchStep: { cases: 'The first case whose expression is true is the exit; `default` if none is.' },
  SetDataStep: {
    values: 'The fields to set; may contain `${…}`.',
    compute: 'The fields to set to the results of expressions.',
  },
  FailFlowStep: {
    code: 'The code of the run’s error. Capital letters, digits and `_`.',
    message: 'The message of the run’s error; may contain `${…}`.',
  },
  HttpRequestStep: {
    method: 'The HTTP method.',
    url: 'The URL; may contain `${…}` in its path and query. With secrets, its host must be written out.',
    headers: 'The headers; may contain `${…}` and `${secrets.NAME}`.',
    query: 'Query parameters. Null leaves a name out, and a list repeats it.',
    body: 'The body; may contain `${…}`.',
    bodyType: 'How the body is sent.',
    result: 'What becomes the output: the JSON of the response, its text, or status, headers and body.',
    path: 'The part of a JSON response that becomes the output, such as `items[0].id`.',
  },
  RunScriptStep: {
    code: 'JavaScript: the body of an async function that returns the output.',
    args: 'What the code reads as `args`; may contain `${…}`.',
    allowedHosts: 'The hosts that the code may call with `fetch`.',
  },
  RunWorkflowStep: {
    workflowId: 'The workflow to run: its published version.',
    input: 'The fields of its START; may contain `${…}`.',
  },
  ParallelStep: {
    branches: 'The branches. Each id is an exit.',
    wait: 'How many branches must succeed: `all` (the default), `any` for one, or a number.',
    onBranchError:
      '`stop` (the default) fails with the first branch that fails; `continue` while enough others can succeed.',
  },
  ForEachStep: {
    items: 'The list to go through, or `${…}` for one.',
    batch: 'How many items each iteration gets; with more than one, `${item}` is a list. 1 by default.',
    concurrency: 'How many iterations run at the same time; 1 by default.',
    result: 'What to collect from each iteration; may contain `${…}` of the iteration’s own data.',
    onItemError: '`stop` (the default) fails with the first iteration that fails; `continue` goes on with the others.',
  },
  DelayStep: {
    for: 'How long to wait, as an ISO 8601 duration such as `PT2H`.',
    until: 'The time to wait for, with its zone.',
  },
  WaitForEventStep: {
    event: 'The name of the event.',
    key: 'Only events with this key match. Without a key, every event of the name does.',
    when: 'An expression that must be true; `${event.data.x}` is a value of the event.',
    since: 'Since when events count: since the start of the `run` (the default) or of the `step`.',
    expiresIn: 'How long to wait, as an ISO 8601 duration; then the exit `timeout` is taken.',
  },
  EndFlowStep: { output: 'The run’s result; all its data by default.' },
}

/** Settings every step may have, whatever its type. */
const COMMON_STEP_TEXTS: Record<string, string> = {
  name: 'The name that history shows.',
  description: 'Text for people.',
  position: 'The step’s position in the editor.',
  saveAs: 'Stores the whole output under this name in the run’s data, instead of field by field.',
  timeoutMs: 'How long one attempt may take. In milliseconds.',
  maxVisits: 'How often a run may visit the step. Every loop needs a step with such a limit.',
  retry: 'How to retry failures that may be temporary.',
}

const TYPES: readonly { type: string; title: string; config: z.ZodType }[] = Object.values(steps)
for (const { type, config } of TYPES) components.add(config, { id: stepSchemaName(type) })

/**
 * One schema per step type. A draft may contain anything; publish and start check its steps against these.
 * @param configs the schemas of the types' configurations, by the names of the steps
 */
export function stepSchemas(configs: Record<string, Schema>): Record<string, Schema> {
  const common = plainSchema(CommonConfig)
  const schemas = TYPES.map(({ type, title }): [string, Schema] => {
    const name = stepSchemaName(type)
    const own = configs[name] ?? {}
    const description = `The step type \`${type}\`: ${title.toLowerCase()}. A draft may be incomplete; publish and start check this.`
    const properties: Record<string, Schema> = {
      id: { ...plainSchema(StepId), description: STEP_ID_TEXT },
      type: { const: type },
      ...own.properties,
      ...common.properties,
    }
    const required = ['id', 'type', ...(own.required ?? [])]
    const schema: Schema = { type: 'object', description, properties, required }
    describeFields(schema, COMMON_STEP_TEXTS)
    return [name, schema]
  })
  return Object.fromEntries(schemas)
}

/** `call-tool` is `CallToolStep`. */
export function stepSchemaName(type: string): string {
  return `${type.replace(/(^|-)([a-z])/g, (_all, _dash, letter: string) => letter.toUpperCase())}Step`
}
