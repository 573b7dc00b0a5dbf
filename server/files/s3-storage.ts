import { createHash } from 'node:crypto'
import type { AwsClient } from 'aws4fetch'
import type { S3Place } from '@/lib/s3-url'
import { allOf, unstalled } from '../http/streams'
import type { FileStorage } from './file-storage'
import { inTime } from './in-time'
import { storageKey } from './storage-key'

interface Sent {
  body?: Uint8Array<ArrayBuffer>
  headers?: Record<string, string>
}

/** Retries of temporary errors: the call as a whole has a timeout. */
const RETRIES = 3

/**
 * Objects under `<tenant>/<uuid>` in a bucket. A file is small enough for one request, which stores it whole or not at
 * all.
 */
export function s3Storage({ url, ...key }: S3Place): FileStorage {
  const urlOf = (tenantId: string, fileId: string) => `${url}/${storageKey(tenantId, fileId)}`
  let client: Promise<AwsClient> | undefined
  // Loaded on demand: most installations keep files in a folder.
  const open = async () => {
    const { AwsClient } = await import('aws4fetch')
    return new AwsClient({ ...key, service: 's3', retries: RETRIES })
  }
  const send = (method: string, at: string, { body, headers = {} }: Sent = {}): Promise<Response> => {
    client ??= open()
    const opened = client
    const work = async (signal: AbortSignal) => {
      // A redirect leads to another region, for which the signature would be wrong.
      const init: RequestInit = { method, redirect: 'manual', signal, ...(body ? { body } : {}), headers }
      return opened.then((one) => one.fetch(at, init))
    }
    return inTime(work, body?.byteLength)
  }
  const read = async (tenantId: string, fileId: string) => {
    const answer = await send('GET', urlOf(tenantId, fileId))
    // The body of an empty object is null.
    return answer.ok ? unstalled(answer.body ?? new Blob([]).stream()) : nothing(answer)
  }
  return {
    async put(tenantId, fileId, bytes) {
      const headers = {
        'content-type': 'application/octet-stream',
        // Signed with the rest, so the storage rejects other bytes.
        'x-amz-content-sha256': createHash('sha256').update(bytes).digest('hex'),
      }
      const answer = await send('PUT', urlOf(tenantId, fileId), { headers, body: bytes as Uint8Array<ArrayBuffer> })
      if (!answer.ok) throw await refusal(answer)
      await answer.body?.cancel()
    },
    get: async (tenantId, fileId) => allOf(await read(tenantId, fileId)),
    read,
    async delete(tenantId, fileId) {
      const answer = await send('DELETE', urlOf(tenantId, fileId))
      if (answer.ok) await answer.body?.cancel()
      else await nothing(answer)
    },
  }
}

async function textOf({ body }: Response): Promise<string> {
  return ((body && (await allOf(unstalled(body)))) ?? '').toString()
}

/** @throws unless the storage reports a missing object: a missing bucket is not an empty one */
async function nothing(answer: Response): Promise<null> {
  const refused = await refusal(answer)
  if (answer.status === 404 && refused.code !== 'NoSuchBucket') return null
  throw refused
}

/** Includes only the storage's error code: its text repeats the signed content. */
async function refusal(answer: Response): Promise<Error & { code: string }> {
  const code = /<Code>([A-Za-z0-9]{1,60})<\/Code>/.exec(await textOf(answer))?.[1] ?? ''
  const message = `The S3 storage of FILES_S3_URL answered ${answer.status}${code === '' ? '' : ` ${code}`}.`
  return Object.assign(new Error(message), { code })
}
