import { AGENT_ID, createAgent } from '../agents/examples'
import { inbound } from '../inbound/examples'
import { answer } from '../openapi/answer'
import { endpoint } from '../openapi/endpoint'
import { example } from '../openapi/example'
import { nineDiffer } from '../runs/backtest/endpoints'
import { createTool, TOOL_ID } from '../tools/examples'
import { createWorkflow, WORKFLOW_ID, warnings } from '../workflows/examples'
import * as answers from './answers'
import { applyDefinitions } from './apply'
import { backtestDefinitions } from './backtest'
import { diffDefinitions } from './diff'
import { exportDefinitions } from './export'
import { ApplyDefinitions, BacktestDefinitions, DiffDefinitions, ExportDefinitions } from './schema'

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

export const AS_CODE_ENDPOINTS = {
  exportDefinitions: endpoint({
    method: 'GET',
    path: '/api/definitions',
    tag: 'Definitions',
    summary: 'Export all definitions',
    description:
      'The latest saved version of everything that is not archived, sorted by id. The response can be sent to apply. Secrets stay references.',
    permission: 'workflow:read',
    query: ExportDefinitions,
    answers: {
      200: answer('At most about 3 MB; send `next` as `after` to get the rest.', answers.Definitions, {
        all: example('One of each', { ...definitions, next: null }),
      }),
    },
    errors: [],
    run: async ({ ctx, query }) => ({ body: await exportDefinitions(ctx, query) }),
  }),
  diffDefinitions: endpoint({
    method: 'POST',
    path: '/api/definitions/diff',
    tag: 'Definitions',
    summary: 'Compare definitions',
    description: 'What an apply of the same body would change, and why it would be refused. Nothing is changed.',
    permission: 'definitions:check',
    body: {
      schema: DiffDefinitions,
      required: true,
      examples: { all: example('As for apply', { ...definitions, publish: true }) },
    },
    answers: {
      200: answer('What would change.', answers.DefinitionsDiff, {
        drifted: example('A change that would be refused', {
          changes: [{ ...updated, before, after: createWorkflow }],
          drift: [drift],
          problems: [],
          ...rest,
        }),
      }),
    },
    errors: [],
    large: true,
    run: async ({ ctx, body }) => ({ body: await diffDefinitions(ctx, body) }),
  }),
  backtestDefinitions: endpoint({
    method: 'POST',
    path: '/api/definitions/backtest',
    tag: 'Definitions',
    summary: 'Try past runs on definitions',
    description:
      'How would past runs end after an apply of the same body? Carries it out, rolls it back, and tries a sample of past runs of each workflow that changes, or whose tools, agents or workflows change, as the backtest of a workflow does. Nothing is changed and nothing is executed. Without `publish`, drafts are tried as if they were published. Changes by others do not matter here. Tries runs for 25 seconds, then it ends with `truncated`. One backtest at a time per workspace; another one gets 429.',
    permission: 'definitions:check',
    body: {
      schema: BacktestDefinitions,
      required: true,
      examples: { all: example('As for apply', { ...definitions, publish: true, runs: 100 }) },
    },
    answers: {
      200: answer('The verdicts.', answers.BacktestedDefinitions, {
        way: example('Nine runs go another way', {
          workflows: [{ ...nineDiffer, name }],
          untried: [{ workflowId: 'refunds', name: 'Refunds', why: 'new' }],
          ...{ unchanged: 2, truncated: false },
        }),
      }),
    },
    errors: ['VALIDATION_FAILED'],
    large: true,
    run: async ({ ctx, body, signal }) => ({ body: await backtestDefinitions(ctx, body, signal) }),
  }),
  applyDefinitions: endpoint({
    method: 'POST',
    path: '/api/definitions/apply',
    tag: 'Definitions',
    summary: 'Apply definitions',
    description:
      'Makes the workspace match the definitions: all of them, or none. Applying the same again changes nothing. Refused if someone else changed an object since it was applied (`DEFINITIONS_DRIFTED`). Up to 500 definitions and 8 MiB.',
    permission: 'workflow:write',
    headers: ['Idempotency-Key'],
    body: {
      schema: ApplyDefinitions,
      required: true,
      examples: { all: example('One of each, published', { ...definitions, publish: true }) },
    },
    answers: {
      200: answer('The changes made.', answers.AppliedDefinitions, {
        applied: example('A new version, published', { changes: [updated], ...rest }),
      }),
    },
    errors: ['VALIDATION_FAILED', 'DEFINITIONS_DRIFTED'],
    large: true,
    run: async ({ ctx, body }) => ({ body: await applyDefinitions(ctx, body) }),
  }),
}
