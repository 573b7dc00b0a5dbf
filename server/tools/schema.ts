import { z } from 'zod'
import type { JsonValue } from '../json'

/** `latest`, `published` or a number, also as text. Anything else is a version that does not exist. */
export const Version = z.union([z.string().max(20), z.number()]).default('latest')

export const InvokeTool = z.object({
  args: z.record(z.string(), z.json()).default({}),
  dataContext: z.record(z.string(), z.json()).default({}),
  version: Version,
})

export const ScriptConfig = z.object({
  code: z.string().max(200_000),
  timeoutMs: z.number().int().min(1).max(10_000).optional(),
})
export type ScriptConfig = z.infer<typeof ScriptConfig>

export type ToolErrorCode =
  | 'EXECUTION_ERROR'
  | 'TIMEOUT'
  | 'OUTPUT_INVALID'
  | 'HTTP_ERROR'
  | 'CONNECTION_ERROR'
  | 'SECRET_MISSING'
  | 'BLOCKED_HOST'

export type ToolOutcome =
  | { success: true; data: JsonValue }
  | { success: false; error: { message: string; details: string[]; code: ToolErrorCode } }
