import { z } from 'zod'
import { publicOrigin } from '../http/origin'
import { answer } from '../openapi/answer'
import { endpoint } from '../openapi/endpoint'
import { example } from '../openapi/example'
import * as answers from './answers'
import { createTaskLink } from './create'
import { listTaskLinks } from './list'
import { revokeTaskLink } from './revoke'
import { CreateTaskLink, ListTaskLinks } from './schema'

const RUN_ID = 'run_01K5A3QJ8Z0T7V2M9C4D6E8F1G'
const ID = 'lnk_01K5A3QJ8Z0T7V2M9C4D6E8F1G'
const path = '/api/workflow/task-links/{runId}'
const link = {
  id: ID,
  runId: RUN_ID,
  pauseId: 'main:decision#1',
  createdBy: 'key_01K5A3QJ8Z0T7V2M9C4D6E8F1G',
  answeredBy: 'bob@example.com',
  createdAt: '2026-01-05T09:30:00.000Z',
  expiresAt: '2026-01-07T09:30:00.000Z',
  usedAt: null,
  revokedAt: null,
}

const common = {
  parameters: {
    runId: { description: 'The run.', example: RUN_ID },
    linkId: { description: 'The task link.', example: ID },
  },
  tag: 'Runs',
} as const

export const LINK_ENDPOINTS = {
  listTaskLinks: endpoint({
    ...common,
    method: 'GET',
    path,
    summary: 'List the task links of a run',
    description: 'Newest first, without what opens them.',
    permission: 'run:read',
    query: ListTaskLinks,
    answers: {
      200: answer('The links.', z.array(answers.TaskLink), { list: example('One link', [link]) }),
    },
    errors: ['RUN_NOT_FOUND'],
    run: async ({ ctx, params, query }) => ({
      body: await listTaskLinks(ctx, { runId: params.runId, query }),
    }),
  }),
  createTaskLink: endpoint({
    ...common,
    method: 'POST',
    path,
    summary: 'Make a link to a task',
    description:
      'Anybody with the link can answer this one pause, once, without signing in. It passes on the caller’s right to answer it. Opening the link decides nothing. `Idempotency-Key` has no effect here.',
    permission: 'run:resume',
    body: {
      schema: CreateTaskLink,
      required: false,
      examples: {
        mine: example('For the only open pause, for seven days', {}),
        theirs: example('For another person, for two days', {
          pauseId: 'main:decision#1',
          expiresIn: 'P2D',
          answeredBy: 'bob@example.com',
        }),
      },
    },
    answers: {
      201: answer('The new link.', answers.CreatedTaskLink, {
        link: example('With its address', {
          ...link,
          url: 'https://millrace.example.com/task#eyJhbGciOiJIUzI1NiJ9.e30.c2lnbmF0dXJl',
        }),
      }),
    },
    errors: ['RUN_NOT_FOUND', 'RUN_NOT_PAUSED', 'NOT_ASSIGNED', 'SELF_APPROVAL', 'ALREADY_VOTED', 'CONFLICT'],
    // No `Idempotency-Key`: a stored answer would hold the link.
    run: async ({ ctx, params, body, request }) => ({
      status: 201,
      body: await createTaskLink(ctx, { runId: params.runId, body, origin: publicOrigin(request.headers) }),
    }),
  }),
  revokeTaskLink: endpoint({
    ...common,
    method: 'DELETE',
    path: `${path}/{linkId}`,
    summary: 'Revoke a task link',
    description: 'It stops working at once. A link that has been used cannot be revoked.',
    permission: 'run:resume',
    answers: {
      200: answer('The link as it is now.', answers.TaskLink, {
        revoked: example('Revoked', { ...link, revokedAt: '2026-01-05T10:00:00.000Z' }),
      }),
    },
    errors: ['RUN_NOT_FOUND', 'NOT_FOUND', 'CONFLICT'],
    run: async ({ ctx, params }) => ({ body: await revokeTaskLink(ctx, params) }),
  }),
}
