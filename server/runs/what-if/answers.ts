import { z } from 'zod'
import { AnyJson } from '../../definition/any-json'
import { component } from '../../definition/component'
import { JudgedNeeds, RunPlace, Verdict } from '../backtest/answers'

const Failed = z.object({ code: z.string(), message: z.string() })
const json = z.record(z.string(), AnyJson)

const Visit = component('WhatIfVisit', {
  place: RunPlace,
  exit: z.string().nullable().describe('The exit; null for a step with only one.'),
  state: z
    .enum(['as it was', 'assumed', 'changed', 'unknown', 'new'])
    .describe(
      '`assumed`: with what the run recorded, although something differs; see `assumed` of the verdict. `changed`: you said it. `unknown`: nobody has. `new`: the run did not come here.',
    ),
  asked: json
    .optional()
    .describe('What a call, a question or a child run was asked. Absent for steps that only compute.'),
  signal: json.optional().describe('The question to people, as statuses show it.'),
  came: z
    .union([z.object({ output: AnyJson }), z.object({ answer: AnyJson }), z.object({ failed: Failed })])
    .optional(),
  tooLarge: z.literal(true).optional().describe('Its values are left out.'),
})
const Way = component('WhatIfWay', {
  visits: z.array(Visit).describe('At most 1,000.'),
  more: z.number().describe('How many further visits are left out.'),
  end: z.union([
    z.object({ result: AnyJson }),
    z.object({ failed: Failed.extend({ stepId: z.string().nullable() }) }),
    z.object({ needs: JudgedNeeds }),
  ]),
})

export const WhatIfAnswer = component('WhatIfAnswer', {
  runId: z.string(),
  workflowId: z.string(),
  runVersion: z.number().describe('The version of the run.'),
  version: z.number().describe('The version that it was tried on.'),
  real: Way.describe('How the run went.'),
  other: Way.describe('How it would go.'),
  verdict: Verdict.describe('How the two differ.'),
  unknown: z.array(JudgedNeeds).describe('Why a value is unknown: `{ "$unknown": 0 }` stands for the first of these.'),
})
