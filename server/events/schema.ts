import { z } from 'zod'
import { AnyJson } from '../definition/any-json'
import { component } from '../definition/component'
import { jsonSize, unstorable } from '../definition/json'
import { MAX_EVENT_BYTES, readableSize } from '../definition/limits'
import { STORABLE } from '../query/storable-text'

const text = z
  .string()
  .min(1)
  .max(200)
  .refine(...STORABLE)

export const PostEvent = component('PostEvent', {
  name: text.describe('What happened, such as `payment.settled`.'),
  key: z
    .union([text, z.number().transform(String)])
    .nullish()
    .describe('What it concerns, such as an order number. Steps that wait for a key take only events with that key.'),
  data: z
    .record(z.string(), AnyJson)
    .refine((data) => unstorable(data) === null, 'must not have NUL characters and lone surrogates')
    .refine((data) => jsonSize(data) <= MAX_EVENT_BYTES, `must not be larger than ${readableSize(MAX_EVENT_BYTES)}`)
    .default({})
    .describe('An object of at most 256 KiB; the step gets it as `data`.'),
  id: text
    .optional()
    .describe('Makes it safe to post again: there is one event per id. If the contents differ, the response is 409.'),
})
