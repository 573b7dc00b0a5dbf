import { z } from 'zod'
import type { ServiceContext } from '../context'
import { type JsonObject, own, toStorableJson } from '../definition/json'
import { AppError, ImpossibleState } from '../errors'
import type { ToolCall } from './call'
import { CsvArgs, csvTool } from './kinds/builtin/csv'
import { DateArgs, dateTool } from './kinds/builtin/date'
import { JsonArgs, jsonTool } from './kinds/builtin/json'
import { ReadFileArgs, readFileTool } from './kinds/builtin/read-file'
import { TextArgs, textTool } from './kinds/builtin/text'
import type { ToolOutcome } from './schema'

export interface BuiltinTool {
  id: string
  name: string
  description: string
  /** JSON Schema of its arguments. */
  inputSchema: JsonObject
  run: (ctx: ServiceContext, call: ToolCall) => Promise<ToolOutcome>
}

const schemaOf = (args: z.ZodType) => toStorableJson({ ...z.toJSONSchema(args, { io: 'input' }) })

/** Tools every tenant has, in a single version and without rows. Their ids are fixed. */
export const BUILTIN_TOOLS: Readonly<Record<string, BuiltinTool>> = {
  tool_read_file: {
    id: 'tool_read_file',
    name: 'Read a file',
    description: 'Reads an uploaded file by its id: its name, type, size and content.',
    inputSchema: schemaOf(ReadFileArgs),
    run: readFileTool,
  },
  tool_json: {
    id: 'tool_json',
    name: 'JSON',
    description: 'Parses JSON text, writes a value as JSON text, or gets part of a value by its path.',
    inputSchema: schemaOf(JsonArgs),
    run: jsonTool,
  },
  tool_date: {
    id: 'tool_date',
    name: 'Date and time',
    description: 'Gives the current time, adds to a date, formats one, or computes the time between two.',
    inputSchema: schemaOf(DateArgs),
    run: dateTool,
  },
  tool_text: {
    id: 'tool_text',
    name: 'Text',
    description: 'Fills a template, replaces, splits, joins, trims, or changes the case of text.',
    inputSchema: schemaOf(TextArgs),
    run: textTool,
  },
  tool_csv: {
    id: 'tool_csv',
    name: 'CSV',
    description: 'Reads rows from CSV text, or writes rows as CSV text.',
    inputSchema: schemaOf(CsvArgs),
    run: csvTool,
  },
}

export const BUILTIN_VERSION = 1

/**
 * Whether a tool is a built-in one that reads and changes nothing: equal calls return equal results, except for the
 * time.
 */
export function isComputingTool(toolId: string): boolean {
  return findBuiltinTool(toolId) !== undefined && toolId !== BUILTIN_TOOLS.tool_read_file?.id
}

/** Whether a call of a built-in tool returns the time. */
export function tellsTime(toolId: string, { operation }: JsonObject): boolean {
  return toolId === BUILTIN_TOOLS.tool_date?.id && operation === 'now'
}

export function findBuiltinTool(toolId: string): BuiltinTool | undefined {
  return own(BUILTIN_TOOLS, toolId)
}

/** @throws AppError CONFLICT */
export function refuseBuiltin(toolId: string): void {
  if (findBuiltinTool(toolId)) throw new AppError('CONFLICT', { message: 'The tool is built in and cannot be changed' })
}

/** Runs a tool of kind `builtin`; its config is the tool's id. */
export async function runBuiltinTool(config: unknown, call: ToolCall, ctx: ServiceContext): Promise<ToolOutcome> {
  const tool = typeof config === 'string' ? findBuiltinTool(config) : undefined
  if (!tool) throw new ImpossibleState('builtin-tool', 'a builtin tool without code')
  return tool.run(ctx, call)
}
