import type { ServiceContext } from '../context'
import { type JsonObject, type JsonValue, toStorableJson } from '../definition/json'
import { AppError } from '../errors'
import { plainSchema } from '../openapi/schema'
import { checkDraft } from '../views/workflows/check-draft'
import { definitionSchema } from '../workflows/definition-schema'
import { createWorkflow, getWorkflow, listWorkflows, publishWorkflow, updateWorkflow } from '../workflows/lifecycle'
import { CreateWorkflow, SimulateWorkflow, UpdateWorkflow } from '../workflows/schema'
import { simulateWorkflow } from '../workflows/simulate'
import { type FixedTool, text } from './fixed-tool'
import { objectSchema } from './objects'
import { result } from './results'

const workflowId = text('The id of the workflow.')
const seen = {
  type: 'integer',
  minimum: 1,
  description: 'The version you last saw. If there is a newer one, nothing happens.',
}
const LISTED = 100

/** The schema of a body, as a tool's arguments. `get_workflow_schema` has the fields of each type of step. */
function argsOf(schema: Parameters<typeof plainSchema>[0], own: JsonObject = {}): JsonObject {
  const { properties = {}, required = [] } = toStorableJson({ ...plainSchema(schema) }) as {
    properties?: JsonObject
    required?: string[]
  }
  return {
    properties: { ...own, ...properties, ...('version' in own ? { version: own.version } : {}) },
    required: [...Object.keys(own), ...required],
    additionalProperties: false,
  }
}

/** @throws AppError INVALID_INPUT: without the version, a change could overwrite that of another person */
function seenVersion({ version }: JsonObject): number {
  if (typeof version === 'number' && Number.isInteger(version) && version > 0) return version
  throw new AppError('INVALID_INPUT', {
    details: [{ path: 'version', message: 'must be the version you last saw, as get_workflow returns it' }],
  })
}

/** @throws AppError INVALID_INPUT: of two, a model would not know which one was checked */
function requireOne(...either: (JsonValue | undefined)[]): void {
  if (either.filter((one) => one !== undefined && one !== null).length === 1) return
  const message = 'must be given, or else `definition`; not both'
  throw new AppError('INVALID_INPUT', { details: [{ path: 'workflowId', message }] })
}

/** @throws AppError VERSION_CONFLICT, which names the argument: a tool has no headers */
function publishSeen(ctx: ServiceContext, id: string, version: number) {
  return publishWorkflow(ctx, { id, ifMatch: `"${version}"` }).catch((err: unknown) => {
    if (!(err instanceof AppError) || err.code !== 'VERSION_CONFLICT') throw err
    throw new AppError(err.code, { details: err.details.map((detail) => ({ ...detail, path: 'version' })), cause: err })
  })
}

/** The tools that build workflows, by the roles that may do the same over REST. */
export const BUILDING: Record<string, FixedTool> = {
  list_workflows: {
    operation: 'workflow:read',
    title: 'List workflows',
    description: 'The workflows of the workspace, drafts too: id, name, description, status and version.',
    inputSchema: objectSchema({
      properties: {
        search: text('Text in the name or the description.'),
        offset: { type: 'integer', minimum: 0, description: `How many to skip. A call lists ${LISTED}.` },
      },
      additionalProperties: false,
    }),
    annotations: { readOnlyHint: true },
    call: async (ctx, { search, offset }) => {
      const page = { limit: String(LISTED), ...(offset === undefined ? {} : { offset: String(offset) }) }
      const query = { ...page, ...(search === undefined ? {} : { search }) }
      const { items, total } = await listWorkflows(ctx, query)
      return result({ workflows: items, total })
    },
  },
  get_workflow: {
    operation: 'workflow:read',
    title: 'Get a workflow',
    description: 'The definition of a workflow as last saved: its steps, edges and START fields, and its version.',
    inputSchema: objectSchema({ properties: { workflowId }, required: ['workflowId'], additionalProperties: false }),
    annotations: { readOnlyHint: true },
    call: async (ctx, args) => result(await getWorkflow(ctx, { id: String(args.workflowId) })),
  },
  get_workflow_schema: {
    operation: 'workflow:write',
    title: 'Get the schema of workflows',
    description: 'The JSON Schema of a definition, with the fields and exits of each type of step. Read it first.',
    inputSchema: objectSchema({ properties: {}, additionalProperties: false }),
    annotations: { readOnlyHint: true },
    call: async () => result({ schema: definitionSchema() }),
  },
  create_workflow: {
    operation: 'workflow:write',
    title: 'Create a workflow',
    description:
      'Saves a new workflow as a draft, which may be incomplete. get_workflow_schema has the fields of each type of step. Returns its id and version. Nothing is published.',
    inputSchema: objectSchema(argsOf(CreateWorkflow)),
    call: async (ctx, args) => result(await createWorkflow(ctx, args)),
  },
  edit_workflow: {
    operation: 'workflow:write',
    title: 'Edit a workflow',
    description:
      'Saves a change of the draft as its next version. Fields that you leave out keep their values; `steps`, `edges` and `payload` replace all of theirs. Runs still use the published version.',
    inputSchema: objectSchema(argsOf(UpdateWorkflow, { workflowId, version: seen })),
    annotations: { idempotentHint: true },
    call: async (ctx, { workflowId: id, ...body }) =>
      result(await updateWorkflow(ctx, { id: String(id), body: { ...body, version: seenVersion(body) } })),
  },
  check_workflow: {
    operation: 'workflow:write',
    title: 'Check a workflow',
    description:
      'The problems of a saved draft, or of a definition that is not saved yet. Errors prevent publishing; warnings do not.',
    inputSchema: objectSchema({
      properties: { workflowId, definition: { type: 'object', description: 'Either this or `workflowId`.' } },
      additionalProperties: false,
    }),
    annotations: { readOnlyHint: true },
    call: async (ctx, { workflowId: id, definition }) => {
      requireOne(id, definition)
      const given = definition ?? { ...(await getWorkflow(ctx, { id: String(id) })) }
      return result({ problems: await checkDraft(ctx, { definition: given }) })
    },
  },
  simulate_workflow: {
    operation: 'workflow:simulate',
    title: 'Simulate a workflow',
    description:
      'Follows many paths through a saved workflow with generated values, without a run: which steps and exits are reached, and which expressions fail.',
    inputSchema: objectSchema(argsOf(SimulateWorkflow, { workflowId })),
    annotations: { readOnlyHint: true },
    call: async (ctx, { workflowId: id, ...body }) => result(await simulateWorkflow(ctx, { id: String(id), body })),
  },
  publish_workflow: {
    operation: 'workflow:publish',
    title: 'Publish a workflow',
    description:
      'Makes the draft the version that new runs use. Refused with `VALIDATION_FAILED` and one detail each if it has errors.',
    inputSchema: objectSchema({
      properties: { workflowId, version: seen },
      required: ['workflowId', 'version'],
      additionalProperties: false,
    }),
    annotations: { idempotentHint: true },
    call: async (ctx, { workflowId: id, ...args }) => result(await publishSeen(ctx, String(id), seenVersion(args))),
  },
}
