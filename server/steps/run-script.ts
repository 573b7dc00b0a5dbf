import { createHash } from 'node:crypto'
import { z } from 'zod'
import { AnyJson } from '../definition/any-json'
import { runScriptTool } from '../tools/kinds/script'
import { ScriptConfig } from '../tools/kinds/script-config'
import { isQuickScript, timedScript } from '../tools/quick-scripts'
import { defineStep } from './define-step'
import { outputOf } from './tool-outcome'

/** Longer scripts should be tools, which have versions and tests of their own. */
const MAX_CODE = 20_000

/** Runs JavaScript in the sandbox; its result goes into run data. */
export const runScript = defineStep({
  type: 'run-script',
  title: 'Run a script',
  description: 'Runs JavaScript written in the step itself; later steps can use its result.',
  icon: 'code',
  group: 'data',
  mode: 'effect',
  config: z.object({
    code: z
      .string()
      .min(1, 'is required')
      .max(MAX_CODE)
      .describe('JavaScript: the body of an async function that returns the output.'),
    args: z.record(z.string(), AnyJson).default({}).describe('What the code reads as `args`; may contain `${…}`.'),
    allowedHosts: ScriptConfig.shape.allowedHosts.describe('The hosts that the code may call with `fetch`.'),
  }),
  form: {
    code: { widget: 'code', label: 'Code', help: 'The body of an async function: return what the step gives.' },
    args: { widget: 'key-value', label: 'Arguments', help: 'What the code reads as args. Values may use ${…}.' },
    allowedHosts: {
      widget: 'hosts',
      label: 'Allowed hosts',
      help: 'Hosts that fetch may call. If empty, fetch is off. Press Enter after each.',
      placeholder: 'api.example.com',
      advanced: true,
    },
  },
  sample: { code: 'return { total: 1 }', args: {} },
  exits: ['next', 'error'],
  inputData: ({ args }) => ({ args }),
  defines: (config, stepId) =>
    config.saveAs
      ? { fields: { [config.saveAs]: { type: 'any' } }, open: false }
      : { fields: { [stepId]: { type: 'any' } }, open: true },
  runsInline: (config, tenantId) => onlyComputes(config) && isQuickScript(scriptKey(config, tenantId)),
  computes: onlyComputes,
  async run({ config, ctx, data, signal, idempotencyKey, log }) {
    const { code, args, allowedHosts } = config
    const script = { code, ...(allowedHosts === undefined ? {} : { allowedHosts }) }
    const call = { args, dataContext: data, context: ctx.trusted, signal, idempotencyKey, log }
    const run = () => runScriptTool(script, call, ctx)
    if (!onlyComputes(config)) return outputOf(await run())
    return outputOf(await timedScript(scriptKey(config, ctx.tenantId), run))
  },
})

/** A script without hosts reaches nothing outside. */
function onlyComputes({ allowedHosts = [] }: Pick<ScriptConfig, 'allowedHosts'>): boolean {
  return allowedHosts.length === 0
}

function scriptKey({ code }: { code: string }, tenantId: string): string {
  return `${tenantId}/${createHash('sha256').update(code).digest('base64')}`
}
