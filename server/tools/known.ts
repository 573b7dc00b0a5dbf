import { processWide } from '@/db/process-wide'
import { jsonSize } from '../definition/json'
import type { LoadedTool } from './loaded'
import type { ToolRow } from './present'

// Tools as this process last read them. They may have changed since, so callers must compare the stamp.

interface Known {
  stamp: string
  tool: LoadedTool
}

const known = () => processWide<Map<string, Known>>('tools.known', () => new Map())

const MAX = 500
const LARGEST_BYTES = 64 * 1024

/** Changes whenever the effect of a call may have changed. `TOOL_STAMP` computes the same in SQL. */
export function toolStamp({ version, publishedVersion, status }: ToolRow): string {
  return [version, ...(publishedVersion === null ? [] : [publishedVersion]), status].join('/')
}

/** Caches a loaded version, which may be `latest` or `published`. */
export function cacheTool(tenantId: string, tool: ToolRow, version: string | number, loaded: LoadedTool): void {
  const all = known()
  const key = joinKey(tenantId, tool.id, version)
  const stamp = toolStamp(tool)
  if (all.get(key)?.stamp === stamp) return
  all.delete(key)
  if (jsonSize({ ...loaded }) > LARGEST_BYTES) return
  all.set(key, { stamp, tool: loaded })
  const [oldest] = all.keys()
  if (all.size > MAX && oldest !== undefined) all.delete(oldest)
}

export function knownTool(tenantId: string, toolId: string, version: string | number): Known | null {
  return known().get(joinKey(tenantId, toolId, version)) ?? null
}

function joinKey(...parts: (string | number)[]): string {
  return parts.join('/')
}
