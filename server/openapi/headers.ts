import type { OpenApiDocument, Parameter, RequestHeader, ResponseHeader } from './types'

export const REQUEST_HEADERS: Record<RequestHeader | 'X-Request-Id', Parameter> = {
  'X-Request-Id': {
    name: 'X-Request-Id',
    in: 'header',
    description: 'Taken over into the answer and the logs when it has 8 to 64 letters, digits and `-`; else made up.',
    schema: { type: 'string' },
  },
  'Idempotency-Key': {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'Do this once, however often it is sent: for 24 hours the same request under the same key gets the first good answer again, with `Idempotent-Replayed: true`. Another request under the key is 409. A refused request may be corrected and sent again.',
    schema: { type: 'string', pattern: '^[ -~]{1,255}$' },
    example: '5f0c9a3e-7c1d-4f5e-9d0b-0d8a4c3f2b1a',
  },
  'If-Match': {
    name: 'If-Match',
    in: 'header',
    description: 'The `ETag` you have seen. If there is a newer version, nothing changes and the answer is 409.',
    schema: { type: 'string', pattern: '^\\s*(\\*|"\\d{1,9}"(\\s*,\\s*"\\d{1,9}")*)\\s*$' },
    example: '"3"',
  },
  'If-None-Match': {
    name: 'If-None-Match',
    in: 'header',
    description: 'The `ETag` you have seen. When it is still the same, the answer is 304 without a body.',
    schema: { type: 'string' },
  },
  'Last-Event-ID': {
    name: 'Last-Event-ID',
    in: 'header',
    description: 'The `id` of the last event seen; the stream goes on after it. An `EventSource` sends it by itself.',
    schema: { type: 'string', pattern: '^\\d{1,15}(-end)?$' },
    example: '42',
  },
  Prefer: {
    name: 'Prefer',
    in: 'header',
    description: '`wait=<seconds>`: how long to wait for the end of the run, at most 300. 50 unless given.',
    schema: { type: 'string' },
    example: 'wait=20',
  },
}

type Header = OpenApiDocument['components']['headers'][string]

export const RESPONSE_HEADERS: Record<ResponseHeader | CommonHeader, Header> = {
  'X-Request-Id': { description: 'Names this request in the logs.', schema: { type: 'string' } },
  'X-Api-Version': { description: 'A date. Fields are only ever added.', schema: { type: 'string', format: 'date' } },
  'Idempotent-Replayed': {
    description: '`true` when an earlier request with the same `Idempotency-Key` got this answer.',
    schema: { const: 'true' },
  },
  'RateLimit-Limit': { description: 'Requests a minute. Only where there is a limit.', schema: { type: 'integer' } },
  'RateLimit-Remaining': { description: 'How many are left right now.', schema: { type: 'integer' } },
  'RateLimit-Reset': { description: 'In how many seconds all are back.', schema: { type: 'integer' } },
  'Retry-After': { description: 'In how many seconds to try again.', schema: { type: 'integer' } },
  ETag: { description: 'For `If-Match` or `If-None-Match`.', schema: { type: 'string' } },
  Location: { description: 'The path of what was made.', schema: { type: 'string' } },
  Link: { description: '`<…>; rel="next"` when there is a next page.', schema: { type: 'string' } },
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
    description: 'A key of the tenant, for servers only: never put one into a browser. Begins with `sk_`.',
  },
  tenantId: {
    type: 'apiKey',
    in: 'header',
    name: 'x-tenant-id',
    description: 'The tenant of the key. May be left out, since a key belongs to one tenant; a wrong one is 401.',
  },
  bearer: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description:
      'A token that your backend signs for one of your users: HS256 with a signing secret, the id of the secret as `kid` of the header, `sub`, `exp` and `aud`, and perhaps `context`. It should live for an hour at most.',
  },
}
