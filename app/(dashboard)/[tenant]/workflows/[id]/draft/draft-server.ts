import type { Definition } from '@/server/definition/schema'
import type { Failure } from '../../../_draft/save-state'
import type { Layout } from '../model/definition'
import type { Saved } from './draft-state'
import type { OwnVersions } from './own-versions'

/** A workflow as the server has it. */
export interface Loaded extends Saved {
  layout: Layout
  publishedVersion: number | null
  /** Null when the same person saved it, in another tab or browser. */
  updatedBy: string | null
}

/** The calls a draft makes, and what the page knows of their answers. */
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
  /** Lets a screen that opens later begin with what the server has now. */
  remember(known: Saved & { layout: Layout; publishedVersion: number | null }): void
  /** Explains what any of these calls threw. */
  failureOf(error: unknown): Failure
}
