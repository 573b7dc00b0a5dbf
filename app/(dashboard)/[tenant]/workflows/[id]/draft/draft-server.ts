import type { Definition } from '@/server/definition/schema'
import type { Failure } from '../../../_draft/save-state'
import type { Layout } from '../model/definition'
import type { Saved } from './draft-state'
import type { OwnVersions } from './own-versions'

/** A workflow as the server returns it. */
export interface Loaded extends Saved {
  layout: Layout
  publishedVersion: number | null
  /** Null if the same user saved it, in another tab or browser. */
  updatedBy: string | null
}

/** A draft's calls, and the cache of their results. */
export interface DraftServer {
  own: OwnVersions
  load(signal: AbortSignal): Promise<Loaded>
  /** Fails with VERSION_CONFLICT unless `base` is the newest version. */
  save(
    definition: Definition,
    base: number,
    signal: AbortSignal,
  ): Promise<{ version: number; publishedVersion: number | null }>
  saveLayout(layout: Layout, signal: AbortSignal): Promise<void>
  /** Caches the server's state, so that the next screen starts with it. */
  remember(known: Saved & { layout: Layout; publishedVersion: number | null }): void
  /** Explains an error thrown by any of these calls. */
  failureOf(error: unknown): Failure
}
