import { z } from 'zod'
import { component, components } from '../definition/component'
import { toStorableJson } from '../definition/json'
import { ERRORS, type ErrorCode, type ErrorDetail } from '../errors'
import { errorBody } from '../http/respond'
import type { Example, Operation, Schema } from './types'

const DETAILS: Partial<Record<ErrorCode, ErrorDetail[]>> = {
  INVALID_INPUT: [{ path: 'name', message: 'name is required' }],
  VALIDATION_FAILED: [
    {
      severity: 'error',
      code: 'DANGLING_EDGE',
      message: 'The edge from order to pay refers to the step pay, which does not exist.',
      stepId: 'order',
      field: 'edges[0].to',
    },
  ],
  FORBIDDEN: [{ message: 'This needs the role editor or above; the credential has viewer.' }],
  VERSION_MISFIT: [
    {
      code: 'DATA_MISFIT',
      message: 'charge reads amount, which has no value.',
      name: 'amount',
      claimed: 'a number',
      found: 'nothing',
      stepId: 'charge',
    },
  ],
  VERSION_CONFLICT: [{ path: 'If-Match', message: 'The current version is 4, not 3.', currentVersion: 4 }],
  DEFINITIONS_DRIFTED: [
    {
      path: 'workflows[0]',
      kind: 'workflow',
      id: 'wf_hello',
      message: 'Version 4, last changed by key_1, is not what was applied (version 3).',
    },
  ],
  RUN_NOT_PAUSED: [{ message: 'The run is completed.', status: 'completed' }],
  NOT_ASSIGNED: [{ message: 'Only its assignees may answer, and Eve is not one of them.' }],
  SELF_APPROVAL: [{ message: 'Ada started this run, or the one it repeats.' }],
  ALREADY_VOTED: [{ message: 'Ada has already voted, and a vote is final.' }],
  RUN_ALREADY_ENDED: [{ message: 'The run is completed.', status: 'completed', outcome: 'succeeded' }],
  FILE_TOO_LARGE: [{ path: 'attachment', message: 'The file may have at most 3932160 bytes.' }],
  PAYLOAD_TOO_LARGE: [{ message: 'At most 1048576 bytes are accepted.' }],
  UNSUPPORTED_MEDIA_TYPE: [{ message: 'Send content-type: application/json.' }],
  TOO_MANY_STREAMS: [
    {
      message: 'The workspace has 200 event streams open, as many as it may have. Close some, or poll instead.',
    },
  ],
  BUDGET_EXCEEDED: [{ message: 'The agent may use 50 US dollars a day', limit: 'day.cost' }],
  RATE_LIMITED: [{ message: 'At most 600 requests per minute are accepted.' }],
}

/** Every error code an operation can answer, including general ones unrelated to its work. */
export function errorsOf({ role, method, headers, errors }: Operation): ErrorCode[] {
  // An operation without credentials skips the general checks.
  if (role === 'nobody') return [...errors]
  const codes: ErrorCode[] = ['INVALID_INPUT', 'UNAUTHORIZED', 'RATE_LIMITED', 'INTERNAL', 'UNAVAILABLE', ...errors]
  if (role !== 'viewer') codes.push('FORBIDDEN')
  if (method !== 'GET') codes.push('PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE')
  if (headers?.includes('Idempotency-Key')) codes.push('IDEMPOTENCY_KEY_REUSED', 'CONFLICT')
  return [...new Set(codes)]
}

/** One example per error code. */
export function errorExamples(codes = Object.keys(ERRORS) as ErrorCode[]): Record<string, Example> {
  return Object.fromEntries(
    codes.map((code) => {
      const { message } = ERRORS[code]
      const value = toStorableJson(
        errorBody(code, message, DETAILS[code] ?? [], '5b1f3f0e-3f5c-4a51-9f0a-2f6f0f1c9d77'),
      )
      return [code, { summary: message, value }]
    }),
  )
}

/** One entry of an error's details. */
export const ErrorReason = z
  .looseObject({ path: z.string().optional().describe('The place in the request.'), message: z.string() })
  .register(components, { id: 'ErrorDetail' })

/** The shape of every error. */
export const ErrorAnswer = component('Error', {
  success: z.literal(false),
  error: z.object({
    message: z.string().describe('For people.'),
    code: z
      .string()
      .describe(
        'Machine-readable. New codes may be added. The page `/errors/<code>` says what it means and what to do.',
      ),
    details: z.array(ErrorReason).describe('What is wrong, one entry each. Entries may have more fields.'),
  }),
  requestId: z.string().describe('Also the header `x-request-id`.'),
})

export const ErrorSchema = { $ref: '#/components/schemas/Error' } as const satisfies Schema
