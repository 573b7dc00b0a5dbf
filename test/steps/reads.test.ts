import { expect, test } from 'vitest'
import type { JsonObject } from '@/server/definition/json'
import type { StepConfig } from '@/server/definition/step-config'
import { stepTypes } from '@/server/steps/registry'

/** Data that nobody may look into. */
const closed = new Proxy({} as JsonObject, {
  get: (_, name) => {
    throw new Error(`reads ${String(name)}`)
  },
  has: () => true,
  ownKeys: () => {
    throw new Error('reads all data')
  },
  getOwnPropertyDescriptor: (_, name) => {
    throw new Error(`reads ${String(name)}`)
  },
})

/** What a type computes from its configuration when a walk comes to it. */
function enter(type: ReturnType<typeof stepTypes>[number], config: StepConfig): unknown {
  const place = { stepId: 'here', config, data: closed, now: new Date() }
  if (type.mode === 'pure') return type.compute({ ...place, evaluate: () => true })
  if (type.mode === 'pause')
    return type.ask(type.startsRun ? { ...place, config: Object.assign({ $runId: 'run' }, config) } : place)
  return type.mode === 'end' ? type.result(place) : null
}

/** What samples leave to the author. */
const FILLED = {
  output: { answer: { type: 'string' } },
  toolId: 'a',
  agentId: 'a',
  workflowId: 'a',
  url: 'https://a.test/',
}

test.each(stepTypes().map((type) => [type.type, type] as const))(
  '%s reads run data only where a reference or `reads` says so',
  (_, type) => {
    const config = type.config.parse({ ...type.sample, ...FILLED })
    expect(type.reads?.({ ...type.sample, ...FILLED }) ?? []).toEqual([])
    expect(() => enter(type, config)).not.toThrow(/^reads/)
  },
)

test('a form that is skipped when its fields have values reads these fields', () => {
  const type = stepTypes().find((one) => one.type === 'collect-inputs')
  const written = { output: { answer: { type: 'string' } }, skipWhenPresent: true }
  if (!type) throw new Error('no such type')
  expect(type.reads?.(written)).toEqual(['answer'])
  expect(() => enter(type, type.config.parse(written))).toThrow('reads answer')
})
