import type { Definition } from '@/server/definition/schema'
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

/** Why a call failed. `UNREACHABLE` means that it never got to the server. */
export interface Failure {
  code: string
  message: string
  details: readonly { path?: string | undefined; message: string }[]
}

/** The calls a draft makes, and what the page knows of their answers. */
export interface DraftServer {
  own: OwnVersions
  load(): Promise<Loaded>
  /** Fails with VERSION_CONFLICT unless `base` is the newest version. */
  save(definition: Definition, base: number): Promise<{ version: number; publishedVersion: number | null }>
  saveLayout(layout: Layout): Promise<void>
  /** Lets a screen that opens later begin with what the server has now. */
  remember(known: Saved & { layout: Layout; publishedVersion: number | null }): void
  /** Explains what any of these calls threw. */
  failureOf(error: unknown): Failure
}
