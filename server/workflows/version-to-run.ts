import { mayReach } from '../auth/reach'
import type { ServiceContext } from '../context'
import type { Definition } from '../definition/schema'
import { cachedDefinition } from '../run-store/definition'
import { findVersionToRun } from './find-version-to-run'

export interface VersionToRun {
  version: number
  publishedVersion: number | null
  /** It is published, or was. What it is made of was checked then. */
  wasPublished: boolean
  definition: Definition
  /** It is only what this process saw last. */
  fromCache: boolean
}

const CAPACITY = 1_000
/** The published versions that this process saw last. They may be outdated: the statement that writes the run checks them. */
const published = new Map<string, number>()

/**
 * The version a start uses: the given one, or the published one, or the latest of a workflow that was never published.
 * It may change until the run is written; in a transaction it is held until then.
 * @param fromCache true if the version this process read last is enough
 * @throws AppError WORKFLOW_NOT_FOUND, WORKFLOW_ARCHIVED
 */
export async function versionToRun(
  ctx: ServiceContext,
  id: string,
  { wanted, fromCache }: { wanted: string | undefined; fromCache: boolean },
): Promise<VersionToRun> {
  const key = `${ctx.tenantId}/${id}`
  const seen = published.get(key)
  if (fromCache && seen !== undefined && (wanted ?? 'published') === 'published' && mayReach(ctx, 'workflow', id)) {
    const definition = cachedDefinition(ctx, id, seen)
    if (definition) return { version: seen, publishedVersion: seen, wasPublished: true, definition, fromCache: true }
  }
  const { row, version, wasPublished, definition } = await findVersionToRun(ctx, id, wanted)
  const { publishedVersion } = row
  if (version === publishedVersion) remember(key, version)
  return { version, publishedVersion, wasPublished, definition, fromCache: false }
}

function remember(key: string, version: number): void {
  published.delete(key)
  published.set(key, version)
  const [oldest] = published.keys()
  if (published.size > CAPACITY && oldest !== undefined) published.delete(oldest)
}
