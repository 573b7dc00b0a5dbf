import { z } from 'zod'
import { component, components } from '../definition/component'
import { checkHealth } from '../host/health'
import { readMetrics } from '../metrics/read'
import { answer } from '../openapi/answer'
import { publicEndpoint } from '../openapi/endpoint'
import type { Operation } from '../openapi/types'
import { ReadTypedApi } from '../typed-api/schema'

const check = z.enum(['ok', 'failed'])
export const Health = component('Health', {
  status: z.enum(['ok', 'degraded', 'unavailable']),
  checks: z.object({ database: check, engine: check }),
})

export const OpenApi = z.looseObject({ openapi: z.literal('3.1.1') }).register(components, { id: 'OpenApi' })

const METRICS_HEADERS = { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }

export const SERVICE_ENDPOINTS = {
  getHealth: publicEndpoint({
    method: 'GET',
    path: '/api/health',
    tag: 'Service',
    summary: 'Check the service',
    description: 'Reports whether the database responds and the engine is running.',
    answers: {
      200: answer('Requests work.', Health, {
        ok: { summary: 'Everything works', value: { status: 'ok', checks: { database: 'ok', engine: 'ok' } } },
        degraded: {
          summary: 'Requests work, but runs wait for a worker (`ENGINE=off`)',
          value: { status: 'degraded', checks: { database: 'ok', engine: 'failed' } },
        },
      }),
      503: answer('The service cannot handle requests.', Health, {
        unavailable: {
          summary: 'The database does not respond',
          value: { status: 'unavailable', checks: { database: 'failed', engine: 'failed' } },
        },
      }),
    },
    errors: [],
    run: async () => {
      const health = await checkHealth()
      return { status: health.status === 'unavailable' ? 503 : 200, body: health }
    },
  }),
  getMetrics: publicEndpoint({
    method: 'GET',
    path: '/api/metrics',
    tag: 'Service',
    summary: 'Read the metrics',
    description:
      'For Prometheus, with `Authorization: Bearer` and the `METRICS_TOKEN` of the service; 404 while it has none. What the database counts is the same from every process.',
    answers: {
      200: {
        description: 'The text format of Prometheus, version 0.0.4.',
        contentType: 'text/plain',
        schema: z.string(),
        examples: {
          some: {
            summary: 'Some of them',
            value:
              '# HELP millrace_queue_jobs Jobs of the embedded engine that wait to be claimed.\n# TYPE millrace_queue_jobs gauge\nmillrace_queue_jobs 0\n',
          },
        },
      },
    },
    errors: ['UNAUTHORIZED', 'NOT_FOUND', 'RATE_LIMITED'],
    run: async ({ request }) => ({
      headers: METRICS_HEADERS,
      body: new TextEncoder().encode(await readMetrics(request.headers)),
    }),
  }),
}

/** Described here without its handler, which needs the finished document: `typed-api.ts`. */
export const GET_OPENAPI: Operation = {
  id: 'getOpenApi',
  role: 'nobody',
  method: 'GET',
  path: '/api/openapi.json',
  tag: 'Service',
  summary: 'Get this document',
  description:
    'OpenAPI 3.1, generated from the schemas that validate requests. With `workflows=published`, which needs a credential of the role viewer or above, it is the document of your workspace: the calls of each published workflow, agent and tool, with the types of what they take and give.',
  mayNeedCredential: true,
  query: ReadTypedApi,
  headers: ['If-None-Match'],
  answers: {
    200: { description: 'The document.', schema: OpenApi, headers: ['ETag'] },
    304: { description: 'The document has not changed.', headers: ['ETag'] },
  },
  errors: ['INVALID_INPUT', 'UNAUTHORIZED', 'RATE_LIMITED', 'INTERNAL', 'UNAVAILABLE'],
}
