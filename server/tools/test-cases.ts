import { z } from 'zod'
import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import type { ToolCase } from '../definition/test-case'
import { parseInput } from '../parse'
import type { One } from '../versioned/noun'
import {
  CaseName,
  changeExpected,
  deleteCase,
  ExpectedOfResult,
  keepCase,
  listCases,
  type OneCase,
  type PresentedCase,
  renameCase,
} from '../versioned/test-cases'
import { refuseBuiltin } from './builtin'
import { TOOL } from './noun'
import { InvokeTool } from './schema'

const { args, dataContext } = InvokeTool.shape

const KeepToolCase = z.object({
  name: CaseName,
  given: z.object({ args, dataContext }),
  expected: ExpectedOfResult,
})
export type KeepToolCase = z.input<typeof KeepToolCase>

/**
 * The tool's test cases, oldest first.
 * @throws AppError TOOL_NOT_FOUND, CONFLICT for a built-in tool
 */
export async function listToolCases(ctx: ServiceContext, input: One): Promise<PresentedCase<ToolCase>[]> {
  authorize(ctx, 'tool:read')
  refuseBuiltin(input.id)
  return listCases<ToolCase>(ctx, TOOL, input)
}

/**
 * Saves a call of the tool as a test case.
 * @throws AppError TOOL_NOT_FOUND, TOOL_ARCHIVED, INVALID_INPUT, CONFLICT
 */
export async function keepToolCase(ctx: ServiceContext, input: One & { body: unknown }): Promise<{ id: string }> {
  authorize(ctx, 'tool:write')
  refuseBuiltin(input.id)
  return keepCase(ctx, TOOL, input, parseInput(KeepToolCase, input.body))
}

/** @throws AppError TOOL_NOT_FOUND, TOOL_ARCHIVED, NOT_FOUND, INVALID_INPUT, CONFLICT for a built-in tool */
export async function renameToolCase(ctx: ServiceContext, input: OneCase & { name: unknown }) {
  authorize(ctx, 'tool:write')
  refuseBuiltin(input.id)
  return renameCase(ctx, TOOL, input)
}

/** @throws AppError TOOL_NOT_FOUND, TOOL_ARCHIVED, NOT_FOUND, INVALID_INPUT, CONFLICT for a built-in tool */
export async function changeToolExpected(ctx: ServiceContext, input: OneCase & { expected: unknown }) {
  authorize(ctx, 'tool:write')
  refuseBuiltin(input.id)
  const { expected } = parseInput(z.object({ expected: ExpectedOfResult }), { expected: input.expected })
  return changeExpected(ctx, TOOL, { ...input, expected })
}

/** @throws AppError TOOL_NOT_FOUND, TOOL_ARCHIVED, NOT_FOUND, CONFLICT for a built-in tool */
export async function deleteToolCase(ctx: ServiceContext, input: OneCase) {
  authorize(ctx, 'tool:write')
  refuseBuiltin(input.id)
  return deleteCase(ctx, TOOL, input)
}
