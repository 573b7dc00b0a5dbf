import { z } from 'zod'
import { defineStep, Text } from './define-step'

/** Pauses the run until a person has chosen one of `actions`. */
export const requestUserAction = defineStep({
  type: 'request-user-action',
  title: 'Request a decision',
  mode: 'pause',
  config: z.object({
    title: Text(500).optional(),
    message: Text(10_000).optional(),
    actions: z
      .array(z.object({ id: z.string().min(1).max(100), label: Text(200) }))
      .min(1, 'needs at least one action')
      .max(50),
  }),
  exits: ['next'],
  defines: (config, stepId) => ({ fields: config.saveAs ? [stepId, config.saveAs] : [stepId], open: false }),
  check: (config) => {
    const ids = config.actions.map((action) => action.id)
    return new Set(ids).size === ids.length ? [] : [{ field: 'actions', message: 'has two actions with the same id' }]
  },
  ask({ stepId, config }) {
    return {
      signal: {
        type: 'request_user_action',
        stepId,
        actions: config.actions,
        ...(config.title === undefined ? {} : { title: config.title }),
        ...(config.message === undefined ? {} : { message: config.message }),
      },
    }
  },
  answer({ stepId, config, answer }) {
    const output = 'actionId' in answer ? { actionId: answer.actionId, actionValue: answer.actionValue } : {}
    return { output, delta: { [stepId]: output, ...(config.saveAs ? { [config.saveAs]: output } : {}) } }
  },
})
