import type { agents, agentVersions } from '@/db/schema/agents'
import type { tools, toolVersions } from '@/db/schema/tools'
import type { workflows, workflowVersions } from '@/db/schema/workflows'
import type { ServiceContext, TransactionContext } from '../context'
import type { ErrorCode, ErrorDetail } from '../errors'

export type Table = typeof agents | typeof tools | typeof workflows
export type VersionTable = typeof agentVersions | typeof toolVersions | typeof workflowVersions
export type Row = Table['$inferSelect']
export type VersionRow = VersionTable['$inferSelect']

/** The fields of every version. */
export interface Named {
  name: string
  description: string
}

/** The version number of a row, and its author. */
export interface Saved {
  tenantId: string
  id: string
  version: number
  name: string
  createdBy: string
  createdAt: Date
  /** The time of the oldest save folded into this version; null without one. */
  burstSince?: Date | null
}

/**
 * The parts of agents, tools or workflows that the shared lifecycle needs. R is the noun's row, V the row of a version,
 * C the content of a version, W its form in responses. These are methods because TypeScript then accepts a noun with
 * its own row types where any noun is expected.
 */
export interface Noun<R extends Row, V extends VersionRow, C extends Named, W> {
  word: 'agent' | 'tool' | 'workflow'
  idPrefix: string
  table: Table
  versions: VersionTable
  /** The column of `versions` with the row's id. */
  ownerId: typeof agentVersions.agentId | typeof toolVersions.toolId | typeof workflowVersions.workflowId
  notFound: ErrorCode
  archived: ErrorCode
  /** The message for an unknown version. */
  noSuchVersion?: string
  maxName: number
  insertVersion(ctx: ServiceContext, saved: Saved, content: C): Promise<unknown>
  contentOf(version: V): C
  same(a: C, b: C): boolean
  present(row: R, content: C): W
  /** Problems that prevent saving or publishing for a reason outside the content itself. */
  problems?(ctx: ServiceContext, content: C): Promise<ErrorDetail[]>
  /** Folds the previous version into the one about to be saved; returns its `burstSince`. */
  fold?(tx: TransactionContext, row: R, now: Date): Promise<Date | null>
  /** The columns that a duplicate copies in addition to the version's content. */
  carriedOver?(row: R): Partial<R>
}

export interface One {
  id: string
}
export interface Guarded extends One {
  /** The `If-Match` header: change only this version. */
  ifMatch?: string | null | undefined
}
export interface OneVersion extends One {
  /** A number, `latest` or `published`. */
  version: string
}
