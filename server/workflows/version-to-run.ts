import { mayReach } from '../auth/reach'
import type { ServiceContext } from '../context'
import type { Definition } from '../definition/schema'
import { AppError } from '../errors'
import type { Confirm } from '../interpreter/insert'
import { cachedDefinition, findDefinition } from '../interpreter/pinned-definition'
import { findRow } from '../versioned/rows'
import { resolveVersion } from '../versioned/versions'
import { WORKFLOW } from './noun'

interface VersionToRun {
  version: number
  publishedVersion: number | null
  definition: Definition
  /** What must still be true when the run is written. */
  confirm: Confirm
}

const CAPACITY = 1_000
/** The published versions that this process saw last. Only guesses: the statement that writes the run confirms them. */
const published = new Map<string, number>()

/**
 * The version a start uses: the given one, or the published one, or the latest of a workflow that was never published.
 * @param fresh false if a guess will do
 * @throws AppError WORKFLOW_NOT_FOUND, WORKFLOW_ARCHIVED
 */
export async function versionToRun(
  ctx: ServiceContext,
  id: string,
  { wanted, fresh }: { wanted: string | undefined; fresh: boolean },
): Promise<VersionToRun> {
  const key = `${ctx.tenantId}/${id}`
  const guess = published.get(key)
  if (guess !== undefined && !fresh && (wanted ?? 'published') === 'published' && mayReach(ctx, 'workflow', id)) {
    const definition = cachedDefinition(ctx, id, guess)
    if (definition) return { version: guess, publishedVersion: guess, definition, confirm: { publishedVersion: guess } }
  }
  for (let seen = 0; ; ) {
    const { status, version: latest, publishedVersion } = await findRow(ctx, WORKFLOW, id)
    if (status === 'archived') throw new AppError('WORKFLOW_ARCHIVED')
    const chosen = wanted ?? (publishedVersion === null ? 'latest' : 'published')
    const version = resolveVersion(chosen, { version: latest, publishedVersion })
    // The latest version may be folded between the two statements; then the row has a newer number by now.
    if (version === null || version === seen) throw new AppError('WORKFLOW_NOT_FOUND')
    seen = version
    const definition = await findDefinition(ctx, id, version)
    if (!definition) continue
    if (version === publishedVersion) remember(key, version)
    const confirm = { publishedVersion, ...(chosen === 'latest' ? { version } : {}) }
    return { version, publishedVersion, definition, confirm }
  }
}

function remember(key: string, version: number): void {
  published.delete(key)
  published.set(key, version)
  const [oldest] = published.keys()
  if (published.size > CAPACITY && oldest !== undefined) published.delete(oldest)
}
