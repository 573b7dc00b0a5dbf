import { z } from 'zod'
import { AppError, StepFailure } from '../errors'
import { isComputingTool } from '../tools/builtin'
import { type LoadedTool, loadTool } from '../tools/find'
import { isQuickTool, runTool } from '../tools/run'
import { detailTexts, messageWithDetails } from '../tools/schema'
import { defineStep, type EffectCall, type StepOutput } from './define-step'
import { outputOf } from './tool-outcome'

const Config = z.object({
  toolId: z.string().min(1, 'is required').max(100),
  args: z.record(z.string(), z.json()).default({}),
  version: z.union([z.string().max(20), z.number()]).optional(),
})
type Config = z.output<typeof Config>

/** Calls one of the tenant's tools; its result goes into run data. */
export const callTool = defineStep({
  type: 'call-tool',
  title: 'Call a tool',
  description: 'Calls a tool with arguments; its result goes into run data.',
  icon: 'wrench',
  group: 'work',
  mode: 'effect',
  config: Config,
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
  prepare({ config, ctx }) {
    const tool = loadTool(ctx, config.toolId, config.version ?? 'latest')
    tool.catch(() => {}) // told when it runs
    return (call) => callWith(call, tool)
  },
  run: (call) => callWith(call, loadTool(call.ctx, call.config.toolId, call.config.version ?? 'latest')),
})

/** @throws AppError TOOL_NOT_FOUND; StepFailure where the arguments do not fit; UNAVAILABLE */
async function callWith(
  { config, ctx, data, signal, idempotencyKey, inline }: EffectCall<Config>,
  tool: Promise<LoadedTool>,
): Promise<StepOutput> {
  const { toolId, version, args } = config
  const input = { toolId, version, args, dataContext: data }
  const outcome = await runTool(ctx, input, { signal, idempotencyKey, inline, tool }).catch((err: unknown) => {
    // History shows only a message, so put the problems of the arguments into it.
    if (!(err instanceof AppError) || err.code !== 'INVALID_INPUT') throw err
    throw new StepFailure(err.code, messageWithDetails(err), detailTexts(err.details))
  })
  return outputOf(outcome)
}
