import { z } from 'zod'
import { example } from '../openapi/example'
import type { Operation } from '../openapi/types'
import * as answers from './openapi-answers'
import { CreateSchedule, UpdateSchedule } from './schema'

const at = '2026-01-05T08:00:00.000Z'
const last = { at, status: 'started', runId: 'run_01K5A3QJ8Z0T7V2M9C4D6E8F1G', error: null }
const schedule = {
  id: 'sch_01K5A3QJ8Z0T7V2M9C4D6E8F1G',
  workflowId: 'wf_01K5A3QJ8Z0T7V2M9C4D6E8F1G',
  name: 'Every morning',
  cron: '0 9 * * mon-fri',
  timeZone: 'Europe/Berlin',
  catchUp: 'skip',
  data: { region: 'north' },
  enabled: true,
  next: [6, 7, 8, 9, 12].map((day) => `2026-01-${String(day).padStart(2, '0')}T08:00:00.000Z`),
  last,
  createdBy: 'key_01K5A3QJ8Z0T7V2M9C4D6E8F1G',
  updatedBy: 'key_01K5A3QJ8Z0T7V2M9C4D6E8F1G',
  createdAt: at,
  updatedAt: at,
}

const path = '/api/workflows/{id}/schedules'
const common = {
  parameters: {
    id: { description: 'The workflow.', example: schedule.workflowId },
    scheduleId: { description: 'The schedule.', example: schedule.id },
  },
  tag: 'Schedules',
} as const

const whole = (description: string) => ({
  description,
  schema: answers.WholeSchedule,
  examples: { schedule: example('The schedule', { ...schedule, ticks: [last] }) },
})

export const SCHEDULE_OPERATIONS: Operation[] = [
  {
    ...common,
    id: 'listSchedules',
    method: 'GET',
    path,
    summary: 'List the schedules of a workflow',
    description: 'Newest first. A workflow has at most 50.',
    role: 'viewer',
    answers: {
      200: {
        description: 'The schedules.',
        schema: z.array(answers.Schedule),
        examples: { list: example('One schedule', [schedule]) },
      },
    },
    errors: ['WORKFLOW_NOT_FOUND'],
  },
  {
    ...common,
    id: 'createSchedule',
    method: 'POST',
    path,
    summary: 'Create a schedule',
    description: 'Starts the published version of the workflow at each of its times.',
    role: 'editor',
    headers: ['Idempotency-Key'],
    body: {
      schema: CreateSchedule,
      required: true,
      examples: {
        morning: example('Nine o’clock on working days', {
          name: schedule.name,
          cron: schedule.cron,
          timeZone: schedule.timeZone,
          data: schedule.data,
        }),
      },
    },
    answers: {
      201: {
        description: 'The new schedule.',
        schema: answers.Schedule,
        headers: ['Location'],
        examples: { schedule: example('The schedule', { ...schedule, last: null }) },
      },
    },
    errors: ['WORKFLOW_NOT_FOUND', 'WORKFLOW_ARCHIVED', 'CONFLICT'],
  },
  {
    ...common,
    id: 'getSchedule',
    method: 'GET',
    path: `${path}/{scheduleId}`,
    summary: 'Get a schedule',
    description: 'With the outcomes of its last 50 times.',
    role: 'viewer',
    answers: { 200: whole('The schedule.') },
    errors: ['WORKFLOW_NOT_FOUND', 'NOT_FOUND'],
  },
  {
    ...common,
    id: 'updateSchedule',
    method: 'PUT',
    path: `${path}/{scheduleId}`,
    summary: 'Change, pause or resume a schedule',
    description:
      'Fields the body leaves out keep their values. Times that passed while it was paused are not made up for.',
    role: 'editor',
    body: { schema: UpdateSchedule, required: true, examples: { pause: example('Pause it', { enabled: false }) } },
    answers: { 200: whole('The schedule as saved.') },
    errors: ['WORKFLOW_NOT_FOUND', 'NOT_FOUND'],
  },
  {
    ...common,
    id: 'deleteSchedule',
    method: 'DELETE',
    path: `${path}/{scheduleId}`,
    summary: 'Delete a schedule',
    description: 'The runs it has started are kept.',
    role: 'editor',
    answers: {
      200: {
        description: 'It is gone.',
        schema: answers.DeletedSchedule,
        examples: { deleted: example('Deleted', { id: schedule.id, deleted: true }) },
      },
    },
    errors: ['WORKFLOW_NOT_FOUND', 'NOT_FOUND'],
  },
]
