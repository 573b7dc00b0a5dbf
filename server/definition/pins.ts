import type { Definition, Step } from './schema'

/** A resource that a step uses without naming a version, and its version when the workflow was published. */
export type Pin = { kind: 'tool' | 'agent' | 'workflow'; id: string; version: number }

/** The pins of a published version, by step. */
export type Pins = Record<string, Pin>

/** A definition as the runs of its version see it: a step with a pin names that version. */
export function withPins(definition: Definition, pins: Pins | null): Definition {
  if (pins === null || Object.keys(pins).length === 0) return definition
  return { ...definition, steps: definition.steps.map((step) => pinned(step, pins)) }
}

function pinned(step: Step, pins: Pins): Step {
  const pin = Object.hasOwn(pins, step.id) ? pins[step.id] : undefined
  return pin && step.version === undefined ? ({ ...step, version: pin.version } as Step) : step
}

/** Whether two versions of a workflow run with the same tools, agents and workflows. */
export function samePins(a: Pins | null, b: Pins | null): boolean {
  const [left, right] = [Object.entries(a ?? {}), b ?? {}]
  return (
    left.length === Object.keys(right).length &&
    left.every(([stepId, pin]) => {
      const other = Object.hasOwn(right, stepId) ? right[stepId] : undefined
      return other?.kind === pin.kind && other.id === pin.id && other.version === pin.version
    })
  )
}
