import { and, eq, inArray } from 'drizzle-orm'
import { files } from '@/db/schema/files'
import { TASK_LINK_HEADER } from '@/lib/link-headers'
import { hasCredential } from '../auth/authenticate'
import type { Identity } from '../auth/identity'
import { now } from '../clock'
import { database } from '../database'
import { AppError } from '../errors'
import { isFileId } from '../files/storage-key'
import { openFileOfLink } from '../links/open-file'
import { log } from '../log'

/**
 * Who downloads a file from one of our own pages: the holder of a task link, or the person signed in. Null for every
 * other request. The cookie counts only for what our pages and the address bar ask for: another site must not make a
 * browser fetch a file, although it could not read it.
 * @throws AppError FILE_NOT_FOUND for a file of a workspace that the person does not belong to, and for one that the
 *   task's author does not show; RATE_LIMITED
 */
export async function pageCaller(request: Request, requestId: string, fileId: string): Promise<Identity | null> {
  const { headers } = request
  if (hasCredential(headers)) return null
  const token = headers.get(TASK_LINK_HEADER)
  if (token !== null) {
    const { db } = database()
    const visitor = { db, headers, requestId, log: log().child({ requestId }), now }
    return openFileOfLink(visitor, { token, fileId })
  }
  const site = headers.get('sec-fetch-site') ?? 'none'
  return headers.has('cookie') && ['same-origin', 'none'].includes(site)
    ? signedIn(headers, fileId.toLowerCase())
    : null
}

/** A file's id names its workspace too, so its address works on every page of the person. */
async function signedIn(headers: Headers, fileId: string): Promise<Identity | null> {
  // Loaded on demand: programs never need it.
  const { listMemberships, readSession } = await import('../auth/session')
  const user = await readSession(headers)
  if (!user) return null
  const { db } = database()
  const memberships = await listMemberships(db, user.userId)
  const tenantIds = memberships.map(({ tenantId }) => tenantId)
  const [file] =
    isFileId(fileId) && tenantIds.length > 0
      ? await db
          .select({ tenantId: files.tenantId })
          .from(files)
          .where(and(inArray(files.tenantId, tenantIds), eq(files.id, fileId)))
      : []
  const at = memberships.find(({ tenantId }) => tenantId === file?.tenantId)
  if (!at) throw new AppError('FILE_NOT_FOUND')
  return {
    tenantId: at.tenantId,
    actor: { kind: 'user', id: user.userId, name: user.name, sessionId: user.sessionId, role: at.role },
    trusted: null,
  }
}
