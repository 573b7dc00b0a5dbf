import { z } from 'zod'
import { AnyJson } from '../definition/any-json'
import { AppError, StepFailure } from '../errors'
import { isComputingTool, tellsTime } from '../tools/builtin'
import { knownTool } from '../tools/known'
import type { LoadedTool } from '../tools/loaded'
import { isQuickTool, runTool } from '../tools/run'
import { detailTexts, messageWithDetails } from '../tools/schema'
import { defineStep } from './define-step'
import { outputOf } from './tool-outcome'

/** Calls one of the tenant's tools; its result goes into run data. */
export const callTool = defineStep({
  type: 'call-tool',
  title: 'Call a tool',
  description: 'Calls a tool with arguments; later steps can use its result.',
  icon: 'wrench',
  group: 'work',
  mode: 'effect',
  config: z.object({
    toolId: z.string().min(1, 'is required').max(100).describe('The tool to call.'),
    args: z.record(z.string(), AnyJson).default({}).describe('The tool’s arguments; may contain expressions.'),
    version: z
      .union([z.string().max(20), z.number()])
      .optional()
      .describe('`latest` (the default), `published` or a number.'),
  }),
  form: {
    toolId: { widget: 'tool', label: 'Tool' },
    args: { widget: 'arguments', label: 'Arguments', of: 'toolId', version: 'version', resource: 'tool' },
    version: { widget: 'version', label: 'Version', of: 'toolId', resource: 'tool', advanced: true },
  },
  sample: { toolId: '', args: {} },
  exits: ['next', 'error'],
  inputData: (config) => ({
    toolId: config.toolId,
    args: config.args,
    ...(config.version === undefined ? {} : { version: config.version }),
  }),
  defines: (config, stepId) =>
    config.saveAs
      ? { fields: { [config.saveAs]: { type: 'any' } }, open: false }
      : { fields: { [stepId]: { type: 'any' } }, open: true },
  uses: (config) => [{ kind: 'tool', id: config.toolId, version: config.version, args: config.args }],
  runsInline: (config, tenantId) => isComputingTool(config.toolId) || isQuickTool(tenantId, config),
  computes: ({ toolId, version = 'latest', args }, isScript) =>
    isComputingTool(toolId) ? !tellsTime(toolId, args) : isScript(toolId, version),
  recall({ toolId, version = 'latest' }, tenantId) {
    const known = knownTool(tenantId, toolId, version)
    return known && { toolId, stamp: known.stamp, value: known.tool }
  },
  async run({ config, ctx, data, signal, idempotencyKey, inline, log, known }) {
    const { toolId, version, args } = config
    const tool = known as LoadedTool | undefined
    const input = { toolId, version, args, dataContext: data }
    const outcome = await runTool(ctx, input, { signal, idempotencyKey, inline, log, tool }).catch((err: unknown) => {
      // History shows only a message, so put the problems of the arguments into it.
      if (!(err instanceof AppError) || err.code !== 'INVALID_INPUT') throw err
      throw new StepFailure(err.code, messageWithDetails(err), detailTexts(err.details))
    })
    return outputOf(outcome)
  },
})
