import { z } from 'zod'
import { AnyJson } from '../definition/any-json'
import { StepFailure, TransientError } from '../errors'
import { defineStep } from './define-step'

/**
 * Registered only in the test build (`MILLRACE_TEST_STEPS=1`). Reports each execution with its idempotency key to a
 * server on this machine, whose status decides how the step ends. Without a `url` it returns its `body` immediately:
 * the smallest possible effect, for measuring everything around it.
 */
export const testEffect = defineStep({
  type: 'test-effect',
  title: 'Test effect',
  description: 'Reports its execution to a server of the tests.',
  icon: 'flask-conical',
  group: 'work',
  mode: 'effect',
  config: z.object({
    url: z
      .string()
      .regex(/^http:\/\/127\.0\.0\.1:\d+\//, 'must be on 127.0.0.1')
      .optional(),
    body: z.record(z.string(), AnyJson).default({}),
  }),
  form: {
    url: { widget: 'template', label: 'URL' },
    body: { widget: 'json', label: 'Body' },
  },
  sample: { body: {} },
  exits: ['next', 'error'],
  defines: (config, stepId) => ({ fields: { [config.saveAs ?? stepId]: { type: 'any' } }, open: true }),
  async run(step) {
    const { config, idempotencyKey } = step
    if (config.url === undefined) return { output: config.body }
    const response = await fetch(config.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': idempotencyKey },
      body: JSON.stringify(config.body),
      signal: step.signal,
    }).catch((err: unknown) => {
      throw new TransientError(`the effect server did not answer: ${err instanceof Error ? err.message : String(err)}`)
    })
    if (response.status >= 500)
      throw new TransientError(`the effect server answered ${response.status}`, retryAfter(response))
    if (!response.ok) throw new StepFailure('HTTP_ERROR', `the effect server answered ${response.status}`)
    return { output: await response.json() }
  },
})

function retryAfter(response: Response): number | undefined {
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN)
  return Number.isFinite(seconds) ? seconds * 1000 : undefined
}
