import { randomBytes } from 'node:crypto'
import type { Page } from '@playwright/test'
import { and, eq, isNotNull, isNull } from 'drizzle-orm'
import { files } from '@/db/schema/files'
import { createWorkflow, publishWorkflow } from '@/server/workflows/lifecycle'
import { database, type Workspace } from './workspace'

export const MIB = 1024 * 1024
/** A file that is too large for a form. */
export const large = { name: 'site plan.bin', mimeType: 'application/octet-stream', buffer: randomBytes(10 * MIB) }

/** A published workflow. */
export async function workflow({ ctx }: Workspace, definition: object): Promise<string> {
  const { id } = await createWorkflow(ctx, { name: 'Plans', ...definition } as never)
  await publishWorkflow(ctx, { id })
  return id
}

/** Slows uploads of a page to some bytes a second; 0 for as fast as it can. */
export async function slow(page: Page, bytesPerSecond: number): Promise<void> {
  const session = await page.context().newCDPSession(page)
  await session.send('Network.enable')
  await session.send('Network.emulateNetworkConditions', {
    ...{ offline: false, latency: 0, downloadThroughput: -1 },
    uploadThroughput: bytesPerSecond === 0 ? -1 : bytesPerSecond,
  })
}

/** How many uploads of the workspace have a place and no run. */
export const openUploads = ({ tenantId }: Workspace) =>
  database().db.$count(
    files,
    and(eq(files.tenantId, tenantId), isNotNull(files.uploadedBy), isNull(files.claimedAt), isNull(files.condemnedAt)),
  )
