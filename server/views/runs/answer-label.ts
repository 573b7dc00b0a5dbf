import { sql } from 'drizzle-orm'
import { pauses } from '@/db/schema/runs'

/** Whether the task's time was up before anyone answered. */
export const expired = sql<boolean>`(${pauses.answer}->'due' is not null)`

/** The label of the chosen action; null for forms and open questions. */
export const answerLabel = sql<string | null>`(
  select a->>'label' from json_array_elements(case when ${pauses.kind} = 'request_user_action'
    and ${pauses.answer} is not null then ${pauses.signal}->'actions' end) a
  where a->>'id' = ${pauses.answer}->>'actionId' limit 1)`
