import { own } from '../definition/json'
import { env } from '../env'
import { callAgent } from './call-agent'
import { callTool } from './call-tool'
import { collectInputs } from './collect-inputs'
import { condition } from './condition'
import type { AnyStep } from './define-step'
import { delay } from './delay'
import { endFlow } from './end-flow'
import { failFlow } from './fail-flow'
import { forEach } from './for-each'
import { httpRequest } from './http-request'
import { parallel } from './parallel'
import { requestUserAction } from './request-user-action'
import { runScript } from './run-script'
import { runWorkflow } from './run-workflow'
import { setData } from './set-data'
import { switchStep } from './switch'
import { testEffect } from './test-effect'
import { waitForEvent } from './wait-for-event'

/** Every step type of the product. The key is the `type` in the JSON and the file's name. */
export const steps = {
  'call-agent': callAgent,
  'call-tool': callTool,
  'collect-inputs': collectInputs,
  condition,
  delay,
  'end-flow': endFlow,
  'fail-flow': failFlow,
  'for-each': forEach,
  'http-request': httpRequest,
  parallel,
  'request-user-action': requestUserAction,
  'run-script': runScript,
  'run-workflow': runWorkflow,
  'set-data': setData,
  switch: switchStep,
  'wait-for-event': waitForEvent,
} as const satisfies Record<string, unknown>

type StepType = keyof typeof steps

/** A step type without the type of its configuration. Callers pass only values that its schema has parsed. */
function anyStep(step: (typeof steps)[StepType] | typeof testEffect): AnyStep {
  return step as unknown as AnyStep
}

const product = Object.fromEntries(Object.values(steps).map((step) => [step.type, anyStep(step)]))
const test = { [testEffect.type]: anyStep(testEffect) }

function available(): Record<string, AnyStep> {
  return env().MILLRACE_TEST_STEPS ? { ...product, ...test } : product
}

/** Every type a definition may use, in the order of the editor's picker. */
export function stepTypes(): AnyStep[] {
  return Object.values(available())
}

export function findStepType(type: string): AnyStep | undefined {
  return own(available(), type)
}

/** Whether steps of a type reach something outside. Questions to people are no calls. */
export function isCall(typeName: string): boolean {
  const type = findStepType(typeName)
  return type?.mode === 'effect' || (type?.mode === 'pause' && type.startsRun === true)
}
