import type { ReadResourceResult, Resource, ResourceTemplate } from '@modelcontextprotocol/sdk/types.js'
import { allows } from '../auth/policy'
import type { ServiceContext } from '../context'
import { listRuns } from '../runs/list'
import { getRunStatus } from '../runs/status'
import { getTask } from '../views/tasks/get'
import { listTasks } from '../views/tasks/list'
import { definitionSchema } from '../workflows/definition-schema'
import { ProtocolError, RESOURCE_NOT_FOUND } from './results'

/** How many of the newest runs and of the oldest open tasks are listed. */
const LISTED = 50
const JSON_TYPE = { mimeType: 'application/json' }

const runUri = (runId: string) => `millrace://runs/${encodeURIComponent(runId)}`
const taskUri = (runId: string, pauseId: string) =>
  `millrace://tasks/${encodeURIComponent(runId)}/${encodeURIComponent(pauseId)}`

export const TEMPLATES: ResourceTemplate[] = [
  {
    ...JSON_TYPE,
    uriTemplate: 'millrace://runs/{runId}',
    name: 'run',
    title: 'A run, with its history and open pauses',
  },
  {
    ...JSON_TYPE,
    uriTemplate: 'millrace://tasks/{runId}/{pauseId}',
    name: 'task',
    title: 'A task: what a run asks of people',
  },
]

const SCHEMA: Resource = {
  ...JSON_TYPE,
  uri: 'millrace://schemas/workflow',
  name: 'schema of workflows',
  title: 'The JSON Schema of a workflow’s definition',
}

/** The newest runs and the open tasks that the caller may read; for callers who build workflows, their schema. */
export async function listResources(ctx: ServiceContext): Promise<Resource[]> {
  const [{ runs }, { tasks }] = await Promise.all([
    listRuns(ctx, { limit: String(LISTED) }),
    allows(ctx, 'task:read') ? listTasks(ctx, { limit: LISTED }) : { tasks: [] },
  ])
  return [
    ...(allows(ctx, 'workflow:write') ? [SCHEMA] : []),
    ...tasks.map(({ runId, pauseId, title, workflowName, createdAt }) => ({
      ...JSON_TYPE,
      uri: taskUri(runId, pauseId),
      name: `task ${runId} ${pauseId}`,
      title: `${title} (${workflowName})`,
      description: `An open task since ${createdAt}.`,
    })),
    ...runs.map(({ runId, workflowName, businessKey, status, outcome, startTime }) => ({
      ...JSON_TYPE,
      uri: runUri(runId),
      name: `run ${runId}`,
      title: businessKey === undefined ? workflowName : `${workflowName} ${businessKey}`,
      description: `Started ${startTime}; ${outcome ?? status}.`,
    })),
  ]
}

/** @throws ProtocolError for an address of another form; AppError RUN_NOT_FOUND, FORBIDDEN */
export async function readResource(ctx: ServiceContext, uri: string): Promise<ReadResourceResult> {
  const value = await read(ctx, uri)
  return { contents: [{ ...JSON_TYPE, uri, text: JSON.stringify(value) }] }
}

async function read(ctx: ServiceContext, uri: string): Promise<object> {
  if (uri === SCHEMA.uri && allows(ctx, 'workflow:write')) return definitionSchema()
  const [kind, runId, pauseId, ...more] = partsOf(uri)
  if (runId && more.length === 0) {
    if (kind === 'runs' && pauseId === undefined) return getRunStatus(ctx, { runId })
    if (kind === 'tasks' && pauseId) return getTask(ctx, { runId, pauseId })
  }
  throw new ProtocolError(RESOURCE_NOT_FOUND, 'Resource not found', { uri })
}

function partsOf(uri: string): string[] {
  if (!uri.startsWith('millrace://')) return []
  try {
    return uri.slice('millrace://'.length).split('/').map(decodeURIComponent)
  } catch {
    return []
  }
}
