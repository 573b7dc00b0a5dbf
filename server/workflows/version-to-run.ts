import { mayReach } from '../auth/reach'
import type { ServiceContext } from '../context'
import type { Definition } from '../definition/schema'
import { cachedDefinition } from '../run-store/definition'
import { findVersionToRun } from './find-version-to-run'

export interface VersionToRun {
  version: number
  publishedVersion: number | null
  /** Whether it is or was published, and so was checked. */
  wasPublished: boolean
  definition: Definition
  /** Whether it is only the version this process saw last. */
  fromCache: boolean
}

const CAPACITY = 1_000
/**
 * The published versions that this process saw last. They may be outdated: the statement that writes the run checks
 * them.
 */
const published = new Map<string, number>()

/**
 * The version a start uses: the given one, or the published one, or the latest of a workflow that was never published.
 * It may change until the run is written; a transaction locks it until then.
 * @param fromCache true if the version this process read last is enough
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
