import type { agents, agentVersions } from '@/db/schema/agents'
import type { tools, toolVersions } from '@/db/schema/tools'
import type { workflows, workflowVersions } from '@/db/schema/workflows'
import type { ServiceContext, TransactionContext } from '../context'
import type { ErrorCode, ErrorDetail } from '../errors'

export type Table = typeof agents | typeof tools | typeof workflows
export type VersionTable = typeof agentVersions | typeof toolVersions | typeof workflowVersions
export type Row = Table['$inferSelect']
export type VersionRow = VersionTable['$inferSelect']

/** What every version has. */
export interface Named {
  name: string
  description: string
}

/** The version number of a row, and who saved it. */
export interface Saved {
  tenantId: string
  id: string
  version: number
  name: string
  createdBy: string
  createdAt: Date
  /** When the oldest save folded into this version was made; null when none was. */
  burstSince?: Date | null
}

/**
 * What the shared lifecycle needs to know about agents, tools or workflows. R is the noun's row, V the row of a
 * version, C the content of a version, W the form in which responses show it. These are methods because TypeScript then
 * accepts a noun with its own row types where any noun is expected.
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
  /** The message for callers who ask for a version that does not exist. */
  noSuchVersion?: string
  maxName: number
  insertVersion(ctx: ServiceContext, saved: Saved, content: C): Promise<unknown>
  contentOf(version: V): C
  same(a: C, b: C): boolean
  present(row: R, content: C): W
  /** What prevents saving or publishing for a reason outside the content itself. */
  problems?(ctx: ServiceContext, content: C): Promise<ErrorDetail[]>
  /** Folds the previous version into the one about to be saved; returns its `burstSince`. */
  fold?(tx: TransactionContext, row: R, now: Date): Promise<Date | null>
  /** What a duplicate copies in addition to the version's content. */
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
