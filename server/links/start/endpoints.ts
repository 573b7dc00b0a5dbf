import { z } from 'zod'
import { publicOrigin } from '../../http/origin'
import { answer } from '../../openapi/answer'
import { endpoint } from '../../openapi/endpoint'
import { example } from '../../openapi/example'
import * as answers from './answers'
import { createStartLink } from './create'
import { listStartLinks } from './list'
import { revokeStartLink } from './revoke'
import { CreateStartLink } from './schema'

const path = '/api/workflows/{id}/start-links'
const link = {
  id: 'stl_01K5A3QJ8Z0T7V2M9C4D6E8F1G',
  workflowId: 'wf_01K5A3QJ8Z0T7V2M9C4D6E8F1G',
  label: 'On the website',
  createdBy: 'key_01K5A3QJ8Z0T7V2M9C4D6E8F1G',
  createdAt: '2026-01-05T09:30:00.000Z',
  expiresAt: '2026-04-05T09:30:00.000Z',
  revokedAt: null,
  makerMayStart: true,
  starts: 12,
}

const common = {
  parameters: {
    id: { description: 'The workflow.', example: link.workflowId },
    linkId: { description: 'The start link.', example: link.id },
  },
  tag: 'Workflows',
} as const

export const START_LINK_ENDPOINTS = {
  listStartLinks: endpoint({
    ...common,
    method: 'GET',
    path,
    summary: 'List the start links of a workflow',
    description: 'Newest first, without what opens them.',
    permission: 'workflow:read',
    answers: {
      200: answer('The links.', z.array(answers.StartLink), { list: example('One link', [link]) }),
    },
    errors: ['WORKFLOW_NOT_FOUND'],
    run: async ({ ctx, params }) => ({ body: await listStartLinks(ctx, { workflowId: params.id }) }),
  }),
  createStartLink: endpoint({
    ...common,
    method: 'POST',
    path,
    summary: 'Make a link to a form that starts a workflow',
    description:
      'Anybody with the link can start the published version with its form, without signing in, until the link expires or is revoked. It passes on the caller’s right to start it. Opening the link starts nothing. `Idempotency-Key` has no effect here.',
    permission: 'run:start',
    body: {
      schema: CreateStartLink,
      required: false,
      examples: {
        usual: example('For 90 days', {}),
        labelled: example('For a month, with a label', { label: 'On the website', expiresIn: 'P30D' }),
      },
    },
    answers: {
      201: answer('The new link.', answers.CreatedStartLink, {
        link: example('With its address', {
          ...{ ...link, starts: 0 },
          url: 'https://millrace.example.com/public/start#eyJhbGciOiJIUzI1NiJ9.e30.c2lnbmF0dXJl',
        }),
      }),
    },
    errors: ['WORKFLOW_NOT_FOUND', 'WORKFLOW_ARCHIVED', 'CONFLICT'],
    // No `Idempotency-Key`: a stored answer would hold the link.
    run: async ({ ctx, params, body, request }) => ({
      status: 201,
      body: await createStartLink(ctx, { workflowId: params.id, body, origin: publicOrigin(request.headers) }),
    }),
  }),
  revokeStartLink: endpoint({
    ...common,
    method: 'DELETE',
    path: `${path}/{linkId}`,
    summary: 'Revoke a start link',
    description: 'It stops working at once. The runs that it has started stay.',
    permission: 'run:start',
    answers: {
      200: answer('The link as it is now.', answers.StartLink, {
        revoked: example('Revoked', { ...link, revokedAt: '2026-01-06T10:00:00.000Z' }),
      }),
    },
    errors: ['WORKFLOW_NOT_FOUND', 'NOT_FOUND'],
    run: async ({ ctx, params }) => ({
      body: await revokeStartLink(ctx, { workflowId: params.id, linkId: params.linkId }),
    }),
  }),
}
