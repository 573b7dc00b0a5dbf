import { z } from 'zod'
import { answer } from '../openapi/answer'
import { endpoint } from '../openapi/endpoint'
import { example } from '../openapi/example'
import * as answers from './answers'
import { getSchedule, listSchedules } from './list'
import { createSchedule, deleteSchedule, updateSchedule } from './save'
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

const whole = (description: string) =>
  answer(description, answers.WholeSchedule, { schedule: example('The schedule', { ...schedule, ticks: [last] }) })

const named = ({ id, scheduleId }: Record<'id' | 'scheduleId', string>) => ({ workflowId: id, scheduleId })

export const SCHEDULE_ENDPOINTS = {
  listSchedules: endpoint({
    ...common,
    method: 'GET',
    path,
    summary: 'List the schedules of a workflow',
    description: 'Newest first. A workflow has at most 50.',
    permission: 'workflow:read',
    answers: {
      200: answer('The schedules.', z.array(answers.Schedule), { list: example('One schedule', [schedule]) }),
    },
    errors: ['WORKFLOW_NOT_FOUND'],
    run: async ({ ctx, params }) => ({ body: await listSchedules(ctx, { workflowId: params.id }) }),
  }),
  createSchedule: endpoint({
    ...common,
    method: 'POST',
    path,
    summary: 'Create a schedule',
    description:
      'Starts the published version of the workflow at each of its times, or the draft if none was ever published. Each time starts one run, however many processes there are and whichever of them crash. A start that is refused is noted with its reason, and the schedule goes on.',
    permission: 'workflow:publish',
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
      201: answer(
        'The new schedule.',
        answers.Schedule,
        { schedule: example('The schedule', { ...schedule, last: null }) },
        ['Location'],
      ),
    },
    errors: ['WORKFLOW_NOT_FOUND', 'WORKFLOW_ARCHIVED', 'CONFLICT'],
    run: async ({ ctx, params, body }) => {
      const created = await createSchedule(ctx, { workflowId: params.id, body })
      const location = `/api/workflows/${created.workflowId}/schedules/${created.id}`
      return { status: 201, headers: { location }, body: created }
    },
  }),
  getSchedule: endpoint({
    ...common,
    method: 'GET',
    path: `${path}/{scheduleId}`,
    summary: 'Get a schedule',
    description: 'With the outcomes of its last 50 times.',
    permission: 'workflow:read',
    answers: { 200: whole('The schedule.') },
    errors: ['WORKFLOW_NOT_FOUND', 'NOT_FOUND'],
    run: async ({ ctx, params }) => ({ body: await getSchedule(ctx, named(params)) }),
  }),
  updateSchedule: endpoint({
    ...common,
    method: 'PUT',
    path: `${path}/{scheduleId}`,
    summary: 'Change, pause or resume a schedule',
    description:
      'Fields the body leaves out keep their values. Times that passed while it was paused are skipped. Values of the vault are shown as `***`; one that is sent back as it was shown stays.',
    permission: 'workflow:publish',
    body: { schema: UpdateSchedule, required: true, examples: { pause: example('Pause it', { enabled: false }) } },
    answers: { 200: whole('The schedule as saved.') },
    errors: ['WORKFLOW_NOT_FOUND', 'NOT_FOUND'],
    run: async ({ ctx, params, body }) => ({ body: await updateSchedule(ctx, { ...named(params), body }) }),
  }),
  deleteSchedule: endpoint({
    ...common,
    method: 'DELETE',
    path: `${path}/{scheduleId}`,
    summary: 'Delete a schedule',
    description: 'The runs it has started are kept.',
    permission: 'workflow:publish',
    answers: {
      200: answer('It is gone.', answers.DeletedSchedule, {
        deleted: example('Deleted', { id: schedule.id, deleted: true }),
      }),
    },
    errors: ['WORKFLOW_NOT_FOUND', 'NOT_FOUND'],
    run: async ({ ctx, params }) => ({ body: await deleteSchedule(ctx, named(params)) }),
  }),
}
