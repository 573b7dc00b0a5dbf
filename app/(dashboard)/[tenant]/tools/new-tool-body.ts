import type { JsonObject } from '@/server/definition/json'
import { withArguments } from './[toolId]/add-arguments'
import { usedArguments } from './[toolId]/tool-arguments'
import { FIRST_CODE, type NewTool } from './new-tool'

/** The arguments of the first script. */
const FIRST_TYPES: JsonObject = { name: { type: 'string', description: 'Whom to greet' } }

/** The body that creates a tool. Its arguments are those that its request or script uses. */
export function bodyOf({ kind, name, url, toolName, code, imported }: NewTool) {
  if (kind === 'mcp') return { name, kind, config: { url, toolName } }
  const request: JsonObject = { ...imported?.call, url }
  const config = kind === 'script' ? { code } : request
  const types = kind === 'http' ? imported?.types : code === FIRST_CODE ? FIRST_TYPES : undefined
  const inputSchema = withArguments(null, usedArguments({ kind, config }), { types, open: kind === 'script' })
  return { name, kind, config, inputSchema }
}
