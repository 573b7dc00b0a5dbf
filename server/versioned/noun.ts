import type { agents, agentVersions } from '@/db/schema/agents'
import type { tools, toolVersions } from '@/db/schema/tools'
import type { workflows, workflowVersions } from '@/db/schema/workflows'
import type { ServiceContext, TransactionContext } from '../context'
import type { ErrorCode, ErrorDetail } from '../errors'

export type Table = typeof agents | typeof tools | typeof workflows
export type VersionTable = typeof agentVersions | typeof toolVersions | typeof workflowVersions
export type Row = Table['$inferSelect']
export type VersionRow = VersionTable['$inferSelect']

/** What every version says, whatever else it says. */
export interface Named {
  name: string
  description: string
}

/** Which version a row of a table of versions is, and who saved it. */
export interface Saved {
  tenantId: string
  id: string
  version: number
  name: string
  createdBy: string
  createdAt: Date
  /** When the first of the saves was made that this version took the place of; null when it took none's. */
  burstSince?: Date | null
}

/**
 * What the lifecycle knows of agents, of tools or of workflows.
 * R is the noun's row, V the row of a version, C what a version says, W how an answer shows all of it.
 * Methods, since TypeScript lets a noun's methods take its own rows where any noun's are declared.
 */
export interface Noun<R extends Row, V extends VersionRow, C extends Named, W> {
  word: 'agent' | 'tool' | 'workflow'
  idPrefix: string
  table: Table
  versions: VersionTable
  /** The column of `versions` that holds the row's id. */
  ownerId: typeof agentVersions.agentId | typeof toolVersions.toolId | typeof workflowVersions.workflowId
  notFound: ErrorCode
  archived: ErrorCode
  /** What a caller reads who asks for a version that does not exist. */
  noSuchVersion?: string
  maxName: number
  insertVersion(ctx: ServiceContext, saved: Saved, content: C): Promise<unknown>
  contentOf(version: V): C
  same(a: C, b: C): boolean
  present(row: R, content: C): W
  /** What keeps a content from being saved or published for a reason that lies outside of it. */
  problems?(ctx: ServiceContext, content: C): Promise<ErrorDetail[]>
  /** Lets a save take the place of the version before it; returns `burstSince` of the new one. */
  fold?(tx: TransactionContext, row: R, now: Date): Promise<Date | null>
  /** What a duplicate takes over besides what the version says. */
  carriedOver?(row: R): Partial<R>
}

export interface One {
  id: string
}
export interface Guarded extends One {
  /** The `If-Match` header: this version or none. */
  ifMatch?: string | null | undefined
}
export interface OneVersion extends One {
  /** A number, `latest` or `published`. */
  version: string
}
