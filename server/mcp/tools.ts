import type { CallToolResult, Tool } from '@modelcontextprotocol/sdk/types.js'
import { countCall } from '../auth/limits'
import { allows } from '../auth/policy'
import type { ServiceContext } from '../context'
import { database } from '../database'
import { cutText, type JsonObject } from '../definition/json'
import { tailIn, type Word } from '../models/tool-names'
import { requireKnown } from '../parse'
import { requireRoom } from '../runs/queue-room'
import { findFixedTool, fixedTools } from './fixed'
import type { FixedTool } from './fixed-tool'
import { describe, KINDS } from './objects'
import { findPublished, listPublished } from './published'
import { failed, INVALID_PARAMS, ProtocolError } from './results'

/** Each has a schema of up to 64 KiB. */
const PAGE = 50

const words = (ctx: ServiceContext): Word[] =>
  (Object.keys(KINDS) as Word[]).filter((word) => allows(ctx, KINDS[word].operation))

/**
 * The tools the caller may call: first the fixed ones, then the published objects by kind and id.
 * @throws ProtocolError for an unknown cursor
 */
export async function listTools(ctx: ServiceContext, cursor?: string): Promise<{ tools: Tool[]; nextCursor?: string }> {
  const [, from, afterId = ''] = /^(workflow|agent|tool)\/([\w-]{0,80})$/.exec(cursor ?? '') ?? []
  if (cursor !== undefined && from === undefined) throw new ProtocolError(INVALID_PARAMS, 'Invalid cursor')
  const fixed = fixedTools().filter(([, { operation }]) => cursor === undefined && allows(ctx, operation))
  const tools: Tool[] = fixed.map(([name, { operation: _operation, call: _call, ...tool }]) => ({ name, ...tool }))
  const kinds = words(ctx)
  for (const word of kinds.slice(from === undefined ? 0 : Math.max(0, kinds.indexOf(from as Word)))) {
    const found = await listPublished(ctx, word, word === from ? afterId : '', PAGE - tools.length + 1)
    const page = found.slice(0, PAGE - tools.length)
    tools.push(...page.map(describe))
    const last = page.at(-1)
    if (found.length > page.length) return { tools, nextCursor: `${word}/${last?.id ?? ''}` }
  }
  return { tools }
}

/**
 * Calls a tool. A verb's error becomes a result, so that the model sees it and can correct itself.
 * @throws ProtocolError for a tool that the caller may not see
 */
export async function callTool(
  ctx: ServiceContext,
  { name, args }: { name: string; args: JsonObject },
  signal: AbortSignal,
): Promise<CallToolResult> {
  const unknown = () => new ProtocolError(INVALID_PARAMS, `Unknown tool: ${cutText(name, 100)}`)
  const fixed = findFixedTool(name)
  if (fixed) {
    if (!allows(ctx, fixed.operation)) throw unknown()
    return callFixed(ctx, fixed, args, signal).catch((err: unknown) => failed(ctx, err))
  }
  const tail = tailIn(name)
  const one = tail === null ? null : await findPublished(ctx, words(ctx), name, tail)
  if (!one) throw unknown()
  const { limit, call } = KINDS[one.word]
  try {
    if (limit === 'starts') requireRoom(ctx.tenantId)
    await countCall(ctx, limit, database().db, ctx.now())
    return await call(ctx, one, args, signal)
  } catch (err) {
    return failed(ctx, err)
  }
}

/** @throws AppError INVALID_INPUT: a model would believe that an argument which is dropped has taken effect */
async function callFixed(
  ctx: ServiceContext,
  { inputSchema, call }: FixedTool,
  args: JsonObject,
  signal: AbortSignal,
): Promise<CallToolResult> {
  requireKnown(args, Object.keys(inputSchema.properties ?? {}))
  return call(ctx, args, signal)
}
