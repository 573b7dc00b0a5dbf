import { z } from 'zod'
import { allows, authorize, seesHidden } from '../auth/policy'
import type { ServiceContext } from '../context'
import { shownName } from '../files/download-headers'
import { type FileRow, findFiles } from '../files/find'
import { parseInput } from '../parse'
import { hiddenFiles } from './hidden-files'

/** What a screen shows of a file before anybody opens it. */
export interface FileInfo {
  id: string
  name: string
  /** Detected from its bytes. */
  type: string
  size: number
}

const MAX_IDS = 50

const DescribeFiles = z.object({ ids: z.array(z.string().max(100)).max(MAX_IDS) })
export type DescribeFiles = z.input<typeof DescribeFiles>

/**
 * Those of the ids that name files which the caller may open. The name of a sensitive field's file is as hidden as its
 * bytes.
 * @throws AppError FORBIDDEN, INVALID_INPUT
 */
export async function describeFiles(ctx: ServiceContext, input: unknown): Promise<{ files: FileInfo[] }> {
  authorize(ctx, 'file:read')
  const { ids } = parseInput(DescribeFiles, input)
  return { files: await shown(ctx, await findFiles(ctx, ids), seesHidden(ctx) && !allows(ctx, 'run:reveal')) }
}

/**
 * The same for people outside of the workspace: only files of the run, or those that a value checked as a file names.
 * None of a sensitive field.
 */
export async function describeForOthers(
  ctx: ServiceContext,
  ids: readonly string[],
  { runId, checked }: { runId: string; checked: ReadonlySet<string> },
): Promise<FileInfo[]> {
  const found = await findFiles(ctx, ids.slice(0, MAX_IDS))
  return shown(
    ctx,
    found.filter((file) => file.runId === runId || checked.has(file.id)),
    true,
  )
}

async function shown(ctx: ServiceContext, found: readonly FileRow[], withoutHidden: boolean): Promise<FileInfo[]> {
  const hidden = withoutHidden ? await hiddenFiles(ctx, found) : new Set<string>()
  return found
    .filter(({ id }) => !hidden.has(id))
    .map((file) => ({ id: file.id, name: shownName(file), type: file.sniffedType, size: file.size }))
}
