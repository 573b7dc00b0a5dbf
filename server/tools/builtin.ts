import { z } from 'zod'
import type { ServiceContext } from '../context'
import { ImpossibleState } from '../errors'
import { own } from '../json'
import { ReadFileArgs, readFileTool } from './kinds/builtin/read-file'
import type { ToolCall } from './run'
import type { ToolOutcome } from './schema'

export interface BuiltinTool {
  id: string
  name: string
  description: string
  /** Of its arguments, as JSON Schema. */
  inputSchema: unknown
  run: (ctx: ServiceContext, call: ToolCall) => Promise<ToolOutcome>
}

/** Tools that every tenant has, in one version, without rows of their own. Their ids are fixed. */
export const BUILTIN_TOOLS: Readonly<Record<string, BuiltinTool>> = {
  tool_read_file: {
    id: 'tool_read_file',
    name: 'Read a file',
    description: 'Reads an uploaded file by its reference: its name, type, size and content.',
    inputSchema: z.toJSONSchema(ReadFileArgs, { io: 'input' }),
    run: readFileTool,
  },
}

export const BUILTIN_VERSION = 1

export function findBuiltinTool(toolId: string): BuiltinTool | undefined {
  return own(BUILTIN_TOOLS, toolId)
}

/** The kind `builtin`: its config is the tool's id. */
export async function runBuiltinTool(config: unknown, call: ToolCall, ctx: ServiceContext): Promise<ToolOutcome> {
  const tool = typeof config === 'string' ? findBuiltinTool(config) : undefined
  if (!tool) throw new ImpossibleState('builtin-tool', 'a builtin tool without code')
  return tool.run(ctx, call)
}
