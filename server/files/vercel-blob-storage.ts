import { chunksOf } from '../http/body'
import type { FileStorage } from './file-storage'
import { storageKey } from './storage-key'

const TIMEOUT_MS = 30_000
const UNKNOWN_TYPE = 'application/octet-stream'

/**
 * Private blobs under `files/<tenant>/<uuid>` in a Vercel Blob store.
 * @param token the store's read-write token
 */
export function vercelBlobStorage(token: string): FileStorage {
  const pathOf = (tenantId: string, fileId: string) => `files/${storageKey(tenantId, fileId)}`
  // Loaded on demand: most installations keep files in a folder.
  const sdk = () => import('@vercel/blob')
  const streamOf = async (tenantId: string, fileId: string, abortSignal: AbortSignal) => {
    const { get } = await sdk()
    const found = await get(pathOf(tenantId, fileId), { token, access: 'private', useCache: false, abortSignal })
    return found?.stream ?? null
  }
  return {
    put: (tenantId, fileId, bytes) =>
      inTime(async (abortSignal) => {
        const { put } = await sdk()
        await put(pathOf(tenantId, fileId), Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), {
          token,
          access: 'private',
          addRandomSuffix: false,
          // If a response is lost the SDK retries, and the first attempt may have stored the file.
          allowOverwrite: true,
          contentType: UNKNOWN_TYPE,
          abortSignal,
        })
      }),
    get: (tenantId, fileId) =>
      inTime(async (abortSignal) => {
        const stream = await streamOf(tenantId, fileId, abortSignal)
        if (!stream) return null
        const chunks: Uint8Array[] = []
        for await (const chunk of chunksOf(stream)) chunks.push(chunk)
        return Buffer.concat(chunks)
      }),
    async read(tenantId, fileId) {
      const stream = await inTime((abortSignal) => streamOf(tenantId, fileId, abortSignal))
      return stream && chunksOf(stream)
    },
    grant: async (tenantId, fileId, { size, type, until }) => {
      const { generateClientTokenFromReadWriteToken } = await import('@vercel/blob/client')
      const pathname = pathOf(tenantId, fileId)
      const clientToken = await generateClientTokenFromReadWriteToken({
        token,
        pathname,
        maximumSizeInBytes: size,
        allowedContentTypes: [type || UNKNOWN_TYPE],
        validUntil: until.getTime(),
        addRandomSuffix: false,
        allowOverwrite: false,
      })
      return { pathname, token: clientToken }
    },
    delete: (tenantId, fileId) =>
      inTime(async (abortSignal) => {
        const { del } = await sdk()
        await del(pathOf(tenantId, fileId), { token, abortSignal })
      }),
  }
}

/** The SDK retries for many minutes and ignores the signal while it waits between attempts. */
async function inTime<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`no answer within ${TIMEOUT_MS} ms`))
      controller.abort()
    }, TIMEOUT_MS)
  })
  try {
    return await Promise.race([work(controller.signal), late])
  } finally {
    clearTimeout(timer)
  }
}
