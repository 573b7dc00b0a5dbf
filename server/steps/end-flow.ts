import { z } from 'zod'
import type { JsonObject } from '../json'
import { defineStep } from './define-step'

/** Ends the run. Its resolved `output` is the run's result; without one, the whole run data is. */
export const endFlow = defineStep({
  type: 'end-flow',
  title: 'End',
  mode: 'end',
  config: z.object({ output: z.record(z.string(), z.json()).optional() }),
  exits: [],
  result: ({ config, data }) => (config.output as JsonObject | undefined) ?? data,
})
