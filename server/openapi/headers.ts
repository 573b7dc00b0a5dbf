import type { OpenApiDocument, Parameter, RequestHeader, ResponseHeader } from './types'

export const REQUEST_HEADERS: Record<RequestHeader | 'X-Request-Id', Parameter> = {
  'X-Request-Id': {
    name: 'X-Request-Id',
    in: 'header',
    description:
      'An id for this request, used in the response and the logs: 8 to 64 letters, digits and `-`. Otherwise one is generated.',
    schema: { type: 'string' },
  },
  'Idempotency-Key': {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'Executes the request only once, however often it is sent: for 24 hours, the same request with the same key gets the first successful response again, with `Idempotent-Replayed: true`. A different request with the same key gets 409. A request that was refused may be corrected and sent again.',
    schema: { type: 'string', pattern: '^[ -~]{1,255}$' },
    example: '5f0c9a3e-7c1d-4f5e-9d0b-0d8a4c3f2b1a',
  },
  'If-Match': {
    name: 'If-Match',
    in: 'header',
    description: 'The `ETag` you last saw. If there is a newer version, nothing changes and the response is 409.',
    schema: { type: 'string', pattern: '^\\s*(\\*|"\\d{1,9}"(\\s*,\\s*"\\d{1,9}")*)\\s*$' },
    example: '"3"',
  },
  'If-None-Match': {
    name: 'If-None-Match',
    in: 'header',
    description: 'The `ETag` you last saw. If it is still current, the response is 304 without a body.',
    schema: { type: 'string' },
  },
  'Last-Event-ID': {
    name: 'Last-Event-ID',
    in: 'header',
    description:
      'The `id` of the last event you saw; the stream continues after it. An `EventSource` sends it automatically.',
    schema: { type: 'string', pattern: '^\\d{1,15}(-end)?$' },
    example: '42',
  },
  Prefer: {
    name: 'Prefer',
    in: 'header',
    description: '`wait=<seconds>`: how long to wait for the run to end, at most 300. The default is 50.',
    schema: { type: 'string' },
    example: 'wait=20',
  },
  'X-Upload-Token': {
    name: 'X-Upload-Token',
    in: 'header',
    required: true,
    description: 'The token of the upload, as the response to its beginning has it.',
    schema: { type: 'string' },
    example: 'eyJhbGciOiJIUzI1NiJ9.e30.c2lnbmF0dXJl',
  },
}

type Header = OpenApiDocument['components']['headers'][string]

export const RESPONSE_HEADERS: Record<ResponseHeader | CommonHeader, Header> = {
  'X-Request-Id': { description: 'The id of this request in the logs.', schema: { type: 'string' } },
  'X-Api-Version': {
    description: 'The API version, a date. Fields are only ever added.',
    schema: { type: 'string', format: 'date' },
  },
  'Idempotent-Replayed': {
    description: '`true` when an earlier request with the same `Idempotency-Key` got this response.',
    schema: { const: 'true' },
  },
  'RateLimit-Limit': {
    description: 'Requests per minute. Only present when there is a limit.',
    schema: { type: 'integer' },
  },
  'RateLimit-Remaining': { description: 'How many are left now.', schema: { type: 'integer' } },
  'RateLimit-Reset': { description: 'Seconds until the limit is fully restored.', schema: { type: 'integer' } },
  'Retry-After': { description: 'Seconds to wait before trying again.', schema: { type: 'integer' } },
  ETag: { description: 'For `If-Match` or `If-None-Match`.', schema: { type: 'string' } },
  Location: { description: 'The path of what was created.', schema: { type: 'string' } },
  Link: {
    description: '`<…>; rel="next"` when there is a next page; `rel="help"` leads to the page of an error code.',
    schema: { type: 'string' },
  },
  'X-Total-Count': { description: 'How many there are in all.', schema: { type: 'integer' } },
  'X-Workflow-Version': { description: 'The version the run is on.', schema: { type: 'integer' } },
  'Content-Disposition': { description: 'Always `attachment`, with the name of the file.', schema: { type: 'string' } },
}
export type CommonHeader =
  | 'X-Request-Id'
  | 'X-Api-Version'
  | 'Idempotent-Replayed'
  | 'RateLimit-Limit'
  | 'RateLimit-Remaining'
  | 'RateLimit-Reset'
  | 'Retry-After'

export const SECURITY_SCHEMES: OpenApiDocument['components']['securitySchemes'] = {
  apiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'x-api-key',
    description: 'A key of the tenant, for servers only: never use one in a browser. Starts with `sk_`.',
  },
  tenantId: {
    type: 'apiKey',
    in: 'header',
    name: 'x-tenant-id',
    description: 'The tenant of the key. Optional, because a key belongs to one tenant; a wrong one gets 401.',
  },
  bearer: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description:
      'A token that your backend signs for one of your users: HS256 with a signing secret, the secret’s id as `kid` in the header, `sub`, `exp` and `aud`, and optionally `context`. It should expire within an hour.',
  },
}
