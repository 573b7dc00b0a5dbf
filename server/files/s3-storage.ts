import { createHash } from 'node:crypto'
import type { AwsClient } from 'aws4fetch'
import type { S3Place } from '@/lib/s3-url'
import type { FileStorage } from './file-storage'
import { storageKey } from './storage-key'

const TIMEOUT_MS = 30_000
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
  const send = async (method: string, at: string, more: RequestInit = {}): Promise<Response> => {
    client ??= open()
    // A redirect leads to another region, for which the signature would be wrong.
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    return (await client).fetch(at, { method, redirect: 'manual', signal, ...more })
  }
  return {
    async put(tenantId, fileId, bytes) {
      const headers = {
        'content-type': 'application/octet-stream',
        // Signed with the rest, so the storage rejects other bytes.
        'x-amz-content-sha256': createHash('sha256').update(bytes).digest('hex'),
      }
      const body = new Uint8Array(bytes)
      const answer = await send('PUT', urlOf(tenantId, fileId), { headers, body })
      if (!answer.ok) throw await refusal(answer)
      await answer.body?.cancel()
    },
    async get(tenantId, fileId) {
      const answer = await send('GET', urlOf(tenantId, fileId))
      if (answer.ok) return Buffer.from(await answer.arrayBuffer())
      return nothing(answer)
    },
    async delete(tenantId, fileId) {
      const answer = await send('DELETE', urlOf(tenantId, fileId))
      if (answer.ok) await answer.body?.cancel()
      else await nothing(answer)
    },
  }
}

/** @throws unless the storage reports a missing object: a missing bucket is not an empty one */
async function nothing(answer: Response): Promise<null> {
  const refused = await refusal(answer)
  if (answer.status === 404 && refused.code !== 'NoSuchBucket') return null
  throw refused
}

/** Includes only the storage's error code: its text repeats the signed content. */
async function refusal(answer: Response): Promise<Error & { code: string }> {
  const code = /<Code>([A-Za-z0-9]{1,60})<\/Code>/.exec(await answer.text())?.[1] ?? ''
  const message = `The S3 storage of FILES_S3_URL answered ${answer.status}${code === '' ? '' : ` ${code}`}.`
  return Object.assign(new Error(message), { code })
}
