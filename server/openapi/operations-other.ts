import { z } from 'zod'
import * as answers from './responses'
import type { Operation } from './types'

export const OTHER_OPERATIONS: Operation[] = [
  {
    id: 'downloadFile',
    method: 'GET',
    path: '/api/files/{id}',
    tag: 'Files',
    summary: 'Download a file',
    description: 'A file that was sent with a start, by its reference. It lives as long as its run.',
    role: 'viewer',
    answers: {
      200: {
        description: 'The bytes, with the type that was found in them.',
        contentType: '*/*',
        schema: z.string().meta({ format: 'binary' }),
        headers: ['ETag', 'Content-Disposition'],
      },
    },
    errors: ['FILE_NOT_FOUND'],
  },
  {
    id: 'getHealth',
    method: 'GET',
    path: '/api/health',
    tag: 'Service',
    summary: 'Ask whether the service works',
    description: 'Whether the database answers and the engine is alive.',
    role: 'nobody',
    answers: {
      200: {
        description: 'Requests work.',
        schema: answers.Health,
        examples: { ok: { summary: 'All is well', value: { status: 'ok', checks: { database: 'ok', engine: 'ok' } } } },
      },
      503: {
        description: 'They do not.',
        schema: answers.Health,
        examples: {
          unavailable: {
            summary: 'The database is away',
            value: { status: 'unavailable', checks: { database: 'failed', engine: 'failed' } },
          },
        },
      },
    },
    errors: [],
  },
  {
    id: 'getOpenApi',
    method: 'GET',
    path: '/api/openapi.json',
    tag: 'Service',
    summary: 'Get this document',
    description: 'OpenAPI 3.1, made of the schemas that the service checks requests with.',
    role: 'nobody',
    headers: ['If-None-Match'],
    answers: {
      200: { description: 'The document.', schema: answers.OpenApi, headers: ['ETag'] },
      304: { description: 'It is the one you have.', headers: ['ETag'] },
    },
    errors: [],
  },
]
