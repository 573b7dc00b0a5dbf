import { answer } from '../openapi/answer'
import { endpoint } from '../openapi/endpoint'
import { example } from '../openapi/example'
import { versionedAnswer } from '../versioned/answer'
import { type VersionedApi, versionedEndpoints, wholeAnswers } from '../versioned/endpoints'
import * as answers from './answers'
import { deleteWorkflowPermanently } from './delete-permanently'
import * as examples from './examples'
import { getInputSchema } from './input-schema'
import { duplicateWorkflow, restoreWorkflowVersion, WORKFLOWS } from './lifecycle'
import { CreateWorkflow, DeletePermanently, ListWorkflows, SimulateWorkflow, UpdateWorkflow } from './schema'
import { simulateWorkflow } from './simulate'

const id = { name: 'id', description: 'The workflow.', example: examples.WORKFLOW_ID }

/** The path parameter of operations on a workflow that do not manage it. */
export const WORKFLOW_PARAMETER = { workflowId: { description: 'The workflow.', example: 'wf_hello' } }

const API: VersionedApi = {
  noun: 'workflow',
  words: { one: 'workflow', a: 'a workflow', many: 'workflows', whole: 'definition' },
  tag: 'Workflows',
  path: '/api/workflows',
  id,
  schemas: {
    item: answers.WorkflowItem,
    whole: answers.Workflow,
    versionItem: answers.VersionItem,
    version: answers.Version,
    create: CreateWorkflow,
    update: UpdateWorkflow,
    list: ListWorkflows,
  },
  examples: {
    item: examples.workflowItem,
    whole: examples.workflow,
    versionItem: examples.versionItem,
    version: examples.version,
    create: {
      whole: example('A complete workflow', examples.createWorkflow),
      name: example('Only a name', { name: 'Order approval' }),
    },
    update: { name: 'Order approval', version: 1 },
  },
  descriptions: {
    list: 'Most recently changed first.',
    create: 'Creates a draft. Only `name` is required: publish and start check the rest.',
    get: 'The latest saved definition, also for an archived workflow.',
    update:
      'Saves the next version. Fields the body leaves out keep their values; a body that changes nothing creates no version. New runs still use the published version. Send `If-Match` or `version` so that you do not overwrite another person’s change.',
    archive: 'No new runs can start; open runs finish. Unarchive brings it back; archiving again changes nothing.',
    publish:
      'New runs use it from now on. If it has problems, the response is 400 `VALIDATION_FAILED` with one detail each: `code`, `stepId` and `field`. Publishing again without a change does nothing.',
    listVersions:
      'Newest first. Numbers may be missing: several saves by one person in quick succession become one version.',
  },
  errors: {
    notFound: 'WORKFLOW_NOT_FOUND',
    write: ['WORKFLOW_NOT_FOUND', 'WORKFLOW_ARCHIVED', 'VERSION_CONFLICT'],
  },
}

const { wholeAnswer, created } = wholeAnswers(API)
const workflowAnswer = versionedAnswer(API.path)
const { list, create, get, update, archive, unarchive, publish, listVersions, getVersion } = versionedEndpoints(
  API,
  WORKFLOWS,
)

export const WORKFLOW_ENDPOINTS = {
  getInputSchema: endpoint({
    method: 'GET',
    path: '/api/workflow/metadata/input/{workflowId}',
    parameters: WORKFLOW_PARAMETER,
    tag: 'Workflows',
    summary: 'Get the START fields',
    description: 'The fields of the version a start would use: the published one, or the draft if there is none.',
    permission: 'workflow:read',
    answers: {
      200: answer('The fields by name.', answers.InputSchema, { fields: example('One field', examples.inputSchema) }),
    },
    errors: ['WORKFLOW_NOT_FOUND'],
    run: async ({ ctx, params }) => ({ body: await getInputSchema(ctx, { id: params.workflowId }) }),
  }),
  listWorkflows: list,
  createWorkflow: create,
  getWorkflow: get,
  updateWorkflow: update,
  archiveWorkflow: archive,
  unarchiveWorkflow: unarchive,
  deleteWorkflowPermanently: endpoint({
    method: 'DELETE',
    path: '/api/workflows/{id}/permanent',
    parameters: { id },
    tag: 'Workflows',
    summary: 'Delete an archived workflow permanently',
    description: 'Cannot be undone. Its runs stay readable. Refused while runs are open.',
    permission: 'workflow:delete-permanently',
    query: DeletePermanently,
    answers: {
      200: answer('The workflow is deleted.', answers.DeletedWorkflow, {
        gone: example('Deleted', { id: examples.WORKFLOW_ID, deleted: true }),
      }),
    },
    errors: ['WORKFLOW_NOT_FOUND', 'WORKFLOW_NOT_ARCHIVED', 'CONFLICT'],
    run: async ({ ctx, params, query }) => ({
      body: await deleteWorkflowPermanently(ctx, { id: params.id, query }),
    }),
  }),
  publishWorkflow: endpoint({
    ...publish,
    answers: {
      200: answer(
        'The published definition, and warnings.',
        answers.PublishedWorkflow,
        { published: example('Published', { ...examples.workflow, warnings: examples.warnings }) },
        ['ETag'],
      ),
    },
    errors: [...publish.errors, 'VALIDATION_FAILED'],
  }),
  simulateWorkflow: endpoint({
    method: 'POST',
    path: '/api/workflows/{id}/simulate',
    parameters: { id },
    tag: 'Workflows',
    summary: 'Simulate a workflow',
    description:
      'Follows many paths through it with generated values, without a run: each answer people can give, each exit, each loop twice, lists with no items and with two. No step is executed. Reports what was reached and which expressions failed. It ends after 100 paths, 20,000 visits or a second.',
    permission: 'workflow:simulate',
    headers: ['Idempotency-Key'],
    body: {
      schema: SimulateWorkflow,
      required: false,
      examples: {
        all: example('With generated values', {}),
        given: example('With values of your own', { data: {}, answers: { order: { item: 'A desk', amount: 900 } } }),
      },
    },
    answers: {
      200: answer('The findings.', answers.Simulation, {
        simulation: example('Everything was reached', examples.simulation),
      }),
    },
    errors: ['WORKFLOW_NOT_FOUND', 'VALIDATION_FAILED'],
    run: async ({ ctx, params, body }) => ({ body: await simulateWorkflow(ctx, { id: params.id, body }) }),
  }),
  cloneWorkflow: endpoint({
    method: 'POST',
    path: '/api/workflows/{id}/clone',
    parameters: { id },
    tag: 'Workflows',
    summary: 'Duplicate a workflow',
    description: 'Creates a draft from the latest version. Its name ends in ` (Copy)`.',
    permission: 'workflow:write',
    headers: ['Idempotency-Key'],
    answers: { 201: created({ name: `${examples.workflow.name} (Copy)` }) },
    errors: ['WORKFLOW_NOT_FOUND'],
    run: async ({ ctx, params }) => workflowAnswer(await duplicateWorkflow(ctx, { id: params.id }), 201),
  }),
  listWorkflowVersions: listVersions,
  getWorkflowVersion: getVersion,
  restoreWorkflowVersion: endpoint({
    method: 'POST',
    path: '/api/workflows/{id}/versions/{version}/restore',
    parameters: getVersion.parameters ?? {},
    tag: 'Workflows',
    summary: 'Restore a version',
    description: 'Saves an earlier version as the next one. Nothing is published.',
    permission: 'workflow:publish',
    headers: ['Idempotency-Key', 'If-Match'],
    answers: { 200: wholeAnswer('The definition as saved.') },
    errors: API.errors.write,
    run: async ({ ctx, params, request }) => {
      const ifMatch = request.headers.get('if-match')
      return workflowAnswer(await restoreWorkflowVersion(ctx, { ...params, ifMatch }))
    },
  }),
}
