import { env } from '../env'
import { callAgent } from './call-agent'
import { callTool } from './call-tool'
import { collectInputs } from './collect-inputs'
import type { AnyStep } from './define-step'
import { endFlow } from './end-flow'
import { requestUserAction } from './request-user-action'
import { testEffect } from './test-effect'

/** Every step type of the product; the key is the `type` in the JSON and the file's name. */
export const steps = {
  'call-agent': callAgent,
  'call-tool': callTool,
  'collect-inputs': collectInputs,
  'end-flow': endFlow,
  'request-user-action': requestUserAction,
} as const satisfies Record<string, unknown>

export type StepType = keyof typeof steps

const test = { 'test-effect': testEffect }

/** Every type that may stand in a definition here, in the order of the editor's picker. */
export function stepTypes(): AnyStep[] {
  const all = { ...steps, ...(env().MILLRACE_TEST_STEPS ? test : {}) }
  return Object.values(all) as unknown as AnyStep[]
}

export function findStepType(type: string): AnyStep | undefined {
  if (Object.hasOwn(steps, type)) return steps[type as StepType] as unknown as AnyStep
  if (env().MILLRACE_TEST_STEPS && Object.hasOwn(test, type))
    return test[type as keyof typeof test] as unknown as AnyStep
  return undefined
}
