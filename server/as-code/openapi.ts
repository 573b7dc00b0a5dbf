import { AGENT_TEXTS } from '../agents/openapi'
import { AGENT_ID, createAgent } from '../agents/openapi-examples'
import { INBOUND_TEXTS } from '../inbound/openapi'
import { inbound } from '../inbound/openapi-examples'
import { example } from '../openapi/example'
import type { Operation, Texts } from '../openapi/types'
import { SCHEDULE_TEXTS } from '../schedules/openapi'
import { TOOL_TEXTS } from '../tools/openapi'
import { createTool, TOOL_ID } from '../tools/openapi-examples'
import { WORKFLOW_TEXTS } from '../workflows/openapi'
import { createWorkflow, WORKFLOW_ID, warnings } from '../workflows/openapi-examples'
import * as answers from './openapi-answers'
import { ApplyDefinitions, DiffDefinitions, ExportDefinitions } from './schema'

const definitions = {
  tools: [{ id: TOOL_ID, ...createTool }],
  agents: [{ id: AGENT_ID, ...createAgent }],
  workflows: [{ id: WORKFLOW_ID, ...createWorkflow }],
  schedules: [{ id: 'every-morning', name: 'Every morning', workflowId: WORKFLOW_ID, cron: '0 9 * * mon-fri' }],
  inboundWebhooks: [
    { id: 'issues', name: inbound.name, workflowId: WORKFLOW_ID, scheme: 'github', mapping: inbound.mapping },
  ],
}
const { name } = createWorkflow
const updated = { kind: 'workflow', id: WORKFLOW_ID, name, actions: ['update', 'publish'], version: 4 }
const warning = { ...Object(warnings)[0], kind: 'workflow', id: WORKFLOW_ID }
const rest = { unchanged: 2, warnings: [warning] }
const before = { ...createWorkflow, name: 'Orders' }
const drift = {
  path: `workflows[0]`,
  kind: 'workflow',
  id: WORKFLOW_ID,
  message: 'Version 3, last changed by key_1, is not what was applied (version 2).',
}

export const AS_CODE_OPERATIONS: Operation[] = [
  {
    id: 'exportDefinitions',
    method: 'GET',
    path: '/api/definitions',
    tag: 'Definitions',
    summary: 'Export all definitions',
    description:
      'The latest saved version of everything that is not archived, sorted by id. The response can be sent to apply. Secrets stay references.',
    role: 'viewer',
    query: ExportDefinitions,
    queryTexts: { kind: 'Only these.', after: 'The `next` of the previous response.' },
    answers: {
      200: {
        description: 'At most about 3 MB; send `next` as `after` to get the rest.',
        schema: answers.Definitions,
        examples: { all: example('One of each', { ...definitions, next: null }) },
      },
    },
    errors: [],
  },
  {
    id: 'diffDefinitions',
    method: 'POST',
    path: '/api/definitions/diff',
    tag: 'Definitions',
    summary: 'Compare definitions',
    description: 'What an apply of the same body would change, and why it would be refused. Nothing is changed.',
    role: 'editor',
    body: {
      schema: DiffDefinitions,
      required: true,
      examples: { all: example('As for apply', { ...definitions, publish: true }) },
    },
    answers: {
      200: {
        description: 'What would change.',
        schema: answers.DefinitionsDiff,
        examples: {
          drifted: example('A change that would be refused', {
            changes: [{ ...updated, before, after: createWorkflow }],
            drift: [drift],
            problems: [],
            ...rest,
          }),
        },
      },
    },
    errors: [],
  },
  {
    id: 'applyDefinitions',
    method: 'POST',
    path: '/api/definitions/apply',
    tag: 'Definitions',
    summary: 'Apply definitions',
    description:
      'Makes the workspace match the definitions: all of them, or none. Applying the same again changes nothing. Refused if somebody else changed an object since it was applied (`DEFINITIONS_DRIFTED`). Up to 500 definitions and 8 MiB.',
    role: 'editor',
    headers: ['Idempotency-Key'],
    body: {
      schema: ApplyDefinitions,
      required: true,
      examples: { all: example('One of each, published', { ...definitions, publish: true }) },
    },
    answers: {
      200: {
        description: 'What was changed.',
        schema: answers.AppliedDefinitions,
        examples: { applied: example('A new version, published', { changes: [updated], ...rest }) },
      },
    },
    errors: ['VALIDATION_FAILED', 'DEFINITIONS_DRIFTED'],
  },
]

const body = {
  tools: 'Each as for a create, with its `id`. Unknown fields are an error.',
  agents: 'Each as for a create, with its `id`.',
  workflows: 'Each as for a create, with its `id`. Unknown fields of steps, edges and fields are warnings.',
  schedules: 'Each as for a create, with its `id` and its `workflowId`.',
  inboundWebhooks: 'Each as for a create, with its `id` and its `workflowId`, and without a secret.',
  publish: 'Publish all of them as well.',
  prune:
    'Archive objects that were applied before and are missing here; with `force`, all workflows, agents and tools that are missing here. Schedules and inbound webhooks are deleted, but only if they were applied before. A kind without any definition here needs `force`.',
  force: 'Overwrite changes that somebody else made.',
  next: 'Ignored, so that a whole export can be sent.',
}
const id = 'The same in every workspace. Other definitions refer to it.'

const workflowId = 'The workflow that it starts.'

export const AS_CODE_TEXTS: Texts = {
  ApplyDefinitions: body,
  DiffDefinitions: body,
  DefinedWorkflow: { id, ...WORKFLOW_TEXTS.CreateWorkflow },
  DefinedAgent: { id, ...AGENT_TEXTS.CreateAgent },
  DefinedTool: { id, ...TOOL_TEXTS.CreateTool },
  DefinedSchedule: { id, workflowId, ...SCHEDULE_TEXTS.CreateSchedule },
  DefinedInbound: { id, workflowId, ...INBOUND_TEXTS.CreateInbound },
}
