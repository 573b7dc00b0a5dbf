import { z } from 'zod'
import type { JsonObject } from '../json'
import { own } from '../json'
import { Fields } from '../workflows/schema'
import { defineStep, Text } from './define-step'

/** Pauses the run until a person has given the fields of `output`. */
export const collectInputs = defineStep({
  type: 'collect-inputs',
  title: 'Collect inputs',
  mode: 'pause',
  config: z.object({
    output: Fields.default({}),
    title: Text(500).optional(),
    message: Text(10_000).optional(),
    /** Go on without asking when run data already has every field. */
    skipWhenPresent: z.boolean().optional(),
  }),
  exits: ['next'],
  inputData: (config) => ({ fields: config.output as JsonObject }),
  defines: (config) => ({ fields: config.saveAs ? [config.saveAs] : Object.keys(config.output), open: false }),
  check: (config) =>
    Object.keys(config.output).length === 0
      ? [{ field: 'output', message: 'declares no field, so there is nothing to collect' }]
      : [],
  ask({ stepId, config, data }) {
    const names = Object.keys(config.output)
    if (config.skipWhenPresent && names.every((name) => own(data, name) !== undefined)) {
      return { output: Object.fromEntries(names.map((name) => [name, data[name] ?? null])) }
    }
    return {
      signal: {
        type: 'collect_inputs',
        stepId,
        fields: config.output as never,
        ...(config.title === undefined ? {} : { title: config.title }),
        ...(config.message === undefined ? {} : { message: config.message }),
      },
    }
  },
  answer({ config, answer }) {
    const output = 'data' in answer ? answer.data : {}
    return { output, delta: config.saveAs ? { [config.saveAs]: output } : output }
  },
})
