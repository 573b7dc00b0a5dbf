import { z } from 'zod'
import { component } from '../../definition/component'
import { time } from '../../openapi/fields'

export const BegunUpload = component('BegunUpload', {
  id: z.string().describe('The file’s id, to complete it and then to name it in a field for files.'),
  expiresAt: time('Until when its bytes are taken.'),
  put: z
    .object({ url: z.string(), headers: z.record(z.string(), z.string()) })
    .nullable()
    .describe('Where to `PUT` the bytes, with these headers. Null if they go to the Vercel Blob store of the service.'),
  blob: z
    .object({ pathname: z.string(), token: z.string() })
    .nullable()
    .describe('The arguments of `put` in `@vercel/blob/client`, with `access: "private"`; null otherwise.'),
})

export const ReceivedUpload = component('ReceivedUpload', { id: z.string(), size: z.int() })

export const Upload = component('Upload', {
  id: z.string(),
  name: z.string(),
  type: z.string().describe('Detected from the bytes.'),
  size: z.int().describe('In bytes.'),
})

export const StoredUpload = component('StoredUpload', {
  fileId: z.string().describe('For `files` of a message, or a field for files.'),
  name: z.string(),
  type: z.string().describe('Detected from the bytes.'),
  size: z.int().describe('In bytes.'),
})

export const CancelledUpload = component('CancelledUpload', { id: z.string(), deleted: z.literal(true) })
