import { allOf, unstalled } from '../http/streams'
import type { FileStorage } from './file-storage'
import { inTime } from './in-time'
import { UNKNOWN } from './sniff'
import { storageKey } from './storage-key'

/**
 * Private blobs under `files/<tenant>/<uuid>` in a Vercel Blob store.
 * @param token the store's read-write token
 */
export function vercelBlobStorage(token: string): FileStorage {
  const pathOf = (tenantId: string, fileId: string) => `files/${storageKey(tenantId, fileId)}`
  // Loaded on demand: most installations keep files in a folder.
  const sdk = () => import('@vercel/blob')
  const read = async (tenantId: string, fileId: string) => {
    const found = await inTime(async (abortSignal) => {
      const { get } = await sdk()
      return get(pathOf(tenantId, fileId), { token, access: 'private', useCache: false, abortSignal })
    })
    return found?.stream ? unstalled(found.stream) : null
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
          contentType: UNKNOWN,
          abortSignal,
        })
      }, bytes.byteLength),
    get: async (tenantId, fileId) => allOf(await read(tenantId, fileId)),
    read,
    grant: async (tenantId, fileId, { size, type, until }) => {
      const { generateClientTokenFromReadWriteToken } = await import('@vercel/blob/client')
      const pathname = pathOf(tenantId, fileId)
      const clientToken = await generateClientTokenFromReadWriteToken({
        token,
        pathname,
        maximumSizeInBytes: size,
        allowedContentTypes: [type || UNKNOWN],
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
