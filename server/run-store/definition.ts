import { and, eq } from 'drizzle-orm'
import { workflowVersions } from '@/db/schema/workflows'
import type { ServiceContext } from '../context'
import { expand } from '../definition/expand'
import { inLanguage } from '../definition/language'
import { partOf, type RunPart } from '../definition/part'
import { withPins } from '../definition/pins'
import type { Definition } from '../definition/schema'
import { ImpossibleState } from '../errors'
import { findStepType } from '../steps/registry'

type VersionRow = Pick<typeof workflowVersions.$inferSelect, 'definition' | 'language' | 'pins' | 'publishedAt'>

interface Cached {
  definition: Definition
  /** Whether it never changes again. A draft's tools are pinned when it is published. */
  settled: boolean
}

const CAPACITY = 200
const cache = new Map<string, Cached>()

/** The columns of a version that a run needs. */
export const VERSION_TO_RUN = {
  definition: workflowVersions.definition,
  language: workflowVersions.language,
  pins: workflowVersions.pins,
  publishedAt: workflowVersions.publishedAt,
}

/** The definition of the version a run is pinned to, with the versions it pins. A process caches the last few. */
export async function pinnedDefinition(ctx: ServiceContext, workflowId: string, version: number): Promise<Definition> {
  const known = cache.get(versionKey(ctx, workflowId, version))
  if (known && (known.settled || !(await isPublished(ctx, workflowId, version)))) return known.definition
  const row = await readVersion(ctx, workflowId, version)
  if (row) return cacheDefinition(ctx, workflowId, version, row)
  throw new ImpossibleState(
    'pinned-version',
    `the version ${versionKey(ctx, workflowId, version)} of an open run is gone`,
  )
}

interface RunOfVersion {
  workflowId: string
  workflowVersion: number
  part: RunPart | null
}

/** The definition as a run follows it: that of its version, or the part of it that the run performs. */
export async function definitionOf(
  ctx: ServiceContext,
  { workflowId, workflowVersion, part }: RunOfVersion,
): Promise<Definition> {
  const whole = await pinnedDefinition(ctx, workflowId, workflowVersion)
  return part === null ? whole : partAsRun(whole, part)
}

const parts = new WeakMap<Definition, Map<string, Definition>>()

/** Once per definition and part: walks prepare their lookups once per definition object. */
export function partAsRun(whole: Definition, part: RunPart): Definition {
  const known = parts.get(whole) ?? new Map<string, Definition>()
  parts.set(whole, known)
  const key = JSON.stringify(part)
  const found = known.get(key) ?? partOf(whole, part, ({ type }) => findStepType(type)?.exits)
  known.set(key, found)
  return found
}

/** The definition of a version, only from this process's cache; undefined if it may have changed. */
export function cachedDefinition(ctx: ServiceContext, workflowId: string, version: number): Definition | undefined {
  const known = cache.get(versionKey(ctx, workflowId, version))
  return known?.settled ? known.definition : undefined
}

/** The definition of a version as it was written; null if no such version exists. */
export async function findDefinition(
  ctx: ServiceContext,
  workflowId: string,
  version: number,
): Promise<Definition | null> {
  const row = await readVersion(ctx, workflowId, version)
  return row ? inLanguage(row.definition, row.language) : null
}

/** Caches a version in this process. @returns its definition as runs see it */
export function cacheDefinition(
  ctx: ServiceContext,
  workflowId: string,
  version: number,
  { definition: written, language, pins, publishedAt }: VersionRow,
): Definition {
  const key = versionKey(ctx, workflowId, version)
  const definition = expand(withPins(inLanguage(written, language), pins))
  if (cache.size >= CAPACITY) cache.delete(cache.keys().next().value ?? key)
  cache.set(key, { definition, settled: publishedAt !== null || !mayPin(definition) })
  return definition
}

function versionKey({ tenantId }: ServiceContext, workflowId: string, version: number): string {
  return `${tenantId}/${workflowId}@${version}`
}

function mayPin({ steps }: Definition): boolean {
  return steps.some((step) => step.version === undefined && findStepType(step.type)?.uses !== undefined)
}

async function readVersion(ctx: ServiceContext, workflowId: string, version: number): Promise<VersionRow | undefined> {
  const [row] = await ctx.db
    .select(VERSION_TO_RUN)
    .from(workflowVersions)
    .where(versionIs(ctx, workflowId, version))
  return row
}

async function isPublished(ctx: ServiceContext, workflowId: string, version: number): Promise<boolean> {
  const [row] = await ctx.db
    .select({ publishedAt: workflowVersions.publishedAt })
    .from(workflowVersions)
    .where(versionIs(ctx, workflowId, version))
  return row?.publishedAt != null
}

function versionIs(ctx: ServiceContext, workflowId: string, version: number) {
  return and(
    eq(workflowVersions.tenantId, ctx.tenantId),
    eq(workflowVersions.workflowId, workflowId),
    eq(workflowVersions.version, version),
  )
}
