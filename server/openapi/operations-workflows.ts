import { z } from 'zod'
import type { JsonValue } from '../definition/json'
import { ListVersioned, ListVersions } from '../versioned/list-schema'
import { CreateWorkflow, DeletePermanently, UpdateWorkflow } from '../workflows/schema'
import * as example from './examples'
import * as answers from './responses'
import type { Answer, Operation } from './types'

const named = (summary: string, value: JsonValue) => ({ summary, value })

const definition = (description: string, value: JsonValue = example.workflow): Answer => ({
  description,
  schema: answers.Workflow,
  headers: ['ETag'],
  examples: { workflow: named('The definition', value) },
})
const created = (value: JsonValue): Answer => ({
  ...definition('The new draft.', value),
  headers: ['ETag', 'Location'],
})

const WRITE_ERRORS = ['WORKFLOW_NOT_FOUND', 'WORKFLOW_ARCHIVED', 'VERSION_CONFLICT'] as const

export const WORKFLOW_OPERATIONS: Operation[] = [
  {
    id: 'getInputSchema',
    method: 'GET',
    path: '/api/workflow/metadata/input/{workflowId}',
    tag: 'Workflows',
    summary: 'Get the START fields',
    description: 'Of the version that a start would run: the published one, else the draft.',
    role: 'viewer',
    answers: {
      200: {
        description: 'The fields by name.',
        schema: answers.InputSchema,
        examples: { fields: named('One field', example.inputSchema) },
      },
    },
    errors: ['WORKFLOW_NOT_FOUND'],
  },
  {
    id: 'listWorkflows',
    method: 'GET',
    path: '/api/workflows',
    tag: 'Workflows',
    summary: 'List workflows',
    description: 'The last changed first.',
    role: 'viewer',
    query: ListVersioned,
    answers: {
      200: {
        description: 'The workflows.',
        schema: z.array(answers.WorkflowItem),
        headers: ['X-Total-Count', 'Link'],
        examples: { list: named('One workflow', [example.workflowItem]) },
      },
    },
    errors: [],
  },
  {
    id: 'createWorkflow',
    method: 'POST',
    path: '/api/workflows',
    tag: 'Workflows',
    summary: 'Create a workflow',
    description:
      'A new draft. Only `name` is required: what is missing is judged at publish, or when the draft is started.',
    role: 'editor',
    headers: ['Idempotency-Key'],
    body: {
      schema: CreateWorkflow,
      required: true,
      examples: {
        whole: named('A whole workflow', example.createWorkflow),
        name: named('Only a name', { name: 'Order approval' }),
      },
    },
    answers: { 201: created(example.draft) },
    errors: [],
  },
  {
    id: 'getWorkflow',
    method: 'GET',
    path: '/api/workflows/{id}',
    tag: 'Workflows',
    summary: 'Get a workflow',
    description: 'The definition as last saved. Archived ones too.',
    role: 'viewer',
    answers: { 200: definition('The definition.') },
    errors: ['WORKFLOW_NOT_FOUND'],
  },
  {
    id: 'updateWorkflow',
    method: 'PUT',
    path: '/api/workflows/{id}',
    tag: 'Workflows',
    summary: 'Change a workflow',
    description:
      'Saves the next version. What the body does not name stays; a body that changes nothing makes no version. What is published goes on running as it is. Send `If-Match`, or `version`, so that nobody’s change is lost.',
    role: 'editor',
    headers: ['If-Match'],
    body: {
      schema: UpdateWorkflow,
      required: true,
      examples: { name: named('Another name', { name: 'Order approval', version: 1 }) },
    },
    answers: { 200: definition('The definition as saved.') },
    errors: WRITE_ERRORS,
  },
  {
    id: 'archiveWorkflow',
    method: 'DELETE',
    path: '/api/workflows/{id}',
    tag: 'Workflows',
    summary: 'Archive a workflow',
    description: 'No run starts any more; open ones finish. Can be undone. Archiving again changes nothing.',
    role: 'editor',
    answers: { 200: definition('The archived definition.', { ...example.workflow, status: 'archived' }) },
    errors: ['WORKFLOW_NOT_FOUND'],
  },
  {
    id: 'unarchiveWorkflow',
    method: 'POST',
    path: '/api/workflows/{id}/unarchive',
    tag: 'Workflows',
    summary: 'Bring an archived workflow back',
    description: 'As a draft. On one that is not archived it changes nothing.',
    role: 'editor',
    headers: ['Idempotency-Key'],
    answers: { 200: definition('The draft.', { ...example.workflow, status: 'draft' }) },
    errors: ['WORKFLOW_NOT_FOUND'],
  },
  {
    id: 'deleteWorkflowPermanently',
    method: 'DELETE',
    path: '/api/workflows/{id}/permanent',
    tag: 'Workflows',
    summary: 'Delete an archived workflow for ever',
    description: 'Cannot be undone. Its runs stay readable. Open runs stand in the way.',
    role: 'owner',
    query: DeletePermanently,
    answers: {
      200: {
        description: 'It is gone.',
        schema: answers.DeletedWorkflow,
        examples: { gone: named('Gone', { id: example.WORKFLOW_ID, deleted: true }) },
      },
    },
    errors: ['WORKFLOW_NOT_FOUND', 'WORKFLOW_NOT_ARCHIVED', 'CONFLICT'],
  },
  {
    id: 'publishWorkflow',
    method: 'POST',
    path: '/api/workflows/{id}/publish',
    tag: 'Workflows',
    summary: 'Publish the latest version',
    description:
      'From now on starts run it. Every problem is a detail of the 400 `VALIDATION_FAILED`, with `code`, `stepId` and `field`. Publishing again without a change is a no-op.',
    role: 'editor',
    headers: ['Idempotency-Key', 'If-Match'],
    answers: {
      200: {
        description: 'The published definition, and warnings.',
        schema: answers.PublishedWorkflow,
        headers: ['ETag'],
        examples: { published: named('Published', { ...example.workflow, warnings: example.warnings }) },
      },
    },
    errors: [...WRITE_ERRORS, 'VALIDATION_FAILED'],
  },
  {
    id: 'cloneWorkflow',
    method: 'POST',
    path: '/api/workflows/{id}/clone',
    tag: 'Workflows',
    summary: 'Copy a workflow',
    description: 'A new draft with the content of the latest version; its name ends in ` (Copy)`.',
    role: 'editor',
    headers: ['Idempotency-Key'],
    answers: { 201: created({ ...example.draft, name: `${example.draft.name} (Copy)` }) },
    errors: ['WORKFLOW_NOT_FOUND'],
  },
  {
    id: 'listWorkflowVersions',
    method: 'GET',
    path: '/api/workflows/{id}/versions',
    tag: 'Workflows',
    summary: 'List the versions',
    description: 'Newest first. Numbers may be missing: quick saves of one person become one version.',
    role: 'viewer',
    query: ListVersions,
    answers: {
      200: {
        description: 'The versions.',
        schema: z.array(answers.VersionItem),
        headers: ['X-Total-Count', 'Link'],
        examples: { list: named('One version', [example.versionItem]) },
      },
    },
    errors: ['WORKFLOW_NOT_FOUND'],
  },
  {
    id: 'getWorkflowVersion',
    method: 'GET',
    path: '/api/workflows/{id}/versions/{version}',
    tag: 'Workflows',
    summary: 'Get a version',
    description: 'All that a version says. `version` is a number, `latest` or `published`.',
    role: 'viewer',
    answers: {
      200: {
        description: 'The version.',
        schema: answers.Version,
        headers: ['ETag'],
        examples: { version: named('A version', example.version) },
      },
    },
    errors: ['WORKFLOW_NOT_FOUND'],
  },
  {
    id: 'restoreWorkflowVersion',
    method: 'POST',
    path: '/api/workflows/{id}/versions/{version}/restore',
    tag: 'Workflows',
    summary: 'Restore a version',
    description: 'Saves what an earlier version said as the next version. Nothing is published.',
    role: 'editor',
    headers: ['Idempotency-Key', 'If-Match'],
    answers: { 200: definition('The definition as saved.') },
    errors: WRITE_ERRORS,
  },
]
